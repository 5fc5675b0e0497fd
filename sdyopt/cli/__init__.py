"""The command `sdy-opt`: argv → Job, Outcome → exit code. Nothing else knows of either.

Users wait for the start, so what only some runs need is imported when they do.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NoReturn

from sdyopt import __version__
from sdyopt.cli.arguments import Arguments, read_arguments
from sdyopt.cli.files import STDOUT, FileProblem, Output, read_input
from sdyopt.diagnostics.native_text import from_native
from sdyopt.diagnostics.usage import UsageError

SUCCESS, FAILURE, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130

# Set by shells that ask for completions, as click has them do.
COMPLETION_VARIABLE = "_SDY_OPT_COMPLETE"
# Set by people who look for the cause of an internal error.
DEBUG_VARIABLE = "SDY_OPT_DEBUG"


def run_process() -> NoReturn:
    """The command as a process of its own: what it leaves behind is for the system to clear away.

    Looking for cycles and taking a big program apart, object by object, would take a good part of
    a run's time.
    """
    gc.disable()
    for stream in (sys.stdout, sys.stderr):
        # Text is UTF-8 under every locale.
        if stream is not None and stream.encoding.lower() != "utf-8":
            stream.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    code = main([from_native(argument) for argument in sys.argv[1:]])
    if sys.getprofile() is not None or sys.gettrace() is not None:
        sys.exit(code)
    if sys.stderr is not None:
        with suppress(OSError):
            sys.stderr.flush()
    os._exit(code)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code. What is wrong is said on stderr, never by a traceback."""
    try:
        return _run(sys.argv[1:] if argv is None else argv)
    except UsageError as error:
        _complain(error.message, error.help)
        return WRONG_USAGE
    except FileProblem as problem:
        _complain(str(problem))
        return FAILURE
    except BrokenPipeError:
        # Who read our output has gone; there is nobody to tell, at interpreter exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILURE
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        if os.environ.get(DEBUG_VARIABLE):
            raise
        _complain(
            f"internal error: {type(error).__name__}: {error}",
            f"this is a fault of the program, not of its input; {DEBUG_VARIABLE}=1 shows where it is",
        )
        return FAILURE


def _run(argv: Sequence[str]) -> int:
    if COMPLETION_VARIABLE in os.environ:
        from sdyopt.cli.help import PROGRAM, command

        command().main(prog_name=PROGRAM, complete_var=COMPLETION_VARIABLE)
    arguments = read_arguments(argv)
    if arguments["version"]:
        Output(STDOUT).write(f"sdy-opt {__version__}\n")
        return SUCCESS
    _load_plugins(arguments)
    if text := _information(arguments):
        Output(STDOUT).write(text)
        return SUCCESS
    return _process(arguments)


def _load_plugins(arguments: Arguments) -> None:
    passes, dialects = arguments["load-pass-plugin"], arguments["load-dialect-plugin"]
    if not passes and not dialects:
        return
    from sdyopt.registry.plugins import load_dialect_plugin, load_pass_plugin

    for name in dialects:
        load_dialect_plugin(name)
    for name in passes:
        load_pass_plugin(name)


def _information(arguments: Arguments) -> str:
    """What was asked for instead of a run, if anything."""
    if arguments["help"]:
        from sdyopt.cli.help import help_text

        return help_text()
    if (name := arguments["help-pass"]) is not None:
        from sdyopt.cli.help import manual_text

        return manual_text(name)
    if style := arguments["list-passes"]:
        from sdyopt.cli.help import passes_markdown, passes_text

        return passes_markdown() if style == "markdown" else passes_text()
    if arguments["show-dialects"]:
        from sdyopt.registry import all_dialects

        return f"Available Dialects: {','.join(all_dialects())}\n"
    return ""


def _process(arguments: Arguments) -> int:
    from sdyopt.cli.request import build_job, build_pipeline
    from sdyopt.driver.run import run_job

    pipeline = build_pipeline(arguments)
    if arguments["dump-pass-pipeline"]:
        sys.stderr.write(pipeline.dump())
    job = build_job(arguments, pipeline)
    job = replace(job, data=read_input(arguments.input))
    output = Output(arguments["o"])
    try:
        outcome = run_job(job)
        if outcome.succeeded or arguments["o"] == "-":
            output.write(outcome.output)
    finally:
        output.discard()
    return SUCCESS if outcome.succeeded else FAILURE


def _complain(message: str, help: str = "") -> None:
    sys.stderr.write(f"sdy-opt: {message}\n" + (f"help: {help}\n" if help else ""))
