"""Compares pipelines with the reference on random modules, and prints the differences.

    python -m tests.random_modules.compare --kind rules --seeds 0:2000 --reference-python PYTHON [PIPELINE …]

PYTHON has jaxlib. There are several kinds of modules; by default, the pipelines of the kind are compared. If
the reference crashes there is nothing to compare with, but sdy-opt must succeed or report an error. If the
results differ, the reference runs again several times: a result that depends on uninitialized memory changes
from run to run, and does not count as a difference. Nor does it if the reference rejects what its own passes
made, or shards a tensor along sub-axes that cannot coexist: sdy-opt may succeed, or report another error.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import unified_diff
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TypedDict

from sdyopt.base.releases import following
from sdyopt.mlir.dialects.sdy.axes import AxisRef, SubAxis
from sdyopt.mlir.pipeline.tree import parse_pipeline
from sdyopt.mlir.registry import lookup
from sdyopt.tools.driver.job import Job
from sdyopt.tools.driver.run import run_job
from tests.harness.reference import release_in
from tests.random_modules.modules import random_module
from tests.random_modules.programs import random_executable_program, random_program, random_sharded_program
from tests.random_modules.rules.modules import random_module as random_rule_module

# The file name in diagnostics.
NAME = "random"
_RERUNS = 5
# Warnings that C++ does not have.
_ONLY_HERE = ("repeats the all-reduce along", "the program has no mesh and no shardings")
# Errors of the reference about operations that its passes made.
_INVALID_RESULTS = (
    "region with 1 blocks",  # a named computation without a body, of a call of a declaration
    "expected a value ref to have an operand index in range",  # an edge of a loop
    "region must contain exactly one operation and a return",  # a reshard in the region of an async_start
    "sharded size of result doesn't match operand on dimension",  # a permute that changes numbers of shards
    # Of several invalid axes, C++ names one in the order of a hash table.
    "overlapping sub-axes",
    "both sub-axis and full-axis",
    "duplicate axis ref",
    "unknown mesh",  # the name of an inlined mesh, read from uninitialized memory
    "found unrealized_conversion_cast after pad-for-divisibility",  # a shard of uneven size
    "two consecutive sub-axes can be merged",  # after an axis of size one between them is removed
)
# An error of sdy-opt where the reference makes a named computation without a body. Its verifier rejects that,
# or something before it.
_DECLARATION = "it is a declaration without a body"
_LIFT, _EDGES = "sdy-lift-inlined-meshes", "sdy-add-data-flow-edges"
_APPLY = "sdy-apply-sharding-constraints"
_DEBUG = "debug-sharding-origins=true debug-propagation-edge-sharding=true"
# Constraints are applied after lifting, because the reference loses an inlined mesh when it gives one of
# several results a sharding.
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
# Without data-flow edges. Inlined meshes are lifted before propagation, because the reference crashes on
# them.
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
# Random shardings have more conflicts than propagated ones.
RESHARDS = (f"func.func({_RESHARD})", "func.func(sdy-insert-explicit-reshards)")
EXPORT_PIPELINES = (
    "sdy-export-pipeline",
    f"sdy-export-pipeline{{{_COLLECTIVES}}}",
    f"sdy-export-pipeline{{{_COLLECTIVES} remove-all-gather-reduce-scatter-for-cmv1=true}}",
    "sdy-export-pipeline{avoid-export-for-partitioning=true keep-sharding-rules=true}",
)


@dataclass(frozen=True)
class Kind:
    """A generator of modules, and the pipelines that are compared on them."""

    make: Callable[[int], str]
    pipelines: tuple[str, ...]


KINDS = {
    "import": Kind(random_module, IMPORT_PASSES),
    "export": Kind(random_module, EXPORT_PASSES),
    "rules": Kind(random_rule_module, PROPAGATION_PASSES),
    "traces": Kind(partial(random_rule_module, is_traceable=True), TRACES),
    "programs": Kind(random_program, PIPELINES),
    "reshards": Kind(random_sharded_program, RESHARDS),
    "executable": Kind(random_executable_program, ()),
    "sharded": Kind(random_sharded_program, EXPORT_PIPELINES),
}


@dataclass(frozen=True)
class PipelineResult:
    """The result of a pipeline: its output, and the first lines of its errors and warnings."""

    output: str
    messages: tuple[str, ...]
    # Whether it ended with an exception; the messages are its traceback.
    is_crash: bool = False


@dataclass(frozen=True)
class Comparison:
    """The results of a pipeline on a module with both tools; `theirs` is None if the reference crashed."""

    seed: int
    pipeline: str
    ours: PipelineResult
    theirs: PipelineResult | None
    # Whether the reference gives another result when it runs again.
    is_nondeterministic: bool = False

    @property
    def verdict(self) -> str:
        if self.ours.is_crash:
            return f"crash: {self.pipeline}"
        if self.theirs is None:
            return "crash of the reference"
        if self.is_nondeterministic:
            return "nondeterministic reference"
        if self.is_invalid_result:
            return "invalid result of the reference"
        if self.ours != self.theirs:
            return f"different: {self.pipeline}"
        return "equal" if self.ours.output else "equal errors"

    @property
    def is_invalid_result(self) -> bool:
        """Whether the passes of the reference made something invalid, and sdy-opt does not agree."""
        if self.theirs is None or self.ours == self.theirs:
            return False
        if self.theirs.output:
            return _shards_along_clashing_axes(self.theirs.output) or _has_unknown_mesh(self.theirs.output)
        if any(_DECLARATION in message for message in self.ours.messages):
            return True
        return any(words in message for message in self.theirs.messages for words in _INVALID_RESULTS)

    @property
    def is_different(self) -> bool:
        if self.ours.is_crash or self.theirs is None or self.is_nondeterministic or self.is_invalid_result:
            return self.ours.is_crash
        return self.ours != self.theirs

    def __str__(self) -> str:
        head = f"seed {self.seed}, -pass-pipeline='builtin.module({self.pipeline})'"
        theirs = _lines(self.theirs or PipelineResult("", ()))
        return "\n".join(
            [head, *unified_diff(theirs, _lines(self.ours), "reference", "sdy-opt", lineterm="", n=2)]
        )


_DIMS = re.compile(r"<(?:@\w+|mesh<[^>]*>), \[([^\]]*)\]")
_SUB_AXIS = re.compile(r'"(\w+)":\((\d+)\)(\d+)')


def _shards_along_clashing_axes(text: str) -> bool:
    """Whether a sharding has sub-axes of which no split of their axis has both."""
    return any(
        not first.can_coexist(second)
        for dims in set(_DIMS.findall(text))
        for first, second in combinations(
            [AxisRef(name, SubAxis(int(pre), int(size))) for name, pre, size in _SUB_AXIS.findall(dims)], 2
        )
    )


_MESH_NAME = re.compile(r"<@(\w+), \[")
_MESH_DEFINITION = re.compile(r"sdy\.mesh @(\w+) =")


def _has_unknown_mesh(text: str) -> bool:
    """Whether a sharding has a mesh that is not defined."""
    return not {*_MESH_NAME.findall(text)} <= {*_MESH_DEFINITION.findall(text)}


def _lines(result: PipelineResult) -> list[str]:
    return [*result.messages, *result.output.splitlines()]


class _Result(TypedDict):
    """A result that reference.py prints."""

    output: str
    errors: list[str]


class Reference:
    """A process that runs the C++ passes."""

    def __init__(self, python: str) -> None:
        script = Path(__file__).with_name("reference.py")
        self._process = subprocess.Popen(
            [python, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def submit(self, text: str, pipelines: Sequence[str]) -> None:
        """Starts pipelines on a module; `results` waits for them."""
        self.submit_all([(text, pipelines)])

    def submit_all(self, tasks: Sequence[tuple[str, Sequence[str]]]) -> None:
        """Starts pipelines on several modules; `results_of_all` waits for them."""
        assert self._process.stdin is not None
        line = [{"text": text, "pipelines": pipelines} for text, pipelines in tasks]
        print(json.dumps(line), file=self._process.stdin, flush=True)

    def results(self) -> list[PipelineResult | None]:
        """The results for the oldest submitted module; None where a pipeline crashed."""
        [results] = self.results_of_all()
        return results

    def results_of_all(self) -> list[list[PipelineResult | None]]:
        """The results for each of the modules that were submitted together."""
        assert self._process.stdout is not None
        modules: list[list[_Result | None]] = json.loads(self._process.stdout.readline())
        return [[result and _pipeline_result(result) for result in results] for results in modules]

    def close(self) -> None:
        self._process.communicate()


@contextmanager
def reference(python: str) -> Iterator[Reference]:
    """Runs the reference with a Python that has jaxlib; sdy-opt follows its release meanwhile."""
    running = Reference(python)
    try:
        with following(release_in(python)):
            yield running
    finally:
        running.close()


def compare(
    seed: int,
    pipelines: tuple[str, ...],
    reference: Reference,
    make: Callable[[int], str] = random_module,
) -> Iterator[Comparison]:
    """Runs each pipeline with both tools on the module of a seed."""
    text = make(seed)
    anchored = [f"builtin.module({pipeline})" for pipeline in pipelines]
    reference.submit(text, anchored)
    results = [run_here(text, pipeline) for pipeline in anchored]
    for pipeline, ours, theirs in zip(pipelines, results, reference.results(), strict=True):
        yield Comparison(seed, pipeline, ours, theirs)


def rerun(comparison: Comparison, text: str, python: str) -> Comparison:
    """Runs the reference again, in new processes; the comparison records whether a result differs."""
    for _ in range(_RERUNS):
        with reference(python) as fresh:
            fresh.submit(text, [f"builtin.module({comparison.pipeline})"])
            if fresh.results() != [comparison.theirs]:
                return replace(comparison, is_nondeterministic=True)
    return comparison


def run_here(text: str, pipeline: str) -> PipelineResult:
    """Runs a pipeline on a module with sdy-opt, in this process; an exception is a result."""
    try:
        return run_pipeline(text, pipeline)
    except Exception as crash:  # a difference like others; the comparison continues
        return PipelineResult("", tuple(traceback.format_exception(crash)), is_crash=True)


def run_pipeline(text: str, pipeline: str) -> PipelineResult:
    """Runs a pipeline on a module with sdy-opt, in this process."""
    report: list[str] = []
    outcome = run_job(Job(NAME, text.encode, parse_pipeline(pipeline, lookup), report.append))
    # A message without a location has none in the reference, too.
    message = rf"^(?:{NAME}:(\d+:\d+)|<unknown>:0)(: (?:error|warning): .*)$"
    diagnostics = re.findall(message, "".join(report), re.MULTILINE)
    messages = [
        location + text for location, text in diagnostics if not any(words in text for words in _ONLY_HERE)
    ]
    return PipelineResult(_with_sorted_edges(outcome.output.rstrip("\n")), tuple(messages))


# The edges of one propagation step; in the reference those of one axis are in no particular order.
_EDGES_OF_STEP = re.compile(r"\{[^{}\n]* -> [^{}\n]*\}(?:, \{[^{}\n]* -> [^{}\n]*\})+")


def _with_sorted_edges(text: str) -> str:
    return _EDGES_OF_STEP.sub(lambda match: ", ".join(sorted(re.findall(r"\{.*?\}", match[0]))), text)


def _pipeline_result(result: _Result) -> PipelineResult:
    first_lines = tuple(message.partition("\n")[0] for message in result["errors"])
    return PipelineResult(_with_sorted_edges(result["output"]), first_lines)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pipelines", nargs="*", help="passes to run on builtin.module")
    parser.add_argument("--kind", choices=KINDS, default="import", help="the kind of modules")
    parser.add_argument("--seeds", default="0:200", metavar="FROM:TO", help="the seeds of the modules")
    parser.add_argument("--reference-python", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--most", type=int, default=5, help="the number of differences to print")
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
                    comparison = rerun(comparison, kind.make(seed), options.reference_python)
                counts[comparison.verdict] += 1
                differences += comparison.is_different
                if comparison.is_different and differences <= options.most:
                    print(comparison, end="\n\n", flush=True)
    for verdict, count in sorted(counts.items()):
        print(f"{count:6} {verdict}")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
