"""Checks that no file of the command line has two uses, one of which destroys the other."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.analysis.flag import STDOUT
from sdyopt.base.diagnostics.usage import UsageError
from sdyopt.tools.cli.arguments import Arguments
from sdyopt.tools.cli.files import is_same_file
from sdyopt.tools.cli.flags import FLAGS


def check_files(arguments: Arguments, inputs: Sequence[str]) -> None:
    """Raises UsageError for an output file without a name, or that is an input or another flag's file."""
    written = [(flag.name, flag.writes) for flag in FLAGS.values() if flag.writes is not None]
    # First those that always name a file, last those that may replace the input.
    written.sort(key=lambda each: (not each[1].example, each[1].may_replace_input))
    names = ["o", *(name for name, _ in written), *(flag.name for flag in FLAGS.values() if flag.reads)]
    for name, writes in written:
        path = arguments[name]
        if path is None or (path == STDOUT and writes.takes_dash):
            continue
        if not path:
            if writes.example:
                message = f"for the --{name} option: the file name is empty"
                raise UsageError(message, f"such as {writes.example}")
            continue
        help = f"write {writes.content} to a file of {'their' if writes.is_plural else 'its'} own"
        is_checked = path != STDOUT and not writes.may_replace_input
        if is_checked and any(is_same_file(path, each) for each in inputs):
            raise UsageError(f"for the --{name} option: '{path}' is also the input", help)
        for other in names:
            other_path = arguments[other]
            if other != name and other_path is not None and is_same_file(path, other_path):
                dashes = "-" if len(other) == 1 else "--"
                message = f"for the --{name} option: '{path}' is also the file of {dashes}{other}"
                raise UsageError(message, help)
