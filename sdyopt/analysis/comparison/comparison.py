"""The differences between two programs: shardings, costs, and what only one of them has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sdyopt.analysis.comparison.cost_changes import CostChanges, cost_changes
from sdyopt.analysis.comparison.matching import ValueMatch, match_values
from sdyopt.analysis.comparison.program_values import ProgramValue, ProgramValues, values_of
from sdyopt.analysis.comparison.value_sharding import same_annotation, same_placement
from sdyopt.analysis.figures.figures import Report
from sdyopt.analysis.figures.program_report import report_on
from sdyopt.base.dataclasses import dataclass, field
from sdyopt.mlir.ir.operation import Op


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


@dataclass(slots=True)
class ProgramComparison:
    """The differences between two programs.

    `annotations` are differences of the programs before the passes, and the cause of the others. `placements`
    are values of which devices have other slices, `openness` those that differ in open dimensions, priorities
    and replicated axes alone. `matched` counts the values that both programs have, `retyped` those of them
    whose type differs, `copies` the constants without a counterpart, which are usually copies of others.
    `costs` are None if one of the programs has shardings of GSPMD, which reports do not read. `assumptions`
    say which passes were assumed for each program. `reports` are their figures.
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
    annotations: list[ShardingChange] = field(default_factory=list)
    placements: list[ShardingChange] = field(default_factory=list)
    openness: list[ShardingChange] = field(default_factory=list)
    only_before: list[ProgramValue] = field(default_factory=list)
    only_after: list[ProgramValue] = field(default_factory=list)

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
    comparison.placements.sort(key=lambda change: _order(change, causes))
    if before.values.is_partial or after.values.is_partial:
        return comparison
    comparison.only_before = [value for value in matching.only_before if not value.is_constant]
    comparison.only_after = [value for value in matching.only_after if not value.is_constant]
    comparison.copies = len(matching.only_before) + len(matching.only_after)
    comparison.copies -= len(comparison.only_before) + len(comparison.only_after)
    return comparison


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


def _order(change: ShardingChange, causes: set[tuple[object, ...]]) -> tuple[bool, bool, int]:
    """Causes first, then what users annotate, then those whose bytes changed most."""
    growth = change.growth
    return (
        cause_key(change.value) not in causes,
        not change.value.is_interface,
        -abs(growth) if growth is not None else 0,
    )


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
    inputs = None if module.before_passes is None else values_of(module.before_passes, module.name)
    return ComparedProgram(module.name, values_of(module.op, module.name), report_on(module.op), inputs)
