"""Partitions random modules, runs them on virtual devices, and prints the differences.

    python -m tests.random_modules.execute --kind rules --seeds 0:2000

Needs the extra `run`. All modules are run in this process, which is faster than `--validate`; a module that
makes XLA crash ends it. Modules that the pipeline rejects or XLA cannot run are counted.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import sdyopt
from sdyopt.api.session import discard, session
from sdyopt.execution.entry_functions import entry_names
from sdyopt.execution.failure import NotValidated
from sdyopt.execution.process import Worker
from sdyopt.execution.validation import FunctionValidation, ValidationOptions, compare
from tests.random_modules.compare import KINDS

MAX_DEVICES = 16


class ThisProcess(Worker):
    """Runs programs here: jax is imported once."""

    def run(self, task: str, request: Mapping[str, Any]) -> list[dict[str, Any]]:
        if request["devices"] > MAX_DEVICES:
            raise NotValidated(f"it has more than {MAX_DEVICES} devices")
        answer: dict[str, Any] = import_module(f"sdyopt.execution.worker.{task}").answer(request, print)
        return [answer]


def outcomes(text: str, mode: str) -> Iterator[FunctionValidation | str]:
    """The comparison of each function of a module, or why there is none."""
    options = ValidationOptions(1, mode, ThisProcess())
    try:
        module = sdyopt.parse(text)
        local = module.partition()
    except sdyopt.Error as error:
        yield f"rejected: {error.message.partition(chr(10))[0]}"
        return
    with session(discard):
        for name in entry_names(module.ir):
            try:
                yield compare(module.ir, local.ir, name, options)
            except NotValidated as failure:
                yield f"not run: {failure}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kind", choices=KINDS, default="rules")
    parser.add_argument("--seeds", default="0:100", metavar="FIRST:END")
    parser.add_argument("--mode", choices=["replicas", "manual"], default="replicas")
    options = parser.parse_args()
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={MAX_DEVICES}"
    os.environ["JAX_PLATFORMS"] = "cpu"
    first, end = map(int, options.seeds.split(":"))
    counts: Counter[str] = Counter()
    for seed in range(first, end):
        for outcome in outcomes(KINDS[options.kind].make(seed), options.mode):
            if isinstance(outcome, str):
                counts[outcome[:100]] += 1
            elif outcome.differs:
                counts["different"] += 1
                print(
                    f"seed {seed}: {[each for each in outcome.results if not each.is_equal][:1]}", flush=True
                )
            else:
                counts["equal"] += 1
    for what, count in counts.most_common():
        print(f"{count:6} {what}")


if __name__ == "__main__":
    main()
