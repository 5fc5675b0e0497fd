"""The collectives of reports and of HLO in one form that can be compared."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from math import prod

from sdyopt.analysis.figures.figures import Report, RunTimes
from sdyopt.analysis.figures.source_locations import NO_LOCATION, SourceLocation
from sdyopt.analysis.hlo_comparison.device_groups import Groups, groups_of_axes, size_of
from sdyopt.analysis.hlo_comparison.hlo_graph import HloValue, Instruction
from sdyopt.base.dataclasses import dataclass, field


@dataclass(frozen=True, eq=False, slots=True)
class Loop:
    """A loop of HLO: the name stack and the line of its instruction, and how often it runs, if known."""

    name: str
    location: SourceLocation
    trips: int | None


@dataclass(frozen=True, eq=False, slots=True)
class HloSource:
    """An operand of a collective in HLO: its instruction, its value, and that of the result.

    `number` is that of the operand of `count`. `type` is the text of the type of the result. `loops` are
    around it, the innermost first. `produced_at` is where the operation is whose result it sends, `used_at`
    where those are that use its result.
    """

    computation: str
    op: Instruction
    number: int
    count: int
    operand: HloValue
    result: HloValue
    type: str
    loops: tuple[Loop, ...]
    produced_at: SourceLocation
    used_at: tuple[SourceLocation, ...]


_ELEMENT = re.compile(r"tensor<((?:\d+x)*+)(.*)>")
REDUCTIONS = ("all_reduce", "reduce_scatter")
_ROUNDS = {"all_reduce": 2}


@dataclass(frozen=True)
class CollectiveOperand:
    """An operand of a collective: the number of elements on one device, and the bits of an element.

    For an all-gather, the elements are those of the result. Permutes have no groups. `name` is `#3` in a
    report, and the name of the instruction in HLO. `is_sliced`: each device only uses a slice of
    the result. `sent` are the bytes that a device sends in one run, where they do not follow from the rest.
    `moved` is the name of the argument of the program that it moves. `per_iteration` is the number of runs in
    one iteration of loops whose trip count is unknown. `compiled` says what a machine's compiler makes of
    it. `hlo` says where in HLO it is, None of one of a report.
    """

    kind: str
    groups: Groups
    elements: int
    bits: int
    location: SourceLocation = NO_LOCATION
    name: str = ""
    times: RunTimes | None = None
    is_sliced: bool = False
    sent: Fraction | None = field(default=None, compare=False)
    moved: str = field(default="", compare=False)
    per_iteration: RunTimes | None = field(default=None, compare=False)
    compiled: str = field(default="", compare=False)
    hlo: HloSource | None = field(default=None, compare=False, repr=False)

    @property
    def source(self) -> HloSource:
        """Where one of HLO is in it."""
        assert self.hlo is not None
        return self.hlo

    @property
    def bytes(self) -> int:
        """The bytes of the elements."""
        return self.elements * self.bits // 8

    @property
    def group_size(self) -> int:
        """The number of devices in a group; 1 for a permute."""
        return size_of(self.groups)

    @property
    def wire_bytes(self) -> Fraction:
        """The bytes that a device sends along a ring; for a permute, on average over the devices."""
        if self.sent is not None:
            return self.sent
        if self.kind == "collective_permute":
            return Fraction(self.bytes)
        n = self.group_size
        return Fraction(_ROUNDS.get(self.kind, 1) * (n - 1) * self.bytes, n)

    @property
    def wire_bytes_of_runs(self) -> Fraction:
        """The same for all runs, as often as it may run; for one run if their number is unknown."""
        return self.wire_bytes * (1 if self.times is None else self.times.high)


def of_report(report: Report) -> Iterator[CollectiveOperand]:
    """The operands of those collectives of a report that communicate."""
    for collective in report.collectives:
        if not collective.wire_bytes:
            continue
        types = collective.local_results if collective.kind == "all_gather" else collective.local_operands
        groups: Groups = frozenset()
        if collective.kind != "collective_permute":
            groups = groups_of_axes(collective.axes, report.mesh)
        shapes = [shape for type in types if (shape := _ELEMENT.fullmatch(type)) is not None]
        sizes = [(prod(map(int, shape[1].split("x")[:-1])), bits_of(shape[2])) for shape in shapes]
        whole = sum(elements * bits for elements, bits in sizes)
        n = size_of(groups)
        ring = Fraction(_ROUNDS.get(collective.kind, 1) * (n - 1) * whole, 8 * n)
        # What is sent as 16-bit floats is not of the type of the program.
        is_half = bool(collective.compiled) and collective.wire_bytes * 2 == ring
        for elements, bits in sizes:
            yield CollectiveOperand(
                collective.kind,
                groups,
                elements,
                bits // 2 if is_half else bits,
                collective.location,
                f"#{collective.number}",
                collective.times,
                sent=collective.wire_bytes * elements * bits / whole if whole else None,
                moved=collective.moved,
                per_iteration=collective.per_iteration,
                compiled=collective.compiled,
            )


def bits_of(element: str) -> int:
    """The bits of an element of type `f32`, `complex<f32>` or `f8E4M3FN`; 8 for `i1` and `pred`."""
    if element in ("i1", "pred"):
        return 8
    if element.startswith("complex<"):
        return 2 * bits_of(element.removeprefix("complex<").removesuffix(">"))
    digits = re.search(r"\d{1,4}", element)
    return int(digits[0]) if digits is not None else 8
