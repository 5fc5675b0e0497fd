"""The values of integer arrays on each device, such as offsets of slices and counters of loops.

They follow from constants and the number of the device, in the integers of their element type:

    %n = u32[] partition-id(); %o = s32[] dynamic-slice(s32[4] constant({0, 8, 16, 24}), %n)     0, 8, 16, 24

What is too large to be an offset is unknown.
"""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from math import prod

from sdyopt.analysis.hlo_comparison.hlo_graph import (
    HloGraph,
    HloValue,
    Instruction,
    called_by,
    element_of,
    without_rearranging,
)

_ELEMENT_TYPE = re.compile(r"([su])(\d{1,3})\[")
_DIRECTION = re.compile(r"\bdirection=(\w+)")
_TRIPS = re.compile(r'known_trip_count\\?"?:\{\\?"?n\\?"?:\\?"?(\d{1,18})')
# Elements on all devices: of one value, and of all.
_MAX_ELEMENTS, _MAX_TOTAL = 1 << 18, 1 << 22
_MAX_DEVICES = 1 << 12
_SAME = ("reshape", "bitcast", "copy", "convert")


class Values:
    """The elements of an array in row-major order, on each device.

    `arrays` has one for each device, or only one if it is the same on all of them.
    """

    __slots__ = ("arrays",)

    def __init__(self, arrays: Sequence[tuple[int, ...]]) -> None:
        self.arrays = arrays

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Values) and self.arrays == other.arrays

    def on(self, device: int) -> tuple[int, ...]:
        """The elements on a device."""
        return self.arrays[0] if len(self.arrays) == 1 else self.arrays[device]

    @property
    def is_scalar(self) -> bool:
        return len(self.arrays[0]) == 1

    @property
    def differ(self) -> bool:
        """Whether they are not the same on all devices."""
        return any(array != self.arrays[0] for array in self.arrays)

    def repeated(self, count: int) -> Sequence[tuple[int, ...]]:
        return self.arrays if len(self.arrays) == count else [self.arrays[0]] * count


