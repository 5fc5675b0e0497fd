"""The command `sdy-opt-verify FILE…`: verifies many programs in one process, such as those of a commit."""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Final, NoReturn

from sdyopt import __version__
from sdyopt.analysis.interface.flag import STDOUT
from sdyopt.base.dataclasses import replace
from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity
from sdyopt.base.diagnostics.ids import FILE_ERROR
from sdyopt.base.diagnostics.location import UnknownLoc
from sdyopt.base.diagnostics.usage import UsageError, nearest
from sdyopt.mlir.pipeline.tree import Pipeline
from sdyopt.tools.cli import load_plugins, report_crash, report_error, run_command, run_main
from sdyopt.tools.cli.arguments import Arguments, read_arguments_and_inputs
from sdyopt.tools.cli.files import (
    FAILURE,
    SUCCESS,
    FileProblem,
    Input,
    Output,
    check_files,
    programs_of,
    read_input,
)
from sdyopt.tools.cli.flags import FLAGS
from sdyopt.tools.cli.request import build_job, selected_sdy_version
from sdyopt.tools.driver.job import TERMINAL_OP_LINES, Job
from sdyopt.tools.driver.run import run_job

if TYPE_CHECKING:  # imported only with one of its flags
    from sdyopt.tools.cli.diagnostics_output import DiagnosticsOutput

# The flags of sdy-opt that this command accepts.
ALLOWED: Final = (
    "allow-unregistered-dialect",
    "color",
    "diagnostics-format",
    "diagnostics-output",
    "help",
    "irdl-file",
    "load-dialect-plugin",
    "load-plugin",
    "max-diagnostic-op-lines",
    "mesh-version",
    "mlir-print-op-on-diagnostic",
    "no-implicit-module",
    "sdy-version",
    "split-input-file",
    "verify-roundtrip",
    "version",
    "werror",
)
USAGE: Final = """\
usage: sdy-opt-verify [FLAG …] FILE_OR_FOLDER…

Parses and verifies programs, and prints none of them. A folder stands for the
.mlir files in it. Files with RUN lines are lit tests, whose commands say how to
read them; they are skipped.

The exit status is 0 if all programs are valid, 1 if one is not, and 2 for a usage
error.

flags, as those of sdy-opt:
"""
WIDTH: Final = 80
# Jobs run without cyclic garbage collection, which runs after each such amount of input.
COLLECTED_BYTES: Final = 4 * 2**20
# The comment that makes a file a lit test.
RUN_LINE = re.compile(rb"^[^\S\n]*+(?://|#|;)[^\S\n]*+RUN:", re.MULTILINE)


def run_process() -> NoReturn:
    """Runs the command and exits the process."""
    run_main(main)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status."""
    return run_command(sys.argv[1:] if argv is None else argv, _run)


def _run(argv: Sequence[str], diagnostics: DiagnosticsOutput | None) -> int:
    arguments, inputs = read_arguments_and_inputs(argv)
    # Raises UsageError for a pass, and for a flag of sdy-opt that has no effect here.
    spellings = [flag.spelling for flag in arguments.passes]
    spellings += [f"--{name}" for name in arguments.values if name not in ALLOWED]
    if spellings:
        help = nearest(spellings[0].lstrip("-"), ALLOWED).replace("'", "'--", 1)
        help = help or "the flags are those of sdy-opt-verify --help; sdy-opt runs passes"
        raise UsageError(f"Unknown command line argument '{spellings[0]}'", help)
    if arguments["version"] or arguments["help"]:
        Output(STDOUT).write(_help() if arguments["help"] else f"sdy-opt {__version__}\n")
        return SUCCESS
    if not inputs:
        raise UsageError("no programs to verify", "name files or folders, such as sdy-opt-verify models/")
    load_plugins(arguments)
    with selected_sdy_version(arguments):
        return _verify(argv, arguments, inputs, diagnostics)


def _verify(
    argv: Sequence[str], arguments: Arguments, inputs: list[str], diagnostics: DiagnosticsOutput | None
) -> int:
    valid, skipped, total, garbage = 0, 0, 0, 0
    for job in _jobs(arguments, inputs, diagnostics):
        total += 1
        try:
            data = read_input(job.name)
        except FileProblem as problem:
            report_error(Diagnostic(Severity.ERROR, UnknownLoc(), str(problem), id=FILE_ERROR), diagnostics)
            continue
        if RUN_LINE.search(data):
            skipped += 1
        else:
            try:
                valid += run_job(replace(job, read=Input(data).take)).succeeded
            except (
                Exception
            ) as error:  # such as one of a plugin; the other programs are verified nevertheless
                error.add_note(f"while verifying '{job.name}'")
                report_crash(error, argv, diagnostics)
            garbage += len(data)
        if garbage > COLLECTED_BYTES:
            gc.collect()
            garbage = 0
    if not total:
        raise UsageError("no programs to verify", f"there is no .mlir file in {', '.join(inputs)}")
    Output(STDOUT).write(_summary(valid, skipped, total))
    return SUCCESS if valid + skipped == total else FAILURE


def _jobs(arguments: Arguments, inputs: list[str], diagnostics: DiagnosticsOutput | None) -> Iterator[Job]:
    job = replace(build_job(arguments, Pipeline()), prints_output=False)
    # Logs of CI and of hooks are for people, as a terminal is.
    if arguments["max-diagnostic-op-lines"] is None:
        job = replace(job, max_op_lines=TERMINAL_OP_LINES)
    if diagnostics is not None:
        job = replace(job, collect=diagnostics.add, shows_text=diagnostics.shows_text)
    paths = list(dict.fromkeys(path for input in inputs for path in programs_of(input)))
    if diagnostics is not None:
        diagnostics.protect(paths)
    check_files(arguments, paths)
    for path in paths:
        yield replace(job, name=path)


def _summary(valid: int, skipped: int, total: int) -> str:
    checked = total - skipped
    text = f"{checked} {'program' if checked == 1 else 'programs'} "
    text += "verified" if valid == checked else f"checked, {checked - valid} invalid"
    if skipped:
        text += f"; {skipped} {'lit test' if skipped == 1 else 'lit tests'} skipped"
    return text + "\n"


def _help() -> str:
    lines = []
    for flag in map(FLAGS.__getitem__, ALLOWED):
        lines.append(f"  --{flag.name}" + (f"={flag.placeholder}" if flag.placeholder else ""))
        lines += wrap(flag.help, WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)
    return USAGE + "\n".join(lines) + "\n"


if __name__ == "__main__":
    run_process()
