"""The differences between two programs: shardings, communication, memory, compute, and what only one has.

Collectives, live values and products with the same figures are matched first, also where lines or operations
moved, and then those of the same kind at the same location. So what is left has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import TypeVar

from sdyopt.analysis.comparison.matching import Tokens, ValueMatch, match_values, pair_anywhere
from sdyopt.analysis.comparison.program_values import ProgramValue, ProgramValues, ValueRole, values_of
from sdyopt.analysis.comparison.value_sharding import same_annotation, same_placement
from sdyopt.analysis.figures.causes import stated_results, with_stated_results
from sdyopt.analysis.figures.figures import Collective, LiveValue, Product, Report
from sdyopt.analysis.figures.program_report import report_on
from sdyopt.analysis.figures.source_locations import SourceLocation
from sdyopt.analysis.figures.totals import flop_totals, time_range, wire_bytes_of_runs, wire_total
from sdyopt.base.dataclasses import dataclass, field
from sdyopt.mlir.ir.operation import Op
from sdyopt.shardy.notation.partition_spec import jax_type


@dataclass(frozen=True, slots=True)
class ShardingChange:
    """A value whose sharding differs; None in the program that does not have the value."""

    before: ProgramValue | None
    after: ProgramValue | None

    @property
    def value(self) -> ProgramValue:
        """The value after, or else before."""
        value = self.after or self.before
        assert value is not None
        return value

    @property
    def growth(self) -> int | None:
        """The number of bytes that one device has more; None if unknown."""
        old, new = self.before, self.after
        if old is None or new is None or old.bytes is None or new.bytes is None:
            return None
        return new.bytes - old.bytes

    def order(self, causes: set[tuple[object, ...]]) -> tuple[bool, bool, int]:
        """Causes first, then what users annotate, then those whose bytes changed most."""
        growth = self.growth
        return (
            cause_key(self.value) not in causes,
            not self.value.is_interface,
            -abs(growth) if growth is not None else 0,
        )


@dataclass(frozen=True, slots=True)
class ComparedProgram:
    """One of the programs to compare.

    `values` are those after the passes, `inputs` those before them; None if no passes ran, or the values are
    from a file. `title` names the program.
    """

    title: str
    values: ProgramValues
    report: Report
    inputs: ProgramValues | None = None


_COUNTERS = ("tensor<i32>", "tensor<ui32>", "tensor<1xi32>", "tensor<1xui32>")
# Programs of at least so many values are different ones if less than one in so many are in both.
_FEW_VALUES, _LEAST_COMMON = 20, 4


@dataclass(slots=True)
class ProgramComparison:
    """The differences between two programs.

    `annotations` are differences of the programs before the passes, and the cause of the others. `placements`
    are values of which devices have other slices, `openness` those that differ in open dimensions, priorities
    and replicated axes alone. `matched` counts the values that both programs have, `retyped` those of them
    whose type differs, `copies` the constants without a counterpart, which are usually copies of others.
    `costs` are None if one of the programs has shardings of GSPMD, which reports do not read. `assumptions`
    say which passes were assumed for each program. `reports` are their figures. `positions` counts the
    differences of counters and of numbers of devices, which are left out.
    """

    titles: tuple[str, str]
    before: ProgramValues
    after: ProgramValues
    costs: CostChanges | None
    reports: tuple[Report, Report]
    assumptions: tuple[str, str] = ("", "")
    matched: int = 0
    retyped: int = 0
    copies: int = 0
    positions: int = 0
    annotations: list[ShardingChange] = field(default_factory=list)
    placements: list[ShardingChange] = field(default_factory=list)
    openness: list[ShardingChange] = field(default_factory=list)
    only_before: list[ProgramValue] = field(default_factory=list)
    only_after: list[ProgramValue] = field(default_factory=list)

    @property
    def is_of_others(self) -> bool:
        """Whether the programs are different ones: few values of the smaller one are in both."""
        least = min(sum(1 for _ in self.before), sum(1 for _ in self.after))
        return least >= _FEW_VALUES and not self.before.is_partial and self.matched * _LEAST_COMMON < least

    @property
    def has_same_meshes(self) -> bool:
        """Whether both programs have the same meshes, by whatever names; GSPMD has none."""
        if self.costs is None and not (self.before.meshes and self.after.meshes):
            return True
        return list(self.before.meshes.values()) == list(self.after.meshes.values())

    @property
    def is_empty(self) -> bool:
        """Whether nothing differs."""
        changes = (self.annotations, self.placements, self.openness, self.only_before, self.only_after)
        has_same_costs = self.costs is None or self.costs.is_empty
        return not any(changes) and has_same_costs and self.has_same_meshes


def compare(before: ComparedProgram, after: ComparedProgram) -> ProgramComparison:
    """Compares two programs."""
    matching = match_values(before.values, after.values)
    is_gspmd = before.values.is_gspmd or after.values.is_gspmd
    costs = None if is_gspmd else cost_changes(before.report, after.report)
    reports = before.report, after.report
    comparison = ProgramComparison((before.title, after.title), before.values, after.values, costs, reports)
    comparison.assumptions = before.report.assumption, after.report.assumption
    comparison.matched = len({match.after for match in matching.matches})
    comparison.retyped = sum(1 for match in matching.matches if match.before.type != match.after.type)
    if before.inputs is not None and after.inputs is not None:
        comparison.annotations = _annotations(before.inputs, after.inputs)
    for match in matching.matches:
        change = ShardingChange(match.before, match.after)
        if not same_placement(match.before.sharding, match.after.sharding):
            comparison.placements.append(change)
        elif _differs_in_openness(match):
            comparison.openness.append(change)
    causes = {cause_key(change.value) for change in comparison.annotations}
    comparison.placements.sort(key=lambda change: change.order(causes))
    if before.values.is_partial or after.values.is_partial:
        return comparison
    only_before = [value for value in matching.only_before if not value.is_constant]
    only_after = [value for value in matching.only_after if not value.is_constant]
    comparison.copies = len(matching.only_before) + len(matching.only_after)
    comparison.copies -= len(only_before) + len(only_after)
    devices = max(
        (values.mesh.total_size for values in (before.values, after.values) if values.mesh), default=1
    )
    annotations = comparison.annotations
    comparison.only_before = [value for value in only_before if not _is_position(value, devices)]
    comparison.only_after = [value for value in only_after if not _is_position(value, devices)]
    comparison.annotations = [change for change in annotations if not _is_position(change.value, devices)]
    for left, all_values in (
        (comparison.only_before, only_before),
        (comparison.only_after, only_after),
        (comparison.annotations, annotations),
    ):
        comparison.positions += len(all_values) - len(left)
    return comparison


def _is_position(value: ProgramValue, devices: int) -> bool:
    """Whether a value is a counter of a loop, or the numbers of devices, which an `axis_index` needs."""
    if value.role in (ValueRole.ARGUMENT, ValueRole.RESULT) and value.label:
        return False
    return value.type in _COUNTERS or value.type in (f"tensor<{devices}xi32>", f"tensor<{devices}xui32>")


def _annotations(before: ProgramValues, after: ProgramValues) -> list[ShardingChange]:
    """The shardings that differ, in the order of the text, then removed values, then added ones."""
    matching = match_values(before, after)
    changes = [
        ShardingChange(match.before, match.after)
        for match in matching.matches
        if not same_annotation(match.before.sharding, match.after.sharding)
    ]
    added = [ShardingChange(None, value) for value in _annotated(matching.only_after)]
    return changes + [ShardingChange(value, None) for value in _annotated(matching.only_before)] + added


def _annotated(values: Iterable[ProgramValue]) -> Sequence[ProgramValue]:
    return [value for value in values if value.sharding is not None]


def _differs_in_openness(match: ValueMatch) -> bool:
    """Whether both have shardings that differ though devices have the same slices."""
    before, after = match.before.sharding, match.after.sharding
    return before is not None and after is not None and not same_annotation(before, after)


def cause_key(value: ProgramValue) -> tuple[object, ...]:
    """An approximate key of a value before and after passes, which rename values."""
    return value.role, value.function, value.label, value.op, value.type


@dataclass(frozen=True, slots=True)
class NamedModule:
    """A module with the name of its source, and the module before passes ran, if they did."""

    name: str
    op: Op
    before_passes: Op | None = None


def compare_modules(before: NamedModule, after: NamedModule) -> ProgramComparison:
    """The differences of two modules."""
    return compare(_program(before), _program(after))


def _program(module: NamedModule) -> ComparedProgram:
    source, report = module.before_passes, report_on(module.op)
    inputs = None if source is None else values_of(source, module.name)
    if source is not None:
        report = with_stated_results(report, stated_results(source))
    return ComparedProgram(module.name, values_of(module.op, module.name), report, inputs)


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
