"""The canonicalizations of reshards.

The second one looks through reshapes and transposes. These operations belong to the stablehlo dialect, which
sdy does not import, so they are recognized by name.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.base.diagnostics.location import lazily_fused
from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.sdy.axes import (
    AxisRef,
)
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import mesh_of
from sdyopt.mlir.dialects.sdy.ops import ReshardOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import rank_of
from sdyopt.mlir.ir.builtin_attributes import DenseArray
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import Value

# The label by which pipelines apply only the folding of reshards of reshards.
RESHARD_LABEL = "sdy-reshard"
_RESHAPE, _TRANSPOSE = "stablehlo.reshape", "stablehlo.transpose"
_LOOKED_THROUGH = (_RESHAPE, _TRANSPOSE)


# --- Reshards of reshards ---------------------------------------------------------------------------------


def _fold_reshards(op: ReshardOp, rewriter: Rewriter) -> bool:
    inner = op.input.defining_op
    if not isinstance(inner, ReshardOp) or not inner.output.has_one_use:
        return False
    if inner is op:  # in a graph region
        return False
    location = lazily_fused(op.lazy_location, inner.lazy_location)
    attributes = {"sharding": op.sharding}
    types = op.signature.result_types
    folded = rewriter.create(ReshardOp, [inner.input], types, attributes, before=op, location=location)
    rewriter.replace(op, folded)
    return True


# --- Reshards of the same data --------------------------------------------------------------------


def _reuse_reshard(op: ReshardOp, rewriter: Rewriter) -> bool:
    """Replaces a reshard with an earlier reshard of the same data.

    The reshapes and transposes between them are cloned onto the result of the earlier reshard.
    """
    root = _root(op.input)
    sharding = _sharding_at_root(op.sharding, op.input, root)
    match = _find_reshard(root, sharding, op)
    if match is None:
        return False
    earlier, reshape_class = match
    value: Value = earlier.results[0]
    if value.type is not root.type:
        assert reshape_class is not None
        value = rewriter.create(
            reshape_class, [value], [root.type], after=earlier, location=op.location
        ).results[0]
    rewriter.replace(op, [_clone_path(root, op.input, value, rewriter)])
    return True


def _root(value: Value) -> Value:
    """The value from which reshapes and transposes compute `value`.

    In a graph region these operations may form a cycle; then the root is a value of the cycle.
    """
    visited: set[Value] = set()
    op = value.defining_op
    while value not in visited and op is not None and op.signature.name in _LOOKED_THROUGH:
        visited.add(value)
        value = op.operand_at(0)
        op = value.defining_op
    return value


def _sharding_at_root(sharding: TensorSharding, value: Value, root: Value) -> TensorSharding:
    """`sharding`, to which `value` is resharded, with its dimensions permuted as transposes require.

    The permutations are undone from `value` back to `root`, or back to the last change of rank.
    """
    while value is not root:
        op = value.defining_op
        assert op is not None
        value = op.operand_at(0)
        if op.signature.name == _TRANSPOSE:
            permutation = op.signature.attribute("permutation")
            assert isinstance(permutation, DenseArray)
            dims = dict(zip(permutation.values, sharding.dims, strict=True))
            sharding = sharding.with_dims(dims[number] for number in range(len(dims)))
        elif rank_of(value.type) != rank_of(op.signature.result_types[0]):
            break
    return sharding


def _find_reshard(
    root: Value, sharding: TensorSharding, op: ReshardOp
) -> tuple[ReshardOp, type[Op] | None] | None:
    """A reshard before `op` in its block, of the root or of a reshape of it, with the same shards as `op`.

    The second value is the class of reshape operations; None if the search has found no reshape.
    """
    pending, visited = [root], set[Value]()
    reshape_class: type[Op] | None = None
    while pending:
        value = pending.pop()
        if value in visited:
            continue
        visited.add(value)
        for user in value.users:
            if user is op:
                continue
            if isinstance(user, ReshardOp):
                if _has_same_shards(user, sharding, op) and user.parent is op.parent and user.is_before(op):
                    return user, reshape_class
            elif user.signature.name == _RESHAPE:
                reshape_class = type(user)
                pending.append(user.results[0])
    return None


def _has_same_shards(other: ReshardOp, sharding: TensorSharding, op: ReshardOp) -> bool:
    """Whether the shards of both reshards are equally far apart in memory, in row-major order.

    As in Shardy, `sharding` is that of `op` at the root but the type is that of `op`. After a transpose, an
    earlier reshard may therefore be missed, or one with another sharding be taken; the data are the same.
    """
    other_type, op_type = other.signature.result_types[0], op.signature.result_types[0]
    other_sharding = other.sharding
    if other_sharding is sharding and other_type is op_type:
        return True
    if other_sharding.mesh_or_ref is not sharding.mesh_or_ref:
        return False
    if other_sharding.replicated_axes != sharding.replicated_axes:
        return False
    if not isinstance(other_type, RankedTensor) or not isinstance(op_type, RankedTensor):
        return False
    if other_type.encoding is not None or op_type.encoding is not None:
        return False
    mesh = mesh_of(sharding, op)
    return mesh is not None and (
        _strides(other_sharding, other_type, mesh) == _strides(sharding, op_type, mesh)
    )


def _strides(sharding: TensorSharding, type: RankedTensor, mesh: Mesh) -> list[tuple[AxisRef, int]]:
    """The distance in elements between neighboring shards along each axis, the smallest first."""
    strides: list[tuple[AxisRef, int]] = []
    minor_size = 1
    for dim, size in zip(reversed(sharding.dims), reversed(type.shape), strict=False):
        stride = minor_size * -(-size // dim.sharded_size(mesh))
        for axis in reversed(dim.axes):
            strides.append((axis, stride))
            stride *= axis.size(mesh)
        minor_size *= size
    strides.sort(key=lambda entry: entry[1])
    return _with_merged_axes(strides, mesh) if Behavior.SUB_AXES_ACROSS_RESHAPES.active else strides


def _with_merged_axes(strides: Sequence[tuple[AxisRef, int]], mesh: Mesh) -> list[tuple[AxisRef, int]]:
    """Merges adjacent sub-axes if their strides are those that the merged axis has."""
    merged: list[tuple[AxisRef, int]] = []
    for axis, stride in strides:
        if merged:
            minor, minor_stride = merged[-1]
            if axis.can_merge(minor) and stride == minor_stride * minor.size(mesh):
                merged[-1] = axis.merge(minor, mesh), minor_stride
                continue
        merged.append((axis, stride))
    return merged


def _clone_path(root: Value, end: Value, value: Value, rewriter: Rewriter) -> Value:
    """Clones the reshapes and transposes that compute `end` from `root`, so that they start from `value`."""
    path = []
    while end is not root:
        op = end.defining_op
        assert op is not None
        path.append(op)
        end = op.operand_at(0)
    for op in reversed(path):
        copy = rewriter.clone(op, {op.operand_at(0): value})
        assert value.defining_op is not None
        rewriter.insert(copy, after=value.defining_op)
        value = copy.results[0]
    return value


ReshardOp.canonicalizations = (
    Pattern(
        _fold_reshards,
        "mlir::sdy::(anonymous namespace)::ReshardOfReshardPattern",
        (RESHARD_LABEL,),
        benefit=2,
    ),
    Pattern(_reuse_reshard, "mlir::sdy::(anonymous namespace)::ReshardCommonSubexpressionEliminationPattern"),
)
