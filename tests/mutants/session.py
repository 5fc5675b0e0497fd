"""A session: runs the tests that reach each mutant, cheap ones and those that killed others first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from tests.mutants import equivalent, results
from tests.mutants.mutant import Mutant
from tests.mutants.reach import Reach
from tests.mutants.results import Result, State
from tests.mutants.tree import Tree
from tests.mutants.worker import Worker

# The first tests of a mutant run in a child of their own, which usually ends the search soon.
_FIRST_SECONDS = 3.0


class Session:
    """Runs mutants, and writes results to a file. A result in it counts unless code or tests changed.

    With `forks`, survivors run again with each tool of a lit test in a process of its own: an import that a
    mutant lacks may have been made by an earlier test.
    """

    def __init__(
        self, tree: Tree, reach: Reach, output: Path, seconds: float | None = None, forks: bool = False
    ) -> None:
        self._tree = tree
        self._reach = reach
        self._output = output
        self._seconds = seconds
        self._forks = forks
        self.results = results.read(output)
        self._kills = Counter(
            (name.partition("\n")[0], result.reason)
            for name, result in self.results.items()
            if result.is_killed
        )
        self._table = equivalent.read_table()

    def run(self, mutants: Sequence[Mutant]) -> None:
        """Runs the mutants that have no result yet, and those that survived earlier tests."""
        with closing(Worker(self._tree, forks=self._forks)) as worker:
            for number, mutant in enumerate(mutants, start=1):
                fingerprint = self._reach.fingerprint(mutant, self._tree) + " forks" * self._forks
                old = self.results.get(mutant.name)
                if reason := equivalent.reason_of(mutant, self._table):
                    result = Result(mutant.name, State.EQUIVALENT, reason)
                elif old is not None and (old.is_killed or old.fingerprint == fingerprint):
                    continue
                else:
                    result = self._run(mutant, worker, fingerprint)
                    print(f"{number} of {len(mutants)}: {result.state}: {mutant.diff()}", flush=True)
                self.results[mutant.name] = result
                results.append(self._output, result)

    def _run(self, mutant: Mutant, worker: Worker, fingerprint: str) -> Result:
        tests = self._reach.tests_of(mutant, self._tree)
        tests.sort(key=lambda test: (-self._kills[mutant.path, test], self._reach.seconds[test]))
        with self._tree.mutated(mutant):
            for batch in self._batches(tests):
                verdict = worker.run(batch)
                if verdict.failed:
                    self._kills[mutant.path, verdict.failed[0]] += 1
                    state = State.HANGS if verdict.hangs else State.KILLED
                    return Result(mutant.name, state, verdict.failed[0], len(tests))
        return Result(mutant.name, State.SURVIVED, "", len(tests), fingerprint)

    def _batches(self, tests: Sequence[str]) -> Iterator[dict[str, float]]:
        """Tests whose times add up to a few seconds, and then the rest, without those beyond the limit."""
        batch: dict[str, float] = {}
        total = 0.0
        is_first = True
        for test in tests:
            seconds = self._reach.seconds[test]
            total += seconds
            if self._seconds is not None and total > self._seconds:
                break
            batch[test] = seconds
            if is_first and total > _FIRST_SECONDS:
                yield batch
                batch, is_first = {}, False
        if batch:
            yield batch
