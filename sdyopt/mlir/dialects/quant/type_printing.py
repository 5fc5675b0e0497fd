"""Prints quantized types: `!quant.uniform<i8<-8:7>:f32:1, {2.0:3, 4.0}>`."""

from __future__ import annotations

from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.quant.dialect import quant
from sdyopt.mlir.dialects.quant.types import (
    AnyQuantized,
    CalibratedQuantized,
    QuantizedType,
    UniformQuantized,
    UniformQuantizedPerAxis,
    UniformQuantizedSubChannel,
    default_range,
)
from sdyopt.mlir.ir.floats import float_text
from sdyopt.mlir.ir.types import F64, FloatType, IntegerType


def _storage_text(type: QuantizedType, attribute_printer: AttributePrinter) -> str:
    storage = type.storage
    if isinstance(storage, IntegerType) and storage.is_signless and not type.is_signed:
        name = f"u{storage.width}"
    else:
        name = attribute_printer.type(storage)
    if (type.minimum, type.maximum) == default_range(storage, type.is_signed):
        return name
    return f"{name}<{type.minimum}:{type.maximum}>"


def _parameter_text(scale: int, zero: int, type: FloatType) -> str:
    text = float_text(scale, type.format)
    return f"{text}:{zero}" if zero else text


@quant.printer(AnyQuantized)
def _print_any(type: AnyQuantized, attribute_printer: AttributePrinter) -> str:
    expressed = "" if type.expressed is None else f":{attribute_printer.type(type.expressed)}"
    return f"any<{_storage_text(type, attribute_printer)}{expressed}>"


@quant.printer(UniformQuantized)
def _print_uniform(type: UniformQuantized, attribute_printer: AttributePrinter) -> str:
    prefix = f"{_storage_text(type, attribute_printer)}:{attribute_printer.type(type.expressed)}"
    return f"uniform<{prefix}, {_parameter_text(type.scale, type.zero_point, F64)}>"


@quant.printer(UniformQuantizedPerAxis)
def _print_per_axis(type: UniformQuantizedPerAxis, attribute_printer: AttributePrinter) -> str:
    prefix = f"{_storage_text(type, attribute_printer)}:{attribute_printer.type(type.expressed)}:{type.axis}"
    pairs = zip(type.scales, type.zero_points, strict=True)
    return f"uniform<{prefix}, {{{','.join(_parameter_text(*pair, F64) for pair in pairs)}}}>"


@quant.printer(UniformQuantizedSubChannel)
def _print_sub_channel(type: UniformQuantizedSubChannel, attribute_printer: AttributePrinter) -> str:
    blocks = ", ".join(f"{axis}:{size}" for axis, size in type.blocks)
    prefix = f"{_storage_text(type, attribute_printer)}:{attribute_printer.type(type.expressed)}:{{{blocks}}}"
    pairs = zip(type.scales, type.zero_points, strict=True)
    texts = [_parameter_text(*pair, type.expressed) for pair in pairs]
    for size in reversed(type.shape):
        texts = [f"{{{', '.join(texts[i : i + size])}}}" for i in range(0, len(texts), size)]
    return f"uniform<{prefix}, {texts[0]}>"


@quant.printer(CalibratedQuantized)
def _print_calibrated(type: CalibratedQuantized, attribute_printer: AttributePrinter) -> str:
    limits = ":".join(float_text(bits, F64.format) for bits in (type.minimum, type.maximum))
    return f"calibrated<{attribute_printer.type(type.expressed)}<{limits}>>"
