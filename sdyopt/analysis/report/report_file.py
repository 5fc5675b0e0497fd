"""Writes a report to a file atomically: a regular file is replaced by a complete one, or not at all."""

from __future__ import annotations

import os
import stat

from sdyopt.diagnostics.native_text import native_path


def write_report_file(path: str, text: str) -> None:
    """Writes a report to a file. Raises OSError, and then leaves no temporary file."""
    target = native_path(path)
    try:
        is_regular = stat.S_ISREG(target.stat().st_mode)
    except FileNotFoundError:
        is_regular = True
    if not is_regular:
        # A pipe, for example, cannot be replaced.
        target.write_text(text, encoding="utf-8", newline="\n")
        return
    target = target.resolve()
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(text, encoding="utf-8", newline="\n")
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o7777)
        temporary.replace(target)
    except OSError as problem:
        temporary.unlink(missing_ok=True)
        raise OSError(problem.errno, problem.strerror, path) from None
