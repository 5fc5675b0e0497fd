"""Sources of inputs: mutants of programs, random modules, random reshards, and programs to partition.

An input is a program with flags, or one whose result is simulated. A source makes the inputs of a batch from
its number, so that the same seed searches the same inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Protocol

from tests.fuzz.batch import run_command
from tests.fuzz.contract import Outcome
from tests.fuzz.corpus import Seed, seeds
from tests.fuzz.flags import random_flags
from tests.fuzz.mutation import mutate
from tests.interpreter.partitioned import PIPELINE, difference
from tests.interpreter.random_shardings import random_program
from tests.random_modules.compare import KINDS as MODULE_KINDS
from tests.random_modules.compare import run_here
from tests.simulation.judge import RIGHT, WRONG, judge
from tests.simulation.kinds import KINDS as RESHARD_KINDS

# The number of accepted mutants to mutate again.
_MOST_MUTANTS = 3000


@dataclass(frozen=True)
class Input:
    """A program and its flags."""

    text: bytes
    flags: tuple[str, ...] = ()

    def run(self) -> Outcome:
        return run_command(self.text, self.flags)


@dataclass(frozen=True)
class ReshardInput(Input):
    """A random reshard; its simulation must give every device the right shard."""

    kind: str = ""
    seed: int = 0

    def run(self) -> Outcome:
        kind = RESHARD_KINDS[self.kind]
        verdict, _ = judge(kind.make(self.seed), kind)
        crash = f"wrong shards after {self.kind}" if verdict == WRONG else ""
        return Outcome(is_accepted=verdict == RIGHT, crash=crash)


class PartitionInput(Input):
    """A program with shardings; after partitioning it must compute the same."""

    def run(self) -> Outcome:
        text = self.text.decode()
        result = run_here(text, f"builtin.module({PIPELINE})")
        if result.is_crash:
            return Outcome(crash=f"internal error: {result.messages[-1].strip()}")
        is_wrong = bool(result.output) and difference(text, result.output) != ""
        crash = f"wrong results after {PIPELINE}" if is_wrong else ""
        return Outcome(is_accepted=bool(result.output) and not is_wrong, crash=crash)


class Source(Protocol):
    """Makes inputs, and takes the accepted ones back."""

    def batch(self, random: Random, number: int, size: int) -> Sequence[Input]:
        """The inputs of a batch."""

    def accept(self, random: Random, input: Input) -> None:
        """Takes an input that the command accepted."""


@dataclass
class Mutants:
    """Mutants of the corpus and of accepted mutants."""

    seeds: Sequence[Seed] = field(default_factory=seeds)
    accepted: list[bytes] = field(default_factory=list)

    def batch(self, random: Random, number: int, size: int) -> Sequence[Input]:
        return [self._input(random) for _ in range(size)]

    def _input(self, random: Random) -> Input:
        seed, other = random.choice(self.seeds), random.choice(self.seeds)
        text = random.choice(self.accepted) if self.accepted and random.random() < 0.3 else seed.text
        flags = seed.flags if random.random() < 0.5 else random_flags(random)
        return Input(mutate(random, text, other.text), flags)

    def accept(self, random: Random, input: Input) -> None:
        if len(self.accepted) < _MOST_MUTANTS:
            self.accepted.append(input.text)
        else:
            self.accepted[random.randrange(_MOST_MUTANTS)] = input.text


@dataclass
class Modules:
    """Random valid modules, with a pipeline of their kind or a random command line."""

    def batch(self, random: Random, number: int, size: int) -> Sequence[Input]:
        return [self._input(random, number * size + n) for n in range(size)]

    def _input(self, random: Random, seed: int) -> Input:
        kind = random.choice([kind for kind in MODULE_KINDS.values() if kind.pipelines])
        pipeline = f"--pass-pipeline=builtin.module({random.choice(kind.pipelines)})"
        flags = (pipeline,) if random.random() < 0.5 else random_flags(random)
        return Input(kind.make(seed).encode(), flags)

    def accept(self, random: Random, input: Input) -> None:
        """A generated module is not generated again."""


@dataclass
class Reshards(Modules):
    """Random reshards, which are simulated after their pipeline."""

    def _input(self, random: Random, seed: int) -> Input:
        kind = random.choice(list(RESHARD_KINDS))
        text = RESHARD_KINDS[kind].text(RESHARD_KINDS[kind].make(seed)).encode()
        flags = (f"--pass-pipeline={RESHARD_KINDS[kind].pipeline}",)
        return ReshardInput(text, flags, kind, seed)


@dataclass
class Partitions(Modules):
    """Small programs with random shardings, which are partitioned and run with numpy."""

    def _input(self, random: Random, seed: int) -> Input:
        return PartitionInput(random_program(seed).encode(), (f"-{PIPELINE}",))


SOURCES: dict[str, Callable[[], Source]] = {
    "mutants": Mutants,
    "modules": Modules,
    "reshards": Reshards,
    "partitions": Partitions,
}
# The sources of successive batches. Most problems are found by mutants.
TURNS = ("mutants", "mutants", "mutants", "mutants", "modules", "reshards", "partitions")
