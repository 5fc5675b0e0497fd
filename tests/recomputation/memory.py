"""Live bytes of a printed program: at each operation, the sum over all values that are live there.

This is the definition itself, without a sweep or live intervals: its cost is quadratic in the size of a
block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import prod

from tests.recomputation.communication import BITS
from tests.recomputation.executions import Executions
from tests.recomputation.text_program import Operation, Program, Region, Value, split_at_commas

# Operations whose regions combine elements. The values in these regions are scalars, which are not counted.
SCALAR = re.compile(
    r"stablehlo\.(reduce|reduce_window|select_and_scatter|scatter|sort|map|all_reduce|reduce_scatter)"
)
CONSTANTS = ("sdy.constant", "stablehlo.constant")


@dataclass(frozen=True)
class RecomputedMemory:
    """The bytes that an entry function needs on one device."""

    arguments: int
    results: int
    constants: int
    peak: int
    peak_with_arguments: int


def recompute(program: Program) -> RecomputedMemory:
    """The memory of the entry function; of several, of the one with the highest peak."""
    runs = Executions(program)
    constants = [
        value
        for function in program.functions.values()
        for op in function.walk()
        if op.name in CONSTANTS and runs.of(op) != (0, 0)
        for value in op.results
    ]
    found = [_of_entry(program, entry, _sum(constants)) for entry in program.entries()]
    return max(found, key=lambda each: each.peak_with_arguments)


def live_at_peak(program: Program) -> list[tuple[int, int]]:
    """Bytes and number of copies of each value that is live at the peak, in regions and callees too."""
    devices = max((prod(mesh.sizes.values()) for mesh in program.meshes.values()), default=1)
    counting = _Counting(program)
    entries = [entry.regions[0] for entry in program.entries()]
    largest = max(entries, key=lambda each: counting.peak(each, set(each.arguments), held=False))
    live = dict.fromkeys(counting.live_at_peak(largest, set(largest.arguments)))
    return [(byte_size(value), max(devices // prod(value.shards), 1)) for value in live if byte_size(value)]


def _of_entry(program: Program, entry: Operation, constants: int) -> RecomputedMemory:
    (region,) = entry.regions
    counting = _Counting(program)
    return RecomputedMemory(
        arguments=_sum(region.arguments),
        results=_sum(region.operations[-1].operands),
        constants=constants,
        peak=counting.peak(region, set(region.arguments), held=False),
        peak_with_arguments=counting.peak(region, set(region.arguments), held=True),
    )


class _Counting:
    def __init__(self, program: Program) -> None:
        self._program = program
        self.extra_of_function = cache(self._extra_of_function)

    def peak(self, region: Region, arguments: set[Value], held: bool) -> int:
        """The most bytes at one operation of a region.

        `arguments` are the ones that are counted; if they are `held`, they are live to the end of the region.
        """
        if not region.operations:
            return 0
        return max(
            sum(map(byte_size, live)) + self._extra(op) for op, live in self._live(region, arguments, held)
        )

    def live_at_peak(self, region: Region, arguments: set[Value]) -> list[Value]:
        """The values that are live at the first operation with the most bytes, and those in its regions."""
        sizes = [
            (sum(map(byte_size, live)) + self._extra(op), op, live)
            for op, live in self._live(region, arguments, False)
        ]
        if not sizes:
            return []
        _, op, live = max(sizes, key=lambda each: each[0])
        inner = self._regions_of(op)
        if inner:
            live += self.live_at_peak(max(inner, key=lambda each: self.peak(each, set(), False)), set())
        return live

    def _live(
        self, region: Region, arguments: set[Value], held: bool
    ) -> Iterator[tuple[Operation, list[Value]]]:
        """The values that are live at each operation of a region."""
        defined = {each for op in region.operations for each in op.results} | arguments
        last_use: dict[Value, int] = {}
        for number, op in enumerate(region.operations):
            for inner in op.walk():
                last_use.update((value, number) for value in inner.operands if value in defined)
        # Arguments are live from the first operation on; one without a use, at the first operation only.
        first = dict.fromkeys(arguments, 0)
        first.update((value, number) for number, op in enumerate(region.operations) for value in op.results)
        for number, op in enumerate(region.operations):
            yield (
                op,
                [
                    value
                    for value in defined
                    if first[value] <= number
                    and (number <= last_use.get(value, first[value]) or (held and value in arguments))
                ],
            )

    def _extra(self, op: Operation) -> int:
        """The bytes that an operation needs in addition: the highest peak of its regions or callee."""
        if op.callee is not None:
            return self.extra_of_function(op.callee)
        return max((self.peak(region, set(), held=False) for region in self._regions_of(op)), default=0)

    def _regions_of(self, op: Operation) -> list[Region]:
        """The regions of an operation or of its callee; none if they combine elements."""
        if op.callee is not None:
            return self._program.functions[op.callee].regions
        return [] if SCALAR.fullmatch(op.name) else op.regions

    def _extra_of_function(self, name: str) -> int:
        """The peak of a callee without its arguments, which are live in the caller during the call."""
        function = self._program.functions[name]
        return max((self.peak(region, set(), held=False) for region in function.regions), default=0)


def _sum(values: list[Value]) -> int:
    return sum(byte_size(value) for value in values)


def byte_size(value: Value) -> int:
    """The bytes of a value's local shape; 0 for a token and for a type without a static shape."""
    if value.type.startswith("tuple<"):
        elements = split_at_commas(value.type.removeprefix("tuple<").removesuffix(">"))
        return _sum([Value(value.name, element, []) for element in elements])
    sizes = value.local_sizes
    if sizes is None:
        return 0
    element = value.type.removeprefix("tensor<").removesuffix(">").split("x", len(sizes))[-1]
    return -(-bits(element) * prod(sizes) // 8)


def bits(element: str) -> int:
    """The bits of an element: 8 for `i1`, those of the storage type for a quantized type."""
    element = element.partition(", #")[0]
    if element in BITS:
        return BITS[element]
    if element.startswith("complex<"):
        return 2 * bits(element.removeprefix("complex<").removesuffix(">"))
    digits = re.search(r"\d+", element)
    assert digits is not None, element
    return int(digits[0])
