"""The input of a propagation strategy: factors, their directions, and refusals of axes.

The input has the factors of one operation, projected from its shardings. Each factor propagates forward to
results, backward to operands, both or none.

The axes that are not propagated are refusals, each with the reason. The strategies report a refusal where
they decide it, to the trace in their input. Only `StepRunner.refusals`, which explanations call after
propagation, runs a step with a trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Protocol

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.ops import PropagationDirection
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.shardy.sharding.axis_lists import Axes
from sdyopt.shardy.sharding.sharding_projection import TensorProjection

NONE, FORWARD, BACKWARD, BOTH = PropagationDirection
_PASS_THROUGH_BOTH = (BOTH, NONE)
_PASS_THROUGH_BACKWARD = (BACKWARD, NONE)
_PASS_THROUGH_BOTH_ELSE_FORWARD = (BOTH, FORWARD)


class DirectionPolicy(Enum):
    """A direction for the pass-through factors of an operation, and one for all other factors."""

    FORWARD = (FORWARD, FORWARD)
    BACKWARD = (BACKWARD, BACKWARD)
    BOTH = (BOTH, BOTH)
    # In this class, FORWARD, BACKWARD and BOTH now name the members above; hence the module constants.
    PASS_THROUGH_BOTH = _PASS_THROUGH_BOTH
    PASS_THROUGH_BACKWARD = _PASS_THROUGH_BACKWARD
    PASS_THROUGH_BOTH_ELSE_FORWARD = _PASS_THROUGH_BOTH_ELSE_FORWARD

    # Members are compared by identity; the default hash of enumerations is slow.
    __hash__ = object.__hash__


def factor_directions(policy: DirectionPolicy, rule: OpShardingRule) -> tuple[PropagationDirection, ...]:
    """The direction of each factor of a rule. It is NONE for factors with blocked propagation."""
    pass_through, others = policy.value
    special = {*rule.reduction, *rule.need_replication, *rule.permutation}
    return tuple(
        [
            NONE if factor in rule.blocked_propagation else others if factor in special else pass_through
            for factor in range(len(rule.factor_sizes))
        ]
    )


class Reason(Enum):
    """The reason for which a factor does not get an axis in a tensor that it has in another one."""

    # --- Of the step as a whole ---
    MESHES = "the operands and results have shardings on different meshes"
    MAXIMAL_MESH = "the mesh is one device"
    RANK = "the sharding has another rank than the tensor"
    # --- Of the factor ---
    BLOCKED = "the rule blocks propagation along the factor"
    DIRECTION = "the factor does not propagate in this direction"
    OTHER_AXES = "another tensor is sharded along other axes in this factor"
    # --- Of the factor in one tensor ---
    CLOSED = "the dimension is closed"
    REPLICATED = "the tensor is explicitly replicated along the axis"
    UNREDUCED = "the tensor is unreduced along the axis"
    OTHER_FACTOR = "another factor of the tensor uses the axis"
    NOT_DIVISIBLE = "the axis does not divide the factor"
    OVERFLOW = "axes beyond the size of the factor shard no factor"
    RESULTS = "operands of an elementwise operation take only axes that its results have"
    CONSERVATIVE = "sub-axes do not propagate in conservative propagation"
    MAJOR_FACTOR = "a more major factor of the dimension is not fully sharded"
    # --- Of no step ---
    NOT_RECORDED = "a step propagates the axis, and no record says why the sharding lacks it"


class Refusal(NamedTuple):
    """Axes that a factor does not get.

    `axes`: major to minor; the axes after the first are refused because the first is refused. `target`: the
    tensor that does not get the axes, by index among operands and results; None if no tensor gets them.
    `culprit`: the tensor that the reason is about, and in it `other_factor` and the `conflicting` axes, where
    the reason has them.
    """

    reason: Reason
    factor: int
    axes: Axes
    target: int | None = None
    culprit: int | None = None
    conflicting: Axes = ()
    other_factor: int | None = None


class ReportConflict(Protocol):
    """Receives why an axis, or part of it, is not allowed in a tensor."""

    def __call__(
        self,
        reason: Reason,
        axis: AxisRef,
        tensor: TensorProjection,
        conflicting: Axes = (),
        other_factor: int | None = None,
    ) -> None: ...


def ignore(
    reason: Reason,
    axis: AxisRef,
    tensor: TensorProjection,
    conflicting: Axes = (),
    other_factor: int | None = None,
) -> None:
    """The `ReportConflict` of steps without a trace."""


class Preference(NamedTuple):
    """The sort key of factors by which the aggressive strategy gives them axes.

    `elements` is the negated size of the largest tensor that the axes come from, `tensor` its index.
    `sharded_size` is the negated sharded size of the axes; 0 unless the operation is elementwise.
    """

    elements: int
    sharded_size: int
    tensor: int
    factor: int


class StepTrace:
    """Collects the refusals of one step. `tensors` are its projections, which the strategy updates."""

    def __init__(self, tensors: Sequence[TensorProjection]) -> None:
        self.refusals: list[Refusal] = []
        # The preference of each factor in the aggressive strategy.
        self.preference: Sequence[Preference] = ()
        self._tensors = tensors
        # The conflicts reported for the list of axes that is being truncated.
        self._conflicts: list[tuple[Reason, TensorProjection, Axes, int | None]] = []

    def conflict(
        self,
        reason: Reason,
        axis: AxisRef,
        tensor: TensorProjection,
        conflicting: Axes = (),
        other_factor: int | None = None,
    ) -> None:
        """Implements `ReportConflict`."""
        self._conflicts.append((reason, tensor, conflicting, other_factor))

    def conflict_in(
        self,
        culprit: TensorProjection,
        reason: Reason,
        axis: AxisRef,
        tensor: TensorProjection,
        conflicting: Axes = (),
        other_factor: int | None = None,
    ) -> None:
        """Like `conflict`, where `tensor` is a variant of the projection `culprit`."""
        self._conflicts.append((reason, culprit, conflicting, other_factor))

    def truncated(self, factor: int, axes: Axes, target: TensorProjection | None = None) -> None:
        """Refuses axes because of the conflicts reported since the last call."""
        for reason, tensor, conflicting, other_factor in self._conflicts:
            self.refuse(reason, factor, axes, target, tensor, conflicting, other_factor)
        self._conflicts.clear()

    def refuse(
        self,
        reason: Reason,
        factor: int,
        axes: Axes,
        target: TensorProjection | None = None,
        culprit: TensorProjection | None = None,
        conflicting: Axes = (),
        other_factor: int | None = None,
    ) -> None:
        """Records a refusal."""
        if axes:
            indices = self._index(target), self._index(culprit)
            refusal = Refusal(reason, factor, axes, *indices, conflicting, other_factor)
            if refusal not in self.refusals and refusal._replace(target=None) not in self.refusals:
                self.refusals.append(refusal)

    def _index(self, tensor: TensorProjection | None) -> int | None:
        if tensor is None:
            return None
        return next(index for index, other in enumerate(self._tensors) if other is tensor)


class StepInput(NamedTuple):
    """Sizes and directions of the factors, and the projections of operands and results.

    A strategy updates the projections. With `is_conservative` it propagates no sub-axes. It reports to
    `trace`, if there is one, which axes it does not propagate.
    """

    sizes: tuple[int, ...]
    directions: tuple[PropagationDirection, ...]
    operands: list[TensorProjection]
    results: list[TensorProjection]
    mesh: Mesh
    is_elementwise: bool
    is_conservative: bool
    trace: StepTrace | None = None

    @property
    def tensors(self) -> list[TensorProjection]:
        """The operands, then the results."""
        return self.operands + self.results

    @property
    def report(self) -> ReportConflict:
        """Receives the conflicts of single axes."""
        return ignore if self.trace is None else self.trace.conflict
