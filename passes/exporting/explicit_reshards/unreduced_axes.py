"""Conversion of a used value to the unreduced axes that its user requires.

value unreduced={"x"}, required unreduced={}           ->  all-reduce along "x"
value replicated along "x", required unreduced={"x"}   ->  replicated-to-unreduced along "x"
value sharded along "x", required unreduced={"x"}      ->  sharded-to-unreduced along "x"
"""

from __future__ import annotations

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.sdy.axes import AxesPerDim, AxisRefList, difference, sorted_and_merged
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp, ReplicatedToUnreducedOp, ShardedToUnreducedOp
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import MeshLookup, unknown_mesh_error
from sdyopt.mlir.dialects.sdy.ops import ReshardOp
from sdyopt.mlir.dialects.sdy.reduction_kind import reduction_attributes
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import InsertionPoint, Rewriter
from sdyopt.mlir.ir.value import OpOperand, Value
from sdyopt.shardy.sharding.axis_lists import Axes, is_prefix


def all_reduce_use(
    use: OpOperand,
    required: TensorSharding | None,
    mesh_of: MeshLookup,
    insertion_point: InsertionPoint,
    rewriter: Rewriter,
) -> TensorSharding | None:
    """All-reduces a used value along its unreduced axes that are not required.

    Returns the sharding that the use then has.
    """
    sharding = sharding_of(use.value)
    if sharding is None or not sharding.unreduced_axes:
        return sharding
    mesh = mesh_of(sharding.mesh_or_ref)
    if mesh is None:
        raise unknown_mesh_error(sharding, use.owner)
    if required is not None and mesh_of(required.mesh_or_ref) is not mesh:
        raise use.owner.error("source and user shardings have different meshes for unreduced axes.")
    required_axes = () if required is None else required.unreduced_axes
    reduction_axes = difference(sharding.unreduced_axes, required_axes, mesh)
    if not reduction_axes:
        return sharding
    unreduced_axes = difference(sharding.unreduced_axes, reduction_axes, mesh)
    new = sharding.with_unreduced_axes(unreduced_axes)
    attributes: dict[str, Attribute] = {
        "reduction_axes": AxisRefList(reduction_axes),
        "out_sharding": new,
        **reduction_attributes(sharding.reduction),
    }
    rewriter.set_operand(use, _insert(AllReduceOp, use.value, attributes, use, insertion_point, rewriter))
    return new


def change_unreduced_mesh(
    use: OpOperand,
    required: TensorSharding,
    mesh_of: MeshLookup,
    insertion_point: InsertionPoint,
    rewriter: Rewriter,
) -> None:
    """Reshards a used value to the mesh that its user requires, if it is unreduced on either mesh.

    It is all-reduced on its own mesh, and has the required sharding without the unreduced axes on the other.
    """
    sharding = sharding_of(use.value)
    if sharding is None or mesh_of(sharding.mesh_or_ref) is mesh_of(required.mesh_or_ref):
        return
    if sharding.unreduced_axes or required.unreduced_axes:
        all_reduce_use(use, None, mesh_of, insertion_point, rewriter)
        new = required.with_unreduced_axes(())
        value = _insert(ReshardOp, use.value, {"sharding": new}, use, insertion_point, rewriter)
        rewriter.set_operand(use, value)


def unreduce_use(
    use: OpOperand,
    required: TensorSharding | None,
    mesh_of: MeshLookup,
    insertion_point: InsertionPoint,
    rewriter: Rewriter,
) -> TensorSharding | None:
    """Makes a used value unreduced along the required axes. Returns its new sharding; None without a change.

    If a dimension has more axes after its required ones, and all of these must become unreduced, they do so
    directly. A dimension that differs in another way is resharded first.
    """
    sharding = sharding_of(use.value)
    if sharding is None or required is None or not required.unreduced_axes:
        return None
    mesh = mesh_of(sharding.mesh_or_ref)
    if mesh is None:
        raise unknown_mesh_error(sharding, use.owner)
    if mesh_of(required.mesh_or_ref) is not mesh:
        raise use.owner.error(
            "Input and output shardings have different meshes. The result has non-empty unreduced axes."
        )
    missing = difference(required.unreduced_axes, sharding.unreduced_axes, mesh)
    if not missing:
        return None
    if difference(sharding.unreduced_axes, required.unreduced_axes, mesh):
        raise use.owner.error("Both input and output have unreduced axes that does not appear in the other.")
    plan = _Plan.of(sharding, required, missing, mesh)
    value, new = use.value, sharding
    if plan.needs_reshard:
        new = sharding.with_dims(plan.dims)
        value = _insert(ReshardOp, value, {"sharding": new}, use, insertion_point, rewriter)
    replicated = difference(missing, [axis for axes in plan.axes_per_dim for axis in axes], mesh)
    if replicated:
        unreduced = sorted_and_merged((*sharding.unreduced_axes, *replicated), mesh)
        new = required.with_mesh(sharding.mesh_or_ref).with_dims(plan.dims).with_unreduced_axes(unreduced)
        attributes: dict[str, Attribute] = {"axes": AxisRefList(replicated), "out_sharding": new}
        value = _insert(ReplicatedToUnreducedOp, value, attributes, use, insertion_point, rewriter)
    if any(plan.axes_per_dim):
        new = required
        axes_per_dim = AxesPerDim(tuple([AxisRefList(axes) for axes in plan.axes_per_dim]))
        attributes = {"axes": axes_per_dim, "out_sharding": new}
        value = _insert(ShardedToUnreducedOp, value, attributes, use, insertion_point, rewriter)
    rewriter.set_operand(use, value)
    return new


class _Plan(NamedTuple):
    """The axes of each dimension that become unreduced, and the dimension shardings before that."""

    axes_per_dim: list[Axes]
    dims: tuple[DimensionSharding, ...]
    needs_reshard: bool

    @classmethod
    def of(cls, sharding: TensorSharding, required: TensorSharding, missing: Axes, mesh: Mesh) -> _Plan:
        axes_per_dim: list[Axes] = []
        dims = []
        needs_reshard = False
        for old, new in zip(sharding.dims, required.dims, strict=True):
            axes: Axes = ()
            dim = new
            if not is_prefix(new.axes, old.axes):
                needs_reshard = True
            elif new.axes != old.axes:
                suffix = _suffix(new.axes, old.axes, mesh)
                if suffix is None or difference(suffix, missing, mesh):
                    needs_reshard = True
                else:
                    axes, dim = suffix, old
            axes_per_dim.append(axes)
            dims.append(dim)
        return cls(axes_per_dim, tuple(dims), needs_reshard)


def _suffix(prefix: Axes, axes: Axes, mesh: Mesh) -> Axes | None:
    """The axes after a strict prefix of an axis list; None if a sub-axis cannot be split at its end."""
    count = len(prefix)
    rest = axes[count:]
    if not prefix or prefix[-1] is axes[count - 1]:
        return rest
    sub_axis = axes[count - 1].suffix_without_overlap(prefix[-1], mesh)
    return None if sub_axis is None else (sub_axis, *rest)


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
