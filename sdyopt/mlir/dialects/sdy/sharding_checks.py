"""Verification of shardings, their unreduced axes included.

Whether the axes of a sharding are valid for a mesh is cached. Whether enclosing operations bind its axes
depends on the operation, and is checked each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.releases import Behavior
from sdyopt.mlir.asm.lexical import symbol_text
from sdyopt.mlir.asm.printer.attribute_printer import plain_attribute, plain_type
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef, axis_ref_text, difference, is_sorted, mesh_order
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import mesh_of
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind
from sdyopt.mlir.dialects.sdy.sharding import AxisBinder, DimensionSharding, ShardingPerValue, TensorSharding
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import DYNAMIC, RankedShapedType, ShapedType, TupleType, Type

# Creates an error from a message, with a prefix that names the value.
ErrorMaker = Callable[[str], DiagnosticError]

_ONLY_RANK_0 = "can only have a sharding with rank 0 and no replicated or unreduced axes."


# --- In context -----------------------------------------------------------------------------------


def check_sharding(op: Op, sharding: TensorSharding, type: Type | None, error: ErrorMaker) -> Mesh:
    """Checks the sharding of a value of this type at an operation; returns its mesh."""
    mesh = mesh_of(sharding, op)
    if mesh is None:
        assert sharding.mesh_name is not None
        raise error(f"unknown mesh: {symbol_text(sharding.mesh_name)}")
    problem = sharding_problem(sharding, type, mesh)
    if problem is not None:
        raise error(problem)
    if axes := _axis_names(sharding):
        check_unbound(op, axes, error)
    return mesh


def check_shardings(op: Op, shardings: ShardingPerValue, types: Sequence[Type], error: ErrorMaker) -> None:
    """Checks a list with a sharding for each value.

    Without values, the list may also contain one sharding that is maximal or fully replicated.
    """
    if not types and len(shardings) == 1:
        (only,) = shardings
        mesh = mesh_of(only, op)
        if (mesh is not None and mesh.is_maximal) or only.is_fully_replicated:
            check_sharding(op, only, None, _error_of_value(error, 0, 0))
            return
    if len(shardings) != len(types):
        raise error(
            f"shardings don't match number of values: {len(shardings)} shardings vs {len(types)} values"
        )
    for index, (sharding, type) in enumerate(zip(shardings, types, strict=True)):
        if not _is_valid(op, sharding, type):
            check_sharding(op, sharding, type, _error_of_value(error, len(types), index))


def _is_valid(op: Op, sharding: TensorSharding, type: Type) -> bool:
    """Whether `check_sharding` certainly reports no error."""
    outer = op.parent_op
    while outer is not None and outer.parent is not None:
        if isinstance(outer, AxisBinder | ModuleOp):
            return False
        outer = outer.parent_op
    mesh = None if outer is None or isinstance(outer, AxisBinder) else mesh_of(sharding, outer)
    return mesh is not None and sharding_problem(sharding, type, mesh) is None


def _error_of_value(error: ErrorMaker, count: int, index: int) -> ErrorMaker:
    """Prefixes errors with the index of the value, unless there is exactly one."""
    which = "- " if count == 1 else f"{index} - "
    return lambda message: error(which + message)


def bound_axes(op: Op) -> dict[str, Op]:
    """The manual axes of enclosing operations, each with the outermost operation that binds it."""
    binders: dict[str, Op] = {}
    outer = op.parent_op
    while outer is not None:
        if isinstance(outer, AxisBinder) and (axes := outer.manual_axes):
            binders.update(dict.fromkeys(axes, outer))
        outer = outer.parent_op
    return binders


def check_unbound(op: Op, axes: Iterable[str], error: ErrorMaker) -> None:
    """Checks that no enclosing operation binds one of these axes."""
    if binders := bound_axes(op):
        for axis in axes:
            if axis in binders:
                message = f'operates on axis "{axis}" which is already bound by a parent'
                raise error(f"{message} sdy.manual_computation op").note(
                    "parent bounding this axis as manual", binders[axis].location
                )


@lru_cache(maxsize=4096)
def _axis_names(sharding: TensorSharding) -> tuple[str, ...]:
    return tuple(axis.name for axis in sharding.axis_refs)


# --- Without context -------------------------------------------------------------------------------------


def sharding_problem(
    sharding: TensorSharding, type: Type | None, mesh: Mesh, must_divide: bool = False
) -> str | None:
    """The error of a sharding with this mesh for values of a type, None if it is valid.

    `type` is None for an operation without values. With `must_divide`, sharded sizes must divide the sizes of
    dimensions.
    """
    has_axes_or_rank = bool(sharding.dims or sharding.replicated_axes or sharding.unreduced_axes)
    if mesh.is_maximal or (type is None and sharding.is_fully_replicated):
        word = "single-device" if Behavior.REWORDED_ERRORS.active else "maximal"
        return f"a {word} sharding {_ONLY_RANK_0}" if has_axes_or_rank else None
    if isinstance(type, TupleType):
        if len(type.types) != 1:
            return f"ops can only have a sharding for a tuple of size 1: '{plain_type(type)}'"
        (type,) = type.types
    if not isinstance(type, ShapedType):
        if not has_axes_or_rank:
            return None
        assert type is not None
        return (
            f"non-shaped tensors {_ONLY_RANK_0} type: '{plain_type(type)}', "
            f"sharding: {plain_attribute(sharding)}"
        )
    if not isinstance(type, RankedShapedType):
        return f"only ranked tensors can have a sharding. type: '{plain_type(type)}'"
    if sharding.rank != type.rank:
        return f"sharding doesn't match tensor rank: {sharding.rank} != {type.rank}"
    return _axes_problem(sharding, mesh, type.shape if must_divide else None)


@lru_cache(maxsize=4096)
def _axes_problem(sharding: TensorSharding, mesh: Mesh, divided: tuple[int, ...] | None) -> str | None:
    """The error of the axes of a sharding. Their sizes must divide the dimensions `divided`, if given."""
    axis_uses = AxisUses(mesh)
    for index, dim in enumerate(sharding.dims):
        problem = _dimension_problem(index, dim, axis_uses)
        if problem is not None:
            return problem
        size = DYNAMIC if divided is None else divided[index]
        if size != DYNAMIC and size % dim.sharded_size(mesh):
            return (
                f"dim {index} with size {size} is not divisible by its sharded size {dim.sharded_size(mesh)}"
            )
    return (
        axis_uses.sorted_list_problem(sharding.replicated_axes, "replicated")
        or axis_uses.sorted_list_problem(sharding.unreduced_axes, "unreduced")
        or axis_uses.sub_axes_problem()
    )


def _dimension_problem(index: int, dim: DimensionSharding, axis_uses: AxisUses) -> str | None:
    if dim.priority is not None:
        if dim.priority < 0:
            return f"dim {index} has a negative priority"
        if dim.is_closed and not dim.axes:
            return f"dim {index} is empty and closed but has a priority"
    return axis_uses.list_problem(dim.axes)


class AxisUses:
    """The axis references of several lists, which must not overlap."""

    def __init__(self, mesh: Mesh) -> None:
        self._mesh = mesh
        self._axes: set[AxisRef] = set()

    def list_problem(self, axes: Iterable[AxisRef]) -> str | None:
        """Adds a list; returns its error, if any: an unknown or duplicate axis, or sub-axes to be merged."""
        previous: AxisRef | None = None
        for axis in axes:
            if not self._mesh.has_axis(axis.name):
                return f'unknown axis name: "{axis.name}"'
            if axis in self._axes:
                return f"duplicate axis ref: {axis_ref_text(axis)}"
            self._axes.add(axis)
            if previous is not None and previous.can_merge(axis):
                return (
                    "two consecutive sub-axes can be merged: "
                    f"{axis_ref_text(previous)}, {axis_ref_text(axis)}"
                )
            previous = axis
        return None

    def sorted_list_problem(self, axes: Sequence[AxisRef], word: str) -> str | None:
        """Adds a list that must be in mesh order; returns its error, if any."""
        if not is_sorted(axes, self._mesh):
            return f"{word} axes are not ordered w.r.t. mesh"
        return self.list_problem(axes)

    def sub_axes_problem(self) -> str | None:
        """The error of the sub-axes in all lists: invalid sizes or overlaps."""
        order = partial(mesh_order, mesh=self._mesh)
        sub_axes = sorted((axis for axis in self._axes if axis.sub_axis is not None), key=order)
        previous: AxisRef | None = None
        for axis in sub_axes:
            is_first = previous is None or previous.name != axis.name
            if is_first and AxisRef(axis.name) in self._axes:
                return f'both sub-axis and full-axis are used for axis name: "{axis.name}"'
            problem = _sub_axis_problem(axis, self._mesh.axis_size(axis.name))
            if problem is not None:
                return problem
            if not is_first and previous is not None and previous.interval_end > axis.pre_size:
                return f"overlapping sub-axes: {axis_ref_text(previous)}, {axis_ref_text(axis)}"
            previous = axis
        return None


def _sub_axis_problem(axis: AxisRef, full_size: int) -> str | None:
    sub_axis = axis.sub_axis
    assert sub_axis is not None
    text = axis_ref_text(axis)
    if sub_axis.pre_size < 1:
        return f"sub-axis pre-size must be at least 1: {text}"
    if sub_axis.size <= 1:
        return f"sub-axis sizes must be greater than 1: {text}"
    if full_size % sub_axis.next_pre_size:
        return (
            f"sub-axis next pre-size {sub_axis.next_pre_size} doesn't divide the size of the full axis "
            f"{full_size}: {text}"
        )
    if sub_axis.size == full_size:
        return f"sub-axis size is equal to the full axis size: {text}"
    return None


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
        name = axes[0].name
        error = op.op_error(
            f"dropped unreduced axis '{name}' without a blessed operation (e.g., sdy.reshard). "
            "This is an invalid transition from unreduced to reduced."
        )
        raise error.help(
            f"""an operand has partial results along "{name}"; insert `sdy.reshard` before, which """
            f"""combines them, or add unreduced={{"{name}"}} to the sharding of the result"""
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
