"""HLO text as a graph: the instructions of each computation, with those of fusions in place of the fusions.

    %f = f32[4] fusion(%all-reduce, %offset), calls=%fused     a dynamic-slice of %all-reduce at %offset

So the uses of a value are the operations that compute with it. Tuples and the ends of asynchronous operations
are looked through: the uses of an element are its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from math import prod
from typing import NamedTuple

_COMPUTATION = re.compile(r"(ENTRY\s+)?%?([\w.-]+)\s*\((?=.*\{\s*$).*?\)\s*->")
_INSTRUCTION = re.compile(r"\s*+(ROOT )?%?([\w.-]++) = ")
_OPCODE = re.compile(r" ?([\w-]+)\(")
_OPERAND = re.compile(r"([A-Za-z_][\w.-]*+)(?:#(\d{1,9}))?")
_DIMS = re.compile(r"\b\w++\[([\d,]*+)\]")
_PARENTHESES = re.compile(r"[()]")
_CALLED = re.compile(
    r"\b(body|condition|to_apply|calls|true_computation|false_computation|branch_computations)="
    r"(\{[^}]*\}|%?[\w.-]+)"
)
_INDEX = re.compile(r"\bindex=(\d{1,9})")
_DIRECTION = re.compile(r"\bdirection=(\w+)")
_TRIPS = re.compile(r'known_trip_count\\?"?:\{\\?"?n\\?"?:\\?"?(\d{1,18})')
COLLECTIVES = (
    "all-reduce",
    "all-gather",
    "reduce-scatter",
    "all-to-all",
    "ragged-all-to-all",
    "collective-permute",
)
# Computations that have one of these are not part of their caller.
_STARTS = tuple(f" {each}{end}(" for each in COLLECTIVES for end in ("", "-start"))
_APART = (*_STARTS, " while(", " conditional(")
# They keep each element; its position may be another one.
REARRANGE = ("bitcast", "reshape", "copy", "transpose")
_LOOKED_THROUGH = ("optimization-barrier", "copy-done")
_MAX_ELEMENTS, _MAX_DEVICES = 1 << 16, 1 << 12
# A fusion within a fusion within … is printed once; HLO of XLA nests few.
_MAX_INLINED = 1 << 21
_MAX_DEPTH = 64

# The values of an integer array in row-major order, on each device.
Values = list[tuple[int, ...]]


class Instruction:
    """An instruction: the text of its type, of its operands and of what follows them.

    `uses` has the users of each element of its result, by number; -1 for all of it. `parts` has the
    attributes of the instructions that take an element. A `return` uses the result of a computation.
    """

    __slots__ = ("arguments", "attributes", "name", "opcode", "operands", "parts", "type", "uses")

    def __init__(self, name: str, type: str, opcode: str, arguments: str, attributes: str) -> None:
        self.name = name
        self.type = type
        self.opcode = opcode
        self.arguments = arguments
        self.attributes = attributes
        self.operands: list[Value] = []
        self.uses: dict[int, list[tuple[Instruction, int]]] = {}
        self.parts: dict[int, str] = {}

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the dimensions; those of the first array of a tuple."""
        match = _DIMS.search(self.type)
        return () if match is None else tuple(int(each) for each in match[1].split(",") if each)

    @property
    def elements(self) -> int:
        """The number of elements; of the first array of a tuple."""
        return prod(self.shape)


class Value(NamedTuple):
    """The result of an instruction, or an element of it if that is a tuple; -1 for all of it."""

    op: Instruction
    part: int = -1

    @property
    def uses(self) -> list[tuple[Instruction, int]]:
        """The users, each with the number of its operand; those of all elements if it is all of a tuple."""
        uses = self.op.uses
        if self.part < 0 and any(part >= 0 for part in uses):
            return [each for of_part in uses.values() for each in of_part]
        return uses.get(self.part, [])


class Computation(NamedTuple):
    """A computation without those that are part of their caller."""

    name: str
    ops: list[Instruction]
    root: Value | None


class Call(NamedTuple):
    """An instruction that runs a computation; `role` is the name of the attribute that says so."""

    caller: str
    op: Instruction
    role: str
    callee: str


