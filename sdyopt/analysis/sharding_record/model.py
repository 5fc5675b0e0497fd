"""The data of a sharding record: sites, steps, changes and their causes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property

from sdyopt.base.dataclasses import NamedTuple, dataclass, field
from sdyopt.mlir.dialects.sdy.mesh_op import MeshLookup
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule, TensorMapping
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import BlockArgument, Value
from sdyopt.shardy.record import Means, Subject
from sdyopt.shardy.sharding.propagation.propagation_step import (
    PropagatedAxis,
    Shardings,
    StepRefusals,
    StepResult,
    StepRunner,
    Strategy,
    propagated_axes,
)


@dataclass(eq=False)
class Site:
    """An operation in a run of propagation, with its rule and the subjects of its operands and results.

    A subject is None for a value that cannot have a sharding. `runner` runs the steps of the site in the last
    round, and `shardings` are those that a step uses at the fixed point; on an edge into or out of a manual
    computation, all are converted to the side of the sources. `runner` is None if the site does not propagate
    in that round. `edge_owner` is the operation that a data-flow edge belongs to, and `manual_axes` are those
    of a manual computation that the edge leads into.
    """

    op: Op
    op_name: str
    rule: OpShardingRule
    subjects: tuple[Subject | None, ...]
    runner: StepRunner | None = None
    shardings: Shardings = ()
    edge_owner: Op | None = None
    manual_axes: Collection[str] = ()

    @cached_property
    def refusals(self) -> StepRefusals | None:
        """The axes that do not propagate along this site at the fixed point."""
        return None if self.runner is None else self.runner.refusals(self.rule, self.shardings)

    @cached_property
    def tensors(self) -> Sequence[TensorMapping]:
        """The mappings of the operands, then of the results, by the rule."""
        return tuple(self.rule.tensors)

    @property
    def operand_count(self) -> int:
        """The number of operands; the other subjects are those of results."""
        return len(self.rule.operands)


@dataclass(eq=False)
class Gap:
    """An operation without a sharding rule, and the subjects of its operands and results, if it has any."""

    op: Op
    op_name: str
    subjects: tuple[Subject | None, ...]


@dataclass(eq=False)
class Step:
    """A propagation step with updates. `round` is that of `RunRecorder.start_round`."""

    number: int
    site: Site
    runner: StepRunner
    shardings: Shardings
    priority: int
    round: int
    strategy: Strategy

    @cached_property
    def result(self) -> StepResult:
        """The projections before and after the step."""
        result = self.runner.run(self.site.rule, self.shardings)
        assert result is not None
        return result

    @cached_property
    def propagated(self) -> list[PropagatedAxis]:
        """The axes that the step adds, with the operands and results between which it propagates them."""
        return list(propagated_axes(self.site.rule, self.result))

    @cached_property
    def refusals(self) -> StepRefusals:
        """The axes that the step does not propagate."""
        return self.runner.refusals(self.site.rule, self.shardings)


@dataclass(eq=False)
class Copied:
    """A pass before propagation copied the annotation on an operation."""

    number: int
    op: Op
    means: Means
    sharding: TensorSharding


@dataclass(eq=False)
class Restored:
    """The dimension shardings of a user priority were restored."""

    number: int
    priority: int


Cause = Step | Restored


class RecordedChange(NamedTuple):
    """A new sharding of a subject.

    `position` is that of the subject among the operands and results of a step; None for a member of the
    sharding group of one of them, or if the cause is not a step.
    """

    subject: Subject
    before: TensorSharding | None
    after: TensorSharding
    cause: Cause
    position: int | None = None


@dataclass(eq=False)
class PropagationRun:
    """One run of a propagation pass.

    `initial` are the shardings that it found, `final` those that it left, `gaps` the operations along which
    nothing propagates, because they have no rule. `subject_of` has the subject of each value, None for one
    that cannot have a sharding. `edge_owners` are the owners of data-flow edges, by the subject of the edge.
    """

    mesh_of: MeshLookup
    sites: list[Site] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    subject_of: dict[Value, Subject | None] = field(default_factory=dict)
    initial: dict[Subject, TensorSharding | None] = field(default_factory=dict)
    final: dict[Subject, TensorSharding | None] = field(default_factory=dict)
    changes: list[RecordedChange] = field(default_factory=list)
    edge_owners: dict[Subject, Value] = field(default_factory=dict)
    op_of_argument: dict[BlockArgument, Op] = field(default_factory=dict)

    @cached_property
    def history(self) -> dict[Subject, list[RecordedChange]]:
        """The changes of each subject, in order."""
        history: dict[Subject, list[RecordedChange]] = {}
        for change in self.changes:
            history.setdefault(change.subject, []).append(change)
        return history

    @cached_property
    def subject_of_owner(self) -> dict[Value, Subject]:
        """The subject of each data-flow edge, by the owner of the edge."""
        return {owner: subject for subject, owner in self.edge_owners.items()}

    @cached_property
    def gaps_of(self) -> dict[Subject, list[Gap]]:
        """The operations without a rule that have a subject among their operands and results."""
        gaps: dict[Subject, list[Gap]] = {}
        for gap in self.gaps:
            for subject in dict.fromkeys(gap.subjects):
                if subject is not None:
                    gaps.setdefault(subject, []).append(gap)
        return gaps

    @cached_property
    def changes_of(self) -> dict[Cause, list[RecordedChange]]:
        """The changes due to each cause."""
        changes: dict[Cause, list[RecordedChange]] = {}
        for change in self.changes:
            changes.setdefault(change.cause, []).append(change)
        return changes

    def sharding_before(self, subject: Subject, number: int) -> TensorSharding | None:
        """The sharding of a subject before the cause with this number."""
        sharding = self.initial.get(subject)
        for change in self.history.get(subject, ()):
            if change.cause.number >= number:
                break
            sharding = change.after
        return sharding

    @cached_property
    def sites_of(self) -> dict[Subject, list[Site]]:
        """The sites that have a subject among their operands and results.

        Those of operations that propagation erased because they were dead are left out.
        """
        sites: dict[Subject, list[Site]] = {}
        for site in self.sites:
            if not site.shardings:
                continue
            for subject in dict.fromkeys(site.subjects):
                if subject is not None:
                    sites.setdefault(subject, []).append(site)
        return sites
