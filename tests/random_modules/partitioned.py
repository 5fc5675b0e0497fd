"""Partitions random modules, and prints those that propagate but cannot be partitioned.

    python -m tests.random_modules.partitioned --kind programs --seeds 0:2000

Modules that propagation rejects do not count. The local program must parse again, to the same text, and must
have nothing of sdy but meshes and the mark of the partitioner. The exit status is 1 if a module is rejected
or breaks this.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from dataclasses import dataclass

from tests.random_modules.compare import KINDS, PipelineResult, run_here

_PROPAGATE, _PARTITION = "builtin.module(sdy-propagation-pipeline)", "builtin.module(sdy-partition-pipeline)"
_OF_SDY = re.compile(r"\bsdy\.(?!mesh\b|partitioned\b|sharding\b|sharding_per_value\b)\w+")
_VARYING = re.compile(r"\d+|'[^']*'|\"[^\"]*\"|<.*")


@dataclass(frozen=True)
class Partitioned:
    """What became of a module, and the problem if that is one."""

    verdict: str
    problem: str = ""


def partition(text: str) -> Partitioned:
    """Partitions a module, and looks at the local program."""
    propagated = run_here(text, _PROPAGATE)
    if propagated.is_crash:
        return Partitioned("propagation crashes", _crash(propagated))
    if not propagated.output:
        return Partitioned("propagation rejects it")
    local = run_here(text, _PARTITION)
    if local.is_crash:
        return Partitioned("crash", _crash(local))
    if not local.output:
        error = next(message for message in local.messages if ": error: " in message)
        return Partitioned("rejected", error.partition(" ")[2])
    return _checked(local.output)


def _crash(result: PipelineResult) -> str:
    return "".join(result.messages[-2:])


def _checked(output: str) -> Partitioned:
    left = _OF_SDY.search(output)
    if left is not None:
        return Partitioned("not local", left[0])
    again = run_here(output, "builtin.module()")
    if again.output != output:
        return Partitioned("does not parse again", again.messages[0] if again.messages else "another text")
    return Partitioned("partitioned")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kind", choices=KINDS, default="programs", help="the kind of modules")
    parser.add_argument("--seeds", default="0:200", metavar="FROM:TO", help="the seeds of the modules")
    options = parser.parse_args()
    start, end = map(int, options.seeds.split(":"))
    found: dict[str, list[int]] = defaultdict(list)
    problems = 0
    for seed in range(start, end):
        result = partition(KINDS[options.kind].make(seed))
        problems += bool(result.problem)
        key = f"{result.verdict}: {_VARYING.sub('…', result.problem)}" if result.problem else result.verdict
        if result.problem and key not in found:
            print(f"seed {seed}: {result.verdict}: {result.problem}", flush=True)
        found[key].append(seed)
    for key, seeds in sorted(found.items(), key=lambda item: -len(item[1])):
        print(f"{len(seeds):6} {key}" + (f" (seeds {', '.join(map(str, seeds[:8]))})" if ":" in key else ""))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
