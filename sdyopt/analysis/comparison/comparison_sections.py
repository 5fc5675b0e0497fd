"""The sections of a comparison: sentences and tables, the same for a terminal, Markdown and HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from sdyopt.analysis.comparison.comparison import ProgramComparison, ShardingChange
from sdyopt.analysis.comparison.cost_changes import CostChanges, FigureChange, TimeRange, TotalChange
from sdyopt.analysis.comparison.program_values import ProgramValue, ProgramValues, ValueRole
from sdyopt.analysis.comparison.value_sharding import dimensions_text
from sdyopt.analysis.figures.units import bytes_text, flops_text
from sdyopt.analysis.interface.pages.section import Row, Section
from sdyopt.analysis.report.sections import range_text
from sdyopt.base.diagnostics.text import counted
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.shardy.notation.partition_spec import jax_type, specs_or_dims

ARROW = "→"

# The heading of a section describes its table.
_NO_TITLE = ""

T = TypeVar("T")


def header_of(comparison: ProgramComparison) -> list[str]:
    """The programs, and their meshes."""
    before, after = comparison.titles
    assumed, assumed_after = comparison.assumptions
    if assumed == assumed_after:
        lines = [f"before  {before}", f"after   {after}", *([assumed] if assumed else [])]
    else:
        lines = [*_header_of(before, assumed, "before"), *_header_of(after, assumed_after, "after ")]
    if comparison.has_same_meshes:
        return [
            *lines,
            f"mesh    {_meshes_text(comparison.after if comparison.after.meshes else comparison.before)}",
        ]
    return [
        *lines,
        f"mesh    before: {_meshes_text(comparison.before)}",
        f"        after:  {_meshes_text(comparison.after)}",
    ]


def _header_of(title: str, assumption: str, name: str) -> list[str]:
    return [f"{name}  {title}", *([f"        {assumption}"] if assumption else [])]


def sections_of(comparison: ProgramComparison) -> list[Section]:
    """Causes first: annotations, shardings, costs, and values of one program."""
    return list(_sections(comparison))


def _sections(comparison: ProgramComparison) -> Iterator[Section]:
    if comparison.is_empty:
        yield Section(f"no difference: {_matched_text(comparison)}", _note(comparison))
        return
    if comparison.annotations:
        yield _sharding_section(
            comparison,
            f"{counted(len(comparison.annotations), 'annotation')} changed in the input",
            comparison.annotations,
        )
    placed = len(comparison.placements)
    section = _sharding_section(
        comparison, f"shardings: {placed} of {_matched_text(comparison)} changed", comparison.placements
    )
    section.sentences += _note(comparison)
    if comparison.retyped:
        section.sentences.append(f"{counted(comparison.retyped, 'value')} changed in type")
    yield section
    if comparison.openness:
        yield _sharding_section(
            comparison,
            f"{counted(len(comparison.openness), 'value')} with the same slices changed in open dimensions, "
            "priorities or replicated axes",
            comparison.openness,
        )
    if comparison.costs is not None:
        yield from _costs(comparison.costs)
    else:
        yield Section("communication, memory and compute are unknown for shardings of GSPMD")
    for program, values in (("before", comparison.only_before), ("after", comparison.only_after)):
        if values:
            yield _values_section(program, values)
    if comparison.copies:
        yield Section(f"{counted(comparison.copies, 'constant')} only in one program, as copies")


# --- Shardings ------------------------------------------------------------------------------------


def change_text(change: ShardingChange, mesh: Mesh | None) -> str:
    """The sharding before and after, as JAX writes it if that says all."""
    before, after = specs_or_dims(
        *(
            "absent" if value is None else dimensions_text(value.sharding, mesh)
            for value in (change.before, change.after)
        )
    )
    return f"{before} {ARROW} {after}"


def _sharding_section(
    comparison: ProgramComparison, heading: str, changes: Sequence[ShardingChange]
) -> Section:
    section = Section(heading)
    mesh = comparison.after.mesh or comparison.before.mesh
    has_functions = max(len(comparison.before.functions), len(comparison.after.functions)) > 1

    def rows() -> Iterator[Row]:
        for group in _grouped(changes, lambda change: (_row_key(change.value), change_text(change, mesh))):
            growth = [sharding_change.growth for sharding_change in group]
            size = None if None in growth else sum([number or 0 for number in growth])
            value, count = group[0].value, str(len(group))
            note = f"{jax_type(value.type)}: {change_text(group[0], mesh)}"
            yield (
                signed(size, bytes_text),
                count,
                _where(value),
                _what(value),
                _name(value, has_functions),
                note,
            )

    columns = ("change", "count", "where", "what", "value", "sharding")
    section.add_table(_NO_TITLE, columns, 2, rows(), has_notes=True)
    return section


def _row_key(value: ProgramValue) -> object:
    """The key that values in one row have in common; arguments and results have rows of their own."""
    if value.role is not ValueRole.OPERATION:
        return value
    return value.function, value.location.path_text, value.op, value.type


def _values_section(program: str, values: Sequence[ProgramValue]) -> Section:
    section = Section(f"{counted(len(values), 'value')} only {program}")
    rows = [
        (str(len(group)), _where(group[0]), _what(group[0]), _name(group[0], True), jax_type(group[0].type))
        for group in _grouped(values, _row_key)
    ]
    section.add_table(_NO_TITLE, ("count", "where", "what", "value", "type"), 1, rows)
    return section


def _grouped(items: Iterable[T], key_of: Callable[[T], object]) -> list[list[T]]:
    groups: dict[object, list[T]] = {}
    for item in items:
        groups.setdefault(key_of(item), []).append(item)
    return list(groups.values())


def _where(value: ProgramValue) -> str:
    return value.location.file_text or value.label


def _name(value: ProgramValue, has_functions: bool) -> str:
    return f"@{value.function} {value.name}" if has_functions else value.name


def _what(value: ProgramValue) -> str:
    return value.op.partition(".")[2] or value.op or value.role


def _meshes_text(values: ProgramValues) -> str:
    return ", ".join([Mesh.assembly.text(mesh) for mesh in values.meshes.values()]) or "none"


def _matched_text(comparison: ProgramComparison) -> str:
    return counted(comparison.matched, "value") + (
        " at the peak of memory" if comparison.before.is_partial else ""
    )


def _note(comparison: ProgramComparison) -> list[str]:
    if not comparison.before.is_partial:
        return []
    return ["a report has no other shardings: compare with the program or a snapshot to see all"]


# --- Costs ----------------------------------------------------------------------------------------


def _costs(costs: CostChanges) -> Iterator[Section]:
    old, new = costs.collectives
    numbers = counted(new, "collective") if old == new else f"{old} {ARROW} {new} collectives"
    yield _cost_section("communication", costs.wire_bytes, bytes_text, f"on the wire per device, {numbers}")
    memory = _cost_section("memory per device", costs.peak_memory, bytes_text, "at the peak")
    old, new = costs.argument_memory
    if old != new:
        memory.sentences.append(f"arguments {_totals(old, new, bytes_text)}")
    yield memory
    if costs.flops.before or costs.flops.after:
        yield _cost_section("compute per device", costs.flops, flops_text, "")
    if any(costs.times):
        yield Section(f"estimated time: {times_change(costs.times)}")


def times_change(times: tuple[TimeRange | None, TimeRange | None]) -> str:
    """`1.00 s to 2.00 s → 1.50 s to 2.00 s`."""
    old, new = ("unknown" if time is None else range_text(*time) for time in times)
    return old if old == new else f"{old} {ARROW} {new}"


def _cost_section(name: str, total: TotalChange, text: Callable[[int | None], str], what: str) -> Section:
    section = Section(f"{name}: {_totals(total.before, total.after, text)} {what}".rstrip())
    rows = [_cost_row(change, text) for change in total.parts]
    columns: Row = ("change", "after", "count", "where", "kind", "why")
    has_causes = any(change.cause for change in total.parts)
    if not has_causes:
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    section.add_table(_NO_TITLE, columns, 3, rows, has_causes)
    return section


def _cost_row(change: FigureChange, text: Callable[[int | None], str]) -> Row:
    after = "none" if change.is_gone else text(change.after)
    growth = signed(change.growth, text)
    return growth, after, str(change.count), change.location.file_text, change.kind, change.cause


def _totals(before: int, after: int, text: Callable[[int | None], str]) -> str:
    if before == after:
        return text(after)
    return f"{text(before)} {ARROW} {text(after)} ({signed(after - before, text)})"


def signed(size: int | None, text: Callable[[int | None], str]) -> str:
    """`+1.5 MiB`, `-2 KiB`, or "0" for no change."""
    if size is None:
        return "unknown"
    return f"{'+' if size > 0 else '-'}{text(abs(size))}" if size else "0"
