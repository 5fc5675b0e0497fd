"""A session: batches of inputs in turn from the sources, until the time is over.

The state after each batch is a file in the folder of findings, from which `--resume` continues. The inputs of
a batch depend on the seed, the number of the batch and the mutants accepted before it, and on nothing else.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from tests.fuzz.contract import OUT_OF_TIME, problem_of
from tests.fuzz.findings import Finding
from tests.fuzz.inputs import Input, Source
from tests.fuzz.minimize import MOST_RUNS, minimize
from tests.fuzz.sources import TURNS, Mutants, make_source

STATE = "state.json"
# A run that takes too long is not repeated often.
_MOST_SLOW_RUNS = 8


@dataclass
class Session:
    """The search with its sources, counts and findings; lit cases and the state are written to `folder`."""

    seed: int
    folder: Path
    names: tuple[str, ...] = TURNS
    report: Callable[[str], None] = print
    number: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    findings: dict[str, Finding] = field(default_factory=dict)
    # A Python that has jax; without one, nothing is compared with the reference.
    reference_python: str = ""
    # Files and folders of programs to mutate; without any, the lit cases and examples.
    programs: Sequence[Path] = ()

    def __post_init__(self) -> None:
        self.sources: dict[str, Source] = {
            name: make_source(name, self.reference_python, self.programs) for name in self.names
        }

    def close(self) -> None:
        """Ends the processes that the sources keep."""
        for source in self.sources.values():
            source.close()

    def run(self, seconds: float, batches: int | None = None) -> None:
        """Runs batches until the time is over, or this many."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and (batches is None or self.number < batches):
            self._run_batch()
            self._save()

    def _run_batch(self) -> None:
        random = Random(f"{self.seed} {self.number}")
        name = self.names[self.number % len(self.names)]
        source = self.sources[name]
        inputs = source.batch(random, self.seed * 1_000_000 + self.number, source.size)
        for input, outcome in zip(inputs, source.run(inputs), strict=True):
            verdict = outcome.verdict or ("accepted" if outcome.is_accepted else "rejected")
            self.counts[f"{name}: {verdict}"] += 1
            problem = problem_of(outcome)
            if problem:
                self._add(problem, input, source)
            elif outcome.is_accepted:
                source.accept(random, input)
        self.number += 1

    def _add(self, problem: str, input: Input, source: Source) -> None:
        known = self.findings.get(problem)
        if known is not None:
            self.findings[problem] = replace(known, count=known.count + 1)
            return
        runs = _MOST_SLOW_RUNS if OUT_OF_TIME in problem else MOST_RUNS
        smallest = minimize(input, lambda each: source.problem(each) == problem, runs)
        finding = self.findings[problem] = Finding(problem, smallest, details=source.details(smallest))
        self.report(f"{problem}\n  {finding.write(self.folder)}")
        if source.problem(smallest) != problem:
            self.report(f"  only after other inputs of batch {self.number} of seed {self.seed}")

    def _save(self) -> None:
        """Writes the state to a new file that replaces the old one, so that an interrupt loses one batch."""
        self.folder.mkdir(parents=True, exist_ok=True)
        mutants = self.sources.get("mutants")
        accepted = mutants.accepted if isinstance(mutants, Mutants) else []
        state = {
            "seed": self.seed,
            "names": self.names,
            "number": self.number,
            "counts": self.counts,
            "accepted": [text.decode("latin-1") for text in accepted],
            "findings": [
                [each.problem, each.input.text.decode("latin-1"), each.input.flags, each.count]
                for each in self.findings.values()
            ],
        }
        new = self.folder / f"{STATE}.new"
        new.write_text(json.dumps(state), encoding="utf-8")
        os.replace(new, self.folder / STATE)  # noqa: PTH105

    def resume(self) -> None:
        """Continues from the state in the folder, if there is one."""
        path = self.folder / STATE
        if not path.exists():
            return
        state = json.loads(path.read_text(encoding="utf-8"))
        self.seed, self.names, self.number = state["seed"], tuple(state["names"]), state["number"]
        self.counts = Counter(state["counts"])
        self.__post_init__()
        mutants = self.sources.get("mutants")
        if isinstance(mutants, Mutants):
            mutants.accepted = [text.encode("latin-1") for text in state["accepted"]]
        for problem, text, flags, count in state["findings"]:
            self.findings[problem] = Finding(problem, Input(text.encode("latin-1"), tuple(flags)), count)
