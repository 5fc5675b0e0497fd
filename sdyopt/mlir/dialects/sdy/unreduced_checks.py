"""Checks of how an operation changes the unreduced axes of values, and the reduction along them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sdyopt.mlir.dialects.sdy.axes import AxisRef, difference
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import mesh_of
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.ir.operation import Op

# Shardings of operands or results; None for a value without a sharding.
Shardings = Iterable[TensorSharding | None]


def check_unreduced_transition(
    op: Op,
    before: Shardings,
    after: Shardings,
    introduced: ReductionKind | None = None,
    removed: ReductionKind | None = None,
) -> None:
    """Checks the unreduced axes of operands (`before`) and results (`after`).

    Unreduced axes that only results have must be of the kind `introduced`, those that only operands have must
    be of the kind `removed`; None allows no such axes. All other axes must keep their kind. If the shardings
    have different meshes, nothing is checked.
    """
    old = [sharding for sharding in before if sharding is not None]
    new = [sharding for sharding in after if sharding is not None]
    old_axes, new_axes = _axes(old), _axes(new)
    if not old_axes and not new_axes:
        return
    meshes = list(dict.fromkeys([mesh_of(sharding, op) for sharding in (*old, *new)]))
    if len(meshes) != 1 or meshes[0] is None:
        return
    _check_introduced(op, new, difference(new_axes, old_axes, meshes[0]), introduced)
    _check_removed(op, old, difference(old_axes, new_axes, meshes[0]), removed)
    _check_kept(op, old, new)


def introduces_sums(operand: TensorSharding, out: TensorSharding, mesh: Mesh) -> bool:
    """Whether the result of a collective is unreduced along axes that its operand lacks, both by sums."""
    is_sum = out.reduction is ReductionKind.SUM and operand.reduction is ReductionKind.SUM
    return is_sum and bool(difference(out.unreduced_axes, operand.unreduced_axes, mesh))


def _check_introduced(
    op: Op, new: Sequence[TensorSharding], axes: Sequence[AxisRef], allowed: ReductionKind | None
) -> None:
    if not axes:
        return
    if allowed is None:
        raise op.op_error(f"cannot add new unreduced axis '{axes[0].name}'.")
    for kind in _kinds_along(new, axes):
        if kind is not allowed:
            raise op.op_error(f"cannot introduce '{kind}' unreduced axes. Expected '{allowed}'.")


def _check_removed(
    op: Op, old: Sequence[TensorSharding], axes: Sequence[AxisRef], allowed: ReductionKind | None
) -> None:
    if not axes:
        return
    if allowed is None:
        raise op.op_error(
            f"dropped unreduced axis '{axes[0].name}' without a blessed operation (e.g., sdy.reshard). "
            "This is an invalid transition from unreduced to reduced."
        )
    for kind in _kinds_along(old, axes):
        if kind is not allowed:
            raise op.op_error(f"cannot reduce '{kind}' unreduced axes. Expected '{allowed}'.")


def _check_kept(op: Op, old: Sequence[TensorSharding], new: Sequence[TensorSharding]) -> None:
    for after in new:
        for axis in after.unreduced_axes:
            for kind in _kinds_along(old, (axis,)):
                if kind is not after.reduction:
                    raise op.op_error(
                        "cannot change the reduction operator of kept unreduced axes from "
                        f"{kind} to {after.reduction}."
                    )


def _axes(shardings: Iterable[TensorSharding]) -> list[AxisRef]:
    return [axis for sharding in shardings for axis in sharding.unreduced_axes]


def _kinds_along(shardings: Iterable[TensorSharding], axes: Sequence[AxisRef]) -> list[ReductionKind]:
    """The kinds of reduction of the shardings that are unreduced along some of the axes."""
    return [
        sharding.reduction
        for sharding in shardings
        if any(mine.overlaps(axis) for mine in sharding.unreduced_axes for axis in axes)
    ]
