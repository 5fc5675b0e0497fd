"""sdy-temp-explicit-reshards-for-optimizations: reshard dots; older version of -sdy-insert-explicit-reshards.

    %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
becomes, if the rows of %a are sharded along "y" and the contracting dimension along "x",
    %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>}
    %1 = sdy.reshard %0 <@mesh, [{"x"}, {}]>

For programs whose other reshards are inserted by the partitioner, which handles one case badly: a dot whose
result is sharded along the axes of the contracting dimension where an operand is sharded along others. With
the new sharding, every device computes less, and only the result is resharded. The operands must be
compatible otherwise, and the result must not be larger than that operand.

`mhlo.ragged_dot`, which the partitioner does not support, gets all reshards and all-reduces, if it has a
sharding rule.

Superseded by `sdy-insert-explicit-reshards`, whose default version does the same and more. If the operands of
a ragged dot conflict and two resolutions shard equally many elements, this pass chooses as the newer one
does.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache, reduce

from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import MeshLookup, common_mesh_or_ref, find_mesh
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp, DotOp
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import FUNCTION, Pass
from sdyopt.mlir.registry import register
from sdyopt.shardy.sharding.axis_lists import Axes, common_prefix
from sdyopt.shardy.sharding.explicit_reshards.common_axes import (
    assign_axes_to_factors,
    common_factor_axes,
    redistribute_replicated_axes,
)
from sdyopt.shardy.sharding.explicit_reshards.reshape_overflow import better_dot_result_axes
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule_of
from sdyopt.shardy.sharding.sharding_projection import TensorProjection, project, unproject

from .explicit_reshards.insertion import apply_plan
from .explicit_reshards.reshard_plan import PlanInput, ReshardPlan, ReshardPlanner, element_counts


@register("sdy-temp-explicit-reshards-for-optimizations")
class TempExplicitReshardsForOptimizations(Pass):
    anchor = FUNCTION

    def run(self, function: FuncOp) -> bool:
        rewriter = Rewriter()
        mesh_of = cache(lambda mesh_or_ref: find_mesh(mesh_or_ref, function))
        planner = ReshardPlanner(mesh_of, _find_common_axes)
        for op in function.walk_post_order():
            is_ragged = op.name == "mhlo.ragged_dot"
            is_dot = is_ragged or isinstance(op, DotOp | DotGeneralOp)
            plan_input = _plan_input(op) if is_dot else None
            if plan_input is None:
                continue
            plan = planner.plan(plan_input, full=True) if is_ragged else _plan_dot(plan_input, mesh_of)
            if plan is not None:
                apply_plan(op, plan, rewriter)
        return rewriter.changed


def _plan_input(op: Op) -> PlanInput | None:
    rule = sharding_rule_of(op)
    if rule is None:
        return None
    return PlanInput(op.signature, rule, tuple([sharding_of(value) for value in (*op.operands, *op.results)]))


def _find_common_axes(
    _: OpSignature,
    rule: OpShardingRule,
    tensors: Sequence[TensorProjection],
    sizes: Sequence[int],
    mesh: Mesh,
) -> list[Axes]:
    """As `find_common_axes` of the newer pass, with two differences.

    If all tensors have the same axes for every factor, they are kept, even if an axis shards two factors.
    Factors that need replication do not compete for axes: the common prefix of their axes is redistributed
    afterwards.
    """
    common = [common_factor_axes(tensors, factor) for factor in range(len(rule.factor_sizes))]
    compatible = [axes for axes in common if axes is not None]
    if len(compatible) == len(common) and not any(compatible[factor] for factor in rule.need_replication):
        return compatible
    axes = assign_axes_to_factors(
        rule, [_without(tensor, rule.need_replication) for tensor in tensors], sizes, mesh
    )
    for factor in rule.need_replication:
        axes_per_tensor = [tensor.factors[factor].axes for tensor in tensors if factor in tensor.factors]
        axes[factor] = reduce(common_prefix, axes_per_tensor) if axes_per_tensor else ()
    redistribute_replicated_axes(rule, axes, mesh)
    return axes


def _without(tensor: TensorProjection, factors: Collection[int]) -> TensorProjection:
    kept = {factor: sharding for factor, sharding in tensor.factors.items() if factor not in factors}
    return TensorProjection(kept)


def _plan_dot(op: PlanInput, mesh_of: MeshLookup) -> ReshardPlan | None:
    if op.shardings[2] is None:
        return None
    mesh_or_ref = common_mesh_or_ref(op.shardings, mesh_of)
    mesh = None if mesh_or_ref is None else mesh_of(mesh_or_ref)
    if mesh_or_ref is None or mesh is None or mesh.is_maximal:
        return None
    tensors = project(op.rule, op.shardings, mesh, closed_if_missing=True)
    new_axes = better_dot_result_axes(op.rule, tensors, element_counts(op.signature))
    if new_axes is None:
        return None
    factor, axes = new_axes
    result, (mapping,) = tensors[2], op.rule.results
    result.set_axes(factor, axes)
    # As in Shardy, unreduced axes are lost.
    result.drop_unreduced_axes()
    return ReshardPlan(
        mesh_or_ref, results=((0, unproject(result, mapping, op.rule.factor_sizes, mesh_or_ref, mesh)),)
    )
