"""Runs the programs of RUN lines: tools of this project with the fork server, others as processes.

With `SDYOPT_LIT_SUBPROCESS=1` each tool runs in a new process, which is slower and shares nothing.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from tests.harness.directives import MalformedCaseError
from tests.harness.forkserver import SECONDS_PER_RUN, TOOLS, ForkServer

# The tools as modules for `python -m`.
MODULES = {
    "sdy-opt": "sdyopt",
    "filecheck": "filecheck",
    "FileCheck": "filecheck",
    "split-file": "tests.harness.split_file",
}
# `not` must reject an internal error of sdy-opt.
SHOW_TRACEBACKS = {"SDY_OPT_DEBUG": "1"}


class Tools:
    """Runs programs for the shell. There is one per process of pytest."""

    def __init__(self) -> None:
        can_fork = hasattr(os, "fork") and "SDYOPT_LIT_SUBPROCESS" not in os.environ
        self._server = ForkServer() if can_fork else None

    def run(
        self,
        words: tuple[str, ...],
        environment: Mapping[str, str],
        stdin: IO[bytes],
        stdout: IO[bytes],
        stderr: IO[bytes],
    ) -> int:
        """Runs a program and returns its exit status, negative if a signal ended it."""
        environment = {**SHOW_TRACEBACKS, **environment}
        # Python reads these variables at start-up only.
        needs_new_process = any(name.startswith("PYTHON") for name in environment)
        if words[0] in TOOLS and self._server and not needs_new_process:
            return self._server.run(words, environment, stdin, stdout, stderr)
        return _run_process(words, environment, stdin, stdout, stderr)

    def close(self) -> None:
        """Stops the fork server."""
        if self._server:
            self._server.close()


def command_of(program: str) -> str:
    """The command that runs a program from the root of the checkout, independent of PATH."""
    python = Path(sys.executable)
    if python.is_relative_to(Path.cwd()):
        python = python.relative_to(Path.cwd())
    if program == "python":
        return str(python)
    return f"{python} -m {MODULES[program]}" if program in MODULES else program


def _run_process(
    words: tuple[str, ...],
    environment: Mapping[str, str],
    stdin: IO[bytes],
    stdout: IO[bytes],
    stderr: IO[bytes],
) -> int:
    if module := MODULES.get(words[0]):
        command = [sys.executable, "-m", module, *words[1:]]
    elif words[0] == "python":
        command = [sys.executable, *words[1:]]
    elif shutil.which(words[0]):
        command = list(words)
    else:
        raise MalformedCaseError(f"no such program: {words[0]}")
    try:
        done = subprocess.run(
            command,
            env={**os.environ, **environment},
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            timeout=SECONDS_PER_RUN,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return -signal.SIGALRM
    return done.returncode
