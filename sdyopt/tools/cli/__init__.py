"""The command `sdy-opt`: turns argv into a job, and the outcome of the job into an exit status.

Modules that only some runs need are imported on use, to keep the start fast.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from sdyopt import __version__
from sdyopt.analysis.interface.flag import STDOUT
from sdyopt.base.dataclasses import replace
from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity
from sdyopt.base.diagnostics.ids import FILE_ERROR
from sdyopt.base.diagnostics.location import UnknownLoc
from sdyopt.base.diagnostics.text import from_native
from sdyopt.base.diagnostics.usage import UsageError
from sdyopt.base.patterns import keep_patterns
from sdyopt.tools.cli.arguments import Arguments, read_arguments, with_files
from sdyopt.tools.cli.files import (
    FAILURE,
    INTERRUPTED,
    SUCCESS,
    TERMINATED,
    WRONG_USAGE,
    FileProblem,
    Input,
    Output,
    dump_table,
    in_dump,
    is_folder,
    read_input,
    write_to_stderr,
)

if TYPE_CHECKING:  # imported only with one of its flags
    from sdyopt.tools.cli.diagnostics_output import DiagnosticsOutput

    # (arguments, output of diagnostics) -> exit status.
    Run = Callable[[Sequence[str], DiagnosticsOutput | None], int]

# Set by the shell completion scripts of click.
COMPLETION_VARIABLE = "_SDY_OPT_COMPLETE"
# Set to show the traceback of an internal error.
DEBUG_VARIABLE = "SDY_OPT_DEBUG"


def run_process() -> NoReturn:
    """Runs the command and exits the process."""
    run_main(main)


def run_main(main: Callable[[Sequence[str]], int]) -> NoReturn:
    """Runs the main function of a command and exits the process without freeing memory.

    Garbage collection and freeing a large program object by object would take a good part of the run time.
    """
    gc.disable()
    signal.signal(signal.SIGTERM, _terminate)
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        # See `sdyopt.tools.start`.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not sys.warnoptions:
        # Those of Python, such as of a regular expression of the input, are for developers.
        warnings.simplefilter("ignore")
    for stream in (sys.stdout, sys.stderr):
        # Text is UTF-8 under every locale.
        if stream is not None and stream.encoding.lower() != "utf-8":
            stream.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    try:
        code = main([from_native(argument) for argument in sys.argv[1:]])
    except Terminated:
        code = TERMINATED
    except KeyboardInterrupt:  # before or after the run itself, which handles it
        code = INTERRUPTED
    with suppress(Terminated, KeyboardInterrupt):
        keep_patterns()
    if sys.getprofile() is not None or sys.gettrace() is not None:
        sys.exit(code)
    if sys.stderr is not None:
        with suppress(OSError):
            sys.stderr.flush()
    os._exit(code)


class Terminated(BaseException):
    """SIGTERM has come. Temporary files are removed before the process ends."""


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    raise Terminated


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status."""
    return run_command(sys.argv[1:] if argv is None else argv, _run)


def run_command(arguments: Sequence[str], run: Run) -> int:
    """Runs a command and returns its exit status. Errors are reported on stderr, without a traceback."""
    try:
        arguments = with_files(arguments)
        output = _diagnostics_output(arguments)
    except (FileProblem, OSError, UnicodeDecodeError) as problem:
        _write_error(str(problem))
        return FAILURE
    except UsageError as error:
        report_error(error.as_diagnostic(), None, error.message)
        return WRONG_USAGE
    code = _run_guarded(arguments, output, run)
    if output is not None:
        try:
            output.finish(code)
        except FileProblem as problem:
            _write_error(str(problem))
            return code or FAILURE
    return code


def _diagnostics_output(argv: Sequence[str]) -> DiagnosticsOutput | None:
    """The output that --diagnostics-format and --diagnostics-output select; None without these flags."""
    if not any(argument.lstrip("-").startswith("diagnostics-") for argument in argv):
        return None
    from sdyopt.tools.cli.diagnostics_output import DiagnosticsOutput

    return DiagnosticsOutput(argv)


def _run_guarded(argv: Sequence[str], output: DiagnosticsOutput | None, run: Run) -> int:
    try:
        return run(argv, output)
    except UsageError as error:
        report_error(error.as_diagnostic(), output, error.message)
        return WRONG_USAGE
    except DiagnosticError as error:
        report_in_file(error.diagnostic, output)
        return FAILURE
    except FileProblem as problem:
        diagnostic = Diagnostic(Severity.ERROR, UnknownLoc(), str(problem), help=problem.help, id=FILE_ERROR)
        report_error(diagnostic, output)
        return FAILURE
    except BrokenPipeError:
        # stdout is closed (EPIPE): exit quietly, and do not let the interpreter flush it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILURE
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        report_crash(error, argv, output)
        return FAILURE


def report_crash(error: Exception, argv: Sequence[str], output: DiagnosticsOutput | None) -> None:
    """Reports an unexpected exception; raises it if the environment says so."""
    if os.environ.get(DEBUG_VARIABLE):
        raise error
    from sdyopt.tools.cli.crash import STACK_TRACE_FLAG, crash_diagnostic

    shows_stack = any(argument.lstrip("-").partition("=")[0] == STACK_TRACE_FLAG for argument in argv)
    report_error(crash_diagnostic(error, shows_stack), output)


