"""Mutation testing: changes the code in small ways, and lists the changes that no test notices.

    python -m tests.mutants --count 300 --seed 0
    python -m tests.mutants --count 50 sdyopt/shardy/sharding/axis_lists.py

A mutant is a file with one small edit: `<` becomes `<=`, a constant one more, a statement is dropped, and so
on. It is killed if a test fails or does not end. Each mutant runs the tests that execute its line, which are
recorded before. The comparison with the C++ passes does not run. Results are in the folder of `--folder`; a
second run continues from there, and runs survivors again if a test changed.
"""

import argparse
import sys
from pathlib import Path

from tests.mutants import results
from tests.mutants.equivalent import read_table, stale_entries
from tests.mutants.mutant import Mutant
from tests.mutants.reach import Reach
from tests.mutants.sample import select
from tests.mutants.session import Session
from tests.mutants.targets import GROUPS, ROOT, files_of
from tests.mutants.tree import Tree


def main() -> int:
    options = _parser().parse_args()
    groups = {"selected files": tuple(options.files)} if options.files else GROUPS
    mutants = select(groups, ROOT, options.seed, options.count)
    if options.list:
        print("\n".join(mutant.diff() for mutant in mutants))
        return 0
    for entry in stale_entries(read_table(), ROOT):
        print(f"equivalent.toml: no such mutant: {entry.path}: {entry.before}")
    tree = Tree(ROOT, options.folder / "tree")
    tree.update()
    reach = Reach(options.folder / "reach")
    reach.update(tree, options.tests, [mutant.path for mutant in mutants])
    session = Session(
        tree, reach, options.folder / f"results-{options.seed}.jsonl", options.seconds, options.forks
    )
    session.run(mutants)
    print("\n" + results.summary(_grouped(groups, mutants), session.results))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=300, help="the number of mutants (300)")
    parser.add_argument("--seed", type=int, default=0, help="the same seed selects the same mutants")
    parser.add_argument("--seconds", type=float, help="run tests of at most so many seconds per mutant")
    parser.add_argument("--tests", nargs="+", default=["tests"], help="folders and files of tests")
    parser.add_argument("--folder", type=Path, default=Path("build/mutants"), help="for results and records")
    parser.add_argument(
        "--forks", action="store_true", help="run survivors again, each tool of a lit test in its own process"
    )
    parser.add_argument("--list", action="store_true", help="list the mutants, and run none")
    parser.add_argument("files", nargs="*", help="files or folders to change, instead of the usual ones")
    return parser


def _grouped(groups: dict[str, tuple[str, ...]], mutants: list[Mutant]) -> dict[str, list[Mutant]]:
    files = {name: set(files_of(patterns)) for name, patterns in groups.items()}
    return {name: [each for each in mutants if each.path in paths] for name, paths in files.items()}


if __name__ == "__main__":
    sys.exit(main())
