"""Compares pipelines with the reference on random modules, and shows what differs.

    python -m tests.random_modules.compare --kind rules --seeds 0:2000 --reference-python PYTHON [PIPELINE …]

PYTHON is one that has jaxlib. There are several kinds of modules; without pipelines, those passes are
compared for which the kind was made. Where the reference crashes there is nothing to compare with, but
sdy-opt has to end well, or with an error of the program. Where it says something else, it is asked again:
what comes of memory that it should not read is different each time, and no difference of sdy-opt.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import unified_diff
from functools import partial
from pathlib import Path
from typing import Any

from sdyopt.driver.job import Job
from sdyopt.driver.run import run_job
from sdyopt.pipeline.text import parse_pipeline
from sdyopt.registry import lookup
from tests.random_modules.modules import random_module
from tests.random_modules.programs import random_program, random_sharded_program
from tests.random_modules.rules.modules import random_module as random_rule_module

# What messages call the module.
NAME = "random"
_TIMES_ASKED_AGAIN = 5
# Warnings of what C++ does without a word.
_ONLY_HERE = (
    "target sharding not reached",
    "repeats the all-reduce along",
)
_LIFT, _EDGES = "sdy-lift-inlined-meshes", "sdy-add-data-flow-edges"
_APPLY = "sdy-apply-sharding-constraints"
_DEBUG = "debug-sharding-origins=true debug-propagation-edge-sharding=true"
# Constraints come after lifting, because the reference forgets what an inlined mesh was when it gives one
# of several results a sharding.
IMPORT_PASSES = (
    "",
    _LIFT,
    _EDGES,
    f"{_LIFT},{_APPLY}",
    f"{_LIFT},{_EDGES},{_APPLY}",
    f"{_LIFT},{_EDGES},{_APPLY}{{{_DEBUG}}}",
    "sdy-constant-or-scalar-splitter",
    "sdy-remove-size-one-axes",
    f"{_LIFT},sdy-remove-size-one-axes",
    "sdy-manual-axes-cleanup",
    "sdy-sharding-group-import",
    "sdy-propagate-sharding-from-func-to-call",
    "sdy-flatten-call-graph",
    "sdy-import-func-calls",
    "sdy-import-func-calls{add-data-flow-edges-on-named-computations=false}",
    "sdy-pre-order-funcs",
    "sdy-add-func-data-flow-edges",
    "func.func(sdy-explicit-gather-scatter-batching)",
    "inline",
    "sdy-import-pipeline",
    "sdy-import-pipeline{dedup-functions-fully=true}",
)

_IMPORT = "sdy-import-pipeline"
_RULES = "sdy-populate-op-sharding-rules"
_CONSERVATIVE = "conservative-propagation=true"
# Without data-flow edges, and on what the import passes make of a module. A mesh that has no name yet is
# more than the reference can propagate over.
PROPAGATION_PASSES = (
    f"func.func({_RULES})",
    f"{_IMPORT},sdy-basic-propagate{{keep-sharding-rules=true}}",
    f"{_IMPORT},sdy-aggressive-propagate",
    f"{_IMPORT},sdy-op-priority-propagate",
    f"{_IMPORT},sdy-user-priority-propagate",
    f"func.func({_RULES}{{{_CONSERVATIVE}}})",
    f"{_LIFT},sdy-basic-propagate",
    f"{_IMPORT},sdy-aggressive-propagate{{propagation-strategy=basic-then-aggressive {_CONSERVATIVE}}}",
    f"{_IMPORT},sdy-user-priority-propagate{{{_CONSERVATIVE}}}",
)
_SINK = "sink-debug-sharding-origins=true sink-debug-propagation-edge-sharding=true"
TRACES = (
    f"{_IMPORT},sdy-basic-propagate{{{_DEBUG}}}",
    f"{_IMPORT},sdy-user-priority-propagate{{{_DEBUG}}}",
    f"{_IMPORT},sdy-user-priority-propagate{{{_DEBUG}}},func.func(sdy-sink-data-flow-edges{{{_SINK}}})",
)

_PROPAGATED = f"{_IMPORT},sdy-user-priority-propagate"
_WITH_CALLS = (
    f"{_IMPORT}{{dedup-functions-fully=true}},sdy-add-func-data-flow-edges,sdy-user-priority-propagate"
)
_DIVIDE = "sdy-update-non-divisible-input-output-shardings"
_WHOLE_AXES = "sdy-remove-sub-axes-in-input-output-shardings"
EXPORT_PASSES = (
    "func.func(sdy-constant-or-scalar-merger)",
    f"{_PROPAGATED},func.func(sdy-constant-or-scalar-merger)",
    _DIVIDE,
    f"{_PROPAGATED},func.func(sdy-sink-data-flow-edges),{_DIVIDE},{_WHOLE_AXES}",
    f"{_PROPAGATED},sdy-propagate-to-func-results",
    f"{_WITH_CALLS},sdy-propagate-to-func-results,func.func(sdy-sink-func-data-flow-edges)",
)

_PROPAGATE = "sdy-propagation-pipeline"
_RESHARD = "sdy-insert-explicit-reshards{enable-full-version=true}"
_COLLECTIVES = "enable-insert-explicit-collectives=true"
PIPELINES = (
    _PROPAGATE,
    f"{_PROPAGATE},func.func({_RESHARD})",
    f"{_PROPAGATE},func.func({_RESHARD},sdy-reshard-to-collectives)",
    f"{_PROPAGATE}{{dedup-functions-fully=true}}",
)
# Shardings at random have more conflicts than propagated ones.
RESHARDS = (f"func.func({_RESHARD})", "func.func(sdy-insert-explicit-reshards)")
EXPORT_PIPELINES = (
    "sdy-export-pipeline",
    f"sdy-export-pipeline{{{_COLLECTIVES}}}",
    f"sdy-export-pipeline{{{_COLLECTIVES} remove-all-gather-reduce-scatter-for-cmv1=true}}",
    "sdy-export-pipeline{avoid-export-for-partitioning=true keep-sharding-rules=true}",
)


@dataclass(frozen=True)
class Kind:
    """Modules of a seed, and the passes that they were made for."""

    make: Callable[[int], str]
    pipelines: tuple[str, ...]


KINDS = {
    "import": Kind(random_module, IMPORT_PASSES),
    "export": Kind(random_module, EXPORT_PASSES),
    "rules": Kind(random_rule_module, PROPAGATION_PASSES),
    "traces": Kind(partial(random_rule_module, is_traceable=True), TRACES),
    "programs": Kind(random_program, PIPELINES),
    "reshards": Kind(random_sharded_program, RESHARDS),
    "sharded": Kind(random_sharded_program, EXPORT_PIPELINES),
}


@dataclass(frozen=True)
class Ending:
    """How a pipeline ended: what was printed, and the errors and warnings, without what shows them."""

    output: str
    messages: tuple[str, ...]
    # Whether it was a fault of the program; the messages are a traceback then.
    is_crash: bool = False


@dataclass(frozen=True)
class Comparison:
    """How a pipeline ended for a module here, and there; None if it crashed there."""

    seed: int
    pipeline: str
    ours: Ending
    theirs: Ending | None
    # Whether the reference, asked again, did not end in that way.
    is_by_chance: bool = False

    @property
    def verdict(self) -> str:
        if self.ours.is_crash:
            return f"crash: {self.pipeline}"
        if self.theirs is None:
            return "crash of the reference"
        if self.is_by_chance:
            return "different each time in the reference"
        if self.ours != self.theirs:
            return f"different: {self.pipeline}"
        return "equal" if self.ours.output else "equal errors"

    @property
    def is_different(self) -> bool:
        if self.ours.is_crash or self.theirs is None or self.is_by_chance:
            return self.ours.is_crash
        return self.ours != self.theirs

    def __str__(self) -> str:
        head = f"seed {self.seed}, -pass-pipeline='builtin.module({self.pipeline})'"
        theirs = _lines(self.theirs or Ending("", ()))
        return "\n".join(
            [head, *unified_diff(theirs, _lines(self.ours), "reference", "sdy-opt", lineterm="", n=2)]
        )


def _lines(ending: Ending) -> list[str]:
    return [*ending.messages, *ending.output.splitlines()]


class Reference:
    """A process that runs the C++ passes."""

    def __init__(self, python: str) -> None:
        script = Path(__file__).with_name("reference.py")
        self._process = subprocess.Popen(
            [python, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, text: str, pipelines: list[str]) -> None:
        """Gives it a module; the answer may be taken later."""
        assert self._process.stdin is not None
        print(json.dumps({"text": text, "pipelines": pipelines}), file=self._process.stdin, flush=True)

    def answer(self) -> list[Ending | None]:
        """How the pipelines ended for the oldest module given; None where it crashed."""
        assert self._process.stdout is not None
        results: list[dict[str, Any] | None] = json.loads(self._process.stdout.readline())
        return [
            None if r is None else Ending(_with_sorted_edges(r["output"]), _first_lines(r["errors"]))
            for r in results
        ]

    def close(self) -> None:
        self._process.communicate()


@contextmanager
def reference(python: str) -> Iterator[Reference]:
    """The reference, run by a Python that has jaxlib."""
    running = Reference(python)
    try:
        yield running
    finally:
        running.close()


def compare(
    seed: int,
    pipelines: tuple[str, ...],
    reference: Reference,
    make: Callable[[int], str] = random_module,
) -> Iterator[Comparison]:
    """Runs each pipeline on the module of a seed, here and there."""
    text = make(seed)
    whole = [f"builtin.module({pipeline})" for pipeline in pipelines]
    reference.ask(text, whole)
    ours = [run_here(text, pipeline) for pipeline in whole]
    for pipeline, here, there in zip(pipelines, ours, reference.answer(), strict=True):
        yield Comparison(seed, pipeline, here, there)


def asked_again(comparison: Comparison, text: str, python: str) -> Comparison:
    """The same, having looked whether the reference ends in the same way in processes of their own."""
    for _ in range(_TIMES_ASKED_AGAIN):
        with reference(python) as fresh:
            fresh.ask(text, [f"builtin.module({comparison.pipeline})"])
            if fresh.answer() != [comparison.theirs]:
                return replace(comparison, is_by_chance=True)
    return comparison


def run_here(text: str, pipeline: str) -> Ending:
    """How a pipeline ends for a module, in this process."""
    report: list[str] = []
    job = Job(NAME, text.encode(), parse_pipeline(pipeline, lookup), report.append)
    try:
        outcome = run_job(job)
    except Exception as crash:  # which is a difference like others, and should not end the comparison
        return Ending("", tuple(traceback.format_exception(crash)), is_crash=True)
    # Where a message has no place, there is none on either side.
    message = rf"^(?:{NAME}:(\d+:\d+)|<unknown>:0)(: (?:error|warning): .*)$"
    found = re.findall(message, "".join(report), re.MULTILINE)
    messages = [place + text for place, text in found if not any(words in text for words in _ONLY_HERE)]
    return Ending(_with_sorted_edges(outcome.output.rstrip("\n")), tuple(messages))


# Entries of one step of propagation, of which those of one axis come in no particular order there.
_EDGES_OF_STEP = re.compile(r"\{[^{}]* -> [^{}]*\}(?:, \{[^{}]* -> [^{}]*\})+")


def _with_sorted_edges(text: str) -> str:
    return _EDGES_OF_STEP.sub(lambda found: ", ".join(sorted(re.findall(r"\{.*?\}", found[0]))), text)


def _first_lines(messages: list[str]) -> tuple[str, ...]:
    return tuple(message.partition("\n")[0] for message in messages)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pipelines", nargs="*", help="what goes into builtin.module(…)")
    parser.add_argument("--kind", choices=KINDS, default="import", help="which kind of modules")
    parser.add_argument("--seeds", default="0:200", metavar="FROM:TO", help="which modules")
    parser.add_argument("--reference-python", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--most", type=int, default=5, help="how many differences to show")
    options = parser.parse_args()
    start, end = map(int, options.seeds.split(":"))
    kind = KINDS[options.kind]
    pipelines = tuple(options.pipelines) or kind.pipelines
    counts: Counter[str] = Counter()
    differences = 0
    with reference(options.reference_python) as running:
        for seed in range(start, end):
            for comparison in compare(seed, pipelines, running, kind.make):
                if comparison.is_different and not comparison.ours.is_crash:
                    comparison = asked_again(comparison, kind.make(seed), options.reference_python)
                counts[comparison.verdict] += 1
                differences += comparison.is_different
                if comparison.is_different and differences <= options.most:
                    print(comparison, end="\n\n", flush=True)
    for verdict, count in sorted(counts.items()):
        print(f"{count:6} {verdict}")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
