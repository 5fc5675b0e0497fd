"""xla-sdy-round-trip-export-ops: convert operations of sdy to custom calls of StableHLO.

    %c = sdy.constant dense<1.0> : tensor<8xf32>
    %0 = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<8xf32>
    sdy.sharding_group %0 group_id=7 : tensor<8xf32>
becomes
    %c = stablehlo.constant dense<1.0> : tensor<8xf32>
    %0 = stablehlo.custom_call @Sharding(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : …
    stablehlo.custom_call @xla.sdy.ShardingGroup(%0) {has_side_effect = true,
        mhlo.frontend_attributes = {xla.sdy.sharding_group_id = "7 : i64"}} : (tensor<8xf32>) -> ()

Propagation barriers become custom calls of `@xla.sdy.PropagationBarrier`. A sharding constraint with
unreduced axes has side effects, so that it is not removed. `xla-sdy-import-constants` and
`xla-sdy-import-sdy-custom-calls` are the inverse.
"""

from __future__ import annotations

from collections.abc import Mapping

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.ops import (
    ConstantOp,
    PropagationBarrierOp,
    ShardingConstraintOp,
    ShardingGroupOp,
)
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.dialects.stablehlo.nullary import ConstantOp as StablehloConstantOp
from sdyopt.mlir.ir.attribute import Attribute, DictAttr, string
from sdyopt.mlir.ir.builtin_attributes import TRUE, integer
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import I32, I64
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register

from .support.hlo_shardings import (
    ALLOWED_DIRECTION,
    BARRIER_TARGET,
    SHARDING_GROUP_ID,
    SHARDING_GROUP_TARGET,
    SHARDING_TARGET,
    with_frontend_attributes,
)


@register("xla-sdy-round-trip-export-ops")
class RoundTripExportOps(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        for op in module.nested(ConstantOp, ShardingConstraintOp, ShardingGroupOp, PropagationBarrierOp):
            op_class, attributes = _exported(op)
            new = rewriter.create(
                op_class,
                op.operands,
                op.signature.result_types,
                attributes,
                before=op,
                location=op.lazy_location,
            )
            rewriter.replace(op, new)
        return rewriter.changed


def _exported(op: Op) -> tuple[type[Op], dict[str, Attribute]]:
    """The class and the attributes of the operation that replaces another one."""
    match op:
        case ConstantOp():
            return StablehloConstantOp, {**dict(op.attributes), "value": op.value}
        case ShardingConstraintOp():
            attributes: dict[str, Attribute] = {
                **dict(op.attributes),
                SHARDING: ShardingPerValue((op.sharding,)),
                "call_target_name": string(SHARDING_TARGET),
            }
            return CustomCallOp, {**attributes, **(_SIDE_EFFECT if op.sharding.unreduced_axes else {})}
        case ShardingGroupOp():
            group = {SHARDING_GROUP_ID: integer(op.group_id, I64)}
            return CustomCallOp, {**_call(op.attributes, SHARDING_GROUP_TARGET, group), **_SIDE_EFFECT}
        case PropagationBarrierOp():
            direction = {ALLOWED_DIRECTION: integer(int(op.allowed_direction), I32)}
            return CustomCallOp, _call(op.attributes, BARRIER_TARGET, direction)
    raise AssertionError(op)


_SIDE_EFFECT: dict[str, Attribute] = {"has_side_effect": TRUE}


def _call(attributes: DictAttr, target: str, frontend: Mapping[str, Attribute]) -> dict[str, Attribute]:
    return {**dict(with_frontend_attributes(attributes, frontend)), "call_target_name": string(target)}
