"""Regular expressions whose compiled form is kept between runs: compiling them is a sixth of a short run.

    _DIGITS = constant_pattern(r"[0-9]++")

The compiled form depends on the version of Python, so it is kept in the user's cache directory. A pattern
that is not there is compiled, and `keep_patterns` adds it at the end of a run.
"""

from __future__ import annotations

import _sre  # type: ignore[import-not-found]
import re
import sys
import zlib
from array import array
from binascii import a2b_base64, b2a_base64
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from sdyopt.base.diagnostics.whole_files import read_regular_file, replace_cached_file, user_cache

_MAX_BYTES = 1 << 22
_FILE: Final = "-".join(
    ["patterns", sys.implementation.cache_tag or "", f"{sys.hexversion:x}", str(_sre.MAGIC), sys.byteorder]
)

# Flags and pattern -> all flags, the number of groups, numbers and names of groups, and the code in base 64.
# The file is not JSON: importing `json` compiles seven patterns, as much work as all that is done here.
_Stored = dict[str, list[str]]
_FIELDS, _RECORDS = "\x1f", "\x1e"
_new: set[tuple[str, int]] = set()
_stored: _Stored | None = None


def constant_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """The compiled form of a constant pattern, as `re.compile` returns it."""
    global _stored
    if _stored is None:
        _stored = _read()
    stored = _stored.get(f"{int(flags)} {text}")
    if stored is not None:
        with suppress(Exception):  # a damaged file, or another implementation of `_sre`
            all_flags, groups, named, code = stored
            numbers = {name: int(number) for number, name in (pair.split("=") for pair in named.split())}
            names: list[str | None] = [None] * (int(groups) + 1)
            for name, number in numbers.items():
                names[number] = name
            compiled: re.Pattern[str] = _sre.compile(
                text, int(all_flags), _decoded(code), int(groups), numbers, tuple(names)
            )
            return compiled
    _new.add((text, int(flags)))
    return re.compile(text, flags)


def keep_patterns() -> None:
    """Stores the patterns that were compiled in this run."""
    if not _new:
        return
    with suppress(Exception):  # the next run compiles them again
        folder = user_cache()
        if folder is not None:
            stored = {
                **_read(),
                **{f"{flags} {text}": _compiled(text, flags) for text, flags in sorted(_new)},
            }
            content = _RECORDS.join(_FIELDS.join([key, *fields]) for key, fields in stored.items())
            if len(content) < _MAX_BYTES // 4:
                replace_cached_file(_path(folder), f"{_checksum(content)}\n{content}\n")


def _compiled(text: str, flags: int) -> list[str]:
    from re import _compiler, _parser  # type: ignore[attr-defined]  # noqa: PLC0415

    parsed: Any = _parser.parse(text, flags)
    code = array("I", [int(word) for word in _compiler._code(parsed, flags)])
    state = parsed.state
    encoded = b2a_base64(code.tobytes(), newline=False).decode()
    named = " ".join(f"{number}={name}" for name, number in state.groupdict.items())
    return [str(int(flags | state.flags)), str(state.groups - 1), named, encoded]


def _decoded(code: str) -> list[int]:
    numbers = array("I")
    numbers.frombytes(a2b_base64(code))
    return numbers.tolist()


def _path(folder: Path) -> Path:
    return folder / _FILE


def _read() -> _Stored:
    with suppress(Exception):
        folder = user_cache()
        data = None if folder is None else read_regular_file(_path(folder), _MAX_BYTES)
        checksum, _, content = (data or b"").decode().rstrip("\n").partition("\n")
        if checksum == _checksum(content):
            records = (record.split(_FIELDS) for record in content.split(_RECORDS))
            return {key: fields for key, *fields in records}
    return {}


def _checksum(content: str) -> str:
    return f"{zlib.crc32(content.encode()):08x}"
