"""How often each operation of a printed program is executed.

The trips of a loop are counted by executing its counter: from its start, by its step, until the comparison
fails.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from operator import eq, ge, gt, le, lt, ne

from tests.recomputation.communication import KINDS
from tests.recomputation.text_program import Operation, Program, Region, Value

Times = tuple[int, int] | None
"""The lowest and the highest number of executions, or None if it is unknown."""

BRANCHES = ("stablehlo.case", "stablehlo.if")
CONSTANTS = ("sdy.constant", "stablehlo.constant")
INLINE = ("sdy.manual_computation", "sdy.named_computation")
COMPARISON = re.compile(r"stablehlo\.compare (\w+), ")
COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "EQ": eq,
    "NE": ne,
    "LT": lt,
    "LE": le,
    "GT": gt,
    "GE": ge,
}
INTEGER = re.compile(r"tensor<(u?)i(\d+)>")
MOST_TRIPS = 1_000_000
COLLECTIVE = re.compile(
    rf"sdy\.({KINDS})|stablehlo\.(all_(gather|reduce|to_all)|reduce_scatter|collective_(permute|broadcast))"
)


def collectives(program: Program) -> Iterator[Operation]:
    """The collectives of a program, in order, without those that the partitioner merges with another one."""
    exchanged: set[object] = set()
    for function in program.functions.values():
        for op in function.walk():
            if not COLLECTIVE.fullmatch(op.name):
                continue
            if op.parent is not None and "sdy.replaces" in op.parent.text:
                sent = _sent(op)
                if sent in exchanged:
                    continue
                exchanged.add(sent)
            yield op


def _sent(op: Operation) -> object:
    """What an operation in a manual computation computes from the operands of the computation."""
    if op.regions or op.parent is None:
        return op
    operands = [
        op.parent.operands[value.number] if value.is_argument else _sent(value.owner or op)
        for value in op.operands
    ]
    text = re.sub(r"channel_handle = [^,]*<handle = \d+, type = \d+>", "", op.text)
    return (re.sub(r"%[\w$.#-]+", "%", text), *operands)


class Executions:
    """The numbers of executions of the operations of one program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._entries = program.entries()
        self._runs: dict[Operation, Times] = {}
        self._calls: dict[Operation, list[Operation]] = {each: [] for each in program.functions.values()}
        for function in program.functions.values():
            for op in function.walk():
                if op.callee is not None:
                    self._calls[program.functions[op.callee]].append(op)

    def of(self, op: Operation) -> Times:
        """The executions of an operation: those of the enclosing operation, times those of its region."""
        if op.parent is None:
            return self._of_function(op)
        (region,) = [each for each in op.parent.regions if op in each.operations]
        outer = self.of(op.parent)
        if outer == (0, 0):
            return outer
        once = self._of_region(op.parent, region)
        if outer is None or once is None:
            return None
        return outer[0] * once[0], outer[1] * once[1]

    def _of_function(self, function: Operation) -> Times:
        if function not in self._runs:
            # A function that calls itself, directly or not, runs an unknown number of times.
            self._runs[function] = None
            first = (1, 1) if function in self._entries else (0, 0)
            runs = [first, *(self.of(call) for call in self._calls[function])]
            known = [each for each in runs if each is not None]
            total = sum(each[0] for each in known), sum(each[1] for each in known)
            self._runs[function] = total if len(known) == len(runs) else None
        return self._runs[function]

    def _of_region(self, op: Operation, region: Region) -> Times:
        if op.name in BRANCHES and len(op.regions) > 1:
            return 0, 1
        if op.name != "stablehlo.while":
            return 1, 1
        trips = self._trips(op)
        if trips is None:
            return None
        runs = trips + 1 if region is op.regions[0] else trips
        return runs, runs

    def _trips(self, loop: Operation) -> int | None:
        """How often the body of a loop is executed; None if that is unknown."""
        condition, body = loop.regions
        (result,) = condition.operations[-1].operands
        comparison = result.owner
        if comparison is None or (match := COMPARISON.match(comparison.text)) is None:
            return None
        left, right = comparison.operands
        holds = COMPARISONS.get(match[1])
        counter_first = self._constant(left) is None
        counter, bound = (left, self._constant(right)) if counter_first else (right, self._constant(left))
        if holds is None or bound is None or counter.owner is not loop:
            return None
        start = self._constant(loop.operands[counter.number])
        step = self._step(counter, body)
        if start is None or step is None:
            return None
        # A counter that leaves the range of its type wraps around; such loops are not counted.
        range_of_type = _range(counter.type)
        now, trips = start, 0
        while holds(now, bound) if counter_first else holds(bound, now):
            now, trips = now + step, trips + 1
            if trips > MOST_TRIPS or now not in range_of_type:
                return None
        return trips

    def _step(self, counter: Value, body: Region) -> int | None:
        """The constant that one execution of the body adds to a counter; None if it does not add one."""
        after = body.operations[-1].operands[counter.number].owner
        if after is None or after.name not in ("stablehlo.add", "stablehlo.subtract"):
            return None
        before = [self._is_carried(value, counter) for value in after.operands]
        numbers = [self._constant(value) for value in after.operands]
        if before[0] and numbers[1] is not None:
            return numbers[1] if after.name == "stablehlo.add" else -numbers[1]
        if before[1] and numbers[0] is not None and after.name == "stablehlo.add":
            return numbers[0]
        return None

    @staticmethod
    def _is_carried(value: Value, counter: Value) -> bool:
        """Whether a value is the block argument of `counter`, in either region of its loop."""
        return value.is_argument and value.owner is counter.owner and value.number == counter.number

    def _constant(self, value: Value) -> int | None:
        """The integer that a value always is; None if it may be several ones, or is not constant."""
        found = self._constants(value, set())
        return next(iter(found)) if found is not None and len(found) == 1 else None

    def _constants(self, value: Value, seen: set[Value]) -> set[int] | None:
        """The constants that a value may be; None if it may also be something else."""
        if value in seen:
            return set()
        seen = seen | {value}
        sources = self._sources(value)
        if sources is not None:
            found = [self._constants(source, seen) for source in sources]
            return None if None in found else set().union(*(each for each in found if each is not None))
        if value.owner is None or value.is_argument or value.owner.name not in CONSTANTS:
            return None
        match = re.search(r"dense<(-?\d+)> : tensor<u?i\d+>$", value.owner.text)
        return {int(match[1])} if match is not None else None

    def _sources(self, value: Value) -> list[Value] | None:
        """The values of which a loop, region or call passes one on as this value; None for others."""
        owner = value.owner
        assert owner is not None
        if owner.name == "stablehlo.while":
            carried = owner.regions[1].operations[-1].operands[value.number]
            return [owner.operands[value.number]] if self._is_carried(carried, value) else None
        if owner.name in INLINE:
            if value.is_argument:
                return [owner.operands[value.number]]
            return [owner.regions[0].operations[-1].operands[value.number]]
        if owner.name == "func.func" and owner not in self._entries:
            return [call.operands[value.number] for call in self._calls[owner]] or None
        if owner.callee is not None and (regions := self._program.functions[owner.callee].regions):
            return [regions[0].operations[-1].operands[value.number]]
        return None


def _range(type: str) -> range:
    """The values of an integer type."""
    match = INTEGER.fullmatch(type)
    assert match is not None
    bits = int(match[2])
    return range(2**bits) if match[1] else range(-(2 ** (bits - 1)), 2 ** (bits - 1))
