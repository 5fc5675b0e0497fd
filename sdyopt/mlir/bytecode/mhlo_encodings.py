"""The encodings of MHLO attributes and types, most of which are those of StableHLO."""

from __future__ import annotations

from sdyopt.mlir.bytecode.encodings import (
    SIGNED,
    SIGNED_LIST,
    TYPE,
    WIDE_BOOL,
    DialectEncodings,
    attribute_of,
    listed,
)
from sdyopt.mlir.bytecode.stablehlo_encodings import DOUBLE, add_enum, add_shared
from sdyopt.mlir.dialects.mhlo import ops
from sdyopt.mlir.dialects.mhlo.dialect import ResultAlias

mhlo = ENCODINGS = DialectEncodings("mhlo")
mhlo.attribute(0, ResultAlias, SIGNED_LIST, SIGNED, SIGNED_LIST, WIDE_BOOL)
add_shared(mhlo, vars(ops))
mhlo.attribute(13, ops.TypeExtensions, SIGNED_LIST)
add_enum(mhlo, 14, ops.DomainKind)
add_enum(mhlo, 15, ops.FusionKind)
mhlo.attribute(16, ops.OutputOperandAlias, SIGNED_LIST, SIGNED, SIGNED_LIST)
add_enum(mhlo, 17, ops.ResultAccuracyMode)
mhlo.attribute(18, ops.ResultAccuracy, DOUBLE, DOUBLE, SIGNED, attribute_of(ops.ResultAccuracyMode))
mhlo.type(0, ops.TokenType)
mhlo.type(1, ops.AsyncBundle, listed(TYPE))
