"""The quant dialect: quantized types."""

from sdyopt.mlir.dialects.quant import quantile, type_parsing, type_printing
from sdyopt.mlir.dialects.quant.dialect import quant
from sdyopt.mlir.dialects.quant.types import (
    AnyQuantized,
    CalibratedQuantized,
    QuantileType,
    QuantizedType,
    UniformQuantized,
    UniformQuantizedPerAxis,
    UniformQuantizedSubChannel,
)

DIALECT = quant

__all__ = [
    "DIALECT",
    "AnyQuantized",
    "CalibratedQuantized",
    "QuantileType",
    "QuantizedType",
    "UniformQuantized",
    "UniformQuantizedPerAxis",
    "UniformQuantizedSubChannel",
    "quantile",
    "type_parsing",
    "type_printing",
]
