"""TOML and JSON, read with errors that name the file, the line and the column."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from math import inf
from typing import Any, TypeVar

from sdyopt.analysis.figures.units import Dimension, parse_quantity
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import FileLoc, Source
from sdyopt.base.diagnostics.usage import nearest_or_all
from sdyopt.base.patterns import constant_pattern

_HELP = 'write one key = value per line, below the [table] of the key; quote text, such as "64 MiB"'
# The number of names that a dotted key may have.
_MAX_NAMES = 256
_POSITION = constant_pattern(r"\(at (?:line (\d+), column (\d+)|end of document)\)$")
_NAME = r"""(?:"[^"\n]*"|'[^'\n]*'|[\w-]+)"""
_PATH = rf"{_NAME}(?:\s*\.\s*{_NAME})*"
_KEY = constant_pattern(rf"\s*({_PATH})\s*=")
_HEADER = constant_pattern(rf"\s*\[+\s*({_PATH})\s*\]+")
_PART = constant_pattern(_NAME)
_ANY_NAME = r"""(?:"(?:[^"\\\n]|\\.)*+"?|'[^'\n]*+'?|[\w-]++)"""
# A comment, a string of several lines, or what may be a key.
_KEY_OR_OTHER = constant_pattern(
    r'''#[^\n]*|"""(?:[^"\\]|\\.|"(?!""))*+(?:""")?|'{3}(?:[^']|'(?!''))*+(?:'{3})?|'''
    rf"(?P<key>{_ANY_NAME}(?:[ \t]*+\.[ \t]*+{_ANY_NAME})*+)",
    re.DOTALL,
)


class TomlFile:
    """The values of a TOML file, and the locations of their keys.

    Raises DiagnosticError at the first character that is not TOML.
    """

    def __init__(self, name: str, text: str) -> None:
        import tomllib  # noqa: PLC0415  slow to import

        self.source = Source(name, text)
        self._check_keys()
        try:
            self.values: dict[str, Any] = tomllib.loads(text)
        except RecursionError:
            error = DiagnosticError.at(FileLoc(name, 1, 1), "invalid TOML: it is nested too deeply")
            raise error.within(self.source).help(_HELP) from None
        except ValueError as problem:
            is_syntax = isinstance(problem, tomllib.TOMLDecodeError)
            message = str(problem) if is_syntax else "a number has too many digits"
            # The end of the document, unless the message says where.
            line, column = text.count("\n") + 1, len(text) - text.rfind("\n")
            if (position := _POSITION.search(message)) is not None:
                message = message[: position.start()].strip()
                if position[1]:
                    line, column = int(position[1]), int(position[2])
            error = DiagnosticError.at(FileLoc(name, line, column), f"invalid TOML: {message}")
            raise error.within(self.source).help(_HELP) from None

    def _check_keys(self) -> None:
        """Checks that no key is so deep that `tomllib`, which is quadratic in the names of a key, is slow."""
        text = self.source.text
        if text.count(".") < _MAX_NAMES:
            return
        for result in _KEY_OR_OTHER.finditer(text):
            if result["key"] and len(re.findall(_ANY_NAME, result["key"])) > _MAX_NAMES:
                where = FileLoc(self.source.name, text.count("\n", 0, result.start()) + 1, 1)
                error = DiagnosticError.at(where, "invalid TOML: a key is nested too deeply")
                raise error.within(self.source).help(_HELP)

    def location(self, table: str, key: str = "", number: int = 0) -> FileLoc:
        """The location of a key of a table, else of the table.

        `number` is the index of the table in an array of tables.
        """
        outer, _, inner = table.rpartition(".")
        # The last is that of a table written as a value: `limits = {…}`.
        for entry in ((table, key, number), (table, "", number), (outer, inner, 0)):
            if entry in self._positions:
                return FileLoc(self.source.name, *self._positions[entry])
        return FileLoc(self.source.name, 1, 1)

    @cached_property
    def _positions(self) -> dict[tuple[str, str, int], tuple[int, int]]:
        """Line and column of each key, by table, key and number; the key of a table header is ""."""
        positions: dict[tuple[str, str, int], tuple[int, int]] = {}
        counts: dict[str, int] = {}
        table, number = "", 0
        for line_number, line in enumerate(self.source.text.split("\n"), 1):
            if (header := _HEADER.match(line)) is not None:
                table = ".".join(_names(header[1]))
                number = counts[table] = counts.get(table, -1) + 1
                positions[table, "", number] = (line_number, 1)
            elif (match := _KEY.match(line)) is not None:
                # `a.b = 1` is the key b of the table a.
                *inner, key = _names(match[1])
                position = line_number, len(line) - len(line.lstrip()) + 1
                inside = ".".join(filter(None, (table, *inner)))
                positions.setdefault((inside, key, 0 if inner else number), position)
        return positions

    def error(self, message: str, table: str, key: str = "", number: int = 0) -> DiagnosticError:
        """An error at a key, or at the header of its table."""
        return DiagnosticError.at(self.location(table, key, number), message).within(self.source)

    def quantity(
        self, value: object, dimension: Dimension, table: str, key: str, number: int = 0
    ) -> Fraction:
        """The value of a key as a quantity. Raises DiagnosticError at the key if it is not one."""
        quantity = parse_quantity(value, dimension)
        if quantity is not None:
            return quantity
        what = "a number with a unit" if dimension.units else "a number"
        error = self.error(f"'{key}' is not a quantity", table, key, number)
        raise error.help(f"write {what}, such as {key} = {dimension.example}")

    def check_keys(self, names: Sequence[str], known: Sequence[str], table: str, number: int = 0) -> None:
        """Raises DiagnosticError at the first key that is not known."""
        for key in names:
            if key not in known:
                help = nearest_or_all(key, known)
                if table:
                    raise self.error(f"unknown key '{key}' in [{table}]", table, key, number).help(help)
                where = (key, "") if isinstance(self.values[key], dict | list) else ("", key)
                raise self.error(f"unknown table or key '{key}'", *where).help(help)


