"""Snapshots: the shardings of arguments, results and located values, as data that diffs well under git.

Keys are names that the program gives: names of arguments, name stacks, functions and files, but no SSA names
and no line numbers. Values with equal keys and shardings are one entry with a count, so that a model with
more layers has the same entries. Entries of values are sorted; arguments and results keep their order.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from sdyopt.analysis.comparison.program_values import ProgramValue, ProgramValues, ValueRole
from sdyopt.analysis.comparison.value_sharding import ValueSharding
from sdyopt.analysis.figures.located_files import JsonFile, JsonReader, Path
from sdyopt.analysis.figures.source_locations import NO_LOCATION, SourceLocation
from sdyopt.base.dataclasses import dataclass, field
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.text import printable_json
from sdyopt.mlir.dialects.sdy.axes import AxisRef, axis_ref_text
from sdyopt.mlir.dialects.sdy.mesh import Mesh

# A sharding as JSON: axes per dimension, or the text of GSPMD; and what else it has.
ShardingData = dict[str, Any]


@dataclass(slots=True)
class SnapshotEntry:
    """An argument or result of this name, or `count` values whose name stack or operation is `name`.

    `inside` is the user's function and file of the values. `location` is that of the first value; `path` is
    the path of the entry in the file that it is read from.
    """

    name: str
    inside: str
    type: str
    sharding: ShardingData
    count: int = 1
    location: SourceLocation = NO_LOCATION
    path: tuple[str | int, ...] = ()

    @property
    def key(self) -> tuple[str, str, str]:
        return self.name, self.inside, self.type

    def function_entry(self) -> str:
        name = {"name": self.name} if self.name else {}
        return _json({**name, "type": self.type, **self.sharding})

    def value_entry(self) -> str:
        inside = {"in": self.inside} if self.inside else {}
        count = {"count": self.count} if self.count > 1 else {}
        return _json({"at": self.name, **inside, "type": self.type, **self.sharding, **count})


@dataclass(slots=True)
class FunctionEntries:
    """The arguments and the results of a public function."""

    arguments: list[SnapshotEntry] = field(default_factory=list)
    results: list[SnapshotEntry] = field(default_factory=list)


@dataclass(slots=True)
class Snapshot:
    """The shardings of a program.

    With `places`, `values` are only those whose name stack or file contains one of them.
    """

    places: tuple[str, ...] = ()
    meshes: dict[str, str] = field(default_factory=dict)
    functions: dict[str, FunctionEntries] = field(default_factory=dict)
    values: list[SnapshotEntry] = field(default_factory=list)


def snapshot_of(program: ProgramValues, places: Sequence[str] = ()) -> Snapshot:
    """The snapshot of a program."""
    snapshot = Snapshot(tuple(places))
    snapshot.meshes = {name: mesh_text(mesh) for name, mesh in program.meshes.items()}
    functions = sorted(program.functions, key=lambda function: function.name)
    for function in functions:
        if function.is_public:
            snapshot.functions[function.name] = FunctionEntries(
                [_entry(value, value.label, "", program) for value in function.arguments],
                [_entry(value, value.label, "", program) for value in function.results],
            )
    values = [value for function in program.functions for value in function.body]
    # One entry for all with the same key and sharding, sorted.
    result: dict[tuple[object, ...], SnapshotEntry] = {}
    for entry in _value_entries(values, program, places):
        key = (*entry.key, repr(entry.sharding))
        if key in result:
            result[key].count += 1
        else:
            result[key] = entry
    snapshot.values = [result[key] for key in sorted(result, key=str)]
    return snapshot


def mesh_text(mesh: Mesh) -> str:
    """`data=4, model=2`, as --mesh accepts it."""
    parts = [f"{axis.name}={axis.size}" for axis in mesh.axes]
    if mesh.device_ids:
        parts.append(f"device_ids=[{','.join(map(str, mesh.device_ids))}]")
    return ", ".join(parts)


def _value_entries(
    values: Iterable[ProgramValue], program: ProgramValues, places: Sequence[str]
) -> Iterator[SnapshotEntry]:
    """The tensors that have a location, except constants and scalars."""
    for value in values:
        if not value.is_located or value.rank < 1 or value.is_constant:
            continue
        label_and_file = f"{value.label}\n{value.location.file}"
        if places and not any(text in label_and_file for text in places):
            continue
        name = value.label or value.op
        if value.role is ValueRole.MANUAL_INPUT:
            name = f"{name} input"
        yield _entry(value, name, value.code, program)


def _entry(value: ProgramValue, name: str, inside: str, program: ProgramValues) -> SnapshotEntry:
    return SnapshotEntry(
        _utf8(name), _utf8(inside), value.type, sharding_data(value, program), location=value.location
    )


def _utf8(text: str) -> str:
    """The text without bytes that are not UTF-8, which names in a program may have, and JSON may not."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


# --- Shardings ------------------------------------------------------------------------------------


def sharding_data(value: ProgramValue, program: ProgramValues) -> ShardingData:
    """The sharding of a value as JSON: the main field `sharding`, and further ones that are rarely needed.

    A tensor without a sharding is replicated. The mesh is that with the most devices, if no other is named.
    """
    value_sharding = value.sharding
    if value_sharding is None:
        return {"sharding": None if value.rank < 0 else [[] for _ in range(value.rank)]}
    if value_sharding.sharding is None:
        return {"sharding": value_sharding.gspmd}
    sharding = value_sharding.sharding
    data: ShardingData = {"sharding": [list(map(_axis_text, dim.axes)) for dim in sharding.dims]}
    open_dims = [number for number, dim in enumerate(sharding.dims) if not dim.is_closed]
    priorities = {
        str(number): dim.priority for number, dim in enumerate(sharding.dims) if dim.priority is not None
    }
    optional = {
        "open": open_dims,
        "priorities": priorities,
        "replicated": list(map(_axis_text, sharding.replicated_axes)),
        "unreduced": list(map(_axis_text, sharding.unreduced_axes)),
        "mesh": _mesh_name(value_sharding, program),
    }
    return data | {key: part for key, part in optional.items() if part}


