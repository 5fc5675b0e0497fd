"""The encodings of CHLO attributes."""

from __future__ import annotations

from sdyopt.mlir.bytecode.encodings import DialectEncodings
from sdyopt.mlir.bytecode.stablehlo_encodings import add_enum
from sdyopt.mlir.dialects.chlo.broadcast import ComparisonDirection, ComparisonType

chlo = ENCODINGS = DialectEncodings("chlo")
add_enum(chlo, 0, ComparisonDirection)
add_enum(chlo, 1, ComparisonType)
