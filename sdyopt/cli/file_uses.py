"""Checks that no file of the command line has two uses, one of which destroys the other."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.cli.arguments import Arguments
from sdyopt.cli.files import STDOUT, is_same_file
from sdyopt.diagnostics.usage import UsageError

# Flag -> what its file contains, and whether that is a singular noun.
_WRITTEN = {
    "--diagnostics-output": ("the diagnostics", False),
    "--report": ("the report", True),
    "--compare-output": ("the comparison", True),
    "--snapshot": ("the snapshot", True),
    "--explain-steps": ("the steps", False),
    "--remarks-output-file": ("the remarks", False),
    "--log-actions-to": ("the log", True),
    "--bisect": ("the reduced program", True),
    "--mlir-generate-reproducer": ("the reproducer", True),
    "--mlir-pass-pipeline-crash-reproducer": ("the reproducer", True),
}
_READ = ("--topology", "--budget", "--baseline", "--lint-config", "--compare-with", "--check-snapshot")
# Flag -> an example of its file name, for the error about an empty one. Without an example, "" means no file.
_EXAMPLES = {
    "--diagnostics-output": "diagnostics.json",
    "--report": "report.html",
    "--compare-output": "comparison.md",
    "--snapshot": "shardings.json",
    "--explain-steps": "steps.html",
    "--remarks-output-file": "remarks.yaml",
}
# For these flags, `-` is stdout instead of the program.
_REPLACING = ("--report", "--snapshot")
# For these flags, `-` is a stream that may have several uses.
_STREAMED = ("--log-actions-to", "--mlir-generate-reproducer", "--mlir-pass-pipeline-crash-reproducer")
# The input may be replaced by its reproducer, as by the output of -o, because it has been read by then.
_MAY_REPLACE_INPUT = ("--mlir-generate-reproducer", "--mlir-pass-pipeline-crash-reproducer")


def check_files(arguments: Arguments, inputs: Sequence[str]) -> None:
    """Raises UsageError for an output file without a name, or that is an input or another flag's file."""
    for flag, (content, is_singular) in _WRITTEN.items():
        path = arguments[flag.lstrip("-")]
        if path is None or (path == STDOUT and (flag in _REPLACING or flag in _STREAMED)):
            continue
        if not path:
            if flag in _EXAMPLES:
                raise UsageError(
                    f"for the {flag} option: the file name is empty", f"such as {_EXAMPLES[flag]}"
                )
            continue
        help = f"write {content} to a file of {'its' if is_singular else 'their'} own"
        is_checked = path != STDOUT and flag not in _MAY_REPLACE_INPUT
        if is_checked and any(is_same_file(path, each) for each in inputs):
            raise UsageError(f"for the {flag} option: '{path}' is also the input", help)
        for other in ("-o", *_WRITTEN, *_READ):
            other_path = arguments[other.lstrip("-")]
            if other != flag and other_path is not None and is_same_file(path, other_path):
                raise UsageError(f"for the {flag} option: '{path}' is also the file of {other}", help)
