"""Debug info of applied sharding constraints: sharding origins and propagation edges.

A propagation edge records which axis propagated from which operand or result to which others, and in which
step. Operations store them in `sdy.propagation_edges`.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.dialect import PROPAGATION_EDGES, SHARDING_RULE
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.propagation_debug_attrs import (
    OPERAND,
    RESULT,
    AxisPropagation,
    EdgeValueRef,
    PropagationEdges,
    PropagationStep,
)
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter

from .sharding_origins import ShardingOrigins


class ConstraintDebugInfo:
    """The sharding origins and propagation edges of constraints, each only if it is enabled.

    Must be created before any sharding is changed.
    """

    def __init__(
        self, module: ModuleOp, record_origins: bool, record_edges: bool, rewriter: Rewriter
    ) -> None:
        self._rewriter = rewriter
        self._origins = ShardingOrigins(module, rewriter) if record_origins else None
        self._edges: dict[Op, PropagationEdges] | None = {} if record_edges else None
        self._step = last_step(module) + 1 if record_origins or record_edges else 0

    def record(self, op: ShardingConstraintOp) -> None:
        """Records that a constraint has been applied to its input, which had no sharding."""
        sharding = op.sharding
        axes = _axes_from_result(op)
        if axes and self._edges is not None:
            self._edges[op] = PropagationEdges((PropagationStep(self._step, _from_result_to_operand(axes)),))
        if sharding.dims or sharding.replicated_axes or sharding.unreduced_axes:
            self._step += 1
        if self._origins is not None:
            self._origins.copy(op.output, op.input, axes)

    def save(self) -> None:
        """Writes everything to attributes."""
        if self._origins is not None:
            self._origins.save()
        for op, edges in (self._edges or {}).items():
            self._rewriter.set_attribute(op, PROPAGATION_EDGES, edges)


def _axes_from_result(op: ShardingConstraintOp) -> list[AxisRef]:
    """The axes of the input that, by the sharding rule, propagated from the result.

    All axes, unless the constraint has a user-defined rule that does not map each dimension of the operand to
    the same dimension of the result.
    """
    dims, rule = op.sharding.dims, op.attributes.get(SHARDING_RULE)
    # A maximal sharding has no dimensions.
    if not isinstance(rule, OpShardingRule) or not dims:
        return [axis for dim in dims for axis in dim.axes]
    (operand,), (result,) = rule.operands, rule.results
    in_result = dict(zip(result.dims, dims, strict=True))
    axes: list[AxisRef] = []
    for mapping, dim in zip(operand.dims, dims, strict=True):
        source = in_result.get(mapping)
        if source is not None and source.axes[: len(dim.axes)] == dim.axes:
            axes += dim.axes
    return axes


def _from_result_to_operand(axes: list[AxisRef]) -> tuple[AxisPropagation, ...]:
    result, operand = EdgeValueRef(RESULT, 0), EdgeValueRef(OPERAND, 0)
    ordered = sorted(axes, key=lambda axis: axis.sort_key)
    return tuple([AxisPropagation(axis, result, (operand,)) for axis in ordered])


def last_step(module: ModuleOp) -> int:
    """The index of the last step with propagation edges in a module; -1 if there are none."""
    attributes = (op.attributes.get(PROPAGATION_EDGES) for op in module.walk())
    steps = [
        step.index for edges in attributes if isinstance(edges, PropagationEdges) for step in edges.steps
    ]
    return max(steps, default=-1)
