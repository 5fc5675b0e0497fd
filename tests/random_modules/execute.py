"""Partitions random modules, runs them on virtual devices, and prints the differences.

    python -m tests.random_modules.execute --count 2000 --python PYTHON --results FILE

PYTHON has jax; by default it is this one. The modules are those of the seeds from `--first` on, until
`--count` of them are executed. Each result of a module is compared as by `--validate`. Modules that are
rejected or that XLA cannot run are counted by reason, and do not count as executed. FILE gets a line of JSON
for each module; with `--resume`, seeds that it has are not run again. The exit status is 1 if any result
differs.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Any

import sdyopt
from sdyopt.analysis.execution.global_program import COLLECTIVES, entry_names
from sdyopt.analysis.execution.process import NotValidated, Worker
from sdyopt.analysis.execution.validation import FunctionValidation, ValidationOptions, compare
from sdyopt.base.dataclasses import dataclass, field
from sdyopt.base.releases import NEWEST
from sdyopt.mlir.registry import dialect_table
from sdyopt.tools.api.program import discard, session
from tests.random_modules.compare import KINDS
from tests.random_modules.kept_worker import KeptProcess, Outcome
from tests.random_modules.programs import MAX_DEVICES

_MEMORY = 2  # GiB
_VARYING = re.compile(r"%\w+|\d+|'[^']*'|\"[^\"]*\"|<.*")


@dataclass(frozen=True)
class KeptWorker(Worker):
    """Runs programs in a process that is kept."""

    memory: int = _MEMORY
    process: KeptProcess = field(default_factory=lambda: KeptProcess(sys.executable, MAX_DEVICES, 60))

    def run(self, task: str, request: Mapping[str, Any]) -> list[dict[str, Any]]:
        if request["devices"] > MAX_DEVICES:
            raise NotValidated(f"it has more than {MAX_DEVICES} devices")
        return [self.process.ask({**request, "task": task})]


def execute(seed: int, text: str, options: ValidationOptions) -> Outcome:
    """Partitions a module, and runs it before and after."""
    try:
        module = sdyopt.parse(text)
        local = module.partition()
    except sdyopt.Error as error:
        return Outcome(seed, "rejected", error.message.partition("\n")[0])
    collectives = sum(op.name in COLLECTIVES for op in local.ir.walk())
    with session(discard, NEWEST.name, dialect_table()):
        (name,) = entry_names(module.ir)
        try:
            comparison = compare(module.ir, local.ir, name, options)
        except NotValidated as failure:
            return Outcome(seed, "not executed", str(failure))
    return _outcome(seed, comparison, collectives)


def _outcome(seed: int, comparison: FunctionValidation, collectives: int) -> Outcome:
    unstable = [each for each in comparison.results if each.is_unstable]
    different = [each for each in comparison.results if not each.is_equal and not each.is_unstable]
    verdict, reason = "equal", ""
    if different:
        verdict, reason = "different", str(different[0])
    elif unstable:
        verdict, reason = "not executed", "rounding the inputs differently changes a result as much"
    elif comparison.devices == 1:
        verdict, reason = "not executed", "it is for one device"
    elif not comparison.results:
        verdict, reason = "not executed", "it has no results"
    return Outcome(seed, verdict, reason, comparison.devices, len(comparison.results), collectives)


def _known(file: Path | None) -> dict[int, Outcome]:
    if file is None or not file.exists():
        return {}
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return {outcome.seed: outcome for outcome in (Outcome(**line) for line in lines)}


def _print_summary(outcomes: list[Outcome]) -> None:
    counts = Counter(_VARYING.sub("…", outcome.summary)[:110] for outcome in outcomes)
    for what, number in counts.most_common():
        print(f"{number:6} {what}")
    equal = [outcome for outcome in outcomes if outcome.verdict == "equal"]
    if equal:
        devices = ", ".join(f"{n}: {c}" for n, c in sorted(Counter(each.devices for each in equal).items()))
        communicating = sum(each.collectives > 0 for each in equal)
        print(
            f"equal modules by number of devices: {devices}; {communicating} have collectives; "
            f"{sum(each.results for each in equal)} results"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kind", choices=KINDS, default="executable")
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--count", type=int, default=100, help="the number of modules to execute")
    parser.add_argument("--mode", choices=["replicas", "manual"], default="replicas")
    parser.add_argument("--python", default=sys.executable, help="a Python with jax")
    parser.add_argument("--timeout", type=int, default=60, metavar="SECONDS", help="the limit of each module")
    parser.add_argument("--results", type=Path, metavar="FILE")
    parser.add_argument("--resume", action="store_true", help="continue FILE, instead of overwriting it")
    options = parser.parse_args()
    process = KeptProcess(options.python, MAX_DEVICES, options.timeout)
    validation = ValidationOptions(1, options.mode, KeptWorker(process=process))
    known = _known(options.results) if options.resume else {}
    if options.results is not None and not options.resume:
        options.results.write_text("", encoding="utf-8")
    outcomes: list[Outcome] = []
    executed, started = 0, time.monotonic()
    for seed in count(options.first):
        if executed == options.count:
            break
        outcome = known.get(seed)
        if outcome is None:
            outcome = execute(seed, KINDS[options.kind].make(seed), validation)
            if options.results is not None:
                with options.results.open("a", encoding="utf-8") as file:
                    print(json.dumps(asdict(outcome)), file=file)
        outcomes.append(outcome)
        executed += outcome.verdict in ("equal", "different")
        if outcome.verdict == "different":
            print(f"seed {seed}: {outcome.reason}", flush=True)
    process.close()
    _print_summary(outcomes)
    print(f"{executed} of {len(outcomes)} modules executed in {time.monotonic() - started:.0f} s")
    return 1 if any(outcome.verdict == "different" for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
