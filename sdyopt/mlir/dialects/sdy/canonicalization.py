"""The canonicalizations of manual computations and collectives.

Those of manual computations edit operands and bodies with a separate rewriter, which adds nothing to the
driver's worklist. So the driver visits the edited operations only in its next iteration, as in the C++
passes. This determines the final order of the constants in a body.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

from sdyopt.base.diagnostics.location import LazyLocation, lazily_fused
from sdyopt.mlir.dialects.sdy.axes import (
    AllToAllParams,
    AxesPerDim,
    AxisRefList,
    sorted_and_merged,
    with_axes,
)
from sdyopt.mlir.dialects.sdy.collectives import (
    AllGatherOp,
    AllReduceOp,
    AllSliceOp,
    AllToAllOp,
    CollectiveOp,
    CollectivePermuteOp,
    ReduceScatterOp,
    ReplicatedToUnreducedOp,
    ShardedToUnreducedOp,
)
from sdyopt.mlir.dialects.sdy.mesh_op import common_mesh, mesh_of
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp
from sdyopt.mlir.dialects.sdy.reduction_kind import reduction_attributes
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, ShardingPerValue
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of, sharding_or_replicated
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.dominance import Dominance
from sdyopt.mlir.ir.interfaces import terminator_of
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern, are_actions_counted
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import Value


def _erase_unused_inputs(op: ManualComputationOp, rewriter: Rewriter) -> bool:
    """Erases unused block arguments with their operands and shardings."""
    unused = [argument for argument in op.block.arguments if not argument.has_uses]
    if not unused:
        return False
    indices = {argument.index for argument in unused}
    kept = [sharding for index, sharding in enumerate(op.in_shardings) if index not in indices]
    unlogged = Rewriter()
    unlogged.erase_operands(op, indices)
    for argument in unused:
        unlogged.erase_argument(argument)
    unlogged.set_attribute(op, "in_shardings", ShardingPerValue(tuple(kept)))
    return True


def _inline_redundant(op: ManualComputationOp, rewriter: Rewriter) -> bool:
    """Inlines the body of an operation without inputs and outputs, or whose manual axes all have size 1."""
    shardings = [*op.in_shardings, *op.out_shardings]
    terminator = terminator_of(op.body)
    if not shardings and op.block.first is terminator:
        rewriter.erase(op)
        return True
    if shardings and op.manual_axes:
        mesh = common_mesh(shardings, op)
        if mesh is None or any(mesh.axis_size(name) != 1 for name in op.manual_axes):
            return False
    # The operations are cloned, not moved, so that use lists are in the order of the body.
    values: dict[Value, Value] = dict(zip(op.block.arguments, op.tensors, strict=True))
    unlogged = Rewriter()
    for inner in op.block.ops:
        if inner is not terminator:
            unlogged.insert(unlogged.clone(inner, values), before=op)
    for result, value in zip(op.results, terminator.operands, strict=True):
        unlogged.replace_all_uses(result, values[value])
    rewriter.erase(op)
    return True


ManualComputationOp.canonicalizations = (
    Pattern(_erase_unused_inputs, "mlir::sdy::(anonymous namespace)::ManualComputationUnusedInputsPattern"),
    Pattern(_inline_redundant, "mlir::sdy::(anonymous namespace)::RedundantManualComputationPattern"),
)


C = TypeVar("C", bound=CollectiveOp)

# The label by which passes enable these patterns.
COLLECTIVE_LABEL = "sdy-collective"


def _pattern(rewrite: Callable[[Any, Rewriter], bool], name: str, benefit: int = 1) -> Pattern:
    return Pattern(rewrite, f"mlir::sdy::(anonymous namespace)::{name}", (COLLECTIVE_LABEL,), benefit)


# --- Redundant collectives ------------------------------------------------------------------------


def _replace_if(is_redundant: Callable[[C], bool]) -> Callable[[C, Rewriter], bool]:
    """The rewrite that replaces a redundant collective with its operand."""

    def rewrite(op: C, rewriter: Rewriter) -> bool:
        if not is_redundant(op):
            return False
        rewriter.replace(op, [op.tensor])
        return True

    return rewrite


def _keeps_sharding(op: CollectiveOp) -> bool:
    sharding = sharding_of(op.tensor)
    return sharding is not None and sharding.is_equivalent(op.out_sharding)


# --- Inverse pairs --------------------------------------------------------------------------------


def _fold_all_slice_of_all_gather(op: AllSliceOp, rewriter: Rewriter) -> bool:
    gathered = _gathered_by_inverse(op)
    if gathered is None:
        return False
    chain = _chain_of_inverse_pairs(gathered, op)
    if not chain:
        rewriter.replace(op, [gathered])
        return True
    # In a chain of pairs, one replacement after the other would move the uses by all-gathers, which are not
    # erased, once for each pair before them. They are moved once, to the order that this would give them.
    uses, is_reversed = deque(op.output.uses), False
    for pair in chain:
        is_reversed = not is_reversed
        for use in pair.output.uses:
            if is_reversed:
                uses.appendleft(use)
            else:
                uses.append(use)
    source = _gathered_by_inverse(chain[-1])
    assert source is not None
    rewriter.replace_all([op, *chain], source, reversed(uses) if is_reversed else uses)
    return True


def _gathered_by_inverse(op: AllSliceOp) -> Value | None:
    """The operand of the all-gather that an all-slice undoes; None if it undoes none."""
    inner = op.tensor.defining_op
    if not isinstance(inner, AllGatherOp) or inner.gathering_axes is not op.slicing_axes:
        return None
    return inner.tensor


def _chain_of_inverse_pairs(value: Value, last: AllSliceOp) -> list[AllSliceOp]:
    """All-slices from `value` back, each of which undoes an all-gather, and is used by the next one only.

    Empty if actions are counted, such as the replacement of each.
    """
    chain: dict[AllSliceOp, None] = {}
    while not are_actions_counted():
        op = value.defining_op
        if not isinstance(op, AllSliceOp) or op is last or op in chain or not op.output.has_one_use:
            break
        gathered = _gathered_by_inverse(op)
        if gathered is None:
            break
        chain[op] = None
        value = gathered
    return list(chain)


def _fold_all_reduce_of_replicated_to_unreduced(op: AllReduceOp, rewriter: Rewriter) -> bool:
    inner = op.tensor.defining_op
    if not isinstance(inner, ReplicatedToUnreducedOp) or inner.axes is not op.reduction_axes:
        return False
    rewriter.replace(op, [inner.tensor])
    return True


# --- Chains ---------------------------------------------------------------------------------------


def _fuse_all_to_alls(op: AllToAllOp, rewriter: Rewriter) -> bool:
    """Fuses an all-to-all with the all-to-all that defines its operand and has no other use.

    All source and target dimensions of both must be distinct.
    """
    inner = op.tensor.defining_op
    if not isinstance(inner, AllToAllOp) or not inner.output.has_one_use:
        return False
    moves = (*inner.params, *op.params)
    dims = AllToAllParams(moves).source_and_target_dims
    if len(set(dims)) != len(dims):
        return False
    params = AllToAllParams(tuple(sorted(moves, key=lambda move: move.source)))
    attributes: dict[str, Attribute] = {"params": params, "out_sharding": op.out_sharding}
    location = lazily_fused(op.lazy_location, inner.lazy_location)
    rewriter.replace(op, _create(rewriter, op, AllToAllOp, inner.tensor, attributes, location))
    return True


def _replace_all_reduce_of_sharded_to_unreduced(op: AllReduceOp, rewriter: Rewriter) -> bool:
    """Replaces an all-reduce of sharded_to_unreduced with an all-gather."""
    inner = op.tensor.defining_op
    if not isinstance(inner, ShardedToUnreducedOp):
        return False
    mesh = mesh_of(inner.out_sharding, inner)
    if mesh is None or sorted_and_merged(inner.axes.axes, mesh) != op.reduction_axes.axes:
        return False
    attributes: dict[str, Attribute] = {"gathering_axes": inner.axes, "out_sharding": op.out_sharding}
    rewriter.replace(op, _create(rewriter, op, AllGatherOp, inner.tensor, attributes, op.location))
    return True


def _fuse_reduce_scatter(op: AllSliceOp, rewriter: Rewriter) -> bool:
    """Fuses an all-reduce and the all-slices that use it into a reduce-scatter.

    If the all-slices have axes that are not reduced, an all-slice along these axes follows.
    """
    all_reduce = op.tensor.defining_op
    if not isinstance(all_reduce, AllReduceOp) or not _is_first_of_equal_slices(op, all_reduce):
        return False
    split = _split_axes(all_reduce.reduction_axes, op.slicing_axes)
    mesh = mesh_of(all_reduce.out_sharding, all_reduce)
    if split is None or mesh is None:
        return False
    scattered, residual = split
    operand = sharding_or_replicated(all_reduce.tensor, mesh, is_closed=True)
    dims = [
        DimensionSharding(with_axes(dim.axes, axes, mesh))
        for dim, axes in zip(operand.dims, scattered, strict=True)
    ]
    out = op.out_sharding
    sharding = out.with_mesh(all_reduce.out_sharding.mesh_or_ref).with_dims(dims)
    attributes: dict[str, Attribute] = {
        "reduce_scatter_axes": scattered,
        "out_sharding": sharding,
        **reduction_attributes(all_reduce.reduction_op),
    }
    final = _create(rewriter, op, ReduceScatterOp, all_reduce.tensor, attributes, all_reduce.location)
    if not residual.is_empty:
        attributes = {"slicing_axes": residual, "out_sharding": out}
        final = _create(rewriter, op, AllSliceOp, final.results[0], attributes, op.location)
    for user in list(all_reduce.output.users):
        rewriter.replace(user, final)
    rewriter.erase(all_reduce)
    return True


def _is_first_of_equal_slices(op: AllSliceOp, all_reduce: AllReduceOp) -> bool:
    """Whether all users are all-slices along the same axes, and `op` is the first of them.

    So its result can take the place of theirs. Of users in sibling regions, none is the first.
    """
    dominance = Dominance()
    for user in all_reduce.output.users:
        if not isinstance(user, AllSliceOp) or user.slicing_axes is not op.slicing_axes:
            return False
        if user is op:
            continue
        if (user.parent is op.parent and user.is_before(op)) or not dominance.value_dominates(
            op.output, user
        ):
            return False
    return True


def _split_axes(reduction: AxisRefList, slicing: AxesPerDim) -> tuple[AxesPerDim, AxesPerDim] | None:
    """Splits the axes of each dimension into the longest prefix of reduced axes, and the other axes.

    None if a reduced axis is in none of the prefixes.
    """
    remaining = set(reduction)
    scattered, residual = [], []
    for axes in slicing:
        count = 0
        while count < len(axes) and axes.axes[count] in remaining:
            remaining.remove(axes.axes[count])
            count += 1
        scattered.append(AxisRefList(axes.axes[:count]))
        residual.append(AxisRefList(axes.axes[count:]))
    return None if remaining else (AxesPerDim(tuple(scattered)), AxesPerDim(tuple(residual)))


def _create(
    rewriter: Rewriter,
    replaced: CollectiveOp,
    op_class: type[CollectiveOp],
    tensor: Value,
    attributes: dict[str, Attribute],
    location: LazyLocation,
) -> Op:
    types = replaced.signature.result_types
    return rewriter.create(op_class, [tensor], types, attributes, before=replaced, location=location)


# --- The patterns of each operation, in the order in which Shardy registers them ------------------

AllGatherOp.canonicalizations = (
    _pattern(_replace_if(lambda op: op.gathering_axes.is_empty), "AllGatherNoopPattern"),
)
AllSliceOp.canonicalizations = (
    _pattern(_fold_all_slice_of_all_gather, "AllSliceOfAllGatherPattern", benefit=2),
    _pattern(_replace_if(lambda op: op.slicing_axes.is_empty), "AllSliceNoopPattern"),
    _pattern(_fuse_reduce_scatter, "ReduceScatterFusion"),
)
AllToAllOp.canonicalizations = (
    _pattern(_fuse_all_to_alls, "AllToAllFusionPattern", benefit=2),
    _pattern(_replace_if(lambda op: not op.output.has_uses), "AllToAllNoUsePattern"),
)
CollectivePermuteOp.canonicalizations = (
    _pattern(_replace_if(_keeps_sharding), "CollectivePermuteNoopPattern"),
)
AllReduceOp.canonicalizations = (
    _pattern(_replace_if(lambda op: not op.reduction_axes), "AllReduceNoopPattern"),
    _pattern(
        _fold_all_reduce_of_replicated_to_unreduced, "AllReduceOfReplicatedToUnreducedPattern", benefit=2
    ),
    _pattern(_replace_all_reduce_of_sharded_to_unreduced, "AllReduceOfShardedToUnreducedPattern"),
)
ReduceScatterOp.canonicalizations = (
    _pattern(_replace_if(lambda op: op.reduce_scatter_axes.is_empty), "ReduceScatterNoopPattern"),
)
