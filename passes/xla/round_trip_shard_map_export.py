"""xla-sdy-round-trip-shard-map-export: export manual computations as calls, from which they can be imported.

    %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>]
        manual_axes={"x"} (%b: tensor<4xf32>) { … } : (tensor<8xf32>) -> tensor<8xf32>
becomes
    %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%a) {…} : (tensor<8xf32>) -> tensor<4xf32>
    %1 = call @xla.sdy.manual_computation_body(%0) : (tensor<4xf32>) -> tensor<4xf32>
    %2 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%1) {…} : (tensor<4xf32>) -> tensor<8xf32>
    …
    func.func @xla.sdy.manual_computation_body(%b: tensor<4xf32>) -> tensor<4xf32> { … }

The custom calls have the shardings and the manual axes as frontend attributes, and side effects, so that they
are not removed. Calls are marked for XLA to inline them late. `xla-sdy-round-trip-shard-map-import` is the
inverse.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp, ReturnOp
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.ir.attribute import EMPTY_DICT, SymbolRef, TypeAttr, string
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import TRUE
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import FunctionType, Type
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register

from ..common.support.call_graph import FreshNames
from .support.hlo_shardings import (
    GLOBAL_TO_LOCAL_TARGET,
    IN_SHARDINGS,
    LOCAL_TO_GLOBAL_TARGET,
    MANUAL_AXES,
    MANUAL_COMPUTATION_BODY,
    OUT_SHARDINGS,
    with_frontend_attributes,
)

_INLINED_LATE = {"inlineable": string("xla_late")}


@register("xla-sdy-round-trip-shard-map-export")
class RoundTripShardMapExport(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        fresh = FreshNames(module)
        for op in module.nested(ManualComputationOp):
            _export(op, module, fresh, rewriter)
        return rewriter.changed


def _export(op: ManualComputationOp, module: ModuleOp, fresh: FreshNames, rewriter: Rewriter) -> None:
    block, location = op.block, op.lazy_location
    terminator = block.terminator
    assert terminator is not None
    inputs = tuple([argument.type for argument in block.arguments])
    results = terminator.signature.operand_types
    operands: Sequence[Value] = op.operands
    if operands:
        operands = _converted(
            op, operands, inputs, GLOBAL_TO_LOCAL_TARGET, IN_SHARDINGS, op.in_shardings, rewriter
        )
    name = fresh.take(MANUAL_COMPUTATION_BODY)
    attributes = dict(with_frontend_attributes(EMPTY_DICT, _INLINED_LATE))
    call = rewriter.create(
        CallOp,
        operands,
        results,
        {**attributes, "callee": SymbolRef(name)},
        before=op,
        location=location,
    )
    values: Sequence[Value] = call.results
    if op.results:
        types = op.signature.result_types
        values = _converted(
            op, values, types, LOCAL_TO_GLOBAL_TARGET, OUT_SHARDINGS, op.out_shardings, rewriter
        )
    region = Region()
    rewriter.create(
        FuncOp,
        (),
        (),
        {"sym_name": string(name), "function_type": TypeAttr(FunctionType(inputs, results))},
        at_end_of=module.block,
        location=location,
        regions=[region],
    )
    rewriter.take_body(op.body, region)
    rewriter.create(
        ReturnOp, terminator.operands, at_end_of=region.blocks[0], location=terminator.lazy_location
    )
    rewriter.erase(terminator)
    rewriter.replace(op, values)


def _converted(
    op: ManualComputationOp,
    values: Sequence[Value],
    types: Sequence[Type],
    target: str,
    name: str,
    shardings: ShardingPerValue,
    rewriter: Rewriter,
) -> Sequence[Value]:
    """The values with the types that they have on the other side of the body's border."""
    frontend = with_frontend_attributes(EMPTY_DICT, {name: shardings, MANUAL_AXES: op.manual_axes})
    attributes = {**dict(frontend), "call_target_name": string(target), "has_side_effect": TRUE}
    return rewriter.create(
        CustomCallOp, values, types, attributes, before=op, location=op.lazy_location
    ).results
