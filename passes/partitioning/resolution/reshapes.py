"""Reshapes between reshards, and slices of gathered and of padded tensors, with which less is communicated.

A reshape gets other shardings of its operand and its result:

    %1 = sdy.reshard %0 <@mesh, [{"x":(1)2}, {"x":(2)2}]> : tensor<30x32xf32>
    %2 = stablehlo.reshape %1 : … -> tensor<6x5x32xf32>
    %3 = sdy.reshard %2 <@mesh, [{"x"}, {}, {}]> : tensor<6x5x32xf32>
becomes, if %0 is sharded as [{"x"}, {}],
    %1 = stablehlo.reshape %0 {sdy.sharding = … [{"x"}, {}, {}] …} : … -> tensor<6x5x32xf32>

`sdy-insert-explicit-reshards` gives a reshape shardings with which it needs no elements of other shards. For
uneven sizes, the reshards to these shardings may communicate more than halos of the reshape. The other
candidates are the sharding that the operand has before it is resharded, and those to which the result is
resharded.

A slice moves before the gather of its operand:

    %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<64x1024xf32>
    %2 = stablehlo.dynamic_slice %1, %i, %zero, sizes = [1, 1024]
becomes, if %0 is sharded along the second dimension,
    %1 = stablehlo.dynamic_slice %0, %i, %zero, sizes = [1, 1024] {sdy.sharding = … [{}, {"x"}] …}
    %2 = sdy.reshard %1 <@mesh, [{}, {}]> : tensor<1x1024xf32>

Loops slice stacked tensors like this, often in a function of its own. A gather of the argument of a private
function with one call moves into the function.

A slice of a padded tensor becomes another pad:

    %1 = stablehlo.pad %0, %v, low = [1], high = [0], interior = [0] : … -> tensor<17xf32>
    %2 = stablehlo.slice %1 [0:16] : (tensor<17xf32>) -> tensor<16xf32>
becomes
    %2 = stablehlo.pad %0, %v, low = [1], high = [-1], interior = [0] : … -> tensor<16xf32>

Over eight devices, 17 elements have shards of three, and 16 have shards of two, so the pad and the slice
would both move most of the tensor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING, SHARDING_RULE, Mesh
from sdyopt.mlir.dialects.sdy.ops import ReshardOp
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.dialects.sdy.sharding_edits import set_sharding
from sdyopt.mlir.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicSliceOp, PadOp, SliceOp
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.builtin_attributes import dense_array
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.symbols import lookup_symbol
from sdyopt.mlir.ir.types import I64
from sdyopt.mlir.ir.value import OpOperand
from sdyopt.shardy.partition.local_builder import shape_of
from sdyopt.shardy.partition.local_context import AssumedTypes, LocalTypes
from sdyopt.shardy.partition.operations.reshape import received_elements, reshape_groups
from sdyopt.shardy.partition.sharded_body import may_exchange
from sdyopt.shardy.sharding.reshard_to_collectives.plan import elements_of_reshard

from ...exporting.explicit_reshards.insertion import (
    apply_plan,
    insertion_point_after,
    insertion_point_after_definition,
    reshard_use,
)
from ...exporting.explicit_reshards.reshard_plan import ReshardPlan
from .without_reshards import erase_unused, gather_of


class _Shardings(NamedTuple):
    operand: TensorSharding
    result: TensorSharding


def reshard_reshape(op: ReshapeOp, types: LocalTypes, rewriter: Rewriter) -> None:
    """Replaces the reshards around a reshape, if others communicate less."""
    (operand,), (result,) = op.operands, op.results
    reshard, before, after = operand.defining_op, types.sharding(operand), types.sharding(result)
    is_resharded = isinstance(reshard, ReshardOp) and all(use.owner is op for use in operand.uses)
    source = types.sharding(reshard.input) if isinstance(reshard, ReshardOp) and is_resharded else before
    mesh = None if after is None else types.mesh(after)
    if source is None or before is None or after is None or mesh is None or not may_exchange(mesh):
        return
    targets = [_target(use) or after for use in result.uses]
    shardings = (source, before, after, *targets)
    if any(
        sharding.mesh_or_ref is not source.mesh_or_ref or sharding.unreduced_axes for sharding in shardings
    ):
        return
    if 0 in shape_of(operand) or (source is before and set(targets) == {after}):
        return
    between = _Between(op, source, targets, mesh, types)
    best, least = None, between.cost(_Shardings(before, after))
    for candidate in between.candidates():
        cost = between.cost(candidate)
        if cost is not None and (least is None or cost < least):
            best, least = candidate, cost
    if best is not None:
        _apply(best, op, source, after, rewriter)


class _Between(NamedTuple):
    """A reshape, the sharding from which its operand is resharded, and those to which its result is."""

    op: ReshapeOp
    source: TensorSharding
    targets: Sequence[TensorSharding]
    mesh: Mesh
    types: LocalTypes

    def candidates(self) -> Iterator[_Shardings]:
        """The shardings that need no reshard before the reshape, or after it."""
        shapes = [shape_of(value) for value in (self.op.operands[0], self.op.results[0])]
        result = _reshaped(self.source, *shapes)
        if result is not None:
            yield _Shardings(self.source, result)
        for target in dict.fromkeys(self.targets):
            operand = _reshaped(target, *reversed(shapes))
            if operand is not None:
                yield _Shardings(operand, target)

    def cost(self, shardings: _Shardings) -> Fraction | None:
        """The elements that a device receives; None if the reshape cannot have these shardings."""
        (operand,), (result,) = self.op.operands, self.op.results
        assumed = AssumedTypes(self.types, {operand: shardings.operand, result: shardings.result})
        halos = received_elements(self.op, assumed)
        if halos is None:
            return None
        # Equal reshards will be merged.
        return sum(
            (
                elements_of_reshard(shape_of(result), shardings.result, target, self.mesh)
                for target in dict.fromkeys(self.targets)
            ),
            halos + elements_of_reshard(shape_of(operand), self.source, shardings.operand, self.mesh),
        )


def _target(use: OpOperand) -> TensorSharding | None:
    return use.owner.sharding if isinstance(use.owner, ReshardOp) else None


def _reshaped(
    sharding: TensorSharding, shape: Sequence[int], result_shape: Sequence[int]
) -> TensorSharding | None:
    """The sharding after a reshape, in which the first dimension of each group has the axes of the first.

    None if another dimension of a group is sharded.
    """
    dims = [DimensionSharding()] * len(result_shape)
    for operand_dims, result_dims in reshape_groups(shape, result_shape):
        sharded = [dim for dim in operand_dims if sharding.dims[dim].axes]
        if not sharded:
            continue
        old, new = (
            next((dim for dim in group if sizes[dim] != 1), None)
            for group, sizes in ((operand_dims, shape), (result_dims, result_shape))
        )
        if new is None or sharded != [old]:
            return None
        dims[new] = DimensionSharding(sharding.dims[sharded[0]].axes)
    return TensorSharding(sharding.mesh_or_ref, tuple(dims))


def _apply(
    shardings: _Shardings,
    op: ReshapeOp,
    source: TensorSharding,
    declared: TensorSharding,
    rewriter: Rewriter,
) -> None:
    """Reshards the operand from `source`, and each use of the result to what it was."""
    use, result = op.operand_uses[0], op.results[0]
    reshard = use.value.defining_op
    if isinstance(reshard, ReshardOp) and reshard.sharding is not source:
        rewriter.set_operand(use, reshard.input)
        erase_unused([reshard], rewriter)
    if not shardings.operand.shards_like(source):
        reshard_use(use, shardings.operand, {"before": op}, rewriter)
    uses, after = list(result.uses), insertion_point_after(op)
    set_sharding(result, shardings.result, rewriter)
    kept: Op | None = None
    for use in uses:
        target = _target(use)
        if target is not None and target.shards_like(shardings.result):
            rewriter.replace(use.owner, [result])
        elif target is None and kept is not None:
            rewriter.set_operand(use, kept.results[0])
        elif target is None and not declared.shards_like(shardings.result):
            kept = reshard_use(use, declared, after, rewriter)


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
