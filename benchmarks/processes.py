"""Runs a command and measures it from outside: seconds, and peak memory.

On Linux a process's peak counts from before its program was loaded, when it still was a copy of its
parent. The parent therefore has to stay small: what needs memory runs in a process of its own.
"""

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass


class BenchmarkFailed(Exception):
    """A measured command failed, so there is nothing to compare."""


@dataclass(frozen=True)
class Run:
    """One finished process."""

    seconds: float
    memory: float
    output: str


def run(command: list[str], *, keeps_output: bool = False) -> Run:
    """Runs a command to its end. Output that is not kept goes to a file, as a user's would."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors)
        _, ending, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(ending)
        if process.returncode:
            errors.seek(0)
            message = errors.read().decode(errors="replace")[-1000:]
            raise BenchmarkFailed(f"{' '.join(command)}\nended with {process.returncode}: {message}")
        output.seek(0)
        memory = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        return Run(seconds, memory, output.read().decode() if keeps_output else "")
