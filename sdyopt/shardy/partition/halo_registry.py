"""How operations are run on shards with the halos that they need from other shards.

    @exchanges_halos(SliceOp)
    def exchange_slice(op: SliceOp, context: HaloContext) -> Values: ...

Such a function replaces an operation by a manual computation that exchanges halos, and returns the values
that replace its results. It returns None if it cannot, or if the halos are not smaller than the rest of the
operands; then the operands are replicated along the dimensions that cross shards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

from sdyopt.mlir.dialects.sdy.dialect import SHARDING, SHARDING_RULE
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.sharding import MeshOrRef
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.device_positions import MAX_DEVICES
from sdyopt.shardy.partition.replication import has_different_meshes, has_user_rule
from sdyopt.shardy.partition.sharded_body import HaloContext, ShardedBody

Values = Sequence[Value] | None
# Functions only take operations of the classes that they are registered for.
Exchange = Callable[[Any, HaloContext], Values]
E = TypeVar("E", bound=Exchange)

# A permute lists pairs of devices.
_MAX_DEVICES = MAX_DEVICES // 2

_exchanges: dict[type[Op], Exchange] = {}
_classes_with_sums: set[type[Op]] = set()


def exchanges_halos(*op_classes: type[Op], has_sums: bool = False) -> Callable[[E], E]:
    """Registers the function that exchanges the halos of operations of these classes.

    With `has_sums`, results are partial sums if some dimensions are sharded.
    """

    def register(function: E) -> E:
        for op_class in op_classes:
            assert op_class not in _exchanges, f"{op_class.name} is registered twice"
            _exchanges[op_class] = function
            if has_sums:
                _classes_with_sums.add(op_class)
        return function

    return register


def exchange_halos(op: Op, context: HaloContext) -> Values:
    """The values that replace the results of an operation; None if its operands must be replicated."""
    _load_exchanges()
    exchange = _exchanges.get(type(op))
    if exchange is None or _mesh_of(op, context) is None:
        return None
    # Partial sums need an all-reduce, which follows by the operation's own rule only.
    if type(op) in _classes_with_sums and has_user_rule(op):
        return None
    return exchange(op, context)


def may_be_sharded_more(op: Op) -> bool:
    """Whether an operation exchanges halos, and no further axis can make its result a partial sum."""
    _load_exchanges()
    return type(op) in _exchanges and type(op) not in _classes_with_sums


def begin_body(op: Op, context: HaloContext) -> ShardedBody | None:
    """A body in place of an operation; None without a single mesh that the operation can use."""
    found = _mesh_of(op, context)
    return None if found is None else ShardedBody(op, *found, context)


def _mesh_of(op: Op, context: HaloContext) -> tuple[MeshOrRef, Mesh] | None:
    """The mesh of all sharded operands and results.

    None if there is not exactly one, if it is maximal, if its devices are too many to list, or if a tensor is
    unreduced.
    """
    shardings = [context.types.sharding(value) for value in (*op.operands, *op.results)]
    sharded = [each for each in shardings if each is not None and not each.is_fully_replicated]
    meshes = {each.mesh_or_ref for each in sharded}
    if len(meshes) != 1 or any(each.unreduced_axes for each in sharded):
        return None
    if has_different_meshes(op, context.types):
        return None
    mesh = context.types.mesh(sharded[0])
    return None if mesh is None or not may_exchange(mesh) else (sharded[0].mesh_or_ref, mesh)


def may_exchange(mesh: Mesh) -> bool:
    """Whether the devices of a mesh can exchange data, and are few enough to list."""
    return not mesh.is_maximal and mesh.total_size <= _MAX_DEVICES


def attributes_of(op: Op) -> dict[str, Attribute]:
    """The attributes of an operation, without its sharding and sharding rule."""
    attributes = {**dict(op.signature.attributes), **dict(op.attributes)}
    for name in (SHARDING, SHARDING_RULE):
        attributes.pop(name, None)
    return attributes


@cache
def _load_exchanges() -> None:
    """Imports the modules that register functions, at the first use, not at start-up."""
    import_module("sdyopt.shardy.partition.halos")
