"""Reads the values of a JSON file, with errors that are located in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import inf
from typing import Any, TypeVar

from sdyopt.analysis.figures.json_file import JsonFile, Path
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import Source

T = TypeVar("T")


class JsonReader:
    """Reads values at paths of keys and indices. Raises DiagnosticError for missing and malformed values."""

    def __init__(self, file: JsonFile) -> None:
        self.file = file

    def check_schema(self, what: str, schema: str, version: int) -> None:
        """Checks that the file is of a schema, and of the version that this release reads."""
        root = self.file.value
        if not isinstance(root, dict) or root.get("schema") != schema:
            raise self.file.error(f'not a {what} of sdy-opt: it has no "schema": "{schema}"')
        if root.get("version") != version:
            message = f"not a {what} of this version of sdy-opt: its version is not {version}"
            raise self.file.error(message, ("version",))

    def at(self, path: Path) -> Any:
        """The value at a path."""
        here = self.file.value
        for index, key in enumerate(path):
            try:
                here = here[key]
            except (LookupError, TypeError):
                raise self.file.error(f"{_named((key,))} is missing", path[: index + 1]) from None
        return here

    def has(self, path: Path) -> bool:
        """Whether an object has a key."""
        parent = self.at(path[:-1])
        return isinstance(parent, dict) and path[-1] in parent

    def entries(self, path: Path) -> Iterator[Path]:
        """The paths of the elements of a list."""
        found = self.at(path)
        if not isinstance(found, list):
            raise self.file.error(f"{_named(path)} must be a list", path)
        for number in range(len(found)):
            yield (*path, number)

    def keys(self, path: Path) -> list[str]:
        """The keys of an object."""
        found = self.at(path)
        if not isinstance(found, dict):
            raise self.file.error(f"{_named(path)} must be an object", path)
        return list(found)

    def text(self, path: Path) -> str:
        """The string at a path."""
        found = self.at(path)
        if not isinstance(found, str):
            raise self.file.error(f"{_named(path)} must be a string", path)
        return found

    def integer(self, path: Path) -> int:
        """The integer at a path, at least 0."""
        found = self.at(path)
        if isinstance(found, bool) or not isinstance(found, int) or found < 0:
            raise self.file.error(f"{_named(path)} must be an integer, at least 0", path)
        return found

    def figure(self, path: Path) -> Fraction:
        """The number at a path, at least 0, not necessarily an integer."""
        found = self.at(path)
        if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found < inf:
            raise self.file.error(f"{_named(path)} must be a number, at least 0", path)
        return Fraction(found)

    def optional_integer(self, path: Path) -> int | None:
        """The integer at a path, at least 0; None for null."""
        return None if self.at(path) is None else self.integer(path)

    def parsed(self, path: Path, parse: Callable[[Source], T]) -> T:
        """What `parse` returns for the string at a path; errors are located at the string."""
        try:
            return parse(Source(self.file.name, self.text(path)))
        except DiagnosticError as error:
            raise self.file.error(str(error), path) from None


def _named(path: Path) -> str:
    """`'key'` or `element 2`: the end of a path, for messages."""
    last = path[-1]
    return f"element {last}" if isinstance(last, int) else f"'{last}'"
