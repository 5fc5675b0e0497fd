"""sdy-temp-explicit-reshards-for-optimizations: reshard where products would otherwise be slow.

    %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
becomes, if the rows of %a are split along "y" and the sums along "x",
    %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>}
    %1 = sdy.reshard %0 <@mesh, [{"x"}, {}]>

For programs that leave it to the partitioner to insert the other reshards: it has no good answer where
a product's result is split along the axes of the sums, and in the same dimension an operand otherwise.
Every device multiplies a smaller part, and what moves afterwards is the result. Done only if all else
agrees, and if the result is not bigger than that operand.

This is the pass as it was before `sdy-insert-explicit-reshards`, whose default form does the same and
more, took its place.
"""

from __future__ import annotations

from sdyopt.dialects.func import FuncOp
from sdyopt.dialects.sdy.mesh_op import common_mesh_or_ref, find_mesh
from sdyopt.dialects.sdy.ops import ReshardOp
from sdyopt.dialects.sdy.values import sharding_of
from sdyopt.dialects.stablehlo.contraction import DotGeneralOp, DotOp
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.pipeline import FUNCTION, Pass
from sdyopt.registry import register
from sdyopt.sharding.projection import project, unproject
from sdyopt.sharding.rule import rule_for

from ..common.set_sharding import set_sharding
from .dot_results import split_result_as_operands


@register("sdy-temp-explicit-reshards-for-optimizations")
class TempExplicitReshardsForOptimizations(Pass):
    anchor = FUNCTION

    def run(self, function: FuncOp) -> bool:
        rewriter = Rewriter()
        for op in list(function.walk_post_order()):
            if isinstance(op, DotOp | DotGeneralOp):
                _reshard_result(op, rewriter)
        return rewriter.changed


def _reshard_result(op: Op, rewriter: Rewriter) -> None:
    wanted = sharding_of(op.result)
    rule = None if wanted is None else rule_for(op)
    if wanted is None or rule is None:
        return
    shardings = [sharding_of(value) for value in (*op.operands, op.result)]
    mesh_or_ref = common_mesh_or_ref((sharding for sharding in shardings if sharding is not None), op)
    mesh = None if mesh_or_ref is None else find_mesh(mesh_or_ref, op)
    if mesh_or_ref is None or mesh is None or mesh.is_maximal:
        return
    tensors = project(rule, shardings, mesh, closed_if_missing=True)
    if not split_result_as_operands(op, rule, tensors):
        return
    result, (mapping,) = tensors[-1], rule.results
    # This pass never knew of sums that are yet to be done: the new sharding does not mention them.
    result.unreduced_axes = ()
    set_sharding(op.result, unproject(result, mapping, rule.factor_sizes, mesh_or_ref, mesh), rewriter)
    types = op.form.result_types
    reshard = rewriter.create(
        ReshardOp, [op.result], types, {"sharding": wanted}, after=op, location=op.location
    )
    rewriter.replace_uses_except(op.result, reshard.result, reshard)