class HloGraph:
    """The computations of a module by name, in the order of the text, and the calls between them.

    `is_complete`: the text has all of the entry.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self.entry = ""
        self.is_complete = False
        self._text: dict[str, list[str]] = {}
        current: list[str] | None = None
        for line in lines:
            if not line.startswith((" ", "}")) and (match := _COMPUTATION.match(line)) is not None:
                current = self._text.setdefault(match[2], [])
                self.entry = match[2] if match[1] else self.entry
            elif line.startswith("}"):
                self.is_complete |= current is not None and current is self._text.get(self.entry)
                current = None
            elif current is not None:
                current.append(line)
        self._order = {name: number for number, name in enumerate(self._text)}
        self._is_apart = {
            name: any(word in line for line in lines for word in _APART) for name, lines in self._text.items()
        }
        self._parsed: dict[str, list[tuple[Instruction, bool]]] = {}
        self._count = 0
        # What fusions and calls are replaced by is not a computation of its own.
        self._inlined: set[str] = set()
        found = {name: self._flat(name) for name in self._text}
        self.computations = {name: each for name, each in found.items() if name not in self._inlined}
        self.calls = [
            Call(name, op, role, callee)
            for name, each in self.computations.items()
            for op in each.ops
            for role, callees in _CALLED.findall(op.attributes)
            for callee in re.findall(r"[\w.-]+", callees)
            if callee in self.computations
        ]

    def trips(self, loop: Instruction, indices: IndexValues) -> int | None:
        """How often a loop runs: what XLA says, else what its condition and its counter say."""
        if (match := _TRIPS.search(loop.attributes)) is not None:
            return int(match[1])
        called = dict(_CALLED.findall(loop.attributes))
        condition, body = (
            self.computations.get(called.get(role, "").strip("%")) for role in ("condition", "body")
        )
        if condition is None or body is None or condition.root is None or body.root is None:
            return None
        compare, carried = without_rearranging(condition.root).op, body.root.op
        direction = _DIRECTION.search(compare.attributes)
        is_known = compare.opcode == "compare" and len(compare.operands) == 2 and carried.opcode == "tuple"
        if not is_known or direction is None:
            return None
        counter, bound = map(without_rearranging, compare.operands)
        limit = indices.constant(bound)
        number = counter.part
        if counter.op.opcode != "parameter" or limit is None or not 0 <= number < len(carried.operands):
            return None
        # What an iteration adds to the counter.
        following = without_rearranging(carried.operands[number]).op
        if following.opcode != "add":
            return None
        terms = [without_rearranging(each) for each in following.operands]
        is_counter = [each.op.opcode == "parameter" and each.part == number for each in terms]
        steps = [
            indices.constant(each) for each, is_same in zip(terms, is_counter, strict=True) if not is_same
        ]
        initial = loop.operands[0] if loop.operands else None
        first = None if initial is None else indices.constant(_element(initial, number))
        if len(steps) != 1 or len(terms) != 2 or steps[0] is None or first is None:
            return None
        return _count(direction[1], first, steps[0], limit)

    def _flat(self, name: str) -> Computation:
        ops: list[Instruction] = []
        root = self._expand(name, None, ops, 0)
        ops_with_return = list(ops)
        if root is not None:
            end = Instruction("", "", "return", "", "")
            end.operands.append(root)
            ops_with_return.append(end)
        for op in ops_with_return:
            if op.opcode != "tuple":
                for number, value in enumerate(op.operands):
                    _use(value, op, number)
        return Computation(name, ops, root)

    def _expand(
        self, name: str, arguments: list[Value] | None, ops: list[Instruction], depth: int
    ) -> Value | None:
        """Appends the instructions of a computation, and returns its result."""
        known: dict[str, Value] = {}
        root = last = None
        for parsed, is_root in self._instructions(name):
            known[parsed.name] = last = self._value(name, parsed, known, arguments, ops, depth)
            root = last if is_root else root
        return root or last

    def _value(
        self,
        computation: str,
        parsed: Instruction,
        known: dict[str, Value],
        arguments: list[Value] | None,
        ops: list[Instruction],
        depth: int,
    ) -> Value:
        opcode = parsed.opcode
        if opcode == "parameter" and arguments is not None:
            number = int(parsed.arguments) if parsed.arguments.isdecimal() else len(arguments)
            if number < len(arguments):
                return arguments[number]
        names = [] if opcode in ("constant", "parameter") else _OPERAND.findall(parsed.arguments)
        operands = [_element(known[each], int(part) if part else -1) for each, part in names if each in known]
        if operands and (opcode in _LOOKED_THROUGH or opcode.endswith("-done")):
            return operands[0]
        if operands and opcode == "get-tuple-element" and (index := _INDEX.search(parsed.attributes)):
            found = _element(operands[0], int(index[1]))
            if found.op is operands[0].op and found.part >= 0:
                found.op.parts.setdefault(found.part, parsed.attributes)
            return found
        if opcode in ("fusion", "call") and (callee := self._callee(computation, parsed, depth)):
            self._inlined.add(callee)
            result = self._expand(callee, operands, ops, depth + 1)
            if result is not None:
                return result
        op = Instruction(parsed.name, parsed.type, opcode, parsed.arguments, parsed.attributes)
        op.operands = operands
        ops.append(op)
        self._count += depth > 0
        return Value(op)

    def _callee(self, caller: str, op: Instruction, depth: int) -> str:
        """The computation that a fusion or a call is replaced by; "" if it stays."""
        for role, callee in _CALLED.findall(op.attributes):
            name = callee.strip("%{} ")
            # A computation is printed before those that call it.
            if (
                role in ("calls", "to_apply")
                and self._order.get(name, len(self._order)) < self._order[caller]
            ):
                is_small = depth < _MAX_DEPTH and self._count < _MAX_INLINED
                return name if is_small and not self._is_apart[name] else ""
        return ""

    def _instructions(self, name: str) -> list[tuple[Instruction, bool]]:
        found = self._parsed.get(name)
        if found is None:
            found = [each for line in self._text[name] if (each := _instruction(line)) is not None]
            self._parsed[name] = found
        return found


class IndexValues:
    """The values of integer arrays on each device, as far as they follow from the number of the device."""

    def __init__(self, graph: HloGraph, devices: int) -> None:
        # Of too many devices, what is equal on all of them is still known.
        self._are_few = devices <= _MAX_DEVICES
        self._devices = max(devices, 1) if self._are_few else 1
        # Parameters of bodies and conditions, and loops: the loop, and what an iteration returns.
        self._loops: dict[Instruction, tuple[Instruction, Value]] = {}
        for call in graph.calls:
            body = graph.computations[call.callee]
            if call.op.opcode == "while" and call.role == "body" and body.root is not None:
                self._loops[call.op] = call.op, body.root
        callers = Counter(call.callee for call in graph.calls)
        for call in graph.calls:
            # Of a body that several loops have, the parameters have several values.
            if call.op in self._loops and callers[call.callee] == 1:
                for op in graph.computations[call.callee].ops:
                    if op.opcode == "parameter":
                        self._loops[op] = self._loops[call.op]
        self._known: dict[Value, Values | None] = {}
        # Fusions repeat the operations that compute indices: equal ones have the same list.
        self._equal: dict[Hashable, Values | None] = {}

    def of(self, value: Value) -> Values | None:
        """The values on each device; None if they are unknown."""
        if value not in self._known:
            self._known[value] = None
            self._known[value] = self._computed(value)
        return self._known[value]

    def constant(self, value: Value) -> int | None:
        """The scalar that is equal on all devices; None if it is unknown."""
        found = self.of(value)
        if not found or len(found[0]) != 1 or any(each != found[0] for each in found):
            return None
        return found[0][0]

    def _computed(self, value: Value) -> Values | None:
        op = value.op
        if op in self._loops:
            carried = self.kept(value)
            return None if carried is None else self.of(carried)
        if value.part >= 0 or op.elements > _MAX_ELEMENTS:
            return None
        inputs = [self.of(each) for each in op.operands]
        if any(each is None for each in inputs):
            return None
        arguments = op.arguments if op.opcode == "constant" else ""
        key = op.opcode, op.type, arguments, tuple(map(id, inputs))
        if key not in self._equal:
            self._equal[key] = self._result(op, [each for each in inputs if each is not None])
        return self._equal[key]

    def _result(self, op: Instruction, arrays: Sequence[Values]) -> Values | None:
        """The values of the result of an operation, from those of its operands."""
        if op.opcode == "partition-id":
            return [(device,) for device in range(self._devices)] if self._are_few else None
        if op.opcode == "constant":
            is_whole = op.type[:1] in ("s", "u") and "..." not in op.arguments
            numbers = re.findall(r"-?\b\d{1,19}\b", op.arguments) if is_whole else ()
            return [tuple(map(int, numbers))] * self._devices if numbers else None
        if not arrays:
            return None
        if op.opcode in ("reshape", "bitcast", "copy", "convert"):
            return arrays[0]
        if op.opcode == "broadcast":
            is_scalar = len(arrays[0][0]) == 1
            return [each * op.elements for each in arrays[0]] if is_scalar else None
        if op.opcode == "dynamic-slice":
            return _sliced(op, arrays)
        combine = _COMBINE.get(op.opcode)
        if combine is None or len({len(each[0]) for each in arrays}) != 1:
            return None
        try:
            return [
                tuple(combine(*each) for each in zip(*of_device, strict=True))
                for of_device in zip(*arrays, strict=True)
            ]
        except (TypeError, ZeroDivisionError):
            return None

    def kept(self, value: Value) -> Value | None:
        """What a loop was given for a value that it carries, if no iteration changes it."""
        if value.op not in self._loops:
            return None
        loop, root = self._loops[value.op]
        number = value.part
        if root.op.opcode != "tuple" or not 0 <= number < len(root.op.operands) or not loop.operands:
            return None
        returned = root.op.operands[number]
        while returned.op.opcode in ("copy", "bitcast"):
            returned = returned.op.operands[0]
        is_kept = returned.op.opcode == "parameter" and returned.part == number
        return _element(loop.operands[0], number) if is_kept else None


def without_rearranging(value: Value, also: tuple[str, ...] = ()) -> Value:
    """The value that a value has the elements of, in another order; looks through opcodes in `also`."""
    for _ in range(_MAX_DEPTH):
        if value.op.opcode not in REARRANGE and value.op.opcode not in also:
            break
        if not value.op.operands:
            break
        value = value.op.operands[0]
    return value


def uses_of(value: Value, also: tuple[str, ...] = ()) -> Iterator[tuple[Instruction, int]]:
    """The uses of a value and of what only rearranges it."""
    pending, seen = [value], {value}
    for each in pending:
        for user, number in each.uses:
            result = Value(user)
            if user.opcode in REARRANGE or user.opcode in also:
                if result not in seen:
                    seen.add(result)
                    pending.append(result)
            else:
                yield user, number


def _element(value: Value, part: int) -> Value:
    """An element of a tuple; the value itself if `part` is -1."""
    if part < 0:
        return value
    if value.op.opcode == "tuple" and value.part < 0 and part < len(value.op.operands):
        return value.op.operands[part]
    # Tuples within tuples are not distinguished.
    return Value(value.op, part) if value.part < 0 else value


def _use(value: Value, user: Instruction, number: int) -> None:
    """Adds a use, also of the elements of a tuple."""
    pending, depth = [value], 0
    while pending and depth < _MAX_INLINED:
        each = pending.pop()
        depth += 1
        each.op.uses.setdefault(each.part, []).append((user, number))
        if each.op.opcode == "tuple":
            pending += each.op.operands


def _count(direction: str, first: int, step: int, limit: int) -> int | None:
    """How often a counter is increased before its comparison with the limit is false."""
    if direction in ("LE", "GE"):
        limit, direction = (limit + 1, "LT") if direction == "LE" else (limit - 1, "GT")
    if direction == "GT":
        first, step, limit, direction = -first, -step, -limit, "LT"
    if direction != "LT" or step <= 0:
        return None
    return max(0, -((first - limit) // step))


def _sliced(op: Instruction, arrays: Sequence[Values]) -> Values | None:
    shape, sizes = op.operands[0].op.shape, op.shape
    if not len(arrays) - 1 == len(shape) == len(sizes) or prod(shape) != len(arrays[0][0]):
        return None
    found = []
    for each in zip(*arrays, strict=True):
        starts = [
            min(max(start[0], 0), dim - size) for start, dim, size in zip(each[1:], shape, sizes, strict=True)
        ]
        found.append(tuple(each[0][position] for position in _positions(shape, starts, sizes)))
    return found


def _positions(shape: Sequence[int], starts: Sequence[int], sizes: Sequence[int]) -> Iterator[int]:
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


def _instruction(line: str) -> tuple[Instruction, bool] | None:
    """The instruction of a line, and whether it is the root."""
    match = _INSTRUCTION.match(line)
    if match is None:
        return None
    at = match.end()
    end = _closing(line, at) if line[at : at + 1] == "(" else line.find(" ", at)
    opcode = _OPCODE.match(line, end) if end >= 0 else None
    if opcode is None:
        return None
    closing = _closing(line, opcode.end() - 1)
    arguments = line[opcode.end() : closing - 1]
    return Instruction(match[2], line[at:end], opcode[1], arguments, line[closing:]), bool(match[1])


def _closing(line: str, start: int) -> int:
    """The offset after the parenthesis that closes that at `start`."""
    depth = 0
    for each in _PARENTHESES.finditer(line, start):
        depth += 1 if each[0] == "(" else -1
        if not depth:
            return each.end()
    return len(line)
