"""Simplifications of collectives: those that do nothing, and those that undo or complete each other.

Operations are known by name here, so that their classes can refer to these patterns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sdyopt.diagnostics.location import fused
from sdyopt.dialects.sdy.axes import sorted_and_merged, with_axes
from sdyopt.dialects.sdy.axis_lists import AllToAllParams, AxesPerDim, AxisRefList
from sdyopt.dialects.sdy.mesh_op import mesh_of
from sdyopt.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.dialects.sdy.value_shardings import sharding_of, sharding_or_replicated
from sdyopt.ir.operation import Op
from sdyopt.ir.patterns import Pattern
from sdyopt.ir.rewrite import Rewriter

# What passes enable these patterns by.
COLLECTIVE_LABEL = "sdy-collective"


def _pattern(rewrite: Callable[[Any, Rewriter], bool], name: str, benefit: int = 1) -> Pattern:
    return Pattern(rewrite, f"mlir::sdy::(anonymous namespace)::{name}", (COLLECTIVE_LABEL,), benefit)


# --- Collectives that do nothing ------------------------------------------------------------------


def _if(is_redundant: Callable[[Any], bool]) -> Callable[[Any, Rewriter], bool]:
    """The rewrite that puts the operand in place of a redundant collective."""

    def rewrite(op: Any, rewriter: Rewriter) -> bool:
        if not is_redundant(op):
            return False
        rewriter.replace(op, [op.tensor])
        return True

    return rewrite


def _is_equivalent(op: Any) -> bool:
    sharding = sharding_of(op.tensor)
    return sharding is not None and sharding.is_equivalent(op.out_sharding)


ALL_GATHER_OF_NOTHING = _pattern(_if(lambda op: op.gathering_axes.is_empty), "AllGatherNoopPattern")
ALL_SLICE_OF_NOTHING = _pattern(_if(lambda op: op.slicing_axes.is_empty), "AllSliceNoopPattern")
ALL_REDUCE_OF_NOTHING = _pattern(_if(lambda op: not op.reduction_axes), "AllReduceNoopPattern")
REDUCE_SCATTER_OF_NOTHING = _pattern(
    _if(lambda op: op.reduce_scatter_axes.is_empty), "ReduceScatterNoopPattern"
)
COLLECTIVE_PERMUTE_OF_NOTHING = _pattern(_if(_is_equivalent), "CollectivePermuteNoopPattern")
UNUSED_ALL_TO_ALL = _pattern(_if(lambda op: not op.output.has_uses), "AllToAllNoUsePattern")


# --- Collectives that undo another ----------------------------------------------------------------


def _undoes(inner_name: str, inner_axes: str, outer_axes: str) -> Callable[[Any, Rewriter], bool]:
    """The rewrite that drops two collectives along the same axes, one of which undoes the other."""

    def rewrite(op: Any, rewriter: Rewriter) -> bool:
        inner = _operand_of(op, inner_name)
        if inner is None or getattr(inner, inner_axes) is not getattr(op, outer_axes):
            return False
        rewriter.replace(op, [inner.tensor])
        return True

    return rewrite


ALL_SLICE_OF_ALL_GATHER = _pattern(
    _undoes("sdy.all_gather", "gathering_axes", "slicing_axes"), "AllSliceOfAllGatherPattern", benefit=2
)
ALL_REDUCE_OF_REPLICATED_TO_UNREDUCED = _pattern(
    _undoes("sdy.replicated_to_unreduced", "axes", "reduction_axes"),
    "AllReduceOfReplicatedToUnreducedPattern",
    benefit=2,
)


# --- Collectives that make up another -------------------------------------------------------------


def _fuse_all_to_alls(op: Any, rewriter: Rewriter) -> bool:
    """Two all-to-alls over different dimensions are one."""
    inner = _operand_of(op, op.name)
    if inner is None or not inner.output.has_one_use:
        return False
    moves = (*inner.params, *op.params)
    dims = AllToAllParams(moves).touched_dims
    if len(set(dims)) != len(dims):
        return False
    params = AllToAllParams(tuple(sorted(moves, key=lambda move: move.source)))
    attributes = {"params": params, "out_sharding": op.out_sharding}
    location = fused([op.location, inner.location])
    _replace(rewriter, op, type(op), inner.tensor, attributes, location)
    return True


def _gather_instead(op: Any, rewriter: Rewriter) -> bool:
    """Sharded to unreduced, then summed: that is gathered."""
    inner = _operand_of(op, "sdy.sharded_to_unreduced")
    if inner is None:
        return False
    mesh = mesh_of(inner.out_sharding, inner)
    if mesh is None or sorted_and_merged(inner.axes.axes, mesh) != op.reduction_axes.axes:
        return False
    attributes = {"gathering_axes": inner.axes, "out_sharding": op.out_sharding}
    _replace(rewriter, op, _class(op, "all_gather"), inner.tensor, attributes, op.location)
    return True


ALL_TO_ALL_OF_ALL_TO_ALL = _pattern(_fuse_all_to_alls, "AllToAllFusionPattern", benefit=2)
ALL_REDUCE_OF_SHARDED_TO_UNREDUCED = _pattern(_gather_instead, "AllReduceOfShardedToUnreducedPattern")


# --- all_reduce and all_slice: reduce_scatter -----------------------------------------------------


def _fuse_reduce_scatter(op: Any, rewriter: Rewriter) -> bool:
    """all_reduce, then all_slice along the same axes first: reduce_scatter, then what is left to slice."""
    reduce = _operand_of(op, "sdy.all_reduce")
    if reduce is None or not _is_first_of_equal_slices(op, reduce):
        return False
    split = _split_axes(reduce.reduction_axes, op.slicing_axes)
    mesh = mesh_of(reduce.out_sharding, reduce)
    if split is None or mesh is None:
        return False
    scattered, residual = split
    operand = sharding_or_replicated(reduce.tensor, mesh, is_closed=True)
    dims = [
        DimensionSharding(with_axes(dim.axes, axes, mesh))
        for dim, axes in zip(operand.dims, scattered, strict=True)
    ]
    out = op.out_sharding
    sharding = TensorSharding(
        reduce.out_sharding.mesh_or_ref, tuple(dims), out.replicated_axes, out.unreduced_axes
    )
    attributes = {"reduce_scatter_axes": scattered, "out_sharding": sharding}
    scatter_class = _class(op, "reduce_scatter")
    final = _create(rewriter, op, scatter_class, reduce.tensor, attributes, reduce.location)
    if not residual.is_empty:
        attributes = {"slicing_axes": residual, "out_sharding": out}
        final = _create(rewriter, op, type(op), final.results[0], attributes, op.location)
    for user in list(reduce.output.users):
        rewriter.replace(user, final)
    rewriter.erase(reduce)
    return True


def _is_first_of_equal_slices(op: Any, reduce: Any) -> bool:
    """Whether only slices along the same axes use an all_reduce, this one before the others."""
    for user in reduce.output.users:
        if user.signature.name != op.name or user.slicing_axes is not op.slicing_axes:
            return False
        if user.parent is op.parent and user is not op and user.is_before(op):
            return False
    return True


def _split_axes(reduction: AxisRefList, slicing: AxesPerDim) -> tuple[AxesPerDim, AxesPerDim] | None:
    """In each dimension, the first axes that are reduced along, and the others.

    None if not every reduced axis is found.
    """
    left = set(reduction)
    scattered, residual = [], []
    for axes in slicing:
        count = 0
        while count < len(axes) and axes.axes[count] in left:
            left.remove(axes.axes[count])
            count += 1
        scattered.append(AxisRefList(axes.axes[:count]))
        residual.append(AxisRefList(axes.axes[count:]))
    return None if left else (AxesPerDim(tuple(scattered)), AxesPerDim(tuple(residual)))


REDUCE_SCATTER_FUSION = _pattern(_fuse_reduce_scatter, "ReduceScatterFusion")


# --- Parts ----------------------------------------------------------------------------------------


def _operand_of(op: Any, name: str) -> Any:
    """The operation that gives the operand, if it has this name."""
    inner = op.tensor.defining_op
    return inner if inner is not None and inner.signature.name == name else None


def _class(op: Op, mnemonic: str) -> type[Op]:
    """The class of another operation of the same dialect."""
    assert op.dialect is not None
    found: type[Op] = op.dialect.ops[mnemonic]
    return found


def _create(
    rewriter: Rewriter, before: Any, op_class: type[Op], tensor: Any, attributes: Any, location: Any
) -> Op:
    types = before.signature.result_types
    return rewriter.create(op_class, [tensor], types, attributes, before=before, location=location)


def _replace(
    rewriter: Rewriter, op: Any, op_class: type[Op], tensor: Any, attributes: Any, location: Any
) -> None:
    rewriter.replace(op, _create(rewriter, op, op_class, tensor, attributes, location))
