"""What one instruction of HLO says: how it communicates, the FLOPs of products, and its location.

    %ag = ((f32[8]), f32[64]) all-gather-start(%x), …       an all_gather of f32[64]
    %s = (f32[8], u32[], token[]) send(%x, %t), … _xla_megascale_transfer_type="ALL_REDUCE"     an all_reduce

    metadata={op_name="jit(step)/dot_general" stack_frame_id=3}  the third frame of the table, and its parents
    metadata={op_name="jit(step)/dot_general" source_file="model.py" source_line=12}  text of older releases

    f32[32,128,64] dot(f32[32,128,16], f32[32,16,64])      2 · 32 · 128 · 64 · 16
    f32[8,128,4] convolution(bf16[8,128,9], …)             a product on a TPU; window and dim_labels say which

A TPU writes a product as a convolution, whose batch dimensions are spatial ones with a dilated operand.
Elements of the padding, and those that dilation puts between elements, are zero and not counted.
"""

from __future__ import annotations

import re
from functools import cache
from math import gcd, log2, prod

from sdyopt.analysis.figures.source_locations import Frame, SourceLocation
from sdyopt.analysis.hlo_comparison.collectives import bits_of
from sdyopt.analysis.hlo_comparison.hlo_graph import (
    COLLECTIVES,
    HloValue,
    Instruction,
    closing_offset,
    sizes_of,
)

SHAPE = re.compile(r"\b([a-z]\w*+)\[([\d,]*)\](?:\{[^{}]*+\})?")
_PAIRS = re.compile(r"source_target_pairs=\{(?:\{[\d,]*\},?)*+\}")
# What is sent to another slice, and to whom.
TRANSFER = re.compile(r'_xla_megascale_transfer_type="(\w+)"')
TARGET = re.compile(r'_xla_megascale_target="?([^"=]*+)')
RENDEZVOUS = re.compile(r'_xla_host_transfer_rendezvous="([^"]*+)"')
_TRANSFERS = ("ALL_REDUCE", "ALL_GATHER", "REDUCE_SCATTER", "ALL_TO_ALL")
# A function of which one cannot say what it sends.
_CALLED = re.compile(
    r'custom_call_target="((?=[^"]*(?:[Cc]ollective|[Aa]ll_?[Rr]educe|[Aa]ll_?[Gg]ather))[^"]*+)"'
)

# The number of elements, the type of an element, and the text.
Shape = tuple[int, str, str]


def kind_of(op: Instruction) -> str | None:
    """The kind of a collective, `all_gather`; None for what is none."""
    kind = op.opcode.removesuffix("-start")
    if kind in COLLECTIVES:
        return kind.replace("-", "_")
    if op.opcode != "send":
        return None
    if (transfer := TRANSFER.search(op.attributes)) is not None and transfer[1] in _TRANSFERS:
        return transfer[1].lower()
    return "collective_permute" if moving_devices(op.attributes) else None


def unknown_kind(op: Instruction) -> str:
    """What an instruction is that communicates, but is no collective that is known here; else ""."""
    if op.opcode == "custom-call":
        called = _CALLED.search(op.attributes)
        return f"custom-call {called[1]}" if called is not None else ""
    if op.opcode == "collective-broadcast":
        return op.opcode
    if op.opcode != "send":
        return ""
    if (transfer := TRANSFER.search(op.attributes)) is not None:
        return f"send {transfer[1]}"
    return "" if "is_host_transfer=true" in op.attributes else "send"


