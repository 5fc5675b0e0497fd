"""Random modules that are partitioned and run on virtual devices: a wrong result is a problem.

A process with jax is kept for the modules. It is started outside of the limits of memory, which XLA exceeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random

from sdyopt.analysis.execution.validation import ValidationOptions
from tests.fuzz.batch import run_all
from tests.fuzz.contract import Outcome, pattern
from tests.fuzz.inputs import Input, Source
from tests.interpreter.partitioned import PIPELINE
from tests.random_modules.execute import KeptWorker, execute
from tests.random_modules.kept_worker import KeptProcess
from tests.random_modules.programs import MAX_DEVICES, random_executable_program

_SECONDS = 60
_WRONG = f"wrong results on devices after {PIPELINE}"


@dataclass(frozen=True)
class ExecutedInput(Input):
    """A module; after partitioning it must compute the same."""

    options: ValidationOptions = field(default_factory=ValidationOptions, compare=False)

    def run(self) -> Outcome:
        outcome = execute(0, self.text.decode(), self.options)
        crash = f"{_WRONG}: {pattern(outcome.reason)}" if outcome.verdict == "different" else ""
        return Outcome(is_accepted=outcome.verdict == "equal", crash=crash, verdict=outcome.verdict)


@dataclass
class ExecutedModules(Source):
    """Random modules that XLA can run, for a Python that has jax."""

    python: str

    @cached_property
    def _process(self) -> KeptProcess:
        return KeptProcess(self.python, MAX_DEVICES, _SECONDS)

    def batch(self, random: Random, number: int, size: int) -> Sequence[Input]:
        options = ValidationOptions(worker=KeptWorker(process=self._process))
        texts = [random_executable_program(number * size + n).encode() for n in range(size)]
        return [ExecutedInput(text, (f"-{PIPELINE}",), options) for text in texts]

    def run(self, inputs: Sequence[Input]) -> list[Outcome]:
        return [self._run(input) for input in inputs]

    def _run(self, input: Input) -> Outcome:
        self._process.start()
        [outcome] = run_all([input.run])
        if outcome.crash and not outcome.crash.startswith(_WRONG):
            self._process.close()  # it may still answer
        return outcome

    def close(self) -> None:
        self._process.close()
