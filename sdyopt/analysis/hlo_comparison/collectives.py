"""The collectives of reports and of HLO in one form that can be compared."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from math import prod

from sdyopt.analysis.figures.figures import Report, Times
from sdyopt.analysis.figures.source_locations import NO_LOCATION, SourceLocation
from sdyopt.analysis.hlo_comparison.device_groups import Groups, groups_of_axes
from sdyopt.base.dataclasses import dataclass

_ELEMENT = re.compile(r"tensor<((?:\d+x)*+)(.*)>")
_ROUNDS = {"all_reduce": 2}


@dataclass(frozen=True)
class CollectiveOperand:
    """An operand of a collective: the number of elements on one device, and the bits of an element.

    For an all-gather, the elements are those of the result. Permutes have no groups. `name` is `#3` in a
    report, and the name of the instruction in HLO. `is_sliced`: each device only uses a slice of
    the result.
    """

    kind: str
    groups: Groups
    elements: int
    bits: int
    location: SourceLocation = NO_LOCATION
    name: str = ""
    times: Times | None = None
    is_sliced: bool = False

    @property
    def bytes(self) -> int:
        """The bytes of the elements."""
        return self.elements * self.bits // 8

    @property
    def group_size(self) -> int:
        """The number of devices in a group; 1 for a permute."""
        return max(map(len, self.groups), default=1)

    @property
    def wire_bytes(self) -> Fraction:
        """The bytes that a device sends along a ring; for a permute, those of the whole operand."""
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
    for each in report.collectives:
        if not each.wire_bytes:
            continue
        types = each.local_results if each.kind == "all_gather" else each.local_operands
        for type in types:
            shape = _ELEMENT.fullmatch(type)
            if shape is None:
                continue
            elements = prod(map(int, shape[1].split("x")[:-1]))
            groups: Groups = frozenset()
            if each.kind != "collective_permute":
                groups = groups_of_axes(each.axes, report.mesh)
            name = f"#{each.number}"
            yield CollectiveOperand(
                each.kind, groups, elements, bits_of(shape[2]), each.location, name, each.times
            )


def bits_of(element: str) -> int:
    """The bits of an element of type `f32`, `complex<f32>` or `f8E4M3FN`; 8 for `i1` and `pred`."""
    if element in ("i1", "pred"):
        return 8
    if element.startswith("complex<"):
        return 2 * bits_of(element.removeprefix("complex<").removesuffix(">"))
    digits = re.search(r"\d+", element)
    return int(digits[0]) if digits is not None else 8
