"""Checksums of what the C++ passes print for random modules: a comparison that needs no reference.

    python -m tests.random_modules.recorded --reference-python PYTHON

compares a few modules of each kind, and random reshards, and writes the checksums of the equal results to
`recorded.json`, under the release of PYTHON's jaxlib. Run it after a change of the generators, and after a
change of results that `tests.random_modules.compare` confirms.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from tests.harness.reference import release_in
from tests.random_modules.compare import KINDS, PipelineResult, Reference, compare, reference, run_here
from tests.random_reshards.cases import module_text, random_reshard
from tests.random_reshards.compare import PIPELINE, compare_all, functions_of

TABLE = Path(__file__).with_name("recorded.json")
# The seeds of each kind: few of modules that take long.
SEEDS = {
    "import": range(1000, 1002),
    "export": range(1000, 1003),
    "rules": range(1000, 1012),
    "traces": range(1000, 1006),
    "programs": range(1000, 1006),
    "reshards": range(1000, 1040),
    "sharded": range(1000, 1010),
}
RANDOM_RESHARDS = "random reshards"
_RESHARD_SEEDS = range(1000, 1400)

# By the kind of modules, the checksum of each seed and pipeline.
Table = dict[str, dict[str, str]]


def read_tables() -> dict[str, Table]:
    """The recorded checksums of each release."""
    tables: dict[str, Table] = json.loads(TABLE.read_text(encoding="utf-8"))
    return tables


def checksums_here(kind: str, names: Iterable[str]) -> dict[str, str]:
    """The checksums of sdy-opt; a name is a seed and a pipeline, or the seed of a reshard."""
    if kind == RANDOM_RESHARDS:
        reshards = [random_reshard(int(name)) for name in names]
        functions = functions_of(run_here(module_text(reshards), f"builtin.module({PIPELINE})").output)
        return {
            str(each.seed): _checksum(PipelineResult(functions.get(each.name, ""), ())) for each in reshards
        }
    found = {}
    for name in names:
        seed, _, pipeline = name.partition(" ")
        found[name] = _checksum(run_here(KINDS[kind].make(int(seed)), f"builtin.module({pipeline})"))
    return found


def record(running: Reference) -> Table:
    """The checksums of the reference, where it succeeds and sdy-opt gives the same.

    Programs that it rejects are left out: sdy-opt may accept more of them one day.
    """
    table: Table = {}
    for kind, seeds in SEEDS.items():
        table[kind] = {}
        for seed in seeds:
            for each in compare(seed, KINDS[kind].pipelines, running, KINDS[kind].make):
                if each.verdict == "equal":
                    table[kind][f"{seed} {each.pipeline}"] = _checksum(each.ours)
    reshards = compare_all([random_reshard(seed) for seed in _RESHARD_SEEDS], PIPELINE, running)
    table[RANDOM_RESHARDS] = {
        str(each.seed): _checksum(each.ours) for each in reshards if each.verdict == "equal"
    }
    # Without those that are equal up to a third round of collectives.
    here = checksums_here(RANDOM_RESHARDS, table[RANDOM_RESHARDS])
    table[RANDOM_RESHARDS] = {
        seed: value for seed, value in table[RANDOM_RESHARDS].items() if here[seed] == value
    }
    return table


def _checksum(result: PipelineResult) -> str:
    return sha256("\n".join([*result.messages, result.output]).encode()).hexdigest()[:16]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--reference-python", default=sys.executable, metavar="PYTHON")
    options = parser.parse_args()
    with reference(options.reference_python) as running:
        table = record(running)
    tables = read_tables() | {release_in(options.reference_python): table}
    TABLE.write_text(json.dumps(tables, indent=1) + "\n", encoding="utf-8")
    for kind, values in table.items():
        print(f"{len(values):6} {kind}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
