"""The collectives of a report and of optimized HLO, in one form that can be compared."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import prod

from benchmarks.calibration.device_groups import Groups, groups_of_axes, groups_of_hlo
from sdyopt.analysis.figures.figures import Report

_OP = re.compile(
    r"= (\(.*?\)|\S+) (all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute)(?:-start)?\((.*)"
)
_SHAPE = re.compile(r"([a-z]\w*)\[([\d,]*)\]")
_PAIRS = re.compile(r"source_target_pairs=(\{(?:\{[\d,]*\},?)*\})")
_ELEMENT = re.compile(r"tensor<((?:\d+x)*)(.*)>")
_ROUNDS = {"all_reduce": 2}


@dataclass(frozen=True)
class CollectiveOperand:
    """An operand of a collective: the number of elements on one device, and the bits of an element.

    For an all-gather, the elements are those of the result. Permutes have no groups.
    """

    kind: str
    groups: Groups
    elements: int
    bits: int

    @property
    def bytes(self) -> int:
        return self.elements * self.bits // 8

    @property
    def wire_bytes(self) -> Fraction:
        """The bytes that a device sends along a ring; for a permute, those of the whole operand."""
        if self.kind == "collective_permute":
            return Fraction(self.bytes)
        n = max(map(len, self.groups))
        return Fraction(_ROUNDS.get(self.kind, 1) * (n - 1) * self.bytes, n)


@dataclass(frozen=True)
class CompiledCollectives:
    """The operands of collectives in optimized HLO, and the number of operands of combined collectives.

    A loop body counts once.
    """

    operands: list[CollectiveOperand]
    combined: int


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
            yield CollectiveOperand(each.kind, groups, elements, _bits(shape[2]))


def of_hlo(text: str, devices: int) -> CompiledCollectives:
    """The operands of those collectives of optimized HLO that communicate."""
    found, combined = [], 0
    for line in text.splitlines():
        if (match := _OP.search(line)) is None:
            continue
        kind = match[2].replace("-", "_")
        shapes = [(prod(map(int, re.findall(r"\d+", dims))), name) for name, dims in _SHAPE.findall(match[1])]
        groups: Groups = frozenset()
        if kind != "collective_permute":
            _, _, rest = match[3].partition("replica_groups=")
            groups = groups_of_hlo(rest, devices)
        if kind == "all_to_all" and match[1].startswith("("):
            # A tuple with one operand for each device of a group.
            shapes = [(sum(elements for elements, _ in shapes), shapes[0][1])]
        factor = max(map(len, groups)) if kind == "reduce_scatter" else 1
        operands = [
            CollectiveOperand(kind, groups, elements * factor, _bits(name)) for elements, name in shapes
        ]
        combined += len(operands) if len(operands) > 1 else 0
        found += [each for each in operands if _communicates(each, match[3])]
    return CompiledCollectives(found, combined)


def _communicates(each: CollectiveOperand, attributes: str) -> bool:
    if each.kind == "collective_permute":
        pairs = _PAIRS.search(attributes)
        return pairs is not None and any(
            source != target for source, target in re.findall(r"\{(\d+),(\d+)\}", pairs[1])
        )
    return max(map(len, each.groups)) > 1


def _bits(element: str) -> int:
    """The bits of an element of type `f32`, `complex<f32>` or `f8E4M3FN`; 8 for `i1` and `pred`."""
    if element in ("i1", "pred"):
        return 8
    if element.startswith("complex<"):
        return 2 * _bits(element.removeprefix("complex<").removesuffix(">"))
    digits = re.search(r"\d+", element)
    return int(digits[0]) if digits is not None else 8
