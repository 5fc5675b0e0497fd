"""The changes of a program that make it cheaper, the best one first.

    advice = Adviser(module, pipeline, topology, options).advice()
    for each in advice.changes: ...

Programs are compared by estimated seconds, those that reshards of activations may take included. Ties are
broken by these reshards, then by peak memory, then by the number of annotations that change. Several changes
are made one after the other: each is the best one for the program with those before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from time import monotonic
from typing import NamedTuple

from sdyopt.analysis.advise import SDY, Options
from sdyopt.analysis.advise.moves import MeshOfProgram, Move, moves_of
from sdyopt.analysis.advise.roles import roles_of
from sdyopt.analysis.advise.search import Figures, Search
from sdyopt.analysis.advise.wording import current, heading, place_text, sdy_text
from sdyopt.analysis.figures.machines import MACHINES
from sdyopt.analysis.figures.topology import Topology, read_topology
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.dialect import SHARDING
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline.run import run_pipeline
from sdyopt.mlir.pipeline.tree import Pipeline
from sdyopt.mlir.registry import lookup

# A change that saves less than this share of the estimated time is noise of the estimate.
_LEAST_GAIN = Fraction(1, 100)
# All trials together process about this many operations; a program of 2,000 operations has 250 trials.
_MAX_OPERATIONS = 500_000
_MIN_TRIALS = 24
# Before trials, as in sdy-jax-pipeline: what they change must be there, and is processed only once.
_BEFORE = ("sdy-inline-unsharded-calls", "cse")
# The topology where none is given.
ASSUMED_MACHINE = "tpu-v5e"


class Annotation(NamedTuple):
    """A sharding to write: where, as a PartitionSpec if one can express it, and as MLIR."""

    place: str
    spec: str | None
    sdy: str


class AdvisedChange(NamedTuple):
    """A change, with the figures of the program before and after it.

    `text` says what to write, and `now` what is written there; "" for a result or several places.
    `is_conflict_free`: after it no activation is resharded, so that partitioners agree on what is sent.
    """

    text: str
    now: str
    annotations: tuple[Annotation, ...]
    before: Figures
    after: Figures
    move: Move

    @property
    def is_conflict_free(self) -> bool:
        return not self.after.conflicts


def _advised(move: Move, before: Figures, after: Figures) -> AdvisedChange:
    annotations = (
        Annotation(place_text(change), change.jax, sdy_text(change.sharding)) for change in move.changes
    )
    return AdvisedChange(heading(move), current(move), tuple(annotations), before, after, move)


@dataclass
class Advice:
    """The findings. `program` is the program with the best change, or with all of several changes.

    `changes` are alternatives, the best first, or several changes in their order if `is_sequence`. `tried` is
    the number of trials, `proposed` that of moves, `failed` that of trials whose pipeline fails.
    `is_above_memory`: the program takes more memory than the limit, so changes lower its peak. `reason` says
    why there were no trials.
    """

    program: Op
    changes: list[AdvisedChange] = field(default_factory=list)
    is_sequence: bool = False
    is_above_memory: bool = False
    tried: int = 0
    proposed: int = 0
    failed: int = 0
    seconds: int = 0
    machine: str = ""
    assumption: str = ""
    reason: str = ""


class Adviser:
    """Advises on one program, which is not changed."""

    def __init__(self, module: Op, pipeline: Pipeline, topology: Topology | None, options: Options) -> None:
        self._module = module
        self._pipeline = pipeline
        self._topology = topology or read_topology(ASSUMED_MACHINE, MACHINES[ASSUMED_MACHINE])
        self._machine = ASSUMED_MACHINE if topology is None else ""
        self._options = options
        self._memory = options.memory
        self._start = monotonic()

    def advice(self) -> Advice:
        """Tries moves, and ranks those that make the program cheaper."""
        mesh = _largest_mesh(self._module)
        if not self._pipeline.elements:
            return Advice(self._module, reason="it has its collectives already")
        if mesh is None or not mesh.sizes:
            return Advice(self._module, reason="it has no mesh of several devices")
        program = Rewriter().clone(self._module)
        _run(program, _BEFORE)
        if self._options.advise_from_scratch:
            _remove_annotations(program)
        advice = Advice(program, machine=self._machine)
        advice.is_sequence = self._options.advise_changes > 1 or self._options.advise_from_scratch
        limit = self._options.advise_changes if self._options.advise_changes > 1 else 16
        for _ in range(limit if advice.is_sequence else 1):
            found = self._best(advice, mesh)
            if not found:
                break
            if advice.is_sequence:
                advice.changes.append(found[0])
            else:
                advice.changes = found
            advice.program = self._search(advice.program).changed([found[0].move])
        if not advice.changes and not advice.is_sequence:
            advice.program = self._module
        return advice

    def _search(self, program: Op) -> Search:
        return Search(program, self._pipeline, self._topology)

    def _best(self, advice: Advice, mesh: MeshOfProgram) -> list[AdvisedChange]:
        """The changes that make the program cheaper, the best first."""
        search = self._search(advice.program)
        if search.base is None:
            advice.reason = "its pipeline fails"
            return []
        before, outcome = search.base
        memory = self._memory
        advice.is_above_memory = memory is not None and before.peak_bytes > memory
        moves = list(moves_of(roles_of(advice.program), mesh, outcome))
        advice.proposed += len(moves)
        size = sum(1 for _ in advice.program.walk())
        chosen = moves[: max(_MIN_TRIALS, _MAX_OPERATIONS // size)]
        found = []
        for trial in search.trials(chosen, self._options.jobs):
            advice.tried += 1
            if trial.figures is None:
                advice.failed += 1
            elif self._is_better(trial.figures, before):
                found.append(_advised(trial.move, before, trial.figures))
            limit = self._options.advise_seconds
            if limit and monotonic() - self._start > limit:
                advice.seconds = limit
                break
        found.sort(key=lambda each: self._rank(each.after, each.move))
        return list(_without_equals(found))

    def _is_better(self, after: Figures, before: Figures) -> bool:
        memory = self._memory
        if memory is not None and after.peak_bytes > memory:
            return before.peak_bytes > memory and after.peak_bytes < before.peak_bytes
        if memory is not None and before.peak_bytes > memory:
            return True
        # Both must fall: a change that only avoids reshards of activations is better for some partitioners.
        least = 1 - _LEAST_GAIN
        return after.seconds < before.seconds * least and self._cost(after) < self._cost(before) * least

    def _rank(self, figures: Figures, move: Move) -> tuple[object, ...]:
        memory = self._memory
        excess = 0 if memory is None else max(0, figures.peak_bytes - memory)
        return excess, self._cost(figures), figures.conflicts, figures.peak_bytes, move.size

    def _cost(self, figures: Figures) -> Fraction:
        is_sdy = self._options.advise_partitioner == SDY
        return figures.seconds + (0 if is_sdy else figures.penalty)


def _without_equals(found: Sequence[AdvisedChange]) -> Iterable[AdvisedChange]:
    """The changes without those of an annotation, or with the figures at a place, that one before has."""
    seen: set[object] = set()
    for each in found:
        places = [change.subject for change in each.move.changes]
        keys: set[object] = {(places[0], each.after)}
        keys |= {(change.subject, change.sharding) for change in each.move.changes}
        if not keys & seen:
            yield each
        seen |= keys


def _largest_mesh(module: Op) -> MeshOfProgram | None:
    meshes = [op for op in module.nested(MeshOp) if op.mesh.axes]
    if not meshes:
        return None
    largest = max(meshes, key=lambda op: op.mesh.total_size)
    return MeshOfProgram(largest.mesh, SymbolRef(largest.sym_name))


def _run(program: Op, flags: Sequence[str]) -> None:
    pipeline = Pipeline()
    for flag in flags:
        pipeline.add_nested(lookup(flag).create({}))
    run_pipeline(pipeline, program, None)


def _remove_annotations(program: Op) -> None:
    """Removes the shardings of arguments and results, and the sharding constraints."""
    rewriter = Rewriter()
    for op in list(program.walk()):
        if isinstance(op, FuncOp):
            for index in range(len(op.argument_attributes)):
                rewriter.set_argument_attribute(op, index, SHARDING, None)
            for index in range(len(op.result_attributes)):
                rewriter.set_result_attribute(op, index, SHARDING, None)
        elif isinstance(op, ShardingConstraintOp):
            rewriter.replace(op, [op.input])
