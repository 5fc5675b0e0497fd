"""The quant dialect: quantized types."""

from sdyopt.dialects.quant import quantile, type_parsing, type_printing
from sdyopt.dialects.quant.dialect import quant
from sdyopt.dialects.quant.types import (
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
