"""Runs a command and measures its time and peak memory.

On Linux the peak memory of a process includes the time before exec, when it is a copy of its parent. So this
process must stay small; programs are generated in other processes.
"""

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass


class BenchmarkFailed(Exception):
    """A measured command failed."""


@dataclass(frozen=True)
class Run:
    """Processor seconds, peak memory in bytes and output of a finished process."""

    seconds: float
    memory: float
    output: str


def run(command: list[str], *, keeps_output: bool = False, environment: dict[str, str] | None = None) -> Run:
    """Runs a command and measures it; raises BenchmarkFailed. Output goes to a temporary file.

    `environment` is added to that of this process.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            env={**os.environ, **(environment or {})},
        )
        _, wait_status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(wait_status)
        if process.returncode:
            errors.seek(0)
            message = errors.read().decode(errors="replace")[-1000:]
            raise BenchmarkFailed(f"{' '.join(command)}\nended with {process.returncode}: {message}")
        output.seek(0)
        memory = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        return Run(usage.ru_utime + usage.ru_stime, memory, output.read().decode() if keeps_output else "")
