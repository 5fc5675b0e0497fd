"""Finds tests that fail without a mutant, so that no mutant counts as killed by them."""

from collections.abc import Sequence
from contextlib import closing

from tests.mutants.reach import Reach
from tests.mutants.tree import Tree
from tests.mutants.worker import Worker


def find_unstable(reach: Reach, tests: Sequence[str], tree: Tree) -> None:
    """Runs tests together in one process, as tests of mutants run, and excludes those that fail."""
    ordered = sorted(tests, key=reach.seconds.__getitem__)
    if not ordered:
        return
    print(f"running {len(ordered)} tests without a mutant", flush=True)
    failed: list[str] = []
    with closing(Worker(tree)) as worker:
        while ordered:
            verdict = worker.run({test: reach.seconds[test] for test in ordered}, stops_early=False)
            failed += verdict.failed
            if verdict.is_complete:
                break
            ordered = ordered[ordered.index(verdict.failed[-1]) + 1 :]
    reach.unstable = sorted({*reach.unstable, *failed})
    reach.save()
    if failed:
        print("these tests fail without a mutant:", *failed, sep="\n  ", flush=True)
