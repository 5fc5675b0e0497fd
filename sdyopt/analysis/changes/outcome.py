"""The values of a program after passes: their shardings after propagation, and the bytes sent for them.

Passes keep locations, so an operation of the program after the passes is found by that of the original.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

from sdyopt.analysis.changes.edits import Change, written
from sdyopt.analysis.changes.effect import CostedProgram, Figures, bytes_of_runs
from sdyopt.analysis.changes.originals import Originals
from sdyopt.analysis.changes.roles import RoleGroup, ValueClass
from sdyopt.analysis.figures.assumed_pipeline import pipeline_of
from sdyopt.analysis.figures.boundary import carried_results, is_same_sharding
from sdyopt.analysis.figures.causes import consumers, producer
from sdyopt.analysis.figures.execution_counts import AssumedTrips, entry_functions, functions_in
from sdyopt.analysis.figures.figures import Collective, Report
from sdyopt.analysis.figures.local_shapes import bytes_of
from sdyopt.analysis.figures.product_collectives import counted_collectives
from sdyopt.analysis.figures.topology import Topology, assumed_topology
from sdyopt.analysis.sharding_record.model import PropagationRun
from sdyopt.analysis.sharding_record.record import ShardingRecord
from sdyopt.base.context import keeping
from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity, emit, handling
from sdyopt.base.diagnostics.ids import ADVICE
from sdyopt.base.diagnostics.location import Location, UnknownLoc
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.collectives import CollectiveOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import owning_op, sharding_of
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.mlir.pipeline.base import Pass
from sdyopt.mlir.pipeline.run import Instrument, run_pipeline
from sdyopt.mlir.pipeline.tree import Pipeline
from sdyopt.shardy.record import FunctionResult, Subject


def key_of_program(module: Op) -> tuple[object, ...]:
    """What programs have in common that are equal, with their locations."""
    numbers: dict[object, int] = {}
    parts: list[object] = []
    for op in module.walk():
        parts += op.signature, op.attributes, op.lazy_location, numbers.get(op.parent)
        for item in (*op.operands, *op.successors, *op.results):
            parts.append(numbers.setdefault(item, len(numbers)))
        for name in op.mutable_attributes:
            parts.append(op.mutable_attribute(name))
        for region in op.regions:
            for block in region.blocks:
                parts.append(numbers.setdefault(block, len(numbers)))
                for argument in block.arguments:
                    parts += argument.type, argument.lazy_location
                    numbers[argument] = len(numbers)
    return tuple(parts)


# The shardings of the results of the entry functions, by function and number.
Results = dict[tuple[str, int], TensorSharding | None]


def shardings_of_results(module: Op) -> Results:
    """The shardings of the results of a program."""
    return {
        (function.sym_name, number): sharding if isinstance(sharding, TensorSharding) else None
        for function in entry_functions(functions_in(module))
        for number, attributes in enumerate(function.result_attributes)
        for sharding in (attributes.get(SHARDING),)
    }


def changed_results(before: Results, after: Results, written: Iterable[Subject]) -> Iterator[tuple[str, int]]:
    """The results that are sharded otherwise after a change, without those that it writes.

    Nor are there those that donated arguments become which it writes: with explicit axes, they follow these.
    """
    known = set()
    carried: dict[FuncOp, dict[int, int]] = {}
    for value in written:
        if isinstance(value, FunctionResult):
            known.add((value.function.sym_name, value.result_index))
        elif isinstance(value, BlockArgument) and isinstance(function := owning_op(value), FuncOp):
            if function not in carried:
                carried[function] = carried_results(function)
            known.add((function.sym_name, carried[function].get(value.index, -1)))
    for key, sharding in after.items():
        if key not in known and sharding is not None and not is_same_sharding(before.get(key), sharding):
            yield key


# The bytes that a device sends by place: by line, kind and axes.
Sent = dict[tuple[str, str, str], Fraction]


def place_of_collective(collective: Collective) -> tuple[str, str, str]:
    """The line of a collective, or the weight without one, with its kind and axes."""
    return (
        collective.location.path_text or collective.moved or collective.updated,
        collective.kind,
        collective.group,
    )


def sent_by_place(report: Report) -> Sent:
    """The bytes that a device sends by place."""
    amounts_by_row: Sent = {}
    for collective in report.collectives:
        place = place_of_collective(collective)
        amounts_by_row[place] = amounts_by_row.get(place, Fraction(0)) + bytes_of_runs(collective)
    return amounts_by_row


class PipelineOutcome:
    """A program after the passes, and where its values come from."""

    def __init__(self, program: CostedProgram, originals: Originals) -> None:
        self.module, self.report, self.figures = program.module, program.report, program.figures
        self.originals = originals

    def sharding(self, of_class: ValueClass) -> TensorSharding | None:
        """The sharding of the first value of a class that still exists; None if none is found."""
        for op in of_class.ops:
            for sharding in self._results.get((op.location, of_class.shape), ()):
                return sharding
        return None

    def boundary(self, subject: Subject) -> TensorSharding | None:
        """The sharding of an argument or a result of the program; None if it has none."""
        if isinstance(subject, FunctionResult):
            result = self._functions.get(subject.function.sym_name)
            sharding = (
                None if result is None else result.result_attributes[subject.result_index].get(SHARDING)
            )
        else:
            function = owning_op(subject)
            result = self._functions.get(function.sym_name) if isinstance(function, FuncOp) else None
            sharding = None if result is None else result.argument_attributes[subject.index].get(SHARDING)
        return sharding if isinstance(sharding, TensorSharding) else None

    @cached_property
    def sent(self) -> Sent:
        """The bytes that a device sends by place."""
        return sent_by_place(self.report)

    @cached_property
    def sent_by_line(self) -> dict[str, Sent]:
        """The places at which a device sends something by line, the most expensive lines and places first.

        Reshards of activations count as if whole tensors were moved, as in the cost of changes.
        """
        cost = dict(self.sent)
        for op, collective in zip(counted_collectives(self.module), self.report.collectives, strict=True):
            if collective.is_activation and (sent := bytes_of_runs(collective)):
                runs = 1 if collective.times is None else collective.times.high
                cost[place_of_collective(collective)] += (bytes_of(op.result_types[0]) or 0) * runs - sent
        lines: dict[str, Sent] = {}
        for place in sorted((place for place in cost if self.sent[place]), key=lambda place: -cost[place]):
            lines.setdefault(place[0], {})[place] = self.sent[place]
        return dict(sorted(lines.items(), key=lambda item: -sum(cost[place] for place in item[1])))

    @cached_property
    def largest_at(self) -> Mapping[tuple[str, str, str], Op]:
        """The collective of each place that sends most."""
        largest: dict[tuple[str, str, str], tuple[Fraction, Op]] = {}
        for op, collective in zip(counted_collectives(self.module), self.report.collectives, strict=True):
            sent, place = bytes_of_runs(collective), place_of_collective(collective)
            if place not in largest or sent > largest[place][0]:
                largest[place] = sent, op
        return {place: op for place, (_, op) in largest.items()}

    @cached_property
    def _functions(self) -> dict[str, FuncOp]:
        return {op.sym_name: op for op in functions_in(self.module)}

    def wire_bytes(self, role: RoleGroup) -> Fraction:
        """Wire bytes of the collectives on values of a role, or on those that it is computed with."""
        locations = {op.location: None for value_class in role.classes for op in value_class.ops}
        for value_class in role.classes:
            for place in value_class.arguments:
                assert isinstance(place.subject, BlockArgument)
                locations |= {user.location: None for user in place.subject.users}
        return sum((self._sent_for.get(location, Fraction(0)) for location in locations), Fraction(0))

    @cached_property
    def _results(self) -> dict[tuple[Location, tuple[int, ...]], list[TensorSharding]]:
        results: dict[tuple[Location, tuple[int, ...]], list[TensorSharding]] = {}
        for op in self.module.walk():
            if isinstance(op, CollectiveOp):
                continue
            for result in op.results:
                if isinstance(result.type, RankedTensor) and (sharding := sharding_of(result)) is not None:
                    results.setdefault((op.location, tuple(result.type.shape)), []).append(sharding)
        return results

    @cached_property
    def _sent_for(self) -> dict[Location, Fraction]:
        """Wire bytes by the location of an operation before or after a collective."""
        sent_for: dict[Location, Fraction] = {}
        for op, collective in zip(counted_collectives(self.module), self.report.collectives, strict=True):
            sent = bytes_of_runs(collective)
            if not sent or not isinstance(op, CollectiveOp):
                continue
            made = producer(op).defining_op
            around = [*([] if made is None else [made]), *consumers(op)[:4]]
            for location in dict.fromkeys(near.location for near in around):
                if not isinstance(location, UnknownLoc):
                    sent_for[location] = sent_for.get(location, Fraction(0)) + sent
        return sent_for


# A value of more dimensions takes as long as an operation more for each of them.
_USUAL_RANK = 16


def work_of(program: Op) -> int:
    """How much work a trial of a program is, counted in operations on values of usual ranks."""
    work = 0
    for op in program.walk():
        work += 1 + op.signature.cached(_more_work)
    return work


def _more_work(signature: OpSignature) -> int:
    types = (*signature.operand_types, *signature.result_types)
    ranks = [type.rank for type in types if isinstance(type, RankedTensor)]
    return sum(max(0, rank - _USUAL_RANK) for rank in ranks)


class NotCompleted(Exception):
    """A pass failed on the program; its errors are emitted."""


class ChangesWatch(Instrument):
    """Sees whether passes change anything."""

    def __init__(self) -> None:
        self.has_changed = False

    def after_pass(self, pass_: Pass, op: Op, changed: bool) -> None:
        self.has_changed |= changed


class PartitionedProgram:
    """A program after changes, with collectives, and what becomes of its values. The program is not changed.

    `make` makes of a program with collectives what has its figures. `kept` is what runs of passes share.
    """

    def __init__(
        self,
        module: Op,
        pipeline: Pipeline,
        machine: Topology | None,
        made: tuple[Change, ...],
        make: Callable[[Op, Topology, AssumedTrips], CostedProgram],
        assumed: AssumedTrips,
        kept: dict[Hashable, dict[Any, Any]],
    ) -> None:
        self.module = module
        self._pipeline = pipeline
        self._machine = machine or assumed_topology()
        self.made = made
        self._make = make
        self._assumed = assumed
        self._kept = kept
        # What the passes said about the program without a change.
        self.diagnostics: list[Diagnostic] = []
        self._record = ShardingRecord()
        self._copies: dict[Value, Value] = {}

    @property
    def can_try(self) -> bool:
        """Whether a change may have an effect: the program does not have its collectives already."""
        return bool(self._pipeline.elements)

    @cached_property
    def with_collectives(self) -> CostedProgram:
        """The program with collectives. Raises NotCompleted if a pass fails; emits errors and advice."""
        if not self.can_try:
            return self._make(self.module, self._machine, self._assumed)
        copy = self._changed((), self._copies)
        with self._record.active(), handling(self.diagnostics.append), keeping(self._kept):
            succeeded = run_pipeline(self._pipeline, copy, None)
        for diagnostic in self.diagnostics:
            if diagnostic.severity is Severity.ERROR or diagnostic.id in ADVICE:
                emit(diagnostic)
        if not succeeded:
            raise NotCompleted
        return self._make(copy, self._machine, self._assumed)

    @cached_property
    def outcome(self) -> PipelineOutcome | None:
        """The program with collectives, and what becomes of its values; None if a pass fails."""
        try:
            with handling(lambda _: None):
                with_collectives = self.with_collectives
        except (NotCompleted, DiagnosticError):
            return None
        return PipelineOutcome(with_collectives, self.originals)

    @cached_property
    def figures(self) -> Figures | None:
        """The figures of the program as it is; None if a pass fails."""
        return None if self.outcome is None else self.outcome.figures

    @cached_property
    def results(self) -> Results:
        """The shardings of the results of the program as it is."""
        return {} if self.outcome is None else shardings_of_results(self.outcome.module)

    @cached_property
    def originals(self) -> Originals:
        """The program as it was written, for values of the program with collectives."""
        assert self.with_collectives is not None
        values_before = {copy: value for value, copy in self._copies.items()}
        return Originals(self.module, self._record.values, values_before)

    def written(self, value: Value) -> OpResult | BlockArgument | None:
        """The value before passes of one of the program with collectives; None if a pass created it."""
        return self.originals.value(value) if self.can_try else None

    @property
    def run(self) -> PropagationRun | None:
        """The record of propagation, whose subjects `written` maps; None if there was none."""
        assert self.with_collectives is not None
        return self._record.runs[-1] if self._record.runs else None

    def changed(self, *changes: Change) -> Op:
        """A copy of the program with changes, before the pipeline."""
        return self._changed(changes, {})

    def _changed(
        self,
        changes: Sequence[Change],
        values: dict[Value, Value],
        copies: dict[Op, Op] | None = None,
        watch: ChangesWatch | None = None,
    ) -> Op:
        rewriter = Rewriter()
        copy = rewriter.clone(self.module, values)
        of_op = {} if copies is None else copies
        of_op.update(zip(self.module.walk(), copy.walk(), strict=True))
        made = (*self.made, *changes)
        for edit in written(made).values():
            edit.edit(of_op, rewriter)
        for change in made:
            if change.rewrite is not None:
                change.rewrite(of_op, rewriter)
        watches = [] if watch is None else [watch]
        for change in made:
            if change.passes:
                run_pipeline(pipeline_of(change.passes), copy, None, watches)
        if watch is not None:
            watch.has_changed |= rewriter.changed
        return copy
