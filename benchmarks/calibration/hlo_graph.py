"""HLO text as a graph: the instructions of each computation, and the value of an index on each device."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

_COMPUTATION = re.compile(r"(?:ENTRY\s+)?%?([\w.-]+)\s*\(.*\)\s*->.*\{\s*$")
_INSTRUCTION = re.compile(r"\s+(?:ROOT )?%?([\w.-]+) = ")
_OPCODE = re.compile(r" ?([\w-]+)\(")
_DIMS = re.compile(r"\w+\[([\d,]*)\]")
_BODY = re.compile(r"\bbody=%?([\w.-]+)")
_PARENTHESES = re.compile(r"[()]")
_MAX_ELEMENTS = 1 << 16

# The values of an integer array on one device, in row-major order.
Values = tuple[int, ...]


@dataclass(eq=False)
class Instruction:
    """An instruction: its name, the text of its type, its operands, what follows them, and its users.

    `parts` are the numbers of the elements of tuples that it uses, such as `#1` of `%a#1`; else empty.
    """

    name: str
    type: str
    opcode: str
    arguments: str
    attributes: str
    line: str
    operands: list[Instruction] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    users: list[Instruction] = field(default_factory=list)
    is_root: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the dimensions; those of the first array of a tuple."""
        return _shape(self.type)

    @property
    def elements(self) -> int:
        """The number of elements; of the first array of a tuple."""
        return prod(self.shape)


def read_graph(text: str) -> dict[str, list[Instruction]]:
    """The instructions of each computation, in order."""
    found: dict[str, list[Instruction]] = {}
    current: dict[str, Instruction] | None = None
    for line in text.splitlines():
        if not line.startswith((" ", "}")) and (header := _COMPUTATION.match(line)) is not None:
            current = {}
            found[header[1]] = []
            name = header[1]
        elif line.startswith("}"):
            current = None
        elif current is not None and (each := _instruction(line)) is not None:
            for operand, part in re.findall(r"%([\w.-]+)(#\d+)?", each.arguments):
                if operand in current:
                    each.operands.append(current[operand])
                    each.parts.append(part)
                    current[operand].users.append(each)
            current[each.name] = each
            found[name].append(each)
    return found


class IndexValues:
    """The values of integer arrays on each device, as far as they follow from the number of the device."""

    def __init__(self, graph: Mapping[str, Sequence[Instruction]]) -> None:
        # Of the bodies of loops: the instruction of the loop and what an iteration returns.
        self._loops: dict[Instruction, tuple[Instruction, Instruction]] = {}
        for ops in graph.values():
            for op in ops:
                body = graph.get(match[1]) if (match := _BODY.search(op.attributes)) is not None else None
                if op.opcode == "while" and body:
                    (argument,) = (each for each in body if each.opcode == "parameter")
                    root = next(each for each in body if each.is_root)
                    self._loops[argument] = self._loops[op] = op, root
        self._known: dict[tuple[int, Instruction], Values | None] = {}
        self._constants: dict[Instruction, Values | None] = {}

    def on(self, device: int, op: Instruction) -> Values | None:
        """The values on a device; None if they are unknown."""
        key = device, op
        if key not in self._known:
            self._known[key] = None
            self._known[key] = self._computed(device, op) if op.elements <= _MAX_ELEMENTS else None
        return self._known[key]

    def of_operands(self, device: int, op: Instruction) -> list[Values | None]:
        """The values of the operands of an instruction on a device."""
        return [
            self._element(device, each, int(part[1:])) if part else self.on(device, each)
            for each, part in zip(op.operands, op.parts, strict=True)
        ]

    def _computed(self, device: int, op: Instruction) -> Values | None:
        if op.opcode == "partition-id":
            return (device,)
        if op.opcode == "constant":
            if op not in self._constants:
                values = map(int, re.findall(r"-?\b\d+\b", op.arguments))
                self._constants[op] = tuple(values) if _is_whole(op) else None
            return self._constants[op]
        if op.opcode == "get-tuple-element":
            return self._element(device, op.operands[0], _tuple_index(op))
        inputs = self.of_operands(device, op)
        if not inputs or any(each is None for each in inputs):
            return None
        arrays = [each for each in inputs if each is not None]
        if op.opcode in ("reshape", "bitcast", "copy", "convert"):
            return arrays[0]
        if op.opcode == "broadcast":
            return arrays[0] * op.elements if len(arrays[0]) == 1 else None
        if op.opcode == "dynamic-slice":
            return _sliced(op, arrays)
        combine = _COMBINE.get(op.opcode)
        if combine is None or len({len(each) for each in arrays}) != 1:
            return None
        try:
            return tuple(combine(*each) for each in zip(*arrays, strict=True))
        except (TypeError, ZeroDivisionError):
            return None

    def _element(self, device: int, op: Instruction, index: int) -> Values | None:
        """An element of a tuple; of what a loop carries, one that no iteration changes."""
        if op.opcode == "tuple":
            part = op.parts[index]
            inner = op.operands[index]
            return self._element(device, inner, int(part[1:])) if part else self.on(device, inner)
        if op not in self._loops:
            return None
        loop, root = self._loops[op]
        if root.opcode != "tuple" or not _is_argument(root.operands[index], root.parts[index], index):
            return None
        return self._element(device, loop.operands[0], index)


