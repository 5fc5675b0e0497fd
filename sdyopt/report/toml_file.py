"""TOML files of limits, read with errors that name the file, the line and the column."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from typing import Any

from sdyopt.diagnostics.diagnostic import DiagnosticError
from sdyopt.diagnostics.location import FileLoc
from sdyopt.diagnostics.source import Source
from sdyopt.diagnostics.usage import nearest_or_all

_POSITION = re.compile(r"\(at (?:line (\d+), column (\d+)|end of document)\)$")
_KEY = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([\w-]+))\s*=""")
_HEADER = re.compile(r"""\s*\[+\s*([\w.-]+)\s*\]+""")


class TomlFile:
    """The values of a TOML file, and where their keys stand.

    Raises DiagnosticError at the first character that is not TOML.
    """

    def __init__(self, name: str, text: str) -> None:
        self.source = Source(name, text)
        try:
            self.values: dict[str, Any] = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            message = str(error)
            position = _POSITION.search(message)
            line, column = (int(position[1]), int(position[2])) if position and position[1] else (1, 1)
            what = message[: position.start()].strip() if position else message
            raise DiagnosticError.at(FileLoc(name, line, column), f"invalid TOML: {what}") from None

    def location(self, table: str, key: str = "", number: int = 0) -> FileLoc:
        """Where a key of a table stands; `number` counts the tables of that name."""
        here, count = "", -1
        for index, line in enumerate(self.source.text.split("\n"), 1):
            if (header := _HEADER.match(line)) is not None:
                here = header[1]
                count += here == table
                if not key and here == table and count == number:
                    return FileLoc(self.source.name, index, 1)
            elif here == table and (not table or count == number):
                match = _KEY.match(line)
                if match is not None and key in (match[1], match[2], match[3]):
                    return FileLoc(self.source.name, index, len(line) - len(line.lstrip()) + 1)
        return FileLoc(self.source.name, 1, 1)

    def error(self, message: str, table: str, key: str = "", number: int = 0) -> DiagnosticError:
        """An error at a key, or at the header of its table."""
        return DiagnosticError.at(self.location(table, key, number), message)

    def check_keys(self, found: Sequence[str], known: Sequence[str], table: str, number: int = 0) -> None:
        """Raises DiagnosticError at the first key that is not known."""
        for key in found:
            if key not in known:
                help = nearest_or_all(key, known)
                if table:
                    raise self.error(f"unknown key '{key}' in [{table}]", table, key, number).help(help)
                where = (key, "") if isinstance(self.values[key], dict | list) else ("", key)
                raise self.error(f"unknown table or key '{key}'", *where).help(help)
