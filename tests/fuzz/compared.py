"""Random modules that the C++ passes run, too: a difference between the results is a problem.

Half of the modules run a pipeline of their kind, and the others a random chain of all passes that both tools
have. The reference runs a batch while sdy-opt does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from random import Random

from sdyopt.mlir.pipeline.base import FUNCTION, Option
from sdyopt.mlir.registry import all_passes
from sdyopt.mlir.registry.table import PassEntry, PipelineEntry
from tests.fuzz.contract import Outcome, pattern, problem_of
from tests.fuzz.inputs import Input, Source
from tests.random_modules.compare import KINDS, Comparison, PipelineResult, Reference, rerun, run_pipeline

# Passes that partition programs for which those of the reference fail, or compute something else.
_PARTITIONING = (
    "sdy-convert-global-to-local",
    "sdy-pad-for-divisibility",
    "sdy-partition-pipeline",
    "sdy-per-instruction-partitioning",
    "sdy-resolve-permutation-factors",
)
# These options of the export pipeline run passes of _PARTITIONING.
_PARTITIONS = ("enable-per-instruction-partitioning", "partitioner-stage")
# What these options print depends on uninitialized memory in the reference, except on the kind `traces`.
_TRACES = ("debug-", "sink-debug-", "dump-")
# Two passes of three run on modules without inlined meshes, on which passes of the reference crash.
_PREFIXES = ((), ("sdy-lift-inlined-meshes",), ("sdy-import-pipeline",))
_PROGRAM = "func.func @main() { return }"
_OPERATION = re.compile(r'^ *(?:%.* = )?"?([\w.]+)')


@dataclass(frozen=True)
class ComparedInput(Input):
    """A module and a pipeline; each flag is a pass in it, with its options."""

    @property
    def pipeline(self) -> str:
        return f"builtin.module({','.join(self.flags)})"

    @property
    def arguments(self) -> tuple[str, ...]:
        return (f"--pass-pipeline={self.pipeline}",)

    def run(self) -> Outcome:
        result = run_pipeline(self.text.decode(), self.pipeline)
        return Outcome(
            errors="\n".join(result.messages), is_accepted=bool(result.output), output=result.output
        )


@dataclass
class ComparedModules(Source):
    """Random modules with random pipelines, for a Python that has jaxlib."""

    python: str
    comparisons: dict[Input, Comparison] = field(default_factory=dict)

    @cached_property
    def _reference(self) -> Reference:
        return Reference(self.python)

    @cached_property
    def _passes(self) -> list[PassEntry | PipelineEntry]:
        """The passes that both tools have: the reference crashes on the name of another."""
        entries = [entry for entry in all_passes() if entry.flag not in _PARTITIONING]
        self._reference.submit(_PROGRAM, [f"builtin.module({_element(entry, ())})" for entry in entries])
        return [
            entry
            for entry, result in zip(entries, self._reference.results(), strict=True)
            if result is not None
        ]

    def batch(self, random: Random, number: int, size: int) -> Sequence[Input]:
        return [self._input(random, number * size + n) for n in range(size)]

    def _input(self, random: Random, seed: int) -> Input:
        kind = random.choice([kind for kind in KINDS.values() if kind.pipelines])
        if random.random() < 0.5:
            passes = split_passes(random.choice(kind.pipelines))
        else:
            chain = [random.choice(self._passes) for _ in range(random.choice((1, 1, 2, 3)))]
            passes = (*random.choice(_PREFIXES), *(_random_element(random, entry) for entry in chain))
        return ComparedInput(kind.make(seed).encode(), passes)

    def run(self, inputs: Sequence[Input]) -> list[Outcome]:
        outcomes = self._run(inputs)
        for number, (input, outcome) in enumerate(zip(inputs, outcomes, strict=True)):
            comparison = self.comparisons.get(input)
            if comparison is not None and comparison.is_different:
                again = rerun(comparison, input.text.decode(), self.python)
                if not again.is_different:
                    outcomes[number] = replace(outcome, crash="", verdict=again.verdict)
        return outcomes

    def _run(self, inputs: Sequence[Input]) -> list[Outcome]:
        """The outcomes, without a second look at differences."""
        compared = [input for input in inputs if isinstance(input, ComparedInput)]
        self._reference.submit_all([(input.text.decode(), [input.pipeline]) for input in compared])
        outcomes = super().run(compared)
        self.comparisons = {}
        for number, [theirs] in enumerate(self._reference.results_of_all()):
            outcome = outcomes[number]
            if not problem_of(outcome):
                ours = PipelineResult(outcome.output, tuple(outcome.errors.splitlines()))
                comparison = Comparison(0, ",".join(compared[number].flags), ours, theirs)
                self.comparisons[compared[number]] = comparison
                outcomes[number] = replace(
                    outcome, crash=_signature(comparison), verdict=_verdict(comparison)
                )
        return outcomes

    def problem(self, input: Input) -> str:
        return problem_of(self._run([input])[0])

    def details(self, input: Input) -> str:
        self._run([input])
        comparison = self.comparisons.get(input)
        return str(comparison) if comparison is not None else ""

    def close(self) -> None:
        self._reference.close()


def split_passes(pipeline: str) -> tuple[str, ...]:
    """The passes of a pipeline in order, each with its options and, for functions, its anchor."""
    passes, depth = [""], 0
    for character in pipeline:
        depth += (character in "({") - (character in ")}")
        if character == "," and depth == 0:
            passes.append("")
        else:
            passes[-1] += character
    return tuple(passes) if pipeline else ()


def _random_element(random: Random, entry: PassEntry | PipelineEntry) -> str:
    options = [option for option in entry.options() if _is_compared(option) and random.random() < 0.3]
    return _element(entry, [f"{each.flag}={random.choice(_choices(each))}" for each in options])


def _element(entry: PassEntry | PipelineEntry, options: Sequence[str]) -> str:
    text = entry.flag + (f"{{{' '.join(options)}}}" if options else "")
    anchor = entry.pass_class.anchor if isinstance(entry, PassEntry) else None
    return f"{FUNCTION}({text})" if anchor == FUNCTION else text


def _is_compared(option: Option) -> bool:
    return (
        bool(_choices(option))
        and not option.is_later
        and not option.flag.startswith((*_PARTITIONS, *_TRACES))
    )


def _choices(option: Option) -> tuple[str, ...]:
    return ("true", "false") if isinstance(option.default, bool) else option.kind.choices


def _verdict(comparison: Comparison) -> str:
    """The verdict, without the pipeline."""
    return comparison.verdict.partition(":")[0]


def _signature(comparison: Comparison) -> str:
    """What differs: the first messages, or the operations in the first lines that differ; empty if equal."""
    ours, theirs = comparison.ours, comparison.theirs
    if not comparison.is_different or theirs is None:
        return ""
    if ours.messages != theirs.messages or bool(ours.output) != bool(theirs.output):
        pair = [next(iter(_without(*each)), "no other error") for each in ((ours, theirs), (theirs, ours))]
        return f"different messages: {pattern(pair[0])}; of the reference: {pattern(pair[1])}"
    pairs = zip(ours.output.splitlines(), theirs.output.splitlines(), strict=False)
    lines = next((pair for pair in pairs if pair[0] != pair[1]), ("", ""))
    names = [match[1] if (match := _OPERATION.match(line)) else "" for line in lines]
    return f"different results: {names[0]}; of the reference: {names[1]}"


def _without(result: PipelineResult, other: PipelineResult) -> list[str]:
    """The messages of a result that the other has not."""
    return [message for message in result.messages if message not in other.messages]