def results_of(op: Instruction, kind: str) -> str:
    """The type of the results of a collective: of one that starts, not all of its type is."""
    if not op.opcode.endswith("-start") or not op.type.startswith("("):
        return op.type
    if op.type.startswith("(("):
        # The operands come first, in a tuple.
        rest = op.type[closing_offset(op.type, 1) :].lstrip(", ")
        if rest.startswith("("):
            return rest[: closing_offset(rest, 0)]
        first = SHAPE.search(rest)
        return "" if first is None else first[0]
    texts = [text for *_, text in shapes_of(op.type)]
    if kind == "all_reduce" or len(texts) < 2:
        return op.type
    # The operand comes first, and counters follow.
    while len(texts) > 2 and texts[-1].startswith(("u32[]", "s32[]")):
        texts.pop()
    return ", ".join(texts[1:2] if kind == "collective_permute" else texts[len(texts) // 2 :])


def shapes_of(type: str) -> list[Shape]:
    """The arrays of a type."""
    return [(prod(sizes_of(item[2])), item[1], item[0]) for item in SHAPE.finditer(type)]


def bytes_of_shape(shape: Shape) -> int:
    elements, type, _ = shape
    return 0 if type == "token" else elements * bits_of(type) // 8


def moving_devices(attributes: str) -> int:
    """The number of devices that a permute sends from, to others."""
    pairs = _PAIRS.search(attributes)
    row = re.findall(r"\{(\d+),(\d+)\}", pairs[0]) if pairs is not None else ()
    if (target := TARGET.search(attributes)) is not None:
        row = re.findall(r"\{(\d+)->(\d+)\}", target[1])
    return sum(source != target for source, target in row)


def group_text(text: str) -> str:
    """The groups at the start of a text, without what follows."""
    match = re.match(
        r"mesh\[[^\]]*+\](?:, device_ids=\([^ ]*\))? ?\{[^}]*+\}|\{(?:\{[\d,]*+\},?)*+\}|\S+", text
    )
    return "" if match is None else match[0].rstrip(",")


_METADATA = re.compile(r"metadata=\{((?:[^{}\"]|\"(?:[^\"\\]|\\.)*+\")*+)\}")
_FIELD = re.compile(r'\b(\w++)=("(?:[^"\\]|\\.)*"|\d{1,9})')
_TABLES = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")
# JAX keeps at most 10 frames of a call stack by default.
_MAX_FRAMES = 64


class Locations:
    """The locations of a text, each read once."""

    def __init__(self, lines: list[str]) -> None:
        self._tables = _tables(lines)
        self._known: dict[str, SourceLocation] = {}

    def of(self, rest: str) -> SourceLocation:
        """The location of an instruction with these attributes."""
        place = self._known.get(rest)
        if place is None:
            place = self._known[rest] = self._read_location(rest)
        return place

    def _read_location(self, rest: str) -> SourceLocation:
        # What is not closed is not searched for another start.
        at = rest.find("metadata={")
        metadata = None if at < 0 else _METADATA.match(rest, at)
        fields = {} if metadata is None else dict(_FIELD.findall(metadata[1]))
        name = fields.get("op_name", "").strip('"').replace("\\'", "'")
        numbers = {field: int(value) for field, value in fields.items() if value.isdecimal()}
        if "stack_frame_id" in numbers and (frames := self._frames(numbers["stack_frame_id"])):
            first = frames[0]
            return SourceLocation(first.file, first.line, first.column, name, frames, name)
        file, line = fields.get("source_file", "").strip('"'), numbers.get("source_line", 0)
        frames = (Frame("", file, line, 0),) if line else ()
        return SourceLocation(file, line, 0, name, frames, name)

    def _frames(self, number: int) -> tuple[Frame, ...]:
        """The call stack of a frame, the innermost first. The parent of frame 5 is 4 if it says 5."""
        files, functions, places, frames = (self._tables[name] for name in _TABLES)
        result: dict[Frame, None] = {}
        for _ in range(_MAX_FRAMES):
            if number not in frames:
                break
            frame = _numbers_of(frames[number])
            place = _numbers_of(places.get(frame.get("file_location_id", 0), ""))
            # XLA repeats the frames around a loop or a call that it inlines.
            item = Frame(
                functions.get(place.get("function_name_id", 0), "").strip('"'),
                files.get(place.get("file_name_id", 0), "").strip('"'),
                place.get("line", 0),
                place.get("column", 0),
            )
            result[item] = None
            number = frame.get("parent_frame_id", 0) - 1
        return tuple(result)


def _tables(lines: list[str]) -> dict[str, dict[int, str]]:
    """The tables of frames, by name and number, which newer XLA prints before the computations."""
    tables: dict[str, dict[int, str]] = {name: {} for name in _TABLES}
    table: dict[int, str] | None = None
    for line in lines[1:]:
        if line in tables:
            table = tables[line]
        elif table is not None and (match := re.match(r"(\d{1,9}) (.*)", line)) is not None:
            table[int(match[1])] = match[2]
        elif line.startswith(("ENTRY", "%")):
            break
    return tables


def _numbers_of(text: str) -> dict[str, int]:
    return {name: int(value) for name, value in re.findall(r"\b(\w++)=(\d{1,9})", text)}


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
_CUDNN = re.compile(
    r'custom_call_target="__cudnn\$conv(Forward|BiasActivationForward|BackwardInput|BackwardFilter)"'
)
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
        return _convolution(op, _shapes(op))
    if op.opcode == "fft":
        return _fft(op)
    if op.opcode == "custom-call" and (library := _CUDNN.search(op.attributes)) is not None:
        shapes = _shapes(op)
        # A backward pass has the labels of the forward one, whose input, kernel or output is its result.
        if shapes is not None and library[1] == "BackwardInput":
            shapes = shapes[::-1]
        elif shapes is not None and library[1] == "BackwardFilter":
            shapes = [shapes[0], shapes[2], shapes[1]]
        return _convolution(op, shapes)
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


def _convolution(op: Instruction, shapes: list[tuple[int, ...]] | None) -> int | None:
    """The FLOPs for the shapes of the input, the kernel and the output."""
    labels = _LABELS.search(op.attributes)
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
