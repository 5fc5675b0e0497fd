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
from sdyopt.mlir.dialects.mhlo import attributes
from sdyopt.mlir.dialects.mhlo.dialect import ResultAlias

mhlo = ENCODINGS = DialectEncodings("mhlo")
mhlo.attribute(0, ResultAlias, SIGNED_LIST, SIGNED, SIGNED_LIST, WIDE_BOOL)
add_shared(mhlo, vars(attributes))
mhlo.attribute(13, attributes.TypeExtensions, SIGNED_LIST)
add_enum(mhlo, 14, attributes.DomainKind)
add_enum(mhlo, 15, attributes.FusionKind)
mhlo.attribute(16, attributes.OutputOperandAlias, SIGNED_LIST, SIGNED, SIGNED_LIST)
add_enum(mhlo, 17, attributes.ResultAccuracyMode)
_MODE = attribute_of(attributes.ResultAccuracyMode)
mhlo.attribute(18, attributes.ResultAccuracy, DOUBLE, DOUBLE, SIGNED, _MODE)
mhlo.type(0, attributes.TokenType)
mhlo.type(1, attributes.AsyncBundle, listed(TYPE))
