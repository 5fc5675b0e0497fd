"""A session: runs the tests that reach each mutant, those that killed others and cheap ones first."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import groupby, takewhile
from pathlib import Path

from tests.mutants import equivalent, results
from tests.mutants.mutant import Mutant
from tests.mutants.reach import Reach
from tests.mutants.results import Result, State
from tests.mutants.targets import function_of
from tests.mutants.tree import Tree
from tests.mutants.worker import Verdict, Worker

# The first tests of a mutant run in children of their own, which usually end the search soon: a child imports
# the files of all its tests.
_BATCH_SECONDS = (0.5, 3.0)


class Session:
    """Runs mutants, and writes results to a file. A result in it counts unless code or tests changed.

    With `seconds`, a mutant survives if it passes tests of so many seconds; the next session continues with
    the rest.

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
        self._kills: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for name, result in self.results.items():
            if result.is_killed:
                self._kills[name.partition("\n")[0]][function_of(result.reason)] += 1
        self._stable: set[str] = set()
        self._table = equivalent.read_table()

    def run(self, mutants: Sequence[Mutant]) -> None:
        """Runs the mutants that have no result yet, and survivors with tests that they have not passed.

        Those of a file run one after another, in children of one worker.
        """
        numbered = sorted(enumerate(mutants, start=1), key=lambda each: each[1].path)
        for path, of_file in groupby(numbered, key=lambda each: each[1].path):
            with closing(Worker(self._tree, path, forks=self._forks)) as worker:
                for number, mutant in of_file:
                    self._add(f"{number} of {len(mutants)}", mutant, worker)

    def _add(self, number: str, mutant: Mutant, worker: Worker) -> None:
        """Adds the result of a mutant."""
        old = self.results.get(mutant.name)
        if reason := equivalent.reason_of(mutant, self._table):
            result = Result(mutant.name, State.EQUIVALENT, reason)
        elif (old is not None and old.is_killed) or (result := self._run(mutant, worker, old)) == old:
            return
        else:
            print(f"{number}: {result.state}: {mutant.diff()}", flush=True)
        self.results[mutant.name] = result
        results.append(self._output, result)

    def _run(self, mutant: Mutant, worker: Worker, old: Result | None) -> Result:
        every = self._reach.tests_of(mutant, self._tree)
        source = self._tree.version(mutant.path) + " forks" * self._forks
        passed = set(old.passed) if old is not None and old.source == source else set()
        tests = [test for test in every if self._reach.version(test) not in passed]
        self._reach.sort(tests, self._kills[mutant.path])
        not_run = Counter(map(self._reach.version, tests))
        for batch in self._batches(tests):
            while batch and (verdict := self._verdict(mutant, batch, worker)).failed:
                failed = verdict.failed
                if self._is_stable(failed, batch, worker):
                    self._kills[mutant.path][function_of(failed)] += 1
                    state = State.HANGS if verdict.hangs else State.KILLED
                    return Result(mutant.name, state, failed, len(every))
                batch = {test: batch[test] for test in batch if not test.startswith(failed)}
            not_run.subtract(map(self._reach.version, batch))
        passed |= {version for version, count in not_run.items() if not count}
        return Result(mutant.name, State.SURVIVED, "", len(every), source, tuple(sorted(passed)))

    def _verdict(self, mutant: Mutant, batch: Mapping[str, float], worker: Worker) -> Verdict:
        with self._tree.mutated(mutant):
            return worker.run(batch)

    def _is_stable(self, failed: str, batch: Mapping[str, float], worker: Worker) -> bool:
        """Whether a test, or the import of its file, does not fail without a mutant after the same tests."""
        if failed not in self._stable:
            before = list(takewhile(lambda test: not test.startswith(failed), batch))
            until = batch if failed not in batch else [*before, failed]
            if worker.run({test: batch[test] for test in until}).failed:
                print(f"fails without a mutant: {failed}", flush=True)
                self._reach.unstable.append(failed)
                self._reach.save()
                return False
            self._stable.add(failed)
        return True

    def _batches(self, tests: Sequence[str]) -> Iterator[dict[str, float]]:
        """Tests whose times add up to a few seconds, and then the rest, without those beyond the limit."""
        batch: dict[str, float] = {}
        total = 0.0
        ends = list(_BATCH_SECONDS)
        for test in tests:
            seconds = self._reach.seconds[test]
            total += seconds
            if self._seconds is not None and total > self._seconds:
                break
            batch[test] = seconds
            if ends and total > ends[0]:
                yield batch
                batch = {}
                del ends[0]
        if batch:
            yield batch
