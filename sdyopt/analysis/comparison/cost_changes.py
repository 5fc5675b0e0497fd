"""The differences of two reports in communication, memory and compute.

Collectives, live values and products with the same figures are matched first, also where lines or operations
moved, and then those of the same kind at the same location. So what is left has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeVar

from sdyopt.analysis.comparison.matching import Tokens, pair_anywhere
from sdyopt.analysis.figures.figures import Collective, LiveValue, Product, Report
from sdyopt.analysis.figures.source_locations import SourceLocation
from sdyopt.analysis.figures.totals import flop_totals, time_range, wire_bytes_of_runs, wire_total
from sdyopt.base.dataclasses import dataclass, field
from sdyopt.shardy.notation.partition_spec import jax_type

Figure = int | None
# The least and the greatest seconds.
TimeRange = tuple[Fraction, Fraction]
_Item = TypeVar("_Item", Collective, LiveValue, Product)


@dataclass(frozen=True, slots=True)
class FigureChange:
    """A figure before and after; 0 before if it `is_new`, 0 after if it `is_gone`, None if unknown.

    It is the sum of `count` parts of the same kind at the same line; `cause` is the cause of a collective.
    """

    kind: str
    before: Figure
    after: Figure
    count: int
    location: SourceLocation
    cause: str = ""
    is_new: bool = False
    is_gone: bool = False

    @property
    def growth(self) -> int:
        """The growth of the figure, as far as it is known."""
        return (self.after or 0) - (self.before or 0)


@dataclass(frozen=True, slots=True)
class TotalChange:
    """A sum over each program, and the parts that differ, those that changed most first."""

    before: int
    after: int
    parts: list[FigureChange] = field(default_factory=list)

    @property
    def growth(self) -> int:
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class CostChanges:
    """Wire bytes, the numbers of collectives, live bytes and FLOPs of one device, before and after.

    `times` are the least and the greatest estimated seconds of each program; None where they are unknown.
    """

    wire_bytes: TotalChange
    collectives: tuple[int, int]
    peak_memory: TotalChange
    argument_memory: tuple[int, int]
    flops: TotalChange
    times: tuple[TimeRange | None, TimeRange | None] = (None, None)

    @property
    def is_empty(self) -> bool:
        """Whether nothing differs."""
        totals = (self.wire_bytes, self.peak_memory, self.flops)
        return not any(total.growth or total.parts for total in totals) and not (
            self.collectives[0] - self.collectives[1] or self.argument_memory[0] - self.argument_memory[1]
        )


def cost_changes(before: Report, after: Report) -> CostChanges:
    """The differences of two reports."""
    peaks = before.memory.peak, after.memory.peak
    live = (before.memory.live_at_peak, after.memory.live_at_peak) if peaks[0] != peaks[1] else ([], [])
    return CostChanges(
        TotalChange(
            round(wire_total(before).high),
            round(wire_total(after).high),
            _changes(
                before.collectives, after.collectives, _collective_tokens, _collective_kind, _wire_bytes
            ),
        ),
        (len(before.collectives), len(after.collectives)),
        TotalChange(
            *peaks, _changes(*live, _value_tokens, lambda live: jax_type(live.type), lambda item: item.bytes)
        ),
        (before.memory.arguments, after.memory.arguments),
        TotalChange(
            round(flop_totals(before)[0].high),
            round(flop_totals(after)[0].high),
            _changes(before.products, after.products, _product_tokens, lambda product: product.kind, _flops),
        ),
        (_times(before), _times(after)),
    )


def _times(report: Report) -> TimeRange | None:
    return None if report.time is None else time_range(report, report.time)


def _changes(
    before: Sequence[_Item],
    after: Sequence[_Item],
    tokens_of: Callable[[_Item], Tokens],
    kind_of: Callable[[_Item], str],
    figure_of: Callable[[_Item], Figure],
) -> list[FigureChange]:
    """The parts that differ, summed by kind and line."""
    tokens, other_tokens = list(map(tokens_of, before)), list(map(tokens_of, after))
    pairs = pair_anywhere(tokens, other_tokens, len(tokens[0]) if tokens else 0)
    old_of = {other: before[index] for index, other in pairs}
    unpaired = set(range(len(before))) - {index for index, _ in pairs}
    parts: list[tuple[_Item | None, _Item | None]] = []
    parts += [(old_of.get(number), product) for number, product in enumerate(after)]
    parts += [(before[index], None) for index in sorted(unpaired)]
    groups: dict[object, list[tuple[_Item | None, _Item | None]]] = {}
    for old, new in parts:
        figures = old and figure_of(old), new and figure_of(new)
        if old is None or new is None or figures[0] != figures[1]:
            shown = new or old
            assert shown is not None
            key = kind_of(shown), shown.location.path_text, old is None, new is None
            groups.setdefault(key, []).append((old, new))
    changes = [_change(group, kind_of, figure_of) for group in groups.values()]
    return sorted(changes, key=lambda change: -abs(change.growth))


def _change(
    group: Sequence[tuple[_Item | None, _Item | None]],
    kind_of: Callable[[_Item], str],
    figure_of: Callable[[_Item], Figure],
) -> FigureChange:
    old, new = group[0]
    shown = new or old
    assert shown is not None
    return FigureChange(
        kind_of(shown),
        _sum([figure_of(old) for old, _ in group if old is not None]),
        _sum([figure_of(new) for _, new in group if new is not None]),
        len(group),
        shown.location,
        shown.cause if isinstance(shown, Collective) else "",
        is_new=old is None,
        is_gone=new is None,
    )


def _sum(figures: Sequence[Figure]) -> Figure:
    known = [figure for figure in figures if figure is not None]
    return sum(known) if len(known) == len(figures) else None


# --- Collectives, live values and products --------------------------------------------------------


def _location_key(location: SourceLocation) -> str:
    return location.name_stack or location.path_text


def _collective_kind(collective: Collective) -> str:
    return f"{collective.kind} {collective.group}"


def _collective_tokens(collective: Collective) -> Tokens:
    kind, where = _collective_kind(collective), _location_key(collective.location)
    same = kind, collective.local_operands, collective.times, _wire_bytes(collective)
    return (same, where), same, (kind, where), (kind, collective.local_operands)


def _wire_bytes(collective: Collective) -> Figure:
    size = wire_bytes_of_runs(collective)
    return None if size is None else round(size)


def _value_tokens(live: LiveValue) -> Tokens:
    where = _location_key(live.location)
    return (live.type, live.bytes, where), (live.type, live.bytes), (live.type, where), live.type


def _product_tokens(product: Product) -> Tokens:
    where = _location_key(product.location)
    same = product.kind, product.times, _flops(product)
    return (same, where), same, (product.kind, where), (product.kind, product.global_flops)


def _flops(product: Product) -> Figure:
    return None if product.flops is None or product.times is None else product.flops * product.times.high
