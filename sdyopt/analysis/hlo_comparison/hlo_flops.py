"""FLOPs of products in optimized HLO, two for each pair of elements, and of Fourier transforms.

    f32[32,128,64] dot(f32[32,128,16], f32[32,16,64])      2 · 32 · 128 · 64 · 16
    f32[8,128,4] convolution(bf16[8,128,9], …)             a product on a TPU; window and dim_labels say which

A TPU writes a product as a convolution, whose batch dimensions are spatial ones with a dilated operand.
Elements of the padding, and those that dilation puts between elements, are zero and not counted.
"""

from __future__ import annotations

import re
from functools import cache
from math import gcd, log2, prod

from sdyopt.analysis.hlo_comparison.hlo_graph import HloValue, Instruction, sizes_of

# A window has few positions, or few outputs.
_MOST_POSITIONS = 1 << 16
_SHAPE = re.compile(r"\b[a-z]\w*\[([\d,]*)\]")
_LISTS = re.compile(r"\b([lr]hs)_(contracting|batch)_dims=\{([\d,]*)\}")
_LABELS = re.compile(r"\bdim_labels=([a-z0-9]{1,64}+)_([a-z0-9]{1,64}+)->([a-z0-9]{1,64})")
_WINDOW = re.compile(r"\bwindow=\{([^{}]*+)\}")
# The numbers of `1x-1_2x3`, of paddings the low ones.
_NUMBER = re.compile(r"(?:^|x)(-?\d{1,9})(?!\d)")
_FFT_LENGTH = re.compile(r"\bfft_length=\{([\d,]*)\}")
# GPU libraries: the numbers of contracted dimensions are in their configuration.
_LIBRARY = re.compile(r'custom_call_target="__cublas\$(?:gemm|lt\$matmul)')
_CONTRACTED = re.compile(r'"lhs_contracting_dimensions":\[([^\]\[]*+)\]')


def flops_of(op: Instruction) -> int | None:
    """The FLOPs of one run of a product, 0 of any other instruction; None if they cannot be read."""
    try:
        return _flops(op)
    except (OverflowError, KeyError):  # sizes beyond those of memories, labels without a batch
        return None


def _flops(op: Instruction) -> int | None:
    if op.opcode == "dot":
        return _dot(
            op,
            [
                int(item)
                for name, kind, text in _LISTS.findall(op.attributes)
                if (name, kind) == ("lhs", "contracting")
                for item in text.split(",")
                if item
            ],
        )
    if op.opcode == "convolution":
        return _convolution(op)
    if op.opcode == "fft":
        return _fft(op)
    if op.opcode == "custom-call" and _LIBRARY.search(op.attributes) is not None:
        contracted = _CONTRACTED.search(op.attributes)
        return (
            None
            if contracted is None
            else _dot(op, [int(item) for item in re.findall(r"\d+", contracted[1])])
        )
    return 0


def _dot(op: Instruction, contracted: list[int]) -> int | None:
    shapes = _shapes(op)
    if shapes is None or any(number >= len(shapes[0]) for number in contracted):
        return None
    return 2 * prod(shapes[-1]) * prod(shapes[0][number] for number in contracted)


def _fft(op: Instruction) -> int | None:
    """As those of a report: 5 · n · log2 n of a transform of n complex numbers, half of it of real ones."""
    lengths, result = _FFT_LENGTH.search(op.attributes), _SHAPE.search(op.type)
    shape = _shape(op.operands[0]) if op.operands else None
    if lengths is None or shape is None or result is None:
        return None
    elements = max(prod(shape), prod(sizes_of(result[1])))
    is_real = "fft_type=RFFT" in op.attributes or "fft_type=IRFFT" in op.attributes
    return int((5 if is_real else 10) * elements * log2(max(1, prod(sizes_of(lengths[1]))))) // 2


def _convolution(op: Instruction) -> int | None:
    shapes, labels = _shapes(op), _LABELS.search(op.attributes)
    if shapes is None or len(shapes) != 3 or labels is None:
        return None
    names = labels.groups()
    if any(len(shape) != len(name) for shape, name in zip(shapes, names, strict=True)):
        return None
    lhs, rhs, result = (
        dict(zip(name, shape, strict=True)) for name, shape in zip(names, shapes, strict=True)
    )
    window = _window(op.attributes, sum(name.isdecimal() for name in names[0]))
    # The kernel has the input features of one group, and the result the batch of one group of batches.
    flops: int = 2 * result["f"] * rhs["i"] * result["b"]
    for number, numbers in enumerate(window):
        spatial = str(number)
        pairs = _pairs(lhs[spatial], rhs[spatial], result[spatial], *numbers)
        if pairs is None:
            return None
        flops *= pairs
    return flops


@cache
def _pairs(
    size: int, kernel: int, result: int, stride: int, low: int, lhs_dilation: int, rhs_dilation: int
) -> int | None:
    """How many pairs of an output and a kernel position meet an element of the input along one dimension."""
    last, count = (size - 1) * lhs_dilation, 0
    # Outputs and kernel positions may change places: the fewer are gone through.
    if kernel > result:
        kernel, result, stride, rhs_dilation = result, kernel, rhs_dilation, stride
    if kernel > _MOST_POSITIONS or min(stride, rhs_dilation, lhs_dilation) < 1:
        return None
    # (start + output · stride) is a multiple of the dilation for one output in each `period`.
    common = gcd(stride, lhs_dilation)
    period = lhs_dilation // common
    inverse = pow(stride // common, -1, period)
    for position in range(kernel):
        start = position * rhs_dilation - low
        first = max(0, -(start // stride))
        end = min(result - 1, (last - start) // stride)
        if end >= first and start % common == 0:
            met = (-start // common) * inverse % period
            count += (end - met) // period - (first - 1 - met) // period
    return count


def _window(attributes: str, spatial: int) -> list[tuple[int, int, int, int]]:
    """The stride, the low padding and both dilations of each spatial dimension."""
    match = _WINDOW.search(attributes)
    fields = dict(part.split("=", 1) for part in match[1].split() if "=" in part) if match is not None else {}

    def numbers(name: str, default: int) -> list[int]:
        return [int(text) for text in _NUMBER.findall(fields.get(name, ""))] or [default] * spatial

    columns = numbers("stride", 1), numbers("pad", 0), numbers("lhs_dilate", 1), numbers("rhs_dilate", 1)
    return list(zip(*(column[:spatial] for column in columns), strict=False))


def _shapes(op: Instruction) -> list[tuple[int, ...]] | None:
    """The shapes of both operands and of the result; None if one is unknown."""
    shapes = [_shape(operand) for operand in op.operands[:2]]
    result = _SHAPE.search(op.type)
    if len(shapes) < 2 or result is None or any(shape is None for shape in shapes):
        return None
    return [shape for shape in shapes if shape is not None] + [sizes_of(result[1])]


def _shape(value: HloValue) -> tuple[int, ...] | None:
    result = _SHAPE.findall(value.op.type)
    number = max(value.part, 0)
    return sizes_of(result[number]) if number < len(result) else None