class IndexValues:
    """The values of the integer arrays of a program on `devices` devices, and trip counts of loops."""

    def __init__(self, graph: HloGraph, devices: int) -> None:
        self._graph = graph
        # Of too many devices, what is equal on all of them is still known.
        self._devices = devices if devices <= _MAX_DEVICES else 1
        self._are_few = devices <= _MAX_DEVICES
        # Parameters of bodies and conditions, and loops: the loop, and what an iteration returns.
        self._loops: dict[Instruction, tuple[Instruction, HloValue]] = {}
        for call in graph.calls:
            body = graph.computations[call.callee]
            is_loop = call.op.opcode == "while" and call.role == "body" and bool(call.op.operands)
            if is_loop and body.root is not None:
                self._loops[call.op] = call.op, body.root
        callers = Counter(call.callee for call in graph.calls)
        for call in graph.calls:
            # Of a body that several loops have, the parameters have several values.
            if call.op in self._loops and callers[call.callee] == 1:
                for op in graph.computations[call.callee].ops:
                    if op.opcode == "parameter":
                        self._loops[op] = self._loops[call.op]
        self._known: dict[HloValue, Values | None] = {}
        # Fusions repeat the operations that compute indices: equal ones have the same values.
        self._equal: dict[Hashable, Values | None] = {}
        self._total = 0

    def of(self, value: HloValue) -> Values | None:
        """The values on each device; None if they are unknown."""
        known = self._known
        pending, waiting = [value], set[HloValue]()
        while pending:
            item = pending[-1]
            if item in known:
                pending.pop()
                continue
            inputs = self._inputs(item)
            missing = [operand for operand in inputs or () if operand not in known]
            if inputs is None:
                known[item] = None
            elif not missing:
                known[item] = self._computed(item, [known[operand] for operand in inputs])
            elif item in waiting:
                # It depends on itself.
                known[item] = None
            else:
                waiting.add(item)
                pending += missing
        return known[value]

    def constant(self, value: HloValue) -> int | None:
        """The scalar that is equal on all devices; None if it is unknown."""
        values = self.of(value)
        return None if values is None or not values.is_scalar or values.differ else values.arrays[0][0]

    def trips(self, loop: Instruction) -> int | None:
        """How often a loop runs: what XLA says, else what its condition and its counter say."""
        if (match := _TRIPS.search(loop.attributes)) is not None:
            return int(match[1])
        called = {role: callees for role, callees in called_by(loop) if callees}
        condition, body = (
            self._graph.computations.get(called[role][0]) if role in called else None
            for role in ("condition", "body")
        )
        if condition is None or body is None or condition.root is None or body.root is None:
            return None
        compare, carried = without_rearranging(condition.root).op, body.root.op
        direction = _DIRECTION.search(compare.attributes)
        is_known = compare.opcode == "compare" and len(compare.operands) == 2 and carried.opcode == "tuple"
        if not is_known or direction is None:
            return None
        counter, bound = map(without_rearranging, compare.operands)
        limit = self.constant(bound)
        number = counter.part
        if counter.op.opcode != "parameter" or limit is None or not 0 <= number < len(carried.operands):
            return None
        # What an iteration adds to the counter.
        following = without_rearranging(carried.operands[number]).op
        if following.opcode != "add":
            return None
        terms = [without_rearranging(operand) for operand in following.operands]
        is_counter = [term.op.opcode == "parameter" and term.part == number for term in terms]
        steps = [
            self.constant(value) for value, is_same in zip(terms, is_counter, strict=True) if not is_same
        ]
        initial = loop.operands[0] if loop.operands else None
        first = None if initial is None else self.constant(element_of(initial, number))
        if len(steps) != 1 or len(terms) != 2 or steps[0] is None or first is None:
            return None
        return _count(direction[1], first, steps[0], limit)

    def kept(self, value: HloValue) -> HloValue | None:
        """What a loop was given for a value that it carries, if no iteration changes it."""
        if value.op not in self._loops:
            return None
        loop, root = self._loops[value.op]
        number = value.part
        if root.op.opcode != "tuple" or not 0 <= number < len(root.op.operands):
            return None
        returned = without_rearranging(root.op.operands[number])
        is_kept = returned.op.opcode == "parameter" and returned.part == number
        return element_of(loop.operands[0], number) if is_kept else None

    # --- Operations ---------------------------------------------------------------------------

    def _inputs(self, value: HloValue) -> Sequence[HloValue] | None:
        """The values that a value follows from; None if it is unknown whatever they are."""
        op = value.op
        if op in self._loops:
            carried = self.kept(value)
            return None if carried is None else [carried]
        if value.part >= 0 or op.opcode not in _KNOWN or op.elements > _MAX_ELEMENTS:
            return None
        return op.operands

    def _computed(self, value: HloValue, inputs: Sequence[Values | None]) -> Values | None:
        op = value.op
        if op in self._loops:
            return inputs[0]
        known = [values for values in inputs if values is not None]
        if len(known) < len(inputs):
            return None
        arguments = op.arguments if op.opcode == "constant" else ""
        key = op.opcode, op.type, arguments, tuple(map(id, inputs))
        if key not in self._equal:
            self._equal[key] = self._result(op, known)
        return self._equal[key]

    def _result(self, op: Instruction, inputs: Sequence[Values]) -> Values | None:
        """The values of the result of an operation, from those of its operands."""
        type = _ELEMENT_TYPE.match(op.type)
        if type is None:
            return None
        # A value of which only a slice is taken is not copied for each device.
        count = max((len(values.arrays) for values in inputs), default=1)
        if op.opcode == "partition-id":
            count = self._devices
        size = count * op.elements
        if size > _MAX_ELEMENTS or self._total + size > _MAX_TOTAL:
            return None
        self._total += size
        arrays = self._arrays(op, [values.repeated(count) for values in inputs])
        if arrays is None or any(len(array) != op.elements for array in arrays[:1]):
            return None
        # What an integer is in a type of so many bits.
        bits = int(type[2])
        mask, half = (1 << bits) - 1, 1 << max(bits - 1, 0)
        wrapped = (
            (lambda value: (value + half & mask) - half) if type[1] == "s" else lambda value: value & mask
        )
        return Values([tuple(map(wrapped, array)) for array in arrays])

    def _arrays(
        self, op: Instruction, inputs: Sequence[Sequence[tuple[int, ...]]]
    ) -> Sequence[tuple[int, ...]] | None:
        """The elements of a result for each of the arrays of the operands."""
        if op.opcode == "partition-id":
            return [(device,) for device in range(self._devices)] if self._are_few else None
        if op.opcode == "constant":
            numbers = () if "..." in op.arguments else re.findall(r"-?\b\d{1,19}\b", op.arguments)
            return [tuple(map(int, numbers))]
        if not inputs:
            return None
        if op.opcode in _SAME:
            return inputs[0]
        if op.opcode == "broadcast":
            return [numbers * op.elements for numbers in inputs[0]] if len(inputs[0][0]) == 1 else None
        if op.opcode == "dynamic-slice":
            return _sliced(op, inputs)
        combine = _COMBINE.get(op.opcode)
        if combine is None or len({len(numbers[0]) for numbers in inputs}) != 1:
            return None
        try:
            return [
                tuple(combine(*item) for item in zip(*of_device, strict=True))
                for of_device in zip(*inputs, strict=True)
            ]
        except (TypeError, ZeroDivisionError):
            return None


