"""TOML files, read with errors that name the file, the line and the column."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

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
