"""Reshapes between reshards: shardings of the operand and the result with which less is communicated.

    %1 = sdy.reshard %0 <@mesh, [{"x":(1)2}, {"x":(2)2}]> : tensor<30x32xf32>
    %2 = stablehlo.reshape %1 : … -> tensor<6x5x32xf32>
    %3 = sdy.reshard %2 <@mesh, [{"x"}, {}, {}]> : tensor<6x5x32xf32>
becomes, if %0 is sharded as [{"x"}, {}],
    %1 = stablehlo.reshape %0 {sdy.sharding = … [{"x"}, {}, {}] …} : … -> tensor<6x5x32xf32>

`sdy-insert-explicit-reshards` gives a reshape shardings with which it needs no elements of other shards. For
uneven sizes, the reshards to these shardings may communicate more than halos of the reshape. The other
candidates are the sharding that the operand has before it is resharded, and those to which the result is
resharded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.ops import ReshardOp
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.dialects.sdy.sharding_edits import set_sharding
from sdyopt.mlir.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import OpOperand
from sdyopt.shardy.partition.local_builder import shape_of
from sdyopt.shardy.partition.local_context import AssumedTypes, LocalTypes
from sdyopt.shardy.partition.operations.reshape import received_elements, reshape_groups
from sdyopt.shardy.partition.sharded_body import may_exchange
from sdyopt.shardy.sharding.reshard_to_collectives.plan import elements_of_reshard

from ...exporting.explicit_reshards.insertion import insertion_point_after, reshard_use
from .without_reshards import erase_unused


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
