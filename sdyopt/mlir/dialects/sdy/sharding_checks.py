"""Verification of shardings, their unreduced axes included.

Whether the axes of a sharding are valid for a mesh is cached. Whether enclosing operations bind its axes
depends on the operation, and is checked each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.ids import ErrorKind, Message, about
from sdyopt.base.diagnostics.text import counted
from sdyopt.base.releases import Behavior
from sdyopt.mlir.asm.printer.attribute_printer import plain_attribute, plain_type
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef, axis_ref_text, difference, is_sorted, mesh_order
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import mesh_of, unknown_mesh
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind
from sdyopt.mlir.dialects.sdy.sharding import AxisBinder, DimensionSharding, ShardingPerValue, TensorSharding
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import DYNAMIC, RankedShapedType, ShapedType, TupleType, Type

# Creates an error from a message, with a prefix that names the value.
ErrorMaker = Callable[[str], DiagnosticError]

_ONLY_RANK_0 = "can only have a sharding with rank 0 and no replicated or unreduced axes."


# --- Errors ---------------------------------------------------------------------------------------

UNKNOWN_AXIS = ErrorKind('unknown axis name: "{axis}"', at='value > text "{axis}"', explain="axis")
DUPLICATE_AXIS = ErrorKind(
    "duplicate axis ref: {axis}",
    at="second {axis}",
    help="an axis shards at most one dimension; remove one of the two",
)
SUB_AXIS = ErrorKind(
    "sub-axis {problem}: {axis}",
    at="value > text {axis}",
    help='`"axis":(P)S` is the sub-axis of size S after sub-axes of total size P; P times S divides the size '
    "of the axis",
)
_MERGEABLE = ErrorKind("two consecutive sub-axes can be merged: {previous}, {axis}")
_OVERLAPPING = ErrorKind("overlapping sub-axes: {previous}, {axis}")
SUB_AND_FULL_AXIS = ErrorKind(
    'both sub-axis and full-axis are used for axis name: "{axis}"',
    at='value > text "{axis}"',
    help="use the whole axis once, or only sub-axes of it",
)
NOT_IN_MESH_ORDER = ErrorKind(
    "{word} axes are not ordered w.r.t. mesh",
    at="value_attribute {word}",
    help="write the axes in the order of the mesh",
    explain="mesh order",
)
BOUND_AXIS = ErrorKind(
    'operates on axis "{axis}" which is already bound by a parent sdy.manual_computation op',
    at='value > text "{axis}"',
    help='inside of the computation that is manual along "{axis}", tensors are shards along it; '
    "remove the axis",
)
WRONG_RANK = ErrorKind(
    "sharding doesn't match tensor rank: {got} != {rank}",
    at="dimensions",
    help="the tensor has {dimensions}: write {shardings}, `{{}}` for one that is not sharded",
)
SHARDING_COUNT = ErrorKind(
    "shardings don't match number of values: {shardings} shardings vs {values} values",
    at="shardings",
    help="write one sharding for each value: {values}",
)
PRIORITY_OF_EMPTY = ErrorKind(
    "dim {dim} is empty and closed but has a priority",
    at="dimension {dim}",
    help="remove the priority, or open the dimension: `{{?}}`",
)
NOT_DIVISIBLE = ErrorKind(
    "dim {dim} with size {size} is not divisible by its sharded size {divisor}",
    at="dimension {dim}",
    help="shard the dimension along axes whose sizes divide {size}, or pad it to a multiple of {divisor}",
)
ADDED_UNREDUCED = ErrorKind(
    "cannot add new unreduced axis '{axis}'.",
    at='last "{axis}"',
    help="the operand is not unreduced along this axis, and the operation makes no partial results; "
    "remove it",
)
INTRODUCED = ErrorKind(
    "cannot introduce '{kind}' unreduced axes. Expected '{expected}'.",
    at="attribute unreduced",
    help="the partial results are those of a {noun}; write unreduced={prefix}{{…}}",
)
REDUCED = ErrorKind(
    "cannot reduce '{kind}' unreduced axes. Expected '{expected}'.",
    at="text {expected} | text {name}",
    help="the operand has partial results of a {noun}; {written}",
)
CHANGED = ErrorKind(
    "cannot change the reduction operator of kept unreduced axes from {kind} to {new}.",
    at="attribute unreduced",
    help="write unreduced={prefix}{{…}}, or remove the axes, so that the partial results are combined",
)


def errors_about(op: Op, side: str) -> ErrorMaker:
    """Makes errors at an operation about the values on a side of it, such as its results."""
    return lambda message: op.op_error(f"{side} " + about(message, side=side))


# --- In context -----------------------------------------------------------------------------------


def check_sharding(op: Op, sharding: TensorSharding, type: Type | None, error: ErrorMaker) -> Mesh:
    """Checks the sharding of a value of this type at an operation; returns its mesh."""
    mesh = mesh_of(sharding, op)
    if mesh is None:
        assert sharding.mesh_name is not None
        raise error(unknown_mesh(sharding.mesh_name))
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
        raise error(SHARDING_COUNT(shardings=len(shardings), values=len(types)))
    for index, (sharding, type) in enumerate(zip(shardings, types, strict=True)):
        if not _is_valid(op, sharding, type):
            check_sharding(op, sharding, type, _error_of_value(error, len(types), index))


# Operations that bind axes or contain meshes; for each operation, all those around it are looked at.
_SCOPES: tuple[type[Op], ...] = (AxisBinder, ModuleOp)


def _is_valid(op: Op, sharding: TensorSharding, type: Type) -> bool:
    """Whether `check_sharding` certainly reports no error."""
    outer = op.parent_op
    while outer is not None and outer.parent is not None:
        if isinstance(outer, _SCOPES):
            return False
        outer = outer.parent_op
    mesh = None if outer is None or isinstance(outer, AxisBinder) else mesh_of(sharding, outer)
    return mesh is not None and sharding_problem(sharding, type, mesh) is None


def _error_of_value(error: ErrorMaker, count: int, index: int) -> ErrorMaker:
    """Prefixes errors with the index of the value, unless there is exactly one."""
    which = "- " if count == 1 else f"{index} - "
    return lambda message: error(which + about(message, index=index))


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
                raise error(BOUND_AXIS(axis=axis)).note(
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
        return WRONG_RANK(
            got=sharding.rank,
            rank=type.rank,
            dimensions=counted(type.rank, "dimension"),
            shardings=counted(type.rank, "dimension sharding"),
        )
    return _axes_problem(sharding, mesh, type.shape if must_divide else None)


@lru_cache(maxsize=4096)
def _axes_problem(sharding: TensorSharding, mesh: Mesh, divided: tuple[int, ...] | None) -> str | None:
    """The error of the axes of a sharding. Their sizes must divide the dimensions `divided`, if given."""
    axis_uses = AxisUses(mesh)
    for index, dim in enumerate(sharding.dims):
        problem = axis_uses.dimension_problem(index, dim)
        if problem is not None:
            return problem
        size = DYNAMIC if divided is None else divided[index]
        if size != DYNAMIC and size % dim.sharded_size(mesh):
            return NOT_DIVISIBLE(dim=index, size=size, divisor=dim.sharded_size(mesh))
    return (
        axis_uses.sorted_list_problem(sharding.replicated_axes, "replicated")
        or axis_uses.sorted_list_problem(sharding.unreduced_axes, "unreduced")
        or axis_uses.sub_axes_problem()
    )


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
                return UNKNOWN_AXIS(axis=axis.name)
            if axis in self._axes:
                return DUPLICATE_AXIS(axis=axis_ref_text(axis))
            self._axes.add(axis)
            if previous is not None and previous.can_merge(axis):
                return _MERGEABLE(previous=axis_ref_text(previous), axis=axis_ref_text(axis))
            previous = axis
        return None

    def sorted_list_problem(self, axes: Sequence[AxisRef], word: str) -> str | None:
        """Adds a list that must be in mesh order; returns its error, if any."""
        if not is_sorted(axes, self._mesh):
            return NOT_IN_MESH_ORDER(word=word)
        return self.list_problem(axes)

    def sub_axes_problem(self) -> str | None:
        """The error of the sub-axes in all lists: invalid sizes or overlaps."""
        order = partial(mesh_order, mesh=self._mesh)
        sub_axes = sorted((axis for axis in self._axes if axis.sub_axis is not None), key=order)
        previous: AxisRef | None = None
        for axis in sub_axes:
            is_first = previous is None or previous.name != axis.name
            if is_first and AxisRef(axis.name) in self._axes:
                return SUB_AND_FULL_AXIS(axis=axis.name)
            problem = _sub_axis_problem(axis, self._mesh.axis_size(axis.name))
            if problem is not None:
                return problem
            if not is_first and previous is not None and previous.interval_end > axis.pre_size:
                return _OVERLAPPING(previous=axis_ref_text(previous), axis=axis_ref_text(axis))
            previous = axis
        return None

    def dimension_problem(self, index: int, dim: DimensionSharding) -> str | None:
        if dim.priority is not None:
            if dim.priority < 0:
                return f"dim {index} has a negative priority"
            if dim.is_closed and not dim.axes:
                return PRIORITY_OF_EMPTY(dim=index)
        return self.list_problem(dim.axes)


def _sub_axis_problem(axis: AxisRef, full_size: int) -> str | None:
    sub_axis = axis.sub_axis
    assert sub_axis is not None
    text = axis_ref_text(axis)
    if sub_axis.pre_size < 1:
        return SUB_AXIS(problem="pre-size must be at least 1", axis=text)
    if sub_axis.size <= 1:
        return SUB_AXIS(problem="sizes must be greater than 1", axis=text)
    if full_size % sub_axis.next_pre_size:
        problem = (
            f"next pre-size {sub_axis.next_pre_size} doesn't divide the size of the full axis {full_size}"
        )
        return SUB_AXIS(problem=problem, axis=text)
    if sub_axis.size == full_size:
        return SUB_AXIS(problem="size is equal to the full axis size", axis=text)
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
        raise op.op_error(ADDED_UNREDUCED(axis=axes[0].name))
    for kind in _kinds_along(new, axes):
        if kind is not allowed:
            raise op.op_error(
                INTRODUCED(kind=kind, expected=allowed, noun=allowed.noun, prefix=allowed.prefix)
            )


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
            raise op.op_error(reduced(op, kind, allowed))


def reduced(op: Op, kind: ReductionKind, expected: ReductionKind) -> Message:
    """The error that an operation reduces partial results of another kind than its own."""
    is_sdy = op.name.startswith("sdy.")
    written = (
        f"write `{' '.join(filter(None, (op.name, kind.prefix)))} …`"
        if is_sdy
        else f"make its body a {kind.noun}"
    )
    return REDUCED(kind=kind, expected=expected, noun=kind.noun, name=op.name, written=written)


def _check_kept(op: Op, old: Sequence[TensorSharding], new: Sequence[TensorSharding]) -> None:
    for after in new:
        for axis in after.unreduced_axes:
            for kind in _kinds_along(old, (axis,)):
                if kind is not after.reduction:
                    raise op.op_error(CHANGED(kind=kind, new=after.reduction, prefix=kind.prefix))


def _axes(shardings: Iterable[TensorSharding]) -> list[AxisRef]:
    return [axis for sharding in shardings for axis in sharding.unreduced_axes]


def _kinds_along(shardings: Iterable[TensorSharding], axes: Sequence[AxisRef]) -> list[ReductionKind]:
    """The kinds of reduction of the shardings that are unreduced along some of the axes."""
    return [
        sharding.reduction
        for sharding in shardings
        if any(mine.overlaps(axis) for mine in sharding.unreduced_axes for axis in axes)
    ]
