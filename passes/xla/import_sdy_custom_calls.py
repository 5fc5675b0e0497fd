"""xla-sdy-import-sdy-custom-calls: convert the custom calls that HLO has for operations of Shardy.

    %0 = stablehlo.custom_call @Sharding(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : …
    stablehlo.custom_call @xla.sdy.ShardingGroup(%0)
        {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding_group_id = "7 : i64"}} : …
    %1 = stablehlo.custom_call @xla.sdy.PropagationBarrier(%0)
        {mhlo.frontend_attributes = {xla.sdy.allowed_direction = "3 : i32"}} : …
becomes
    %0 = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<8xf32>
    sdy.sharding_group %0 group_id=7 : tensor<8xf32>
    %1 = sdy.propagation_barrier %0 allowed_direction=BACKWARD : tensor<8xf32>

The dimensions that the backend configuration of `@Sharding` names, as in `unspecified_dims=[0,2]`, are open.
As a dialect conversion, the pass also replaces operations that fold to an existing value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.ops import (
    PropagationBarrierOp,
    PropagationDirection,
    ShardingConstraintOp,
    ShardingGroupOp,
)
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, TensorSharding
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.ir.attribute import Attribute, StringAttr
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr, integer
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import I32, I64
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register

from ..common.support.dialect_conversion import ConversionPattern, convert
from .support.hlo_shardings import (
    ALLOWED_DIRECTION,
    BARRIER_TARGET,
    SHARDING_GROUP_ID,
    SHARDING_GROUP_TARGET,
    SHARDING_TARGET,
    frontend_text,
)

_UNSPECIFIED = re.compile(r"\s*unspecified_dims\s*=\s*\[([\d\s,]*)\]\s*\Z")
_NUMBER = re.compile(r"(-?\d{1,19})(?:\s*:\s*\w+)?\s*\Z")


@register("xla-sdy-import-sdy-custom-calls")
class ImportSdyCustomCalls(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        convert(module, ConversionPattern(CustomCallOp, _convert, _is_legal), rewriter)
        return rewriter.changed


def _is_legal(op: CustomCallOp) -> bool:
    return op.call_target_name not in _CONVERSIONS


def _convert(op: CustomCallOp, operands: Sequence[Value], rewriter: Rewriter) -> Sequence[Value]:
    if len(operands) != 1:
        raise op.op_error(f"@{op.call_target_name} must have one operand")
    return _CONVERSIONS[op.call_target_name](op, operands[0], rewriter)


def _to_constraint(op: CustomCallOp, operand: Value, rewriter: Rewriter) -> Sequence[Value]:
    if len(op.results) != 1:
        raise op.error("expected CustomCallOp with exactly one result")
    shardings = op.attributes.get(SHARDING)
    if not isinstance(shardings, ShardingPerValue) or len(shardings) != 1:
        raise op.error("expected CustomCallOp with a sharding attribute").help(
            "import it with -xla-sdy-round-trip-import-pipeline or -xla-sdy-stablehlo-import-pipeline"
        )
    sharding = _opened(op, shardings.shardings[0])
    return _replacement(op, ShardingConstraintOp, operand, {"sharding": sharding}, rewriter)


def _opened(op: CustomCallOp, sharding: TensorSharding) -> TensorSharding:
    """The sharding with the dimensions open that the operation does not specify."""
    config = op.backend_config
    if not isinstance(config, StringAttr) or not config.value:
        return sharding
    match = _UNSPECIFIED.match(config.value)
    if match is None:
        raise op.error(f"@Sharding has an unknown backend configuration: {config.value}").help(
            "write for example unspecified_dims=[0,2]"
        )
    unspecified = {int(number) for number in re.findall(r"\d+", match[1])}
    wrong = next((dim for dim in sorted(unspecified) if dim >= sharding.rank), None)
    if wrong is not None:
        raise op.error(f"unspecified_dims has dimension {wrong}, the tensor has rank {sharding.rank}")
    return sharding.with_dims(
        dim.opened() if index in unspecified else dim for index, dim in enumerate(sharding.dims)
    )


def _to_group(op: CustomCallOp, operand: Value, rewriter: Rewriter) -> Sequence[Value]:
    group = _number(op, SHARDING_GROUP_ID)
    if group is None:
        raise op.error("expected CustomCallOp with a sharding group id.")
    if any(result.has_uses for result in op.results):
        raise op.error("xla.sdy.ShardingGroup CustomCallOp should have no uses.")
    attributes = {"group_id": integer(group, I64)}
    rewriter.create(ShardingGroupOp, [operand], (), attributes, before=op, location=op.lazy_location)
    # Unused results are never read.
    return [operand] * len(op.results)


def _to_barrier(op: CustomCallOp, operand: Value, rewriter: Rewriter) -> Sequence[Value]:
    direction = _direction(op)
    if direction is None or len(op.results) != 1:
        raise op.error("expected PropagationBarrier CustomCall Op with a propagation direction.")
    return _replacement(op, PropagationBarrierOp, operand, {"allowed_direction": direction}, rewriter)


def _direction(op: CustomCallOp) -> IntegerAttr | None:
    text = (
        (frontend_text(op.attributes, ALLOWED_DIRECTION) or "")
        .strip()
        .removeprefix("#sdy<propagation_direction ")
    )
    text = text.removeprefix("#sdy.propagation_direction<").rstrip(">")
    if text in PropagationDirection.__members__:
        return integer(PropagationDirection[text], I32)
    number = _number(op, ALLOWED_DIRECTION)
    return integer(number, I32) if number in list(PropagationDirection) else None


def _number(op: Op, name: str) -> int | None:
    match = _NUMBER.match(frontend_text(op.attributes, name) or "")
    return None if match is None else int(match[1])


def _replacement(
    op: CustomCallOp, op_class: type[Op], operand: Value, attributes: dict[str, Attribute], rewriter: Rewriter
) -> Sequence[Value]:
    return rewriter.create(
        op_class, [operand], op.signature.result_types, attributes, before=op, location=op.lazy_location
    ).results


_CONVERSIONS = {
    SHARDING_TARGET: _to_constraint,
    SHARDING_GROUP_TARGET: _to_group,
    BARRIER_TARGET: _to_barrier,
}