def _run(argv: Sequence[str], diagnostics: DiagnosticsOutput | None) -> int:
    if COMPLETION_VARIABLE in os.environ:
        from sdyopt.tools.cli.help import PROGRAM, command

        command().main(prog_name=PROGRAM, complete_var=COMPLETION_VARIABLE)
    arguments = read_arguments(argv)
    if arguments["version"]:
        Output(STDOUT).write(f"sdy-opt {__version__}, Shardy as in {arguments['sdy-version']}\n")
        return SUCCESS
    load_plugins(arguments)
    if text := _information(arguments):
        Output(STDOUT).write(text)
        return SUCCESS
    if arguments.values.keys() & {"show-sharding", "mesh", "shape", "sharding-rows"}:
        from sdyopt.tools.cli.show_sharding import show_sharding

        return show_sharding(arguments, diagnostics)
    if is_folder(arguments.input) and not arguments.passes and not arguments.values.keys() - {"o"}:
        Output(arguments["o"]).write(dump_table(arguments.input))
        return SUCCESS
    # Diagnostics name the file.
    arguments.input = in_dump(arguments.input)
    return _process(arguments, diagnostics)


def load_plugins(arguments: Arguments) -> None:
    """Loads the plugins that the arguments name."""
    passes, dialects = arguments["load-pass-plugin"], arguments["load-dialect-plugin"]
    plugins, definitions = arguments["load-plugin"], arguments["irdl-file"]
    if not passes and not dialects and not plugins and not definitions:
        return
    from sdyopt.mlir.registry.plugins import (
        load_any_plugin,
        load_dialect_plugin,
        load_irdl_file,
        load_pass_plugin,
    )

    for path in definitions:
        load_irdl_file(path)
    for name in plugins:
        load_any_plugin(name)
    for name in dialects:
        load_dialect_plugin(name)
    for name in passes:
        load_pass_plugin(name)


def _information(arguments: Arguments) -> str:
    """The output of --help, --help-pass, --help-lint, --list-passes or --show-dialects; "" without them."""
    if arguments["help"] or arguments["help-hidden"]:
        from sdyopt.tools.cli.help import help_text

        return help_text(is_complete=arguments["help-hidden"])
    if (name := arguments["help-pass"]) is not None:
        from sdyopt.tools.cli.help import manual_text

        return manual_text(name)
    if (rule := arguments["help-lint"]) is not None:
        from sdyopt.tools.cli.help import lint_help

        return lint_help(rule)
    if style := arguments["list-passes"]:
        from sdyopt.tools.cli.help import PASS_LISTS

        return PASS_LISTS[style]()
    if arguments["skill"]:
        from pathlib import Path

        return Path(__file__).with_name("skill.md").read_text(encoding="utf-8")
    if arguments["show-dialects"]:
        from sdyopt.mlir.registry import all_dialects, find_dialect

        names = all_dialects()
        partial = [name for name in names if (dialect := find_dialect(name)) and dialect.is_partial]
        return f"Available Dialects: {','.join(names)}\nWith only some operations: {','.join(partial)}\n"
    return ""


def _process(arguments: Arguments, diagnostics: DiagnosticsOutput | None) -> int:
    from sdyopt.tools.cli.request import selected_sdy_version

    with selected_sdy_version(arguments):
        return _run_job(arguments, diagnostics)


def _run_job(arguments: Arguments, diagnostics: DiagnosticsOutput | None) -> int:
    from sdyopt.tools.cli.request import build_job, build_pipeline
    from sdyopt.tools.driver.run import run_job

    pipeline = build_pipeline(arguments)
    job = build_job(arguments, pipeline)
    if diagnostics is not None:
        diagnostics.input_name = job.name
        job = replace(job, collect=diagnostics.add, shows_text=diagnostics.shows_text)
    job = replace(job, read=Input(read_input(arguments.input)).take)
    is_stdout = arguments["o"] == STDOUT
    # Without passes, analyses run those that they assume. The result of these is printed only with -o.
    is_assumed = "o" not in arguments.values and not pipeline.elements and not job.run_reproducer
    is_replaced = is_stdout and (job.replaces_output or (is_assumed and job.hides_unchanged))
    if is_replaced:
        job = replace(job, prints_output=False)
    if job.bytecode is not None and is_stdout and not is_replaced and sys.stdout and sys.stdout.isatty():
        raise UsageError("bytecode is not written to a terminal", "name a file with -o")
    output = Output(arguments["o"])
    try:
        outcome = run_job(job)
        if job.replaces_output:
            Output(STDOUT).write(outcome.reports)
        if (outcome.succeeded or is_stdout) and not is_replaced:
            output.write_pages(outcome.pages)
    finally:
        output.discard()
    if outcome.succeeded:
        return SUCCESS
    return WRONG_USAGE if outcome.is_usage_error else FAILURE


def report_error(diagnostic: Diagnostic, output: DiagnosticsOutput | None, text: str = "") -> None:
    """Reports an error of the command; `text` is the message on stderr, by default the diagnostic's."""
    if output is not None:
        output.add(diagnostic)
    if output is None or output.shows_text:
        _write_error(text or diagnostic.message, diagnostic.help)


def report_in_file(diagnostic: Diagnostic, output: DiagnosticsOutput | None) -> None:
    """Reports an error in a file of definitions, with an excerpt."""
    from sdyopt.base.diagnostics.render import render

    if output is not None:
        output.add(diagnostic)
    if output is None or output.shows_text:
        write_to_stderr(render(diagnostic, diagnostic.source))


def _write_error(message: str, help: str = "") -> None:
    from sdyopt.base.diagnostics.text import printable

    write_to_stderr(printable(f"sdy-opt: {message}\n" + (f"help: {help}\n" if help else "")))
