"""The sections of a comparison: sentences and tables, the same for a terminal, Markdown and HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from sdyopt.analysis.comparison.comparison import (
    CostChanges,
    FigureChange,
    ProgramComparison,
    ShardingChange,
    TimeRange,
    TotalChange,
    cause_key,
)
from sdyopt.analysis.comparison.program_values import CONSTRAINT, ProgramValue, ProgramValues, ValueRole
from sdyopt.analysis.comparison.value_sharding import dimensions_text
from sdyopt.analysis.figures.figures import Report
from sdyopt.analysis.figures.totals import wire_total
from sdyopt.analysis.figures.units import bytes_text, flops_text
from sdyopt.analysis.interface.pages.section import Row, Section
from sdyopt.analysis.report.sections import range_text
from sdyopt.base.diagnostics.text import counted
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.value_names import grouped_names, pattern_of, tree_of
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
    if comparison.is_of_others:
        smaller = min(sum(1 for _ in values) for values in (comparison.before, comparison.after))
        common = f"{comparison.matched} of {smaller} values are in both"
        lines.append(f"warning: these are different programs: {common}, so only figures are compared")
    lines += _compiled_line(*comparison.reports)
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


def _compiled_line(before: Report, after: Report) -> Iterator[str]:
    """The figures of both programs as the compiler of the machine compiles them; none without it."""
    one, other = before.compiled, after.compiled
    if one is None or other is None:
        return
    sent, peaks = (
        tuple(bytes_text(figure(compiled.figures)) for compiled in (one, other))
        for figure in (lambda report: wire_total(report).high, lambda report: report.memory.peak)
    )
    figures = f"{sent[0]} {ARROW} {sent[1]} sent, {peaks[0]} {ARROW} {peaks[1]} at the peak"
    yield f"{other.compiler} for {other.target}: {figures}; what follows is estimated"


def _header_of(title: str, assumption: str, name: str) -> list[str]:
    return [f"{name}  {title}", *([f"        {assumption}"] if assumption else [])]


def sections_of(comparison: ProgramComparison) -> list[Section]:
    """Causes first: annotations, shardings, costs, and values of one program."""
    return list(_sections(comparison))


def _sections(comparison: ProgramComparison) -> Iterator[Section]:
    if comparison.is_empty:
        sentences = [*_note(comparison), *_positions(comparison)]
        yield Section(f"no difference: {_matched_text(comparison)}", sentences)
        return
    if comparison.is_of_others:
        # What differs between the values of different programs says nothing.
        if comparison.costs is not None:
            yield from _costs(comparison.costs)
        return
    if comparison.annotations:
        yield _annotation_section(comparison)
    placed, causes = len(comparison.placements), {cause_key(item.value) for item in comparison.annotations}
    # Those of the inputs are above.
    effects = [item for item in comparison.placements if cause_key(item.value) not in causes]
    effects = effects or comparison.placements
    section = _sharding_section(
        comparison, f"shardings: {placed} of {_matched_text(comparison)} changed", effects
    )
    section.sentences += [*_note(comparison), *_positions(comparison)]
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


def _annotation_section(comparison: ProgramComparison) -> Section:
    """What a person wrote otherwise: statements, then inputs and results; then how much follows from that."""
    changes = comparison.annotations
    written = [item for item in changes if item.value.op != CONSTRAINT or item.value.statement] or changes
    heading, derived = (
        f"{counted(len(written), 'annotation')} changed in the input",
        len(changes) - len(written),
    )
    if derived:
        heading += f", and {derived} that JAX derives from them"
    written = sorted(written, key=lambda item: item.value.op != CONSTRAINT)
    return _sharding_section(comparison, heading, written)


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

    groups = _trees(
        _grouped(changes, lambda change: (_row_key(change.value), change_text(change, mesh))), mesh
    )
    if any(item.growth for group in groups for item in group):
        # Where devices have as much of it as before, little is to be seen.
        same = [group for group in groups if all(item.growth == 0 for item in group)]
        groups = [group for group in groups if group not in same]
        if same:
            number = sum(map(len, same))
            verb = "has" if number == 1 else "have"
            section.sentences.append(f"{number} of these values {verb} as many bytes as before")

    def rows() -> Iterator[Row]:
        for group in groups:
            growth = [sharding_change.growth for sharding_change in group]
            size = None if None in growth else sum([number or 0 for number in growth])
            value, count = group[0].value, str(len(group))
            is_one_sided = group[0].before is None or group[0].after is None
            texts = list(dict.fromkeys(change_text(item, mesh) for item in group))
            note = f"{jax_type(value.type)}: {texts[0]}"
            if len(texts) > 1:
                note = f"{texts[0]}, and {counted(len(texts) - 1, 'other')} like it"
            yield (
                "" if is_one_sided else signed(size, bytes_text),
                count,
                _where(value) if len(group) == 1 else grouped_names(_where(item.value) for item in group)[0],
                _what(value),
                _name(value, has_functions),
                note,
            )

    columns = ("change", "count", "where", "what", "value", "sharding")
    section.add_table(_NO_TITLE, columns, 2, rows(), has_notes=True)
    return section


def _trees(groups: list[list[ShardingChange]], mesh: Mesh | None) -> list[list[ShardingChange]]:
    """The rows, with one for many leaves of a tree that get the same sharding: an optimizer's state."""
    joined: dict[object, list[list[ShardingChange]]] = {}
    for number, group in enumerate(groups):
        value = group[0].value
        is_leaf = value.role in (ValueRole.ARGUMENT, ValueRole.RESULT) and bool(value.label)
        after = change_text(group[0], mesh).rpartition(ARROW)[2]
        key = (value.role, value.function, tree_of(value.label), after) if is_leaf else number
        joined.setdefault(key, []).append(group)
    result: list[list[ShardingChange]] = []
    for same in joined.values():
        members = [item for group in same for item in group]
        is_tree = len(grouped_names(item.value.label for item in members)) == 1
        result += [members] if is_tree else same
    return result


def _row_key(value: ProgramValue) -> object:
    """The key that values in one row have in common: those of a line, and the same leaves of all layers."""
    if value.role is not ValueRole.OPERATION:
        return (value.role, value.function, pattern_of(value.label)) if value.label else value
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
    return value.written_at or value.location.file_text or value.label


def _name(value: ProgramValue, has_functions: bool) -> str:
    return f"@{value.function} {value.name}" if has_functions else value.name


# What JAX lowers a `shard_map` to.
_SHARD_MAP = "sdy.manual_computation"


def _what(value: ProgramValue) -> str:
    if value.op == _SHARD_MAP and value.location.name_stack:
        return "shard_map"
    return value.statement or value.op.partition(".")[2] or value.op or value.role


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


def _positions(comparison: ProgramComparison) -> list[str]:
    if not comparison.positions:
        return []
    differences = counted(comparison.positions, "difference")
    return [f"left out: {differences} in loop counters and numbers of devices"]


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
    # What is as much as before is no reason for a difference.
    parts = [part for part in total.parts if part.growth] or total.parts
    rows = [_cost_row(change, text) for change in parts]
    columns: Row = ("change", "after", "count", "where", "kind", "why")
    has_causes = any(change.cause for change in parts)
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
