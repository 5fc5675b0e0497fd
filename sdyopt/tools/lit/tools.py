"""Runs the programs of RUN lines: tools of this project with the fork server, others as processes.

With `SDYOPT_LIT_SUBPROCESS=1` each tool runs in a new process, which is slower and shares nothing.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from sdyopt.tools.lit.directives import MalformedCaseError
from sdyopt.tools.lit.forkserver import SECONDS_PER_RUN, TOOLS, ForkServerClient
from sdyopt.tools.lit.shell import TIMEOUT_STATUS

# The tools as modules for `python -m`.
MODULES = {**TOOLS, "sdy-opt": "sdyopt"}
# The commands that packages install for tools.
COMMANDS = {
    "sdy-opt": "sdy-opt",
    "sdy-opt-verify": "sdy-opt-verify",
    "filecheck": "filecheck",
    "FileCheck": "filecheck",
}
# The drivers of C++ that sdy-opt stands for where they are not installed.
STANDS_FOR = ("sdy_opt", "mlir-opt")
# Makes sdy-opt raise internal errors; such a run ends as a crash, which `not` rejects.
SHOW_TRACEBACKS = {"SDY_OPT_DEBUG": "1"}


class Tools:
    """Runs programs for the shell, in a folder. There is one per process of pytest.

    A program that takes longer than `seconds` is ended. `filecheck` is a program to run for FileCheck instead
    of the package filecheck.
    """

    def __init__(self, folder: Path, seconds: int = SECONDS_PER_RUN, filecheck: str = "") -> None:
        self._folder = folder
        self._seconds = seconds
        self._filecheck = filecheck
        can_fork = hasattr(os, "fork") and "SDYOPT_LIT_SUBPROCESS" not in os.environ
        self._server = ForkServerClient(folder, seconds) if can_fork else None

    def run(
        self,
        words: tuple[str, ...],
        environment: Mapping[str, str],
        stdin: IO[bytes],
        stdout: IO[bytes],
        stderr: IO[bytes],
    ) -> int:
        """Runs a program and returns its exit status, negative if a signal ended it."""
        words = (self._standing_for(words[0]), *words[1:])
        if is_other := self._is_replaced(words[0]):
            words = (self._filecheck, *words[1:])
        environment = {**SHOW_TRACEBACKS, **environment}
        # Python reads these variables at start-up only.
        needs_new_process = any(name.startswith("PYTHON") for name in environment)
        if words[0] in TOOLS and not is_other and self._server and not needs_new_process:
            return self._server.run(words, environment, stdin, stdout, stderr)
        module = None if is_other else MODULES.get(words[0])
        return self._run_process(words, module, environment, stdin, stdout, stderr)

    def close(self) -> None:
        """Stops the fork server."""
        if self._server:
            self._server.close()

    def command_of(self, program: str) -> str:
        """The command that runs a program from the folder; short if PATH has the command of this Python."""
        program = self._standing_for(program)
        if self._is_replaced(program):
            return self._filecheck
        python = Path(sys.executable)
        command = COMMANDS.get(program, "")
        if command and shutil.which(command) == str(python.parent / command):
            return command
        if python.is_relative_to(self._folder):
            python = python.relative_to(self._folder)
        if program == "python":
            return str(python)
        return f"{python} -m {MODULES[program]}" if program in MODULES else program

    def _standing_for(self, name: str) -> str:
        """`sdy-opt` for a driver of C++ that is not on PATH; any other name as it is."""
        return "sdy-opt" if name in STANDS_FOR and shutil.which(name) is None else name

    def _is_replaced(self, name: str) -> bool:
        """Whether another program runs for the package filecheck, which may have the name of a tool."""
        return bool(self._filecheck) and COMMANDS.get(name) == "filecheck"

    def _run_process(
        self,
        words: tuple[str, ...],
        module: str | None,
        environment: Mapping[str, str],
        stdin: IO[bytes],
        stdout: IO[bytes],
        stderr: IO[bytes],
    ) -> int:
        if module is not None:
            command = [sys.executable, "-m", "sdyopt.tools.lit.tool_process", module, *words[1:]]
        elif words[0] == "python":
            command = [sys.executable, *words[1:]]
        elif shutil.which(words[0]):
            command = list(words)
        else:
            raise MalformedCaseError(f"no such program: {words[0]}", "install it, or add its folder to PATH")
        try:
            done = subprocess.run(
                command,
                env={**os.environ, **environment},
                cwd=self._folder,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                timeout=self._seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return TIMEOUT_STATUS
        except OSError as problem:
            raise MalformedCaseError(f"cannot run {words[0]}: {problem.strerror}") from None
        return done.returncode
