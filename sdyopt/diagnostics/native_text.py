"""Arguments and file names: UTF-8 inside the program, the encoding of the locale outside.

Python decodes arguments, and encodes the names of files, by the locale. Programs and diagnostics are UTF-8
under every locale, so that a name is compared and printed the same everywhere. Only where the locale has
another encoding do the two differ, and these functions convert.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

_IS_UTF8 = sys.getfilesystemencoding() == "utf-8"


def from_native(text: str) -> str:
    """An argument, or the name of a file, as Python decoded it, in the form that diagnostics use."""
    return text if _IS_UTF8 else os.fsencode(text).decode("utf-8", "surrogateescape")


def native_path(text: str) -> Path:
    """The path of the file that a text names."""
    return Path(text if _IS_UTF8 else os.fsdecode(text.encode("utf-8", "surrogateescape")))
