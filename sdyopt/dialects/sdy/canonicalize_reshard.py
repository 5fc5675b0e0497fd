"""Simplifications of reshards: of two in a row the last one counts, and equal ones are made once.

Reshapes and transposes between do not matter: the data keeps its order, or that is accounted for.
The operations that do this are known by name, for they belong to another dialect.
"""

from __future__ import annotations

from typing import Any

from sdyopt.diagnostics.location import fused
from sdyopt.dialects.sdy.axes import AxisRef
from sdyopt.dialects.sdy.mesh import Mesh
from sdyopt.dialects.sdy.mesh_op import mesh_of
from sdyopt.dialects.sdy.sharding import TensorSharding
from sdyopt.ir.elements_attributes import DenseArray
from sdyopt.ir.operation import Op
from sdyopt.ir.patterns import Pattern
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.types import RankedShape, RankedTensor, Type
from sdyopt.ir.value import Value

# What passes enable merging of two reshards by.
RESHARD_LABEL = "sdy-reshard"
_RESHARD, _RESHAPE, _TRANSPOSE = "sdy.reshard", "stablehlo.reshape", "stablehlo.transpose"
_METADATA_ONLY = (_RESHAPE, _TRANSPOSE)


# --- Two in a row ---------------------------------------------------------------------------------


def _merge_reshards(op: Any, rewriter: Rewriter) -> bool:
    inner = op.input.defining_op
    if inner is None or inner.signature.name != _RESHARD or not inner.output.has_one_use:
        return False
    if inner is op:
        # In a graph region; there is nothing that it could be made of instead.
        return False
    location = fused([op.location, inner.location])
    attributes = {"sharding": op.sharding}
    types = op.signature.result_types
    rewriter.replace(
        op, rewriter.create(type(op), [inner.input], types, attributes, before=op, location=location)
    )
    return True


RESHARD_OF_RESHARD = Pattern(
    _merge_reshards,
    "mlir::sdy::(anonymous namespace)::ReshardOfReshardPattern",
    (RESHARD_LABEL,),
    benefit=2,
)


# --- Equal ones -----------------------------------------------------------------------------------


def _reuse_reshard(op: Any, rewriter: Rewriter) -> bool:
    """Uses the result of an earlier reshard of the same data in the same way."""
    root = _root(op.input)
    target = _target_sharding(op.sharding, op.input, root)
    found = _find_reshard(root, target, op)
    if found is None:
        return False
    earlier, reshape_class = found
    value: Value = earlier.results[0]
    if value.type is not root.type:
        assert reshape_class is not None
        value = rewriter.create(
            reshape_class, [value], [root.type], after=earlier, location=op.location
        ).results[0]
    rewriter.replace(op, [_clone_path(root, op.input, value, rewriter)])
    return True


def _root(value: Value) -> Value:
    """The value from which reshapes and transposes made this one.

    In a graph region they may be in a circle, of which the value found first will do.
    """
    passed: set[Value] = set()
    op = value.defining_op
    while value not in passed and op is not None and op.signature.name in _METADATA_ONLY:
        passed.add(value)
        value = op.operand_at(0)
        op = value.defining_op
    return value


def _target_sharding(sharding: TensorSharding, value: Value, root: Value) -> TensorSharding:
    """What a sharding of `value` is one of, before it was transposed; a change of rank ends the search."""
    while value is not root:
        op = value.defining_op
        assert op is not None
        value = op.operand_at(0)
        if op.signature.name == _TRANSPOSE:
            permutation = op.signature.attribute("permutation")
            assert isinstance(permutation, DenseArray)
            dims = dict(zip(permutation.values, sharding.dims, strict=True))
            sharding = sharding.with_dims(dims[number] for number in range(len(dims)))
        elif _rank(value.type) != _rank(op.signature.result_types[0]):
            break
    return sharding


def _find_reshard(root: Value, target: TensorSharding, op: Any) -> tuple[Op, type[Op] | None] | None:
    """An earlier reshard in the block that does the same, found from the root through reshapes only.

    With it comes the class of the reshapes, if there were any.
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
            if user.signature.name == _RESHARD:
                if _is_same_reshard(user, target, op) and user.parent is op.parent and user.is_before(op):
                    return user, reshape_class
            elif user.signature.name == _RESHAPE:
                reshape_class = type(user)
                pending.append(user.results[0])
    return None


def _is_same_reshard(other: Any, target: TensorSharding, op: Any) -> bool:
    """Whether both leave each device with the same data, seen as a list in row-major order."""
    type, wanted = other.signature.result_types[0], op.signature.result_types[0]
    sharding: TensorSharding = other.sharding
    if sharding is target and type is wanted:
        return True
    if sharding.mesh_or_ref is not target.mesh_or_ref:
        return False
    if sharding.replicated_axes != target.replicated_axes:
        return False
    if not isinstance(type, RankedTensor) or not isinstance(wanted, RankedTensor):
        return False
    if type.encoding is not None or wanted.encoding is not None:
        return False
    mesh = mesh_of(sharding, op)
    return mesh is not None and _strides(sharding, type, mesh) == _strides(target, wanted, mesh)


def _strides(sharding: TensorSharding, type: RankedTensor, mesh: Mesh) -> list[tuple[AxisRef, int]]:
    """How far apart, in the whole tensor, neighbours along each axis start; the closest first."""
    strides: list[tuple[AxisRef, int]] = []
    below = 1
    for dim, size in zip(reversed(sharding.dims), reversed(type.shape), strict=False):
        stride = below * -(-size // dim.sharded_size(mesh))
        for axis in reversed(dim.axes):
            strides.append((axis, stride))
            stride *= axis.size(mesh)
        below *= size
    return sorted(strides, key=lambda entry: entry[1])


def _clone_path(root: Value, target: Value, value: Value, rewriter: Rewriter) -> Value:
    """What `target` would be if `value` stood in place of the root it is made from."""
    path = []
    while target is not root:
        op = target.defining_op
        assert op is not None
        path.append(op)
        target = op.operand_at(0)
    for op in reversed(path):
        copy = rewriter.clone(op, {op.operand_at(0): value})
        assert value.defining_op is not None
        rewriter.insert(copy, after=value.defining_op)
        value = copy.results[0]
    return value


def _rank(type: Type) -> int:
    return type.rank if isinstance(type, RankedShape) else 0


REUSE_RESHARD = Pattern(
    _reuse_reshard, "mlir::sdy::(anonymous namespace)::ReshardCommonSubexpressionEliminationPattern"
)
