"""Writes the snapshot of a program, and compares a program with one: an error for each difference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sdyopt.analysis.comparison.comparison import NamedModule
from sdyopt.analysis.comparison.matching import Tokens, align, pair_anywhere
from sdyopt.analysis.comparison.program_values import ProgramValues, values_of
from sdyopt.analysis.comparison.snapshot import Options
from sdyopt.analysis.comparison.snapshot.snapshot import (
    FunctionEntries,
    ShardingData,
    Snapshot,
    SnapshotEntry,
    read_snapshot,
    snapshot_of,
    snapshot_text,
)
from sdyopt.analysis.figures.located_files import Path
from sdyopt.analysis.figures.source_locations import is_in_library
from sdyopt.analysis.interface import Analysis, Program, Run
from sdyopt.analysis.interface.flag import STDOUT
from sdyopt.analysis.report.budget import file_location
from sdyopt.base.dataclasses import dataclass
from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, emit
from sdyopt.base.diagnostics.ids import SNAPSHOT_DIFFERENCE, SNAPSHOT_ERROR, identified, identify
from sdyopt.base.diagnostics.location import FileLoc
from sdyopt.base.diagnostics.text import counted, native_path
from sdyopt.base.diagnostics.whole_files import read_settings_file
from sdyopt.shardy.notation.partition_spec import jax_type, specs_or_dims


class Snapshots(Analysis[Options]):
    """The snapshot of one run."""

    phase = "Report"

    def __init__(self, options: Options, run: Run) -> None:
        super().__init__(options, run)
        run.check_is_one_chunk(
            "a snapshot is of one program", "take a snapshot of each chunk in a file of its own"
        )
        with identified(SNAPSHOT_ERROR):
            earlier = options.check_snapshot
            self._check = None if earlier is None else SnapshotCheck(*earlier)

    def on_output(self, program: Program) -> None:
        path = self.options.snapshot
        values = values_of(program.after_given_passes, self.run.name)
        if path is not None:
            text = self.text(values)
            if path == STDOUT:
                self.texts.append(text)
            else:
                self.run.write_file(path, text)
        for difference in self.differences(values):
            self.is_passed = False
            emit(difference)

    def text(self, values: ProgramValues) -> str:
        """The text of the snapshot."""
        return snapshot_text(snapshot_of(values, self.options.snapshot_places))

    def differences(self, values: ProgramValues) -> Iterator[Diagnostic]:
        """An error for each difference from the earlier snapshot, if there is one."""
        if self._check is not None:
            places = self.options.snapshot_places or self._check.snapshot.places
            for difference in self._check.differences(snapshot_of(values, places)):
                identify(difference, SNAPSHOT_DIFFERENCE)
                yield difference


# The maximum number of differences that are shown one by one.
SHOWN = 20

_NEW = "the snapshot does not have it"
_GONE = "the program does not have it"


@dataclass(frozen=True, slots=True)
class _Difference:
    """A difference in words, with the entry of the program and that of the snapshot, if it is about entries.

    `path` is the path in the snapshot for any other difference.
    """

    message: str
    now: SnapshotEntry | None
    recorded: SnapshotEntry | None
    path: Path = ()


class SnapshotCheck:
    """A check against an earlier snapshot. Raises DiagnosticError, located in the file, for other texts."""

    def __init__(self, name: str, text: str) -> None:
        self.snapshot, self._file = read_snapshot(name, text)

    def differences(self, now: Snapshot) -> Iterator[Diagnostic]:
        """An error for each difference, with help in the last one."""
        differences = list(_differences(self.snapshot, now))
        shown = [self._error(difference) for difference in differences[:SHOWN]]
        if not shown:
            return
        if len(differences) > SHOWN:
            rest = counted(len(differences) - SHOWN, "more difference")
            shown.append(self._file.error(f"{rest} from the snapshot"))
        shown[-1].help(f"if this is intended, write the snapshot again with --snapshot={self._file.name}")
        for error in shown:
            yield error.diagnostic

    def _error(self, difference: _Difference) -> DiagnosticError:
        path = (*difference.recorded.path, "sharding") if difference.recorded is not None else difference.path
        recorded = self._file.location(path)
        location = (
            None
            if difference.now is None or not difference.now.location.line
            else file_location(difference.now.location)
        )
        if location is None:
            return DiagnosticError.at(recorded, difference.message).within(self._file.source)
        error = DiagnosticError.at(location, difference.message)
        assert difference.now is not None
        callers = (frame for frame in difference.now.location.frames[1:] if not is_in_library(frame))
        if caller := next(callers, None):
            error.note("called from", FileLoc(caller.file, caller.line, caller.column))
        return error if difference.recorded is None else error.note("the snapshot is here", recorded)


# --- Differences ----------------------------------------------------------------------------------


def _differences(recorded: Snapshot, now: Snapshot) -> Iterator[_Difference]:
    yield from _mesh_differences(recorded, now)
    for name in sorted({*recorded.functions, *now.functions}):
        old, new = recorded.functions.get(name), now.functions.get(name)
        if old is None or new is None:
            reason = _NEW if old is None else _GONE
            path = () if old is None else ("functions", name)
            yield _Difference(f"function @{name}: {reason}", None, None, path)
            continue
        yield from _function_differences(name, old, new)
    # Differences by key. Of the values with one key, some may have another sharding than before.
    before, after = _by_key(recorded.values), _by_key(now.values)
    for key in sorted({*before, *after}):
        yield from _key_differences(before.get(key, {}), after.get(key, {}))


def _mesh_differences(recorded: Snapshot, now: Snapshot) -> Iterator[_Difference]:
    for name in dict.fromkeys([*recorded.meshes, *now.meshes]):
        old, new = recorded.meshes.get(name), now.meshes.get(name)
        if old != new:
            before, after = ("missing" if mesh is None else f"<{mesh}>" for mesh in (old, new))
            path = ("meshes",) if old is None else ("meshes", name)
            yield _Difference(f"mesh @{name} changed from {before} to {after}", None, None, path)


def _function_differences(name: str, old: FunctionEntries, new: FunctionEntries) -> Iterator[_Difference]:
    for what, before, after in (
        ("argument", old.arguments, new.arguments),
        ("result", old.results, new.results),
    ):

        def described(number: int, entry: SnapshotEntry, what: str = what) -> str:
            return f"{what} {number}{f' {entry.name}' if entry.name else ''} of @{name}"

        yield from _aligned_differences(before, after, described)


def _aligned_differences(
    old: Sequence[SnapshotEntry], new: Sequence[SnapshotEntry], described: Callable[[int, SnapshotEntry], str]
) -> Iterator[_Difference]:
    tokens, other_tokens = list(map(_tokens, old)), list(map(_tokens, new))
    pairs = align(tokens, other_tokens)
    pairs += pair_anywhere(tokens, other_tokens, 2, pairs)
    of_new = {other: index for index, other in pairs}
    for number, entry in enumerate(new):
        if number not in of_new:
            yield _Difference(f"{described(number, entry)}, {_text(entry)}: {_NEW}", entry, None)
            continue
        before = old[of_new[number]]
        if before.type != entry.type:
            yield _Difference(
                f"{described(number, entry)} changed from {_text(before)} to {_text(entry)}", entry, before
            )
        elif before.sharding != entry.sharding:
            yield _Difference(f"{described(number, entry)}, {_change(before, entry)}", entry, before)
    paired = set(of_new.values())
    for number, entry in enumerate(old):
        if number not in paired:
            yield _Difference(f"{described(number, entry)}, {_text(entry)}: {_GONE}", None, entry)


def _tokens(entry: SnapshotEntry) -> Tokens:
    name = entry.name or None
    return name and (name, entry.type), name, (entry.type, repr(entry.sharding)), entry.type


def _key_differences(old: dict[str, SnapshotEntry], new: dict[str, SnapshotEntry]) -> Iterator[_Difference]:
    """The differences of values with one key; their entries are given by sharding."""
    total = sum([entry.count for entry in new.values()])
    fewer = [(old[name], old[name].count - _count(new, name)) for name in old]
    more = [(new[name], new[name].count - _count(old, name)) for name in new]
    gone = [(entry, count) for entry, count in fewer if count > 0]
    added = [(entry, count) for entry, count in more if count > 0]
    while gone and added:
        (was, lost), (entry, won) = gone.pop(0), added.pop(0)
        moved = min(lost, won)
        share = "" if moved == total else f" of {moved} of {total} values"
        yield _Difference(f"{_value(entry)}, {_change(was, entry, share)}", entry, was)
        if lost > moved:
            gone.insert(0, (was, lost - moved))
        if won > moved:
            added.insert(0, (entry, won - moved))
    for entry, count in added:
        yield _Difference(f"{_values(count, entry)}: {_NEW}", entry, old.get(repr(entry.sharding)))
    for entry, count in gone:
        yield _Difference(f"{_values(count, entry)}: {_GONE}", new.get(repr(entry.sharding)), entry)


def _by_key(entries: Sequence[SnapshotEntry]) -> dict[tuple[str, str, str], dict[str, SnapshotEntry]]:
    entries_by_key: dict[tuple[str, str, str], dict[str, SnapshotEntry]] = {}
    for entry in entries:
        entries_by_key.setdefault(entry.key, {})[repr(entry.sharding)] = entry
    return entries_by_key


def _count(entries: dict[str, SnapshotEntry], sharding: str) -> int:
    return entries[sharding].count if sharding in entries else 0


# --- Text -----------------------------------------------------------------------------------------


def _value(entry: SnapshotEntry) -> str:
    return f"{entry.name} ({entry.inside})" if entry.inside else entry.name


def _values(count: int, entry: SnapshotEntry) -> str:
    number = f"{count} values " if count > 1 else ""
    return f"{number}{_value(entry)}, {_text(entry)}"


def _change(before: SnapshotEntry, after: SnapshotEntry, share: str = "") -> str:
    old, new = specs_or_dims(sharding_text_of(before.sharding), sharding_text_of(after.sharding))
    return f"{jax_type(after.type)}: sharding{share} changed from {old} to {new}"


def _text(entry: SnapshotEntry) -> str:
    text = sharding_text_of(entry.sharding)
    return f"{jax_type(entry.type)} {specs_or_dims(text, 'none')[0]}"


def sharding_text_of(data: ShardingData) -> str:
    """`[{"x", ?}, {}]`: the sharding of an entry in the notation of sdy."""
    dims = data["sharding"]
    if not isinstance(dims, list):
        return "none" if dims is None else str(dims)
    open_dims, priorities = data.get("open", []), data.get("priorities", {})
    parts = []
    for number, axes in enumerate(dims):
        names = [*map(_quoted, axes), *(["?"] if number in open_dims else [])]
        priority = priorities.get(str(number))
        parts.append(f"{{{', '.join(names)}}}" + ("" if priority is None else f"p{priority}"))
    others = [
        f", {word}={{{', '.join(map(_quoted, data[word]))}}}"
        for word in ("replicated", "unreduced")
        if word in data
    ]
    mesh = f" on {data['mesh']}" if "mesh" in data else ""
    return f"[{', '.join(parts)}]{''.join(others)}{mesh}"


def _quoted(axis: str) -> str:
    name, colon, sub_axis = axis.partition(":(")
    return f'"{name}"{colon}{sub_axis}'


# Snapshots for callers that have modules.
#
#     Path("shardings.json").write_text(snapshot_of_module(NamedModule("new.mlir", new)))
#     check_module(NamedModule("new.mlir", new), "shardings.json")
#
# Faulty files raise DiagnosticError, located in the file; files that cannot be read, OSError.


def snapshot_of_module(module: NamedModule, places: Sequence[str] = ()) -> str:
    """The text of the snapshot of a module, limited to values at these places."""
    return snapshot_text(snapshot_of(values_of(module.op, module.name), places))


def check_module(module: NamedModule, path: str) -> list[Diagnostic]:
    """An error for each difference of a module from a snapshot."""
    text = read_settings_file(native_path(path))
    check = SnapshotCheck(path, text)
    now = snapshot_of(values_of(module.op, module.name), check.snapshot.places)
    return list(check.differences(now))