def _tuple_index(op: Instruction) -> int:
    return int(op.attributes.rpartition("index=")[2].split(",")[0])


def _is_argument(op: Instruction, part: str, index: int) -> bool:
    if op.opcode == "get-tuple-element":
        return _is_argument(op.operands[0], f"#{_tuple_index(op)}", index)
    return op.opcode == "parameter" and part == f"#{index}"


def _is_whole(op: Instruction) -> bool:
    """Whether the text of a constant has all its elements, which are integers."""
    return op.type[0] in "su" and "..." not in op.arguments


def _sliced(op: Instruction, arrays: Sequence[Values]) -> Values:
    shape, sizes = op.operands[0].shape, op.shape
    starts = [
        min(max(start[0], 0), dim - size) for start, dim, size in zip(arrays[1:], shape, sizes, strict=True)
    ]
    return tuple(arrays[0][each] for each in positions(shape, starts, sizes))


def positions(shape: Sequence[int], starts: Sequence[int], sizes: Sequence[int]) -> Iterator[int]:
    """The positions of the elements of a slice in an array of this shape."""
    found = [0]
    for dim, start, size in zip(shape, starts, sizes, strict=True):
        found = [before * dim + start + index for before in found for index in range(size)]
    return iter(found)


_COMBINE: dict[str, Callable[..., int]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a // b,
    "remainder": lambda a, b: a % b,
    "maximum": max,
    "minimum": min,
    "and": lambda a, b: a & b,
    "clamp": lambda low, value, high: min(max(value, low), high),
}


def _shape(type: str) -> tuple[int, ...]:
    match = _DIMS.search(type)
    return () if match is None else tuple(int(each) for each in match[1].split(",") if each)


def _instruction(line: str) -> Instruction | None:
    match = _INSTRUCTION.match(line)
    if match is None:
        return None
    at = match.end()
    end = _closing(line, at) if line[at] == "(" else line.find(" ", at)
    opcode = _OPCODE.match(line, end)
    if end < 0 or opcode is None:
        return None
    closing = _closing(line, opcode.end() - 1)
    return Instruction(
        match[1],
        line[at:end],
        opcode[1],
        line[opcode.end() : closing - 1],
        line[closing:],
        line,
        is_root=line.lstrip().startswith("ROOT "),
    )


def _closing(line: str, start: int) -> int:
    """The offset after the parenthesis that closes that at `start`."""
    depth = 0
    for each in _PARENTHESES.finditer(line, start):
        depth += 1 if each[0] == "(" else -1
        if not depth:
            return each.end()
    return len(line)
