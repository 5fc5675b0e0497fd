"""The quant dialect: quantized types."""

from sdyopt.dialects.quant import quantile as quantile
from sdyopt.dialects.quant.type_assembly import quant
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
]
