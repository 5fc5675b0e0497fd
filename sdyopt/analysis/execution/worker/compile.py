"""The task `compile`: the optimized HLO of programs with shardings, each in an answer of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax

from sdyopt.analysis.execution.worker.execute import DeviceProgram


def answer(request: Mapping[str, Any], send: Callable[[Mapping[str, Any]], None]) -> dict[str, Any]:
    """The answer for the last program, after those for all others."""
    *others, last = request["texts"]
    for text in others:
        send(_compiled(text, request["devices"]))
    return _compiled(last, request["devices"])


def _compiled(text: str, devices: int) -> dict[str, Any]:
    try:
        return {"hlo": DeviceProgram(text, 1, devices).hlo}
    except (jax.errors.JaxRuntimeError, NotImplementedError, ValueError, TypeError) as error:
        return {"cannot": f"XLA: {str(error).strip().partition(chr(10))[0][:300]}"}
    except MemoryError:
        return {"cannot": "out of memory"}
