"""Per-device programs inside of a global one: an operation is replaced by a manual computation.

All axes of the operands and results are manual, so the body computes with shards. Operands are padded to
even shards before, and results are cut after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from sdyopt.mlir.dialects.sdy.axes import AxisRef, ManualAxes
from sdyopt.mlir.dialects.sdy.mesh import REPLACES, SHARDING, SHARDING_RULE, Mesh
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, ReturnOp
from sdyopt.mlir.dialects.sdy.sharding import MeshOrRef, ShardingPerValue, TensorSharding, fully_replicated
from sdyopt.mlir.dialects.sdy.value_shardings import rank_of
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp, DivOp, MulOp, RemOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import ranked
from sdyopt.mlir.ir.attribute import Attribute, StringAttr
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import I64, RankedTensor, Type, tensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.local_builder import SCALAR_I64, Channels, LocalBuilder, shape_of
from sdyopt.shardy.partition.local_context import Axes, LocalTypes, OpTable, device_id
from sdyopt.shardy.partition.replication import has_different_meshes, has_user_rule
from sdyopt.shardy.sharding.axis_lists import MAX_DEVICES, digit_of, shard_indices


class HaloContext:
    """The context in which operations are replaced by per-device programs."""

    def __init__(
        self,
        types: LocalTypes,
        rewriter: Rewriter,
        channels: Channels,
        replica_count: int,
        is_marking: bool = False,
        as_partitioner: bool = False,
    ) -> None:
        self.types = types
        self.rewriter = rewriter
        self.channels = channels
        self.is_replicated = replica_count > 1
        # Whether manual computations get the name of the operation that they replace.
        self.is_marking = is_marking
        # Whether operands are gathered where XLA's partitioner gathers them, although less could be sent.
        self.as_partitioner = as_partitioner


class ShardedBody(LocalBuilder):
    """Builds the body of a manual computation in place of an operation."""

    def __init__(self, op: Op, mesh_or_ref: MeshOrRef, mesh: Mesh, context: HaloContext) -> None:
        self._region = Region()
        self._body = self._region.add_block()
        super().__init__(op, context.rewriter, at_end_of=self._body)
        self.context = context
        self.mesh = mesh
        self._mesh_or_ref = mesh_or_ref
        self._operands: list[Value] = []
        self._shardings: list[TensorSharding] = []
        self._shard_indices: dict[Axes, Value] = {}

    # --- Arguments and results --------------------------------------------------------------------

    def shard_of(self, value: Value, padding: Value | None = None) -> Value:
        """The shard of a value. If shards would be uneven, it is padded with a scalar, by default zero."""
        sharding = self.sharding(value)
        even = self.context.types.padded_type(value.type, sharding)
        if even is not value.type:
            assert isinstance(even, RankedTensor)
            value = self._padded(value, even, sharding, padding)
        local = self.context.types.local_type(even, sharding, self.before)
        self._operands.append(value)
        self._shardings.append(sharding)
        return self._body.add_argument(local, self.before.lazy_location)

    def _padded(
        self, value: Value, even: RankedTensor, sharding: TensorSharding, padding: Value | None
    ) -> Value:
        outside = LocalBuilder(self.before, self.rewriter)
        if padding is None:
            padding = outside.zero(tensor((), even.element))
        high = [size - old for size, old in zip(even.shape, shape_of(value), strict=True)]
        padded = outside.pad(value, padding, [0] * even.rank, high)
        self._set_sharding(padded, sharding)
        return padded

    def sharding(self, value: Value) -> TensorSharding:
        """The sharding of a value; fully replicated if it has none."""
        sharding = self.context.types.sharding(value)
        if sharding is None or sharding.is_fully_replicated:
            return fully_replicated(rank_of(value.type), self._mesh_or_ref, is_closed=True)
        return sharding

    def finish(self, locals: Sequence[Value]) -> Sequence[Value]:
        """Creates the manual computation, and returns what replaces the results of the operation."""
        results = self.before.results
        shardings = [self.sharding(result) for result in results]
        types = [
            self.context.types.padded_type(result.type, sharding)
            for result, sharding in zip(results, shardings, strict=True)
        ]
        outside = LocalBuilder(self.before, self.rewriter)
        values: list[Value] = []
        padded = self.computation(locals, types, shardings)
        for value, result, sharding in zip(padded, results, shardings, strict=True):
            if value.type is result.type:
                values.append(value)
            else:
                shape = shape_of(result)
                values.append(outside.slice(value, [0] * len(shape), shape))
                self._set_sharding(values[-1], sharding)
        return values

    def computation(
        self, locals: Sequence[Value], types: Sequence[Type], shardings: Sequence[TensorSharding]
    ) -> Sequence[Value]:
        """Creates the manual computation, whose results have even shards, and returns these."""
        self.rewriter.create(ReturnOp, locals, at_end_of=self._body, location=self.before.lazy_location)
        attributes = {
            "in_shardings": ShardingPerValue(tuple(self._shardings)),
            "out_shardings": ShardingPerValue(tuple(shardings)),
            "manual_axes": self._manual_axes([*self._shardings, *shardings]),
        }
        outside = LocalBuilder(self.before, self.rewriter)
        computation = outside.create(ManualComputationOp, self._operands, types, attributes, [self._region])
        if self.context.is_marking:
            name = StringAttr(self.before.signature.name)
            self.rewriter.set_attribute(computation, REPLACES, name)
        return computation.results

    def _manual_axes(self, shardings: Sequence[TensorSharding]) -> ManualAxes:
        names = {axis.name for sharding in shardings for axis in sharding.axis_refs}
        return ManualAxes(tuple([axis.name for axis in self.mesh.axes if axis.name in names]))

    def _set_sharding(self, value: Value, sharding: TensorSharding) -> None:
        op = value.defining_op
        assert op is not None
        self.rewriter.set_attribute(op, SHARDING, ShardingPerValue((sharding,)))

    # --- Numbers that depend on the device ----------------------------------------------------------

    def shard_index(self, axes: Axes) -> Value:
        """The index of the shard of this device along some axes, as a scalar `i64`."""
        if axes not in self._shard_indices:
            self._shard_indices[axes] = self._compute_shard_index(axes)
        return self._shard_indices[axes]

    @cached_property
    def _device(self) -> Value:
        return device_id(self, self.context.is_replicated)

    def _compute_shard_index(self, axes: Axes) -> Value:
        """By arithmetic on the id of the device, or from a table if the ids are permuted."""
        device = self._device
        if self.mesh.device_ids:
            return self._entry(shard_indices(axes, self.mesh), device)
        index: Value | None = None
        for axis in axes:
            digit = self._digit(axis, device)
            if index is not None:
                higher = self.binary(MulOp, index, self.index(axis.size(self.mesh)))
                digit = self.binary(AddOp, higher, digit)
            index = digit
        return self.index(0) if index is None else index

    def _digit(self, axis: AxisRef, device: Value) -> Value:
        stride, size = digit_of(axis, self.mesh)
        if stride > 1:
            device = self.binary(DivOp, device, self.index(stride))
        if stride * size < self.mesh.total_size:
            device = self.binary(RemOp, device, self.index(size))
        return device

    def _entry(self, table: Sequence[int], index: Value) -> Value:
        values = self.integers(tensor((len(table),), I64), table)
        return self.reshape(self.dynamic_slice(values, [index], [1]), SCALAR_I64.shape)

    def per_shard(self, numbers: Sequence[int | None], axes: Axes) -> Value | int:
        """The number for the shard of this device; None is any number.

        A constant if they are all equal, else by arithmetic if they are linear, else from a table.
        """
        known = [(shard, number) for shard, number in enumerate(numbers) if number is not None]
        if not known:
            return 0
        (first_shard, first), (last_shard, last) = known[0], known[-1]
        step = (last - first) // (last_shard - first_shard) if last_shard > first_shard else 0
        base = first - first_shard * step
        if any(number != base + shard * step for shard, number in known):
            table = [number if number is not None else 0 for number in numbers]
            return self._entry(table, self.shard_index(axes))
        if not step:
            return base
        product = self.shard_index(axes)
        if step != 1:
            product = self.binary(MulOp, product, self.index(step))
        return self.binary(AddOp, product, self.index(base)) if base else product


def shape_along(value: Value, dim: int, size: int) -> list[int]:
    """The shape of a value with another size of one dimension."""
    shape = list(ranked(value).shape)
    shape[dim] = size
    return shape


# How operations are run on shards with the halos that they need from other shards.
#
#     @exchanges_halos(SliceOp)
#     def exchange_slice(op: SliceOp, context: HaloContext) -> Values: ...
#
# Such a function replaces an operation by a manual computation that exchanges halos, and returns the values
# that replace its results. It returns None if it cannot, or if the halos are not smaller than the rest of the
# operands; then the operands are replicated along the dimensions that cross shards. With `has_sums`, results
# are partial sums if some dimensions are sharded.


Values = Sequence[Value] | None
exchanges_halos: OpTable[Callable[[Any, HaloContext], Values]] = OpTable()

# A permute lists pairs of devices.
_MAX_DEVICES = MAX_DEVICES // 2


def exchange_halos(op: Op, context: HaloContext) -> Values:
    """The values that replace the results of an operation; None if its operands must be replicated."""
    exchange = exchanges_halos.get(type(op))
    if exchange is None or _mesh_of(op, context) is None:
        return None
    # Partial sums need an all-reduce, which follows by the operation's own rule only.
    if exchanges_halos.has(type(op), "has_sums") and has_user_rule(op):
        return None
    return exchange(op, context)


def may_be_sharded_more(op_class: type[Op]) -> bool:
    """Whether operations exchange halos, and no further axis can make their results partial sums."""
    return exchanges_halos.get(op_class) is not None and not exchanges_halos.has(op_class, "has_sums")


def begin_body(op: Op, context: HaloContext) -> ShardedBody | None:
    """A body in place of an operation; None without a single mesh that the operation can use."""
    mesh = _mesh_of(op, context)
    return None if mesh is None else ShardedBody(op, *mesh, context)


def _mesh_of(op: Op, context: HaloContext) -> tuple[MeshOrRef, Mesh] | None:
    """The mesh of all sharded operands and results.

    None if there is not exactly one, if it is maximal, if its devices are too many to list, or if a tensor is
    unreduced.
    """
    shardings = [context.types.sharding(value) for value in (*op.operands, *op.results)]
    sharded = [
        sharding for sharding in shardings if sharding is not None and not sharding.is_fully_replicated
    ]
    meshes = {sharding.mesh_or_ref for sharding in sharded}
    if len(meshes) != 1 or any(sharding.unreduced_axes for sharding in sharded):
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
