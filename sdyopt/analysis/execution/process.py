"""The process that runs programs: XLA may crash or take forever there, and nothing of it is imported here."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryFile
from threading import Thread
from time import monotonic
from typing import IO, Any

from sdyopt.base.dataclasses import dataclass
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.ids import USAGE_ERROR
from sdyopt.base.diagnostics.location import FileRange, Source

# Other packages beside this one must not hide those of the other Python, and its sdyopt not this one. So the
# folder is on the path for the import of this one alone.
_FOLDER = Path(__file__).parents[3]
_START = (
    "import sys; sys.path.insert(0, sys.argv[1]); import sdyopt; del sys.path[0]; "
    "from sdyopt.analysis.execution.worker.main import main; main()"
)

# Starts the lines of answers of the worker, which cannot be imported here.
_MARK = b"sdyopt:"

# The limit of `subprocess` is less than a month.
_LONGEST = 2**31 // 1000 - 1
_GIB = 1 << 30
# A program of a Python that is not one may print forever.
_MOST_OUTPUT = 1 << 28

# What XLA prints before the process ends because it gets no more memory.
_OUT_OF_MEMORY = ("mmap error: 12", "bad_alloc", "Out of memory", "out of memory", "Cannot allocate memory")
_CHECK = re.compile(r"\] (Check failed: .*)")


@dataclass(frozen=True)
class Worker:
    """The options of execution: the Python that runs programs, and its limits in seconds and GiB.

    0 GiB is no limit.
    """

    python: str = ""
    timeout: int = 300
    memory: int = 8

    def run(self, task: str, request: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The answers to a request. Raises NoJax, or NotValidated if the process does not answer."""
        python = self.python or sys.executable
        data = json.dumps({**request, "task": task, "memory": self.memory * _GIB}).encode()
        command = [python, "-P", "-c", _START, str(_FOLDER)]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        try:
            code, stdout, stderr = _run(command, data, min(self.timeout, _LONGEST), environment)
        except subprocess.TimeoutExpired:
            raise NotValidated(f"it runs for more than {self.timeout} seconds") from None
        except OSError as error:
            raise NoJax(
                f"cannot run '{python}': {error.strerror}", "name a Python with jax", python
            ) from None
        if max(len(stdout), len(stderr)) > _MOST_OUTPUT:
            raise NotValidated(f"'{python}' prints more than {_MOST_OUTPUT >> 20} MiB")
        marked = [line.removeprefix(_MARK) for line in stdout.splitlines() if line.startswith(_MARK)]
        if not marked:
            message = f"'{python}' does not run programs: it {_ending(code)} and no answer"
            raise NoJax(message, "name a Python with jax", python)
        try:
            answers = [json.loads(line) for line in marked if line]
        except ValueError:  # it was ended while it wrote one
            answers = []
        last = answers[-1] if answers else {}
        if "missing" in last:
            raise NoJax(f"{python} cannot import jax: {last['missing']}", self._help(), python)
        if not answers:
            raise NotValidated(self._reason(code, stderr.decode("utf-8", "replace")))
        return answers

    def _help(self) -> str:
        if self.python:
            return "install jax there, or name another Python"
        return (
            "pip install 'sdy-opt[run]', or name a Python that has jax with --jax-python (python=… in Python)"
        )

    def _reason(self, code: int, stderr: str) -> str:
        """The reason for which the process has given no answer."""
        if any(text in stderr for text in _OUT_OF_MEMORY):
            return f"it needs more than {self.memory} GiB of memory"
        # A failed check is followed by a stack trace.
        text = stderr.partition("*** Check failure stack trace")[0]
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        failed = [match[1] for match in map(_CHECK.search, lines) if match is not None]
        last = (failed or lines)[-1][:200] if lines else ""
        return f"XLA {_ending(code)}{f': {last}' if last else ''}"


def _run(
    command: list[str], data: bytes, timeout: float, environment: dict[str, str]
) -> tuple[int, bytes, bytes]:
    """The exit code of a process and what it prints; a process that prints too much is killed."""
    with _request_file(data) as request:
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, stdin=request, stdout=pipe, stderr=pipe, env=environment)
    with process:
        assert process.stdout is not None and process.stderr is not None
        printed = [(process.stdout, bytearray()), (process.stderr, bytearray())]
        readers = [Thread(target=_read, args=(process, *pair), daemon=True) for pair in printed]
        for reader in readers:
            reader.start()
        end = monotonic() + timeout
        try:
            # The end of what it prints comes before its own, or after it if another process prints, too.
            for reader in readers:
                reader.join(max(end - monotonic(), 0))
            if any(reader.is_alive() for reader in readers):
                raise subprocess.TimeoutExpired(command, timeout)
            code = process.wait(max(end - monotonic(), 0))
        except BaseException:
            process.kill()
            raise
    [stdout, stderr] = [bytes(text) for _, text in printed]
    return code, stdout, stderr


def _request_file(data: bytes) -> IO[bytes]:
    """An open file with a request. Raises NotValidated if there is no room for it."""
    try:
        file = TemporaryFile()  # noqa: SIM115 - the caller closes it
        file.write(data)
        file.seek(0)
    except OSError as problem:
        raise NotValidated(f"no room for a copy of the program: {problem.strerror}") from None
    return file


def _read(process: subprocess.Popen[bytes], stream: IO[bytes], into: bytearray) -> None:
    while chunk := os.read(stream.fileno(), 1 << 16):
        into += chunk
        if len(into) > _MOST_OUTPUT:
            process.kill()
            return


def _ending(code: int) -> str:
    if code >= 0:
        return f"ends with exit code {code}"
    try:
        return f"ends with {signal.Signals(-code).name}"
    except ValueError:
        return f"ends with signal {-code}"


class NotValidated(Exception):
    """A program could not be compared with another one; the text is the reason."""


class NoJax(Exception):
    """The Python that executes programs cannot import jax; the text is the error, `help` what to install."""

    def __init__(self, message: str, help: str, python: str) -> None:
        super().__init__(message)
        self.help = help
        self.python = python

    def error(self, what: str) -> DiagnosticError:
        """The same as an error about `what` cannot be done: it is located in the flag, not in the program."""
        source = Source("--jax-python", self.python)
        end = len(self.python.encode()) + 1
        problem = DiagnosticError.at(FileRange(source.name, 1, 1, 1, end), f"cannot {what}: {self}")
        problem.diagnostic.id = USAGE_ERROR
        return problem.help(self.help).within(source)
