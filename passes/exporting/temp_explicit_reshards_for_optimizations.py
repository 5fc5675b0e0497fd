"""sdy-temp-explicit-reshards-for-optimizations: reshard where products would otherwise be slow.

    %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
becomes, if the rows of %a are split along "y" and the sums along "x",
    %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>}
    %1 = sdy.reshard %0 <@mesh, [{"x"}, {}]>

For programs that leave it to the partitioner to insert the other reshards: it has no good answer where a
product's result is split along the axes of the sums, and in the same dimension an operand otherwise. Every
device multiplies a smaller part, and what moves afterwards is the result. Done only if all else agrees, and
if the result is not bigger than that operand.

Products in groups, `mhlo.ragged_dot`, which the partitioner knows nothing about, get all the reshards and
all-reduces that they need, if a rule is written on them.

This is the pass as it was before `sdy-insert-explicit-reshards`, whose default form does the same and more,
took its place. Where operands of a product in groups disagree and two answers save the same, the choice is
that of the newer pass.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import reduce

from sdyopt.dialects.func import FuncOp
from sdyopt.dialects.mhlo import RaggedDotOp
from sdyopt.dialects.sdy.mesh import Mesh
from sdyopt.dialects.sdy.mesh_op import common_mesh_or_ref, find_mesh
from sdyopt.dialects.sdy.rule import OpShardingRule
from sdyopt.dialects.sdy.value_shardings import sharding_of
from sdyopt.dialects.stablehlo.contraction import DotGeneralOp, DotOp
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.pipeline import FUNCTION, Pass
from sdyopt.registry import register
from sdyopt.sharding.axis_lists import Axes, common_prefix
from sdyopt.sharding.explicit_reshards.axis_assignment import assign_axes_to_factors
from sdyopt.sharding.explicit_reshards.common_axes import common_factor_axes, redistribute_replicated_axes
from sdyopt.sharding.explicit_reshards.dot_result import better_dot_result_axes
from sdyopt.sharding.op_sharding_rule_registry import sharding_rule_of
from sdyopt.sharding.sharding_projection import TensorProjection, project, unproject

from .explicit_reshards.insertion import insert_op_reshards
from .explicit_reshards.op_reshards import OpReshards, OpReshardsFinder, OpShardings, sizes_of


@register("sdy-temp-explicit-reshards-for-optimizations")
class TempExplicitReshardsForOptimizations(Pass):
    anchor = FUNCTION

    def run(self, function: FuncOp) -> bool:
        rewriter = Rewriter()
        reshards_finder = OpReshardsFinder(lambda mesh_or_ref: find_mesh(mesh_or_ref, function), _agree)
        for op in function.walk_post_order():
            if isinstance(op, DotOp | DotGeneralOp):
                reshards = _for_product(op)
            elif isinstance(op, RaggedDotOp):
                case = _case(op)
                reshards = None if case is None else reshards_finder.of(case, in_full=True)
            else:
                continue
            if reshards is not None:
                insert_op_reshards(op, reshards, rewriter)
        return rewriter.changed


def _agree(
    rule: OpShardingRule, tensors: Sequence[TensorProjection], sizes: Sequence[int], mesh: Mesh
) -> list[Axes]:
    """As of today, with two differences.

    One axis may split two factors on which all tensors agree. And factors that have to be replicated do
    not compete with others for axes: what all tensors have of them is handed on afterwards.
    """
    agreed = [common_factor_axes(tensors, factor) for factor in range(len(rule.factor_sizes))]
    found = [axes for axes in agreed if axes is not None]
    if len(found) == len(agreed) and not any(found[factor] for factor in rule.need_replication):
        return found
    axes = assign_axes_to_factors(
        rule, [_without(tensor, rule.need_replication) for tensor in tensors], sizes, mesh
    )
    for factor in rule.need_replication:
        splits = [tensor.factors[factor].axes for tensor in tensors if factor in tensor.factors]
        axes[factor] = reduce(common_prefix, splits) if splits else ()
    redistribute_replicated_axes(rule, axes, mesh)
    return axes


def _without(tensor: TensorProjection, factors: Collection[int]) -> TensorProjection:
    kept = {factor: split for factor, split in tensor.factors.items() if factor not in factors}
    return TensorProjection(kept)


def _case(op: Op) -> OpShardings | None:
    rule = sharding_rule_of(op)
    if rule is None:
        return None
    return OpShardings(
        op.signature, rule, tuple([sharding_of(value) for value in (*op.operands, *op.results)])
    )


def _for_product(op: Op) -> OpReshards | None:
    case = _case(op)
    if case is None or case.shardings[2] is None:
        return None
    rule, shardings = case.rule, case.shardings
    mesh_or_ref = common_mesh_or_ref(shardings, lambda mesh_or_ref: find_mesh(mesh_or_ref, op))
    mesh = None if mesh_or_ref is None else find_mesh(mesh_or_ref, op)
    if mesh_or_ref is None or mesh is None or mesh.is_maximal:
        return None
    tensors = project(rule, shardings, mesh, closed_if_missing=True)
    better = better_dot_result_axes(rule, tensors, sizes_of(op.signature))
    if better is None:
        return None
    result, (mapping,) = tensors[2], rule.results
    result.set_axes(*better)
    # This pass never knew of sums that are yet to be done: the new sharding does not mention them.
    result.unreduced_axes = ()
    return OpReshards(
        mesh_or_ref, results=((0, unproject(result, mapping, rule.factor_sizes, mesh_or_ref, mesh)),)
    )
