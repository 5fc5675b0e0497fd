"""How a RUN line's programs are run: our own tools by the fork server, others as they are.

`SDYOPT_LIT_SUBPROCESS=1` starts every tool afresh, as a user does: slower, and with nothing shared.
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

# The same tools as modules of `python -m`.
MODULES = {
    "sdy-opt": "sdyopt",
    "filecheck": "filecheck",
    "FileCheck": "filecheck",
    "split-file": "tests.harness.split_file",
}
# An internal error of sdy-opt must not pass for one that a case expects with `not`.
SHOW_TRACEBACKS = {"SDY_OPT_DEBUG": "1"}


class Tools:
    """Runs programs for the shell. Made once per process of pytest."""

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
        """The exit status of one program; negative if a signal ended it."""
        environment = {**SHOW_TRACEBACKS, **environment}
        # Python reads its own variables when it starts, so such a run cannot be a fork.
        starts_afresh = any(name.startswith("PYTHON") for name in environment)
        if words[0] in TOOLS and self._server and not starts_afresh:
            return self._server.run(words, environment, stdin, stdout, stderr)
        return _run_process(words, environment, stdin, stdout, stderr)

    def close(self) -> None:
        """Ends what was started."""
        if self._server:
            self._server.close()


def shown(program: str) -> str:
    """A program as a shell finds it from the root of the checkout, whatever is on its PATH."""
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
