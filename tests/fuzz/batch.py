"""Runs inputs in a child process, each under limits of processor time and memory.

The child inherits the imported modules, so an input costs only its own run. If the child ends during an
input, the signal is that input's problem. After this and after an exception, a new child runs the rest.
"""

import contextlib
import gc
import json
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from importlib import import_module
from io import FileIO, TextIOWrapper
from pathlib import Path
from types import FrameType
from typing import IO

from sdyopt.mlir.registry import import_passes
from sdyopt.tools.cli import DEBUG_VARIABLE, main
from sdyopt.tools.driver.split import BYTECODE_MAGIC
from sdyopt.tools.lit.forkserver import COMMON_MODULES
from tests.fuzz.contract import BYTES, OUT_OF_MEMORY, OUT_OF_TIME, SECONDS, Outcome, crash_signature

# Python code ends SECONDS after the start of an input; code that cannot be interrupted, a little later.
_GRACE = 3
_WALL_SECONDS = 30 * SECONDS
_MOST_ERROR_TEXT = 100_000
# Files in memory, if the system has them.
_IN_MEMORY = Path("/dev/shm")

Task = Callable[[], Outcome]


class _TimeLimit(BaseException):
    """An input takes too long. No handler of ordinary exceptions catches it."""


def preload() -> None:
    """Imports what most inputs need, so that children need not."""
    import_passes()
    for module in (*COMMON_MODULES, "sdyopt.analysis.report.analysis", "sdyopt.analysis.lint.analysis"):
        import_module(module)


def run_all(tasks: Sequence[Task]) -> list[Outcome]:
    """The outcomes of tasks, in order."""
    outcomes: list[Outcome] = []
    while len(outcomes) < len(tasks):
        done, ended_by = _run_in_child(tasks[len(outcomes) :])
        outcomes += done
        if ended_by is not None and len(outcomes) < len(tasks):
            outcomes.append(Outcome(crash=ended_by))
    return outcomes


def _run_in_child(tasks: Sequence[Task]) -> tuple[list[Outcome], str | None]:
    """The outcomes of tasks until the child ended, and what ended it during the next one."""
    sys.stdout.flush()
    with tempfile.TemporaryDirectory(dir=_IN_MEMORY if _IN_MEMORY.is_dir() else None) as folder:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            os.chdir(folder)
            with os.fdopen(writing, "w", encoding="utf-8") as pipe:
                _serve(tasks, pipe)
        os.close(writing)
        with os.fdopen(reading, encoding="utf-8") as pipe:
            done = [Outcome(**json.loads(line)) for line in pipe if line.endswith("\n")]
        _, status = os.waitpid(child, 0)
    if len(done) == len(tasks) or (done and done[-1].crash):
        return done, None
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    return done, _ENDS.get(number, f"ended by signal {number}, status {status}")


_ENDS: dict[int, str] = {signal.SIGXCPU: f"{OUT_OF_TIME} in native code", signal.SIGALRM: "waits forever"}


def _serve(tasks: Sequence[Task], pipe: IO[str]) -> None:
    """Runs tasks in the child, up to one that an exception ends, and ends the child."""
    code = 1
    try:
        gc.freeze()  # so that no collection writes to the pages shared with the parent
        # Those of the parent may be replaced by a test.
        sys.stdout, sys.stderr = (
            TextIOWrapper(FileIO(number, "w", closefd=False), "utf-8") for number in (1, 2)
        )
        resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGPROF, _stop)
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        for outcome in map(_limited, tasks):
            pipe.write(json.dumps(asdict(outcome)) + "\n")
            pipe.flush()
            if outcome.crash:
                break
        code = 0
    finally:
        os._exit(code)


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise _TimeLimit


def _limited(task: Task) -> Outcome:
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(used.ru_utime + used.ru_stime + SECONDS) + _GRACE
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.alarm(_WALL_SECONDS)
    try:
        return task()
    except _TimeLimit as error:
        return Outcome(crash=crash_signature(error, OUT_OF_TIME))
    except MemoryError as error:
        return Outcome(crash=crash_signature(error, OUT_OF_MEMORY))
    except Exception as error:
        return Outcome(crash=crash_signature(error))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)


def run_command(text: bytes, flags: Sequence[str]) -> Outcome:
    """Runs the command on a program, in this process, with files in its working directory."""
    os.environ[DEBUG_VARIABLE] = "1"  # internal errors leave the command, with their stack trace
    source, output = Path("input.mlir"), Path("output.mlir")
    source.write_bytes(text)
    output.unlink(missing_ok=True)
    with _captured(Path("stderr")) as errors:
        status = main([source.as_posix(), "-o", output.as_posix(), *flags])
        sys.stdout.flush()
        sys.stderr.flush()
        is_accepted = status == 0 and output.exists() and output.stat().st_size > 0
        # The locations in bytecode may be mutated, too.
        is_text = BYTECODE_MAGIC not in text
        has_locations = (
            is_text and b"unknown" not in text and not any("strip-debuginfo" in flag for flag in flags)
        )
        return Outcome(status, errors(), is_accepted, has_locations)


def _shortened(text: bytes) -> bytes:
    """The start and the end of a text; dumps of the IR between them are long."""
    return text if len(text) <= 2 * _MOST_ERROR_TEXT else text[:_MOST_ERROR_TEXT] + text[-_MOST_ERROR_TEXT:]


@contextlib.contextmanager
def _captured(path: Path) -> Iterator[Callable[[], str]]:
    """Writes stdout and stderr of this process to a file; the result reads what was written to stderr."""
    kept = os.dup(1), os.dup(2)
    with path.open("w+b") as errors, Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(errors.fileno(), 2)
        try:
            yield lambda: _shortened(path.read_bytes()).decode("utf-8", "replace")
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for number, descriptor in enumerate(kept, start=1):
                os.dup2(descriptor, number)
                os.close(descriptor)
