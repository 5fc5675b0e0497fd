"""Execution of programs on virtual devices, by XLA in a process of its own, and comparison of results.

The process of sdy-opt prepares the texts of the programs, and describes which slice of each value every
device has. The package `worker`, which needs jax, runs in the other process.
"""

from __future__ import annotations

import sys

from sdyopt.analysis.interface import AnalysisOptions, Request
from sdyopt.analysis.interface.flag import VALIDATION, Writes, flag
from sdyopt.base.dataclasses import replace

# How a partitioned program is run: on replicas, or inside a manual computation.
MODES = ("replicas", "manual")


class Options(AnalysisOptions):
    """The validation of the program after the passes, by execution of both.

    `validate` is the number of random inputs. Programs are run by the Python `jax_python`, by default this
    one, for `validate_timeout` seconds and in `validate_memory` GiB at most.
    """

    order, group = 70, VALIDATION
    needs_before = True
    validate: int = flag(
        default=0,
        implied="1",
        placeholder="N",
        minimum=1,
        is_common=True,
        help="run the program before and after the passes, partitioned, on N random inputs, and fail if a "
        "result differs (needs jax)",
    )
    validate_mode: str = flag(
        default="replicas",
        choices=MODES,
        needs=("validate",),
        help="run a partitioned program on replicas, or unchanged inside a manual computation, which is "
        "slower",
    )
    validate_timeout: int = flag(
        default=300,
        placeholder="SECONDS",
        minimum=1,
        needs=("validate", "advise-verify", "compiled"),
        help="stop running a function after SECONDS",
    )
    validate_memory: int = flag(
        default=8,
        placeholder="GIB",
        minimum=1,
        needs=("validate", "advise-verify", "compiled"),
        help="limit the memory of a run to GIB gibibytes",
    )
    jax_python: str | None = flag(
        default=None,
        placeholder="PYTHON",
        needs=("validate", "advise-verify", "compiled"),
        help="run programs by this Python, which has jax (default: this one)",
    )
    bisect: str = flag(
        default="",
        placeholder="FILE",
        needs=("validate",),
        writes=Writes("the reduced program"),
        help="if a result differs, find the pass and the operation that make it differ, and write a program "
        "that consists of this operation to FILE",
    )
    reference_python: str | None = flag(
        default=None,
        implied="",
        placeholder="PYTHON",
        needs=("validate",),
        help="validate the C++ passes of jaxlib instead of these, run by PYTHON (default: that of sdy-opt)",
    )

    @property
    def is_needed(self) -> bool:
        return self.validate > 0

    def prepared(self, request: Request) -> Options:
        return replace(self, reference_python=sys.executable) if self.reference_python == "" else self
