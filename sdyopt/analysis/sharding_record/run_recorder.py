"""Records a run of a propagation pass."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from sdyopt.analysis.sharding_record.model import Cause, Change, Gap, Restored, Run, Site, Step
from sdyopt.mlir.dialects.func import CallOp
from sdyopt.mlir.dialects.sdy.computation_ops import ManualComputationOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import (
    DataFlowEdgeOp,
    FuncDataFlowEdgeOp,
    owning_op,
    shardable_value,
    sharding_of,
)
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.shardy.record import StepSite, Subject
from sdyopt.shardy.sharding.propagation.propagation_step import Shardings, StepRunner, Strategy

# Operations that need no rule: other operations propagate in their place.
_WITHOUT_RULE = (CallOp, DataFlowEdgeOp, FuncDataFlowEdgeOp)


class ModelRecorder:
    """Fills a run. `numbers` continues the sequence of the record. Implements `RunRecorder`."""

    def __init__(self, run: Run, numbers: Iterator[int]) -> None:
        self._run = run
        self._numbers = numbers
        # By slot; slot 0 is that of values without a sharding.
        self._subjects: dict[int, Subject | None] = {0: None}
        self._sites: dict[StepSite, Site] = {}
        self._positions: dict[int, int] = {}
        self._priority = 0
        self._round = 0
        self._strategy = Strategy.BASIC
        self._cause: Cause = Restored(next(numbers), 0)

    def start_priority(self, priority: int) -> None:
        """The changes that follow restore dimension shardings."""
        self._priority = priority
        self._cause = Restored(next(self._numbers), priority)
        self._positions = {}

    def start_round(self, number: int, strategy: Strategy) -> None:
        """The steps that follow are in this round."""
        self._round, self._strategy = number, strategy

    def record(self, site: StepSite, runner: StepRunner, shardings: Shardings) -> None:
        """The changes that follow are due to this step."""
        self._cause = Step(
            next(self._numbers),
            self._site(site),
            runner,
            shardings,
            self._priority,
            self._round,
            self._strategy,
        )
        self._positions = {slot: position for position, slot in reversed([*enumerate(site.slots)])}

    def added(self, slot: int, subject: Subject, sharding: TensorSharding | None) -> None:
        """Propagation reads a sharding for the first time."""
        self._subjects[slot] = subject
        if isinstance(subject, OpResult) and isinstance(subject.op, DataFlowEdgeOp):
            self._run.edge_owners[subject] = subject.op.input
        self._run.initial[subject] = self._run.final[subject] = sharding

    def changed(self, slot: int, old: TensorSharding | None, new: TensorSharding) -> None:
        """Records a change, which is due to the last step or restored priority."""
        subject = self._subjects[slot]
        assert subject is not None
        self._run.final[subject] = new
        self._run.changes.append(Change(subject, old, new, self._cause, self._positions.get(slot)))

    def finish(
        self,
        sites: Sequence[tuple[StepSite, StepRunner | None, Shardings]],
        without_site: Sequence[Op],
        slots: Mapping[Value, int],
    ) -> None:
        """Records how each site propagates at the fixed point."""
        for step_site, runner, shardings in sites:
            site = self._site(step_site)
            site.runner, site.shardings = runner, shardings
        self._run.subject_of.update({value: self._subjects[slot] for value, slot in slots.items()})
        for op in without_site:
            if op.operands and op.results and op.data_flow is None and not isinstance(op, _WITHOUT_RULE):
                subjects = [self._subject(value) for value in (*op.operands, *op.results)]
                self._run.gaps.append(Gap(op, op.signature.name, tuple(subjects)))
        self._sites.clear()

    def _subject(self, value: Value) -> Subject | None:
        """The subject of a value that propagation may never have read."""
        run = self._run
        if value not in run.subject_of:
            subject = run.subject_of[value] = shardable_value(value)
            if subject is not None and subject not in run.final:
                run.initial[subject] = run.final[subject] = sharding_of(subject)
        return run.subject_of[value]

    def _site(self, site: StepSite) -> Site:
        known = self._sites.get(site)
        if known is None:
            subjects = tuple([self._subjects[slot] for slot in site.slots])
            owner = _edge_owner(site.op)
            known = self._sites[site] = Site(
                *(site.op, site.op.signature.name, site.rule, subjects),
                edge_owner=None if owner is None else owning_op(owner),
                manual_axes=_manual_axes(owner),
            )
            self._run.sites.append(known)
        return known


def _edge_owner(op: Op) -> OpResult | BlockArgument | None:
    """The owner of a data-flow edge, whose operation later passes may inline."""
    if not isinstance(op, DataFlowEdgeOp):
        return None
    owner = op.input
    assert isinstance(owner, OpResult | BlockArgument)
    return owner


def _manual_axes(owner: OpResult | BlockArgument | None) -> Collection[str]:
    """The manual axes of the computation that an edge leads into."""
    op = owning_op(owner) if isinstance(owner, BlockArgument) else None
    return op.manual_axes if isinstance(op, ManualComputationOp) else ()
