"""The JSON of a snapshot: one value per line, so that a changed sharding is a changed line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sdyopt.analysis.figures.json_file import JsonFile, JsonReader, Path
from sdyopt.analysis.snapshot.snapshot import Entry, FunctionEntries, ShardingData, Snapshot
from sdyopt.base.diagnostics.diagnostic import DiagnosticError

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
        yield from _block('   "arguments": [', list(map(_function_entry, function.arguments)), "],")
        yield from _block('   "results": [', list(map(_function_entry, function.results)), "]")
        yield "  }," if number + 1 < len(snapshot.functions) else "  }"
    yield " },"
    yield from _block(' "values": [', list(map(_value_entry, snapshot.values)), "]")
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


def _function_entry(entry: Entry) -> str:
    name = {"name": entry.name} if entry.name else {}
    return _json({**name, "type": entry.type, **entry.sharding})


def _value_entry(entry: Entry) -> str:
    inside = {"in": entry.inside} if entry.inside else {}
    count = {"count": entry.count} if entry.count > 1 else {}
    return _json({"at": entry.name, **inside, "type": entry.type, **entry.sharding, **count})


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


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
        found = Snapshot(tuple(places))
        found.meshes = {name: self.text(("meshes", name)) for name in self.keys(("meshes",))}
        for name in self.keys(("functions",)):
            found.functions[name] = FunctionEntries(
                [self._function_entry(path) for path in self.entries(("functions", name, "arguments"))],
                [self._function_entry(path) for path in self.entries(("functions", name, "results"))],
            )
        found.values = [self._value_entry(path) for path in self.entries(("values",))]
        return found

    def _function_entry(self, path: Path) -> Entry:
        name = self._optional_text((*path, "name"))
        return Entry(name, "", self.text((*path, "type")), self._sharding(path), path=path)

    def _value_entry(self, path: Path) -> Entry:
        count = self.integer((*path, "count")) if self.has((*path, "count")) else 1
        return Entry(
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
        found = {"sharding": self.at((*path, "sharding"))}
        for key, check in self._optional_fields.items():
            if self.has((*path, key)):
                check((*path, key))
                found[key] = self.at((*path, key))
        return found

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
