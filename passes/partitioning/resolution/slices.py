"""Slices: of gathered tensors, before which they move, and of padded tensors, which are other pads.

    %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<64x1024xf32>
    %2 = stablehlo.dynamic_slice %1, %i, %zero, sizes = [1, 1024]
becomes, if %0 is sharded along the second dimension,
    %1 = stablehlo.dynamic_slice %0, %i, %zero, sizes = [1, 1024] {sdy.sharding = … [{}, {"x"}] …}
    %2 = sdy.reshard %1 <@mesh, [{}, {}]> : tensor<1x1024xf32>

Loops slice stacked tensors like this, often in a function of its own. A gather of the argument of a private
function with one call moves into the function.

    %1 = stablehlo.pad %0, %v, low = [1], high = [0], interior = [0] : … -> tensor<17xf32>
    %2 = stablehlo.slice %1 [0:16] : (tensor<17xf32>) -> tensor<16xf32>
becomes
    %2 = stablehlo.pad %0, %v, low = [1], high = [-1], interior = [0] : … -> tensor<16xf32>

Over eight devices, 17 elements have shards of three, and 16 have shards of two, so the pad and the slice
would both move most of the tensor.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.dialect import SHARDING, SHARDING_RULE
from sdyopt.mlir.dialects.sdy.ops import ReshardOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.sharding_edits import set_sharding
from sdyopt.mlir.dialects.stablehlo.concatenate_pad import PadOp
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicSliceOp, SliceOp
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.builtin_attributes import dense_array
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.symbols import lookup_symbol
from sdyopt.mlir.ir.types import I64
from sdyopt.shardy.partition.local_builder import shape_of
from sdyopt.shardy.partition.local_context import LocalTypes

from ...exporting.explicit_reshards.insertion import apply_plan, insertion_point_after_definition
from ...exporting.explicit_reshards.reshard_plan import ReshardPlan
from .without_reshards import erase_unused, gather_of

_SLICES = (SliceOp, DynamicSliceOp)


def delay_gathers(module: ModuleOp, types: LocalTypes, rewriter: Rewriter) -> None:
    """Moves gathers into functions, and then after slices."""
    calls: dict[str, list[CallOp]] = {}
    for call in module.nested(CallOp):
        calls.setdefault(call.callee, []).append(call)
    for same_callee in calls.values():
        if len(same_callee) == 1:
            _move_into_callee(same_callee[0], types, rewriter)
    for op in module.nested(*_SLICES):
        _move_after_slice(op, types, rewriter)


def _move_into_callee(call: CallOp, types: LocalTypes, rewriter: Rewriter) -> None:
    callee = lookup_symbol(call, call.callee)
    if not isinstance(callee, FuncOp) or callee.sym_visibility != "private" or callee.is_declaration:
        return
    for use in call.operand_uses:
        gather = gather_of(use.value, call, types)
        argument = callee.body.blocks[0].arguments[use.index]
        if gather is None or types.sharding(argument) is not gather.sharding:
            continue
        before = types.sharding(gather.input)
        if before is None:
            continue
        inner = rewriter.create(
            ReshardOp,
            [argument],
            [argument.type],
            {"sharding": gather.sharding},
            location=gather.lazy_location,
            **insertion_point_after_definition(argument),
        )
        rewriter.replace_uses_except(argument, inner.result, inner)
        rewriter.set_argument_attribute(callee, use.index, SHARDING, before)
        rewriter.set_operand(use, gather.input)
        erase_unused([gather], rewriter)


def _move_after_slice(op: Op, types: LocalTypes, rewriter: Rewriter) -> None:
    gather, result = gather_of(op.operand_at(0), op, types), types.sharding(op.results[0])
    before = None if gather is None else types.sharding(gather.input)
    if gather is None or before is None:
        return
    after = gather.sharding
    result = result or after
    if result.mesh_or_ref is not after.mesh_or_ref or not result.shards_like(after):
        return
    sizes = shape_of(op.operand_at(0)), shape_of(op.results[0])
    dims = [dim for dim, (old, new) in enumerate(zip(before.dims, after.dims, strict=True)) if old != new]
    if sizes[0] == sizes[1] or any(sizes[0][dim] != sizes[1][dim] for dim in dims):
        return
    sharded: TensorSharding = result.with_dims(
        before.dims[number] if number in dims else dim for number, dim in enumerate(result.dims)
    )
    if types.sharding(op.results[0]) is None:
        set_sharding(op.results[0], result, rewriter)
    rewriter.set_operand(op.operand_uses[0], gather.input)
    apply_plan(op, ReshardPlan(result.mesh_or_ref, results=((0, sharded),)), rewriter)
    erase_unused([gather], rewriter)


def merge_with_pad(op: SliceOp, types: LocalTypes, rewriter: Rewriter) -> None:
    """Replaces a slice and a pad by one pad, if the slice is the only user of the pad and sharded like it."""
    pad = op.operand.defining_op
    if not isinstance(pad, PadOp) or any(use.owner is not op for use in op.operand.uses):
        return
    before, after = types.sharding(op.operand), types.sharding(op.out)
    if before is None or not before.shards_like(after) or any(stride != 1 for stride in op.strides):
        return
    high = [
        old - (size - limit)
        for old, size, limit in zip(
            pad.edge_padding_high, shape_of(op.operand), op.limit_indices, strict=True
        )
    ]
    low = [old - start for old, start in zip(pad.edge_padding_low, op.start_indices, strict=True)]
    attributes = {
        **dict(pad.signature.attributes),
        **dict(op.attributes.without(SHARDING_RULE)),
        "edge_padding_low": _array(low),
        "edge_padding_high": _array(high),
    }
    merged = rewriter.create(
        PadOp, pad.operands, [op.out.type], attributes, before=op, location=op.lazy_location
    )
    rewriter.replace(op, merged.results)
    rewriter.erase(pad)


def _array(numbers: Sequence[int]) -> Attribute:
    return dense_array(I64, numbers)
