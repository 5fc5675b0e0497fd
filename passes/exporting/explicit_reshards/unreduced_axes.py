"""Unreduced axes at one use of a value: summed over, or made, where the sharding that is wanted says so.

    %0 : unreduced={"x"}, wanted is unreduced={}         ->  an all-reduce along "x"
    %0 : replicated along "x", wanted unreduced={"x"}    ->  replicated-to-unreduced along "x"
    %0 : split along "x", wanted unreduced={"x"}         ->  sharded-to-unreduced along "x"

What is inserted is put at `place`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sdyopt.dialects.sdy.axes import difference, sorted_and_merged
from sdyopt.dialects.sdy.axis_lists import AxesPerDim, AxisRefList
from sdyopt.dialects.sdy.collectives import AllReduceOp, ReplicatedToUnreducedOp, ShardedToUnreducedOp
from sdyopt.dialects.sdy.mesh import Mesh
from sdyopt.dialects.sdy.ops import ReshardOp
from sdyopt.dialects.sdy.sharding import DimensionSharding, MeshOrRef, TensorSharding
from sdyopt.dialects.sdy.value_shardings import sharding_of
from sdyopt.ir.attribute import Attribute
from sdyopt.ir.insertion_point import InsertionPoint
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.value import OpOperand, Value
from sdyopt.sharding.axis_lists import Axes, is_prefix

MeshOf = Callable[[MeshOrRef], Mesh | None]


def reduce_use(
    use: OpOperand,
    wanted: TensorSharding | None,
    mesh_of: MeshOf,
    insertion_point: InsertionPoint,
    rewriter: Rewriter,
) -> TensorSharding | None:
    """Sums over the unreduced axes of a used value that are not wanted so. Returns the new sharding."""
    held = sharding_of(use.value)
    if held is None or not held.unreduced_axes:
        return held
    mesh = mesh_of(held.mesh_or_ref)
    assert mesh is not None, "shardings are verified with the meshes of their module"
    if wanted is not None and mesh_of(wanted.mesh_or_ref) is not mesh:
        raise use.owner.error("source and user shardings have different meshes for unreduced axes.")
    still = () if wanted is None else wanted.unreduced_axes
    reduced = difference(held.unreduced_axes, still, mesh)
    if not reduced:
        return held
    rest = difference(held.unreduced_axes, reduced, mesh)
    sharding = TensorSharding(held.mesh_or_ref, held.dims, held.replicated_axes, rest)
    attributes: dict[str, Attribute] = {"reduction_axes": AxisRefList(reduced), "out_sharding": sharding}
    rewriter.set_operand(use, _insert(AllReduceOp, use.value, attributes, use, insertion_point, rewriter))
    return sharding


def unreduce_use(
    use: OpOperand,
    wanted: TensorSharding | None,
    mesh_of: MeshOf,
    insertion_point: InsertionPoint,
    rewriter: Rewriter,
) -> TensorSharding | None:
    """Makes a used value unreduced along axes that are wanted so. Returns the new sharding, if there is one.

    Axes that split a dimension further than wanted can be made unreduced at its end. Where that is not so,
    a reshard comes first.
    """
    held = sharding_of(use.value)
    if held is None or wanted is None or not wanted.unreduced_axes:
        return None
    mesh = mesh_of(held.mesh_or_ref)
    assert mesh is not None, "shardings are verified with the meshes of their module"
    if mesh_of(wanted.mesh_or_ref) is not mesh:
        raise use.owner.error(
            "Input and output shardings have different meshes. The result has non-empty unreduced axes."
        )
    missing = difference(wanted.unreduced_axes, held.unreduced_axes, mesh)
    if not missing:
        return None
    if difference(held.unreduced_axes, wanted.unreduced_axes, mesh):
        raise use.owner.error("Both input and output have unreduced axes that does not appear in the other.")
    plan = _plan(held, wanted, missing, mesh)
    value, found = use.value, held
    if plan.is_reshard_needed:
        found = held.with_dims(plan.dims)
        value = _insert(ReshardOp, value, {"sharding": found}, use, insertion_point, rewriter)
    from_copies = difference(missing, [axis for axes in plan.axes_per_dim for axis in axes], mesh)
    if from_copies:
        unreduced = sorted_and_merged((*held.unreduced_axes, *from_copies), mesh)
        found = TensorSharding(held.mesh_or_ref, plan.dims, wanted.replicated_axes, unreduced)
        attributes: dict[str, Attribute] = {"axes": AxisRefList(from_copies), "out_sharding": found}
        value = _insert(ReplicatedToUnreducedOp, value, attributes, use, insertion_point, rewriter)
    if any(plan.axes_per_dim):
        found = wanted
        per_dim = AxesPerDim(tuple([AxisRefList(axes) for axes in plan.axes_per_dim]))
        attributes = {"axes": per_dim, "out_sharding": found}
        value = _insert(ShardedToUnreducedOp, value, attributes, use, insertion_point, rewriter)
    rewriter.set_operand(use, value)
    return found


class _Plan(NamedTuple):
    """The axes of each dimension to be made unreduced, and how dimensions are split just before that."""

    axes_per_dim: list[Axes]
    dims: tuple[DimensionSharding, ...]
    is_reshard_needed: bool


def _plan(held: TensorSharding, wanted: TensorSharding, missing: Axes, mesh: Mesh) -> _Plan:
    axes_per_dim: list[Axes] = []
    dims = []
    is_reshard_needed = False
    for old, new in zip(held.dims, wanted.dims, strict=True):
        axes: Axes = ()
        dim = new
        if not is_prefix(new.axes, old.axes):
            is_reshard_needed = True
        elif new.axes != old.axes:
            behind = _behind(new.axes, old.axes, mesh)
            if difference(behind, missing, mesh):
                is_reshard_needed = True
            else:
                axes, dim = behind, old
        axes_per_dim.append(axes)
        dims.append(dim)
    return _Plan(axes_per_dim, tuple(dims), is_reshard_needed)


def _behind(beginning: Axes, axes: Axes, mesh: Mesh) -> Axes:
    """What comes in a list of axes behind its beginning."""
    count = len(beginning)
    rest = axes[count:]
    if not beginning or beginning[-1] is axes[count - 1]:
        return rest
    cut = axes[count - 1].suffix_without(beginning[-1], mesh)
    assert cut is not None, "a strict beginning leaves something"
    return (cut, *rest)


def _insert(
    op_class: type[Op],
    value: Value,
    attributes: dict[str, Attribute],
    use: OpOperand,
    insertion_point: InsertionPoint,
    rewriter: Rewriter,
) -> Value:
    location = use.value.lazy_location
    return rewriter.create(
        op_class, [value], [value.type], attributes, location=location, **insertion_point
    ).result
