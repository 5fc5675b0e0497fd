"""JSON files, read with errors that name the file, the line and the column of a value."""

from __future__ import annotations

import json
import re
from typing import Any

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import FileLoc, Source

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