def _divided(dividend: int, divisor: int) -> int:
    """The quotient, rounded toward zero."""
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) == (divisor < 0) else -quotient


def _count(direction: str, first: int, step: int, limit: int) -> int | None:
    """How often a counter is increased before its comparison with the limit is false."""
    if direction in ("LE", "GE"):
        limit, direction = (limit + 1, "LT") if direction == "LE" else (limit - 1, "GT")
    if direction == "GT":
        first, step, limit, direction = -first, -step, -limit, "LT"
    if direction != "LT" or step <= 0:
        return None
    return max(0, -((first - limit) // step))


def _sliced(op: Instruction, inputs: Sequence[Sequence[tuple[int, ...]]]) -> Sequence[tuple[int, ...]] | None:
    shape, sizes = op.operands[0].op.shape, op.shape
    if not len(inputs) - 1 == len(shape) == len(sizes) or prod(shape) != len(inputs[0][0]):
        return None
    if any(len(numbers[0]) != 1 for numbers in inputs[1:]) or any(map(operator.gt, sizes, shape)):
        return None
    sliced = []
    for item in zip(*inputs, strict=True):
        starts = [
            min(max(start[0], 0), dim - size) for start, dim, size in zip(item[1:], shape, sizes, strict=True)
        ]
        sliced.append(tuple(item[0][position] for position in _positions(shape, starts, sizes)))
    return sliced


def _positions(shape: Sequence[int], starts: Sequence[int], sizes: Sequence[int]) -> Iterator[int]:
    """The positions of the elements of a slice in an array of this shape."""
    numbers = [0]
    for dim, start, size in zip(shape, starts, sizes, strict=True):
        numbers = [before * dim + start + index for before in numbers for index in range(size)]
    return iter(numbers)


_COMBINE: dict[str, Callable[..., int]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": _divided,
    "remainder": lambda a, b: a - b * _divided(a, b),
    "maximum": max,
    "minimum": min,
    "and": lambda a, b: a & b,
    "clamp": lambda low, value, high: min(max(value, low), high),
}
_KNOWN = ("partition-id", "constant", "broadcast", "dynamic-slice", *_SAME, *_COMBINE)
