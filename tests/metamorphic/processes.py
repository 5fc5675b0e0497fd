"""Compares the results of several Pythons and hash seeds on random modules.

    python -m tests.metamorphic.processes --seeds 0:2000 [PYTHON …]

Each PYTHON has the dependencies of the project; without one, this Python runs. Each runs a random pipeline on
each module with two hash seeds, in a process each, and all must print the same.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from random import Random

from tests.metamorphic.passes import random_pipeline
from tests.metamorphic.properties import module_of
from tests.random_modules.compare import run_here

HASH_SEEDS = ("0", "1")
_ROOT = Path(__file__).parents[2]
_MODULE = "tests.metamorphic.processes"


def checksums(seeds: range) -> Iterator[str]:
    """A line with the checksum of the result of each module, and its pipeline."""
    for seed in seeds:
        pipeline = f"builtin.module({random_pipeline(Random(seed))})"
        result = run_here(module_of(seed), pipeline)
        text = "\n".join([*result.messages, result.output])
        yield f"{seed} {pipeline} {sha256(text.encode()).hexdigest()[:16]}"


def differences(seeds: range, pythons: Sequence[str]) -> list[str]:
    """The modules for which the processes do not print the same."""
    processes = [
        subprocess.Popen(
            [python, "-m", _MODULE, "--print", "--seeds", f"{seeds.start}:{seeds.stop}"],
            cwd=_ROOT,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            stdout=subprocess.PIPE,
            text=True,
        )
        for python in pythons
        for hash_seed in HASH_SEEDS
    ]
    printed = [process.communicate()[0].splitlines() for process in processes]
    assert all(len(lines) == len(seeds) for lines in printed), "a process ended early"
    return [lines[0] for lines in zip(*printed, strict=True) if len(set(lines)) > 1]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pythons", nargs="*", metavar="PYTHON", default=[sys.executable])
    parser.add_argument("--seeds", default="0:200", metavar="FROM:TO", help="the seeds of the modules")
    parser.add_argument("--print", action="store_true", help="print checksums, and compare nothing")
    options = parser.parse_args()
    start, end = map(int, options.seeds.split(":"))
    if options.print:
        for line in checksums(range(start, end)):
            print(line, flush=True)
        return 0
    found = differences(range(start, end), options.pythons)
    print(*found, sep="\n")
    print(f"{end - start} modules, {len(options.pythons)} Pythons, {len(HASH_SEEDS)} hash seeds: ", end="")
    print(f"{len(found)} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
