"""Sources of inputs: mutants of programs, bytecode and HLO, random modules and reshards, partitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import ClassVar

from sdyopt.tools.driver.job import NEWEST_BYTECODE, BytecodeRequest, Job
from sdyopt.tools.driver.run import run_job
from tests.fuzz.compared import ComparedModules
from tests.fuzz.contract import Outcome
from tests.fuzz.corpus import Seed, seeds, seeds_in
from tests.fuzz.executed import ExecutedModules
from tests.fuzz.flags import random_flags
from tests.fuzz.hlo import Hlo
from tests.fuzz.inputs import Input, Source
from tests.fuzz.mutation import mutate
from tests.interpreter.partitioned import PIPELINE, difference
from tests.interpreter.random_shardings import random_program
from tests.random_modules.compare import KINDS as MODULE_KINDS
from tests.random_modules.compare import run_here
from tests.simulation.judge import RIGHT, WRONG, judge
from tests.simulation.kinds import KINDS as RESHARD_KINDS

# The number and the sizes of accepted mutants to mutate again. Smaller ones have few operations and are
# accepted most often, so that they would replace the others; larger ones grow each time.
_MOST_MUTANTS = 3000
_SIZES = range(100, 10_000)
# The other mutants are of a part of a program.
_SHARE_OF_WHOLE_PROGRAMS = 0.1


@dataclass(frozen=True)
class ReshardInput(Input):
    """A random reshard; its simulation must give every device the right shard.

    The simulation makes it from its seed again, so another program is not a reshard input.
    """

    kind: str = ""
    seed: int = 0

    def run(self) -> Outcome:
        kind = RESHARD_KINDS[self.kind]
        verdict, _ = judge(kind.make(self.seed), kind)
        crash = f"wrong shards after {self.kind}" if verdict == WRONG else ""
        return Outcome(is_accepted=verdict == RIGHT, crash=crash)

    def with_flags(self, flags: Sequence[str]) -> Input:
        return Input(self.text, tuple(flags))

    def with_text(self, text: bytes) -> Input:
        return Input(text, self.flags)


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


@dataclass
class Mutants(Source):
    """Mutants of the corpus and of accepted mutants."""

    # The first inputs of a child process fill its caches, and take longer than the others.
    size: ClassVar[int] = 1000

    seeds: Sequence[Seed] = field(default_factory=seeds)
    accepted: list[bytes] = field(default_factory=list)

    def batch(self, random: Random, number: int, size: int) -> Sequence[Input]:
        return [self._input(random) for _ in range(size)]

    def _input(self, random: Random) -> Input:
        seed, other = random.choice(self.seeds), random.choice(self.seeds)
        text = seed.text if random.random() < _SHARE_OF_WHOLE_PROGRAMS else _small(random, seed.parts)
        if self.accepted and random.random() < 0.3:
            text = random.choice(self.accepted)
        flags = seed.flags if random.random() < 0.5 else random_flags(random)
        return Input(mutate(random, text, random.choice(other.parts)), flags)

    def accept(self, random: Random, input: Input) -> None:
        if len(input.text) not in _SIZES or input.text in self.accepted:
            return
        if len(self.accepted) < _MOST_MUTANTS:
            self.accepted.append(input.text)
        else:
            self.accepted[random.randrange(_MOST_MUTANTS)] = input.text


def _small(random: Random, texts: Sequence[bytes]) -> bytes:
    """The smaller of two random texts: a large one takes longer, and most of it is not what was mutated."""
    return min(random.choices(texts, k=2), key=len)


@dataclass
class Modules(Source):
    """Random valid modules, with a pipeline of their kind or a random command line."""

    def batch(self, random: Random, number: int, size: int) -> Sequence[Input]:
        return [self._input(random, number * size + n) for n in range(size)]

    def _input(self, random: Random, seed: int) -> Input:
        kind = random.choice([kind for kind in MODULE_KINDS.values() if kind.pipelines])
        pipeline = f"--pass-pipeline=builtin.module({random.choice(kind.pipelines)})"
        flags = (pipeline,) if random.random() < 0.5 else random_flags(random)
        return Input(kind.make(seed).encode(), flags)


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


@dataclass
class Bytecode(Mutants):
    """Mutants of the bytecode of programs of the corpus, some of them portable artifacts."""

    encoded: dict[tuple[bytes, int], bytes] = field(default_factory=dict)

    def _input(self, random: Random) -> Input:
        data = b""
        while not data:
            seed = random.choice(self.seeds)
            version = random.randrange(8)
            data = seed.text if seed.is_binary else self._bytecode(_small(random, seed.parts), version)
        if self.accepted and random.random() < 0.2:
            data = random.choice(self.accepted)
        flags = () if random.random() < 0.7 else random_flags(random)
        return Input(mutate_bytes(random, data), flags)

    def _bytecode(self, text: bytes, version: int) -> bytes:
        """The bytecode of a program, or its artifact for version 7; empty if the program is invalid."""
        key = (text, version)
        if key not in self.encoded:
            self.encoded[key] = encode(text, version)
        return self.encoded[key]


def encode(text: bytes, version: int) -> bytes:
    """The bytecode of a program in a version, 7 for a portable artifact; empty if there is none."""
    request = BytecodeRequest(
        min(version, NEWEST_BYTECODE), target="1.0.0" if version > NEWEST_BYTECODE else ""
    )
    job = Job("-", lambda: text, bytecode=request, allow_unregistered_dialects=True)
    outcome = run_job(job)
    return "".join(outcome.pages).encode("utf-8", "surrogateescape") if outcome.succeeded else b""


def mutate_bytes(random: Random, data: bytes) -> bytes:
    """A mutant of binary data: other bytes, some more or fewer, or a part of it elsewhere."""
    mutant = bytearray(data)
    for _ in range(random.choice((1, 1, 1, 2, 3, 8))):
        at, size = random.randrange(len(mutant) + 1), random.choice((1, 1, 2, 4, 16))
        other = random.randrange(len(mutant) + 1)
        match random.randrange(5):
            case 0:
                mutant[at : at + 1] = bytes([random.randrange(256)])
            case 1:
                mutant[at : at + 1] = bytes([random.choice((0, 1, 3, 5, 7, 127, 128, 255))])
            case 2:
                del mutant[at : at + size]
            case 3:
                mutant[at : at + size] = mutant[other : other + size]
            case 4:
                mutant[at:at] = mutant[other : other + size]
    return bytes(mutant)


SOURCES: dict[str, Callable[[], Source]] = {
    "mutants": Mutants,
    "bytecode": Bytecode,
    "modules": Modules,
    "reshards": Reshards,
    "partitions": Partitions,
    "hlo": Hlo,
}
# With a Python that has jax, given to these sources.
WITH_REFERENCE: dict[str, Callable[[str], Source]] = {
    "modules": ComparedModules,
    "executed": ExecutedModules,
}
# The sources of successive batches. Most problems are found by mutants.
TURNS = ("mutants", "mutants", "mutants", "mutants", "bytecode", "modules", "reshards", "partitions", "hlo")
TURNS_WITH_REFERENCE = (*TURNS, "executed")


def make_source(name: str, reference_python: str = "", programs: Sequence[Path] = ()) -> Source:
    """The source of this name; with a Python that has jax, one that compares, if there is one.

    Mutants are of the files in `programs`, if any, and those in folders there.
    """
    if reference_python and name in WITH_REFERENCE:
        return WITH_REFERENCE[name](reference_python)
    source = SOURCES[name]()
    if programs and isinstance(source, (Mutants, Hlo)):
        source.seeds = seeds_in(programs)
    return source
