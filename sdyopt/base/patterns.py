"""Regular expressions whose compiled form is kept between runs: compiling them is a sixth of a short run.

    _DIGITS = constant_pattern(r"[0-9]++")

The compiled form depends on the version of Python, so it is kept in the user's cache directory. A pattern
that is not there is compiled, and `keep_patterns` adds it at the end of a run.
"""

from __future__ import annotations

import _sre  # type: ignore[import-not-found]
import json
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

# Flags and pattern -> all flags, the number of groups, their names, and the code in base 64.
_Stored = dict[str, tuple[int, int, dict[str, int], str]]
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
            all_flags, groups, names, code = stored
            indices = {number: name for name, number in names.items()}
            by_index = tuple([indices.get(number) for number in range(groups + 1)])
            compiled: re.Pattern[str] = _sre.compile(text, all_flags, _decoded(code), groups, names, by_index)
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
            content = json.dumps(stored, separators=(",", ":"), ensure_ascii=False)
            if len(content) < _MAX_BYTES // 4:
                replace_cached_file(_path(folder), f"{_checksum(content)}\n{content}\n")


def _compiled(text: str, flags: int) -> tuple[int, int, dict[str, int], str]:
    from re import _compiler, _parser  # type: ignore[attr-defined]  # noqa: PLC0415

    parsed: Any = _parser.parse(text, flags)
    code = array("I", [int(word) for word in _compiler._code(parsed, flags)])
    state = parsed.state
    encoded = b2a_base64(code.tobytes(), newline=False).decode()
    return int(flags | state.flags), state.groups - 1, dict(state.groupdict), encoded


def _decoded(code: str) -> list[int]:
    numbers = array("I")
    numbers.frombytes(a2b_base64(code))
    return numbers.tolist()


def _path(folder: Path) -> Path:
    return folder / f"{_FILE}.json"


def _read() -> _Stored:
    with suppress(Exception):
        folder = user_cache()
        data = None if folder is None else read_regular_file(_path(folder), _MAX_BYTES)
        checksum, _, content = (data or b"").decode().rstrip("\n").partition("\n")
        if checksum == _checksum(content):
            stored: _Stored = json.loads(content)
            return stored
    return {}


def _checksum(content: str) -> str:
    return f"{zlib.crc32(content.encode()):08x}"
