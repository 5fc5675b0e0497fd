"""Builds the options of remarks, and of the page of steps, from the arguments."""

from __future__ import annotations

from pathlib import PurePath

from sdyopt.cli.arguments import Arguments
from sdyopt.cli.flags import FLAGS
from sdyopt.diagnostics.diagnostic import Diagnostic, Severity
from sdyopt.diagnostics.ids import FLAG_WITHOUT_EFFECT
from sdyopt.diagnostics.location import UnknownLoc
from sdyopt.diagnostics.usage import UsageError
from sdyopt.driver.job import RemarkOptions

# As in mlir-opt.
_DEFAULT_FILE = "mlir-remarks.yaml"
_STEPS_SUFFIX = ".html"


def remark_options(arguments: Arguments) -> tuple[RemarkOptions, list[Diagnostic]]:
    """The options of remarks, and warnings about them. Raises UsageError."""
    filters = {flag: arguments[flag] for flag in FLAGS["remark-format"].needs if arguments[flag]}
    if not filters:
        return RemarkOptions(), []
    from sdyopt.analysis.remarks.remark import CATEGORIES
    from sdyopt.analysis.remarks.remark_filter import RemarkFilter

    warnings = [
        _warning(
            f"for the --{flag} option: no category matches '{filters[flag]}'",
            f"the categories are {', '.join(CATEGORIES)}",
        )
        for flag in RemarkFilter(filters).unmatched
    ]
    output_format, path = arguments["remark-format"], arguments["remarks-output-file"]
    if output_format == "bitstream":
        message = "for the --remark-format option: bitstream is not written"
        raise UsageError(message, "write yaml; 'llvm-remarkutil yaml2bitstream' converts it")
    if output_format == "yaml":
        path = path or _DEFAULT_FILE
    elif path is not None:
        message = "the --remarks-output-file option has no effect"
        warnings.append(_warning(message, "add --remark-format=yaml"))
        path = ""
    return RemarkOptions(filters, path or "", arguments["remark-policy"] == "final"), warnings


def steps_path(arguments: Arguments) -> str:
    """The HTML file of the steps; "" for none. Raises UsageError for another suffix."""
    path: str = arguments["explain-steps"] or ""
    if path and PurePath(path).suffix != _STEPS_SUFFIX:
        message = f"for the --explain-steps option: '{path}' does not end with {_STEPS_SUFFIX}"
        raise UsageError(message, "such as steps.html")
    return path


def _warning(message: str, help: str) -> Diagnostic:
    return Diagnostic(Severity.WARNING, UnknownLoc(), message, help=help, id=FLAG_WITHOUT_EFFECT)
