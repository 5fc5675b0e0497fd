"""The protocol: a request as JSON on stdin, and answers on stdout, each a line of JSON after a mark.

The mark alone says that the worker runs. XLA may write to stdout and end the process at any time, so answers
go to a copy of stdout that nothing else writes to; lines before them may be of what this Python runs when it
starts. An answer has the key `cannot` if a program cannot be run, or `missing` without jax.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from sdyopt.base.parent_process import end_with

# Starts the lines of answers.
MARK = "sdyopt:"

Answer = dict[str, object]


def main() -> None:
    """Answers one request."""
    end_with(os.getppid())
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    # A new line, because a line may not be complete.
    answers.write(f"\n{MARK}\n")
    answers.flush()
    request = json.loads(sys.stdin.buffer.read())

    def send(answer: Mapping[str, Any]) -> None:
        answers.write(f"{MARK}{json.dumps(answer)}\n")
        answers.flush()

    limit = request.get("memory", 0)
    if limit:
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    send(_answer(request, send))
    # XLA's threads may hang at exit.
    os._exit(0)


def _answer(request: Answer, send: Callable[[Mapping[str, Any]], None]) -> Answer:
    os.environ["XLA_FLAGS"] = " ".join(
        [os.environ.get("XLA_FLAGS", ""), f"--xla_force_host_platform_device_count={request['devices']}"]
    ).strip()
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    try:
        module = import_module(f"sdyopt.analysis.execution.worker.{request['task']}")
    except ImportError as error:
        return {"missing": f"{type(error).__name__}: {error}"}
    answer: Answer = module.answer(request, send)
    return answer
