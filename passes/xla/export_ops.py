"""xla-sdy-export-ops: convert operations of sdy to StableHLO and copies.

    %c = sdy.constant dense<1.0> : tensor<8xf32>
    %0 = sdy.reshard %a <@mesh, [{"x"}]> : tensor<8xf32>
    %1 = sdy.all_reduce {"y"} %b out_sharding=<@mesh, [{}]> : tensor<8xf32>
becomes
    %c = stablehlo.constant dense<1.0> : tensor<8xf32>
    %0 = mhlo.copy %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>

A copy with another sharding than its operand is what XLA's partitioner reshards. So reshards, sharding
constraints and collectives become copies; all-reduces, which reshard nothing, reshards to and from
a single device, and propagation barriers are removed. With `keep-hlo-sharding-constraints`, reshards and
sharding constraints become custom calls of `@Sharding`. Other attributes than the sharding are dropped.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.mhlo.ops import CopyOp
from sdyopt.mlir.dialects.sdy import collectives
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.mesh_op import mesh_of
from sdyopt.mlir.dialects.sdy.ops import ConstantOp, PropagationBarrierOp, ReshardOp, ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.dialects.stablehlo.nullary import ConstantOp as StablehloConstantOp
from sdyopt.mlir.ir.attribute import Attribute, string
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import Pass, option
from sdyopt.mlir.registry import register

from .support.hlo_shardings import SHARDING_TARGET

_COPIES = (
    collectives.AllGatherOp,
    collectives.AllSliceOp,
    collectives.AllToAllOp,
    collectives.CollectivePermuteOp,
    collectives.ReduceScatterOp,
)
_CONSTRAINTS = (ReshardOp, ShardingConstraintOp)
_REMOVED = (collectives.AllReduceOp, PropagationBarrierOp)


@register("xla-sdy-export-ops")
class ExportOps(Pass):
    keep_hlo_sharding_constraints: bool = option(
        default=False, help="convert sharding constraints to custom calls of @Sharding instead of copies"
    )

    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        for op in module.nested(ConstantOp, *_COPIES, *_CONSTRAINTS, *_REMOVED):
            rewriter.replace(op, self._replacement(op, rewriter))
        return rewriter.changed

    def _replacement(self, op: Op, rewriter: Rewriter) -> Sequence[Value]:
        if isinstance(op, _REMOVED) or (isinstance(op, ReshardOp) and _is_at_single_device(op)):
            return [op.operands[0]]
        if isinstance(op, ConstantOp):
            attributes: dict[str, Attribute] = {**dict(op.attributes), "value": op.value}
            return _created(StablehloConstantOp, op, attributes, rewriter)
        is_constraint = isinstance(op, _CONSTRAINTS)
        sharding = op.attribute("sharding" if is_constraint else "out_sharding")
        assert isinstance(sharding, TensorSharding)
        attributes = {SHARDING: ShardingPerValue((sharding,))}
        if is_constraint and self.keep_hlo_sharding_constraints:
            attributes["call_target_name"] = string(SHARDING_TARGET)
            return _created(CustomCallOp, op, attributes, rewriter)
        return _created(CopyOp, op, attributes, rewriter)


def _is_at_single_device(op: ReshardOp) -> bool:
    """Whether a reshard is to or from a single device."""
    for sharding in (op.sharding, sharding_of(op.input)):
        mesh = None if sharding is None else mesh_of(sharding, op)
        if mesh is not None and mesh.is_maximal:
            return True
    return False


def _created(
    op_class: type[Op], op: Op, attributes: dict[str, Attribute], rewriter: Rewriter
) -> Sequence[Value]:
    types = op.signature.result_types
    return rewriter.create(
        op_class, op.operands, types, attributes, before=op, location=op.lazy_location
    ).results
