"""A process with jax that is kept for many programs, because starting one takes longer than running it.

This file is both sides: the process is this file, run by a Python that has jax, and answers one request after
the other, a line of JSON each. A process that crashes, or takes too long, is replaced.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

# Compiling takes longer than running these programs.
_FLAGS = "--xla_force_host_platform_device_count={} --xla_backend_optimization_level=0"
_FOLDER = Path(__file__).parents[2]
_START = "import sys; sys.path.append(sys.argv[1]); from tests.random_modules import kept_worker; "


def serve(devices: int) -> None:
    """Answers requests until there are no more."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    os.environ["XLA_FLAGS"] = _FLAGS.format(devices)
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    for line in sys.stdin:
        request = json.loads(line)
        module = import_module(f"sdyopt.analysis.execution.worker.{request['task']}")
        answers.write(json.dumps(module.answer(request, print)) + "\n")
        answers.flush()
    os._exit(0)  # XLA's threads may hang at exit


class KeptProcess:
    """The process. The limits are the same for all requests."""

    def __init__(self, python: str, devices: int, timeout: int) -> None:
        self._command = [python, "-P", "-c", f"{_START}kept_worker.serve({devices})", str(_FOLDER)]
        self._timeout = timeout
        self._process: subprocess.Popen[str] | None = None

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a request; with the key `cannot` if the process ends, or does not answer in time."""
        process = self._process or self._start()
        assert process.stdin is not None and process.stdout is not None
        try:
            print(json.dumps(request), file=process.stdin, flush=True)
            if not select.select([process.stdout], [], [], self._timeout)[0]:
                self.close()
                return {"cannot": f"it runs for more than {self._timeout} seconds"}
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if line:
            answer: dict[str, Any] = json.loads(line)
            return answer
        code = process.wait()
        self._process = None
        return {"cannot": f"XLA ends with {signal.Signals(-code).name if code < 0 else code}"}

    def start(self) -> None:
        """Starts the process, unless it runs."""
        if self._process is None or self._process.poll() is not None:
            self._start()

    def _start(self) -> subprocess.Popen[str]:
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        )
        return self._process

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


@dataclass
class Outcome:
    """What became of one module: `equal`, `different`, `rejected` or `not executed`, and the reason."""

    seed: int
    verdict: str
    reason: str = ""
    devices: int = 0
    results: int = 0
    collectives: int = 0

    @property
    def summary(self) -> str:
        return f"{self.verdict}{f': {self.reason}' if self.reason and self.verdict != 'different' else ''}"