def _axis_text(axis: AxisRef) -> str:
    """`x` or `x:(1)2`."""
    return axis.name + axis_ref_text(axis).removeprefix(f'"{axis.name}"') if axis.sub_axis else axis.name


def _mesh_name(sharding: ValueSharding, program: ProgramValues) -> str:
    """The name of the mesh, or the mesh if it is inlined; empty for the one with the most devices."""
    if sharding.mesh is None or sharding.mesh is program.mesh:
        return ""
    assert sharding.sharding is not None
    return sharding.sharding.mesh_name or mesh_text(sharding.mesh)


SCHEMA = "sdy-opt-snapshot"
VERSION = 1


# --- Writing --------------------------------------------------------------------------------------


def snapshot_text(snapshot: Snapshot) -> str:
    """The text of a snapshot file."""
    return "\n".join(_lines(snapshot)) + "\n"


def _lines(snapshot: Snapshot) -> Iterator[str]:
    yield "{"
    yield f' "schema": {_json(SCHEMA)},'
    yield f' "version": {VERSION},'
    if snapshot.places:
        yield f' "places": {_json(list(snapshot.places))},'
    yield from _block(' "meshes": {', [f"{_json(n)}: {_json(m)}" for n, m in snapshot.meshes.items()], "},")
    yield ' "functions": {'
    for number, (name, function) in enumerate(snapshot.functions.items()):
        yield f"  {_json(name)}: {{"
        yield from _block(
            '   "arguments": [', list(map(SnapshotEntry.function_entry, function.arguments)), "],"
        )
        yield from _block('   "results": [', list(map(SnapshotEntry.function_entry, function.results)), "]")
        yield "  }," if number + 1 < len(snapshot.functions) else "  }"
    yield " },"
    yield from _block(' "values": [', list(map(SnapshotEntry.value_entry, snapshot.values)), "]")
    yield "}"


def _block(opening: str, items: Sequence[str], closing: str) -> Iterator[str]:
    """A list or an object with an item on each line."""
    if not items:
        yield opening + closing
        return
    indent = " " * (len(opening) - len(opening.lstrip()))
    yield opening
    for number, item in enumerate(items):
        yield f"{indent} {item}{',' if number + 1 < len(items) else ''}"
    yield indent + closing


def _json(value: Any) -> str:
    return printable_json(json.dumps(value, ensure_ascii=False))


# --- Reading --------------------------------------------------------------------------------------


def read_snapshot(name: str, text: str) -> tuple[Snapshot, JsonFile]:
    """The snapshot in a text, with its lines; DiagnosticError, located in the file, for any other text."""
    try:
        file = JsonFile(name, text)
        return _SnapshotReader(file).snapshot(), file
    except DiagnosticError as error:
        raise error.help("write a snapshot with --snapshot=FILE.json") from None


class _SnapshotReader(JsonReader):
    """Reads a snapshot. Raises DiagnosticError at what no snapshot contains."""

    def snapshot(self) -> Snapshot:
        self.check_schema("snapshot", SCHEMA, VERSION)
        places = self._texts(("places",)) if self.has(("places",)) else []
        snapshot = Snapshot(tuple(places))
        snapshot.meshes = {name: self.text(("meshes", name)) for name in self.keys(("meshes",))}
        for name in self.keys(("functions",)):
            snapshot.functions[name] = FunctionEntries(
                [self._function_entry(path) for path in self.entries(("functions", name, "arguments"))],
                [self._function_entry(path) for path in self.entries(("functions", name, "results"))],
            )
        snapshot.values = [self._value_entry(path) for path in self.entries(("values",))]
        return snapshot

    def _function_entry(self, path: Path) -> SnapshotEntry:
        name = self._optional_text((*path, "name"))
        return SnapshotEntry(name, "", self.text((*path, "type")), self._sharding(path), path=path)

    def _value_entry(self, path: Path) -> SnapshotEntry:
        count = self.integer((*path, "count")) if self.has((*path, "count")) else 1
        return SnapshotEntry(
            self.text((*path, "at")),
            self._optional_text((*path, "in")),
            self.text((*path, "type")),
            self._sharding(path),
            count,
            path=path,
        )

    def _sharding(self, path: Path) -> ShardingData:
        """The fields of a sharding: axes for each dimension, the text of GSPMD, or null; and further ones."""
        if not isinstance(self.at((*path, "sharding")), str | None):
            for dim in self.entries((*path, "sharding")):
                self._texts(dim)
        sharding = {"sharding": self.at((*path, "sharding"))}
        for key, check in self._optional_fields.items():
            if self.has((*path, key)):
                check((*path, key))
                sharding[key] = self.at((*path, key))
        return sharding

    @property
    def _optional_fields(self) -> dict[str, Callable[[Path], object]]:
        """The fields that are checked when they are there."""
        return {
            "open": lambda path: list(map(self.integer, self.entries(path))),
            "priorities": lambda path: [self.integer((*path, key)) for key in self.keys(path)],
            "replicated": self._texts,
            "unreduced": self._texts,
            "mesh": self.text,
        }

    def _texts(self, path: Path) -> list[str]:
        return [self.text(entry) for entry in self.entries(path)]

    def _optional_text(self, path: Path) -> str:
        return self.text(path) if self.has(path) else ""