def _names(path: str) -> list[str]:
    """The names of a dotted key without quotes: `a` and `b.c` of `a . "b.c"`."""
    return [name.strip("\"'") for name in _PART.findall(path)]


Path = tuple[str | int, ...]

_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[{}\[\]:,]|[^\s{}\[\]:,"]+')

# Escapes in strings; the group is half of a surrogate pair without the other half.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)


class JsonFile:
    """The value of a JSON text, and the locations of its parts. Raises DiagnosticError for invalid JSON."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self._text = text
        self.source = Source(name, text)
        try:
            self.value: Any = json.loads(text)
        except json.JSONDecodeError as error:
            location = FileLoc(name, error.lineno, error.colno)
            problem = DiagnosticError.at(location, f"invalid JSON: {error.msg}")
            raise problem.within(self.source) from None
        except RecursionError:
            raise self.error("invalid JSON: it is nested too deeply") from None
        except ValueError:
            raise self.error("invalid JSON: a number has too many digits") from None
        for escape in _ESCAPE.finditer(text):
            if escape[1]:
                # Such a string is no text, so nothing could print it.
                location = self._location(escape.start())
                raise DiagnosticError.at(location, "invalid JSON: half of a surrogate pair").within(
                    self.source
                )

    def location(self, path: Path = ()) -> FileLoc:
        """The location of the value at a path of keys and indices.

        If there is no such value, that of the innermost value on the path that exists.
        """
        while path and _offset(self._text, path) is None:
            path = path[:-1]
        return self._location(_offset(self._text, path) or 0)

    def _location(self, offset: int) -> FileLoc:
        line_start = self._text.rfind("\n", 0, offset) + 1
        return FileLoc(self.name, self._text.count("\n", 0, offset) + 1, offset - line_start + 1)

    def error(self, message: str, path: Path = ()) -> DiagnosticError:
        """An error located at the value at a path."""
        location = self.location(path) if path else FileLoc(self.name, 1, 1)
        return DiagnosticError.at(location, message).within(self.source)


def _offset(text: str, path: Path) -> int | None:
    """The offset of the value at a path in a valid JSON text; None if there is no such value."""
    # The path of the current token, and for each step whether it is a key before its colon.
    here: list[str | int] = []
    before_colon: list[bool] = []
    for token in _TOKEN.finditer(text):
        word = token[0]
        if before_colon and before_colon[-1]:
            if word == ":":
                before_colon[-1] = False
            elif word == "}":
                here.pop()
                before_colon.pop()
            elif word != ",":
                here[-1] = json.loads(word)
        elif word == ",":
            last = here[-1]
            if isinstance(last, int):
                here[-1] = last + 1
            else:
                before_colon[-1] = True
        elif word in "}]":
            here.pop()
            before_colon.pop()
        else:
            if tuple(here) == path:
                return token.start()
            if word in "{[":
                here.append("" if word == "{" else 0)
                before_colon.append(word == "{")
    return None


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
        result = self.at(path)
        if not isinstance(result, list):
            raise self.file.error(f"{_named(path)} must be a list", path)
        for number in range(len(result)):
            yield (*path, number)

    def keys(self, path: Path) -> list[str]:
        """The keys of an object."""
        result = self.at(path)
        if not isinstance(result, dict):
            raise self.file.error(f"{_named(path)} must be an object", path)
        return list(result)

    def text(self, path: Path) -> str:
        """The string at a path."""
        text = self.at(path)
        if not isinstance(text, str):
            raise self.file.error(f"{_named(path)} must be a string", path)
        return text

    def integer(self, path: Path) -> int:
        """The integer at a path, at least 0."""
        integer = self.at(path)
        if isinstance(integer, bool) or not isinstance(integer, int) or integer < 0:
            raise self.file.error(f"{_named(path)} must be an integer, at least 0", path)
        return integer

    def figure(self, path: Path) -> Fraction:
        """The number at a path, at least 0, not necessarily an integer."""
        result = self.at(path)
        if isinstance(result, bool) or not isinstance(result, int | float) or not 0 <= result < inf:
            raise self.file.error(f"{_named(path)} must be a number, at least 0", path)
        return Fraction(result)

    def optional_integer(self, path: Path) -> int | None:
        """The integer at a path, at least 0; None for null."""
        return None if self.at(path) is None else self.integer(path)

    def parsed(self, path: Path, parse: Callable[[Source], T]) -> T:
        """The result of `parse` for the string at a path; errors are located at the string."""
        try:
            return parse(Source(self.file.name, self.text(path)))
        except DiagnosticError as error:
            raise self.file.error(str(error), path) from None


def _named(path: Path) -> str:
    """`'key'` or `element 2`: the end of a path, for messages."""
    last = path[-1]
    return f"element {last}" if isinstance(last, int) else f"'{last}'"
