"""Arguments and file names: UTF-8 inside the program, the encoding of the locale outside.

Python decodes arguments and encodes file names by the locale. Programs and diagnostics are always UTF-8, so
that names compare and print alike under every locale. These functions convert where the locale is not UTF-8.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

_IS_UTF8 = sys.getfilesystemencoding() == "utf-8"


def from_native(text: str) -> str:
    """An argument or file name that Python decoded by the locale, decoded as UTF-8 instead."""
    return text if _IS_UTF8 else os.fsencode(text).decode("utf-8", "surrogateescape")


def native_path(text: str) -> Path:
    """The path of a file whose name is UTF-8 text."""
    return Path(text if _IS_UTF8 else os.fsdecode(text.encode("utf-8", "surrogateescape")))
