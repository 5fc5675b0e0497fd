"""Operations that create elements: constants, `iota`, `rng_bit_generator` and `broadcast_in_dim`."""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.sdy.ops import ConstantOp as SdyConstantOp
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp
from sdyopt.mlir.dialects.stablehlo.nullary import ConstantOp, IotaOp
from sdyopt.mlir.dialects.stablehlo.numerics import RngBitGeneratorOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import ranked
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.types import I1, IntegerType, RankedTensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.local_builder import LocalBuilder, shape_of
from sdyopt.shardy.partition.local_context import (
    Axes,
    LocalContext,
    LocalTypes,
    Lowered,
    check_device_count,
    first_shard_table,
    lowering,
)
from sdyopt.shardy.partition.operations.collectives import slice_replicated
from sdyopt.shardy.partition.padding import Padded, Padder, pads, unpadded_shape, unsupported
from sdyopt.shardy.partition.replication import Dim, crosses_shards
from sdyopt.shardy.sharding.axis_lists import shard_indices


@lowering(SdyConstantOp, ConstantOp)
def lower_constant(op: SdyConstantOp | ConstantOp, local: LocalContext) -> Lowered:
    """A splat becomes a local splat; any other constant is sliced to the shard of this device."""
    sharding, type = sharding_of(op.output), local.local_tensor(op.output, op)
    if sharding is not None and local.types.mesh(sharding) is None:
        raise op.op_error("failed to resolve mesh for constant")
    is_local = type is op.signature.result_types[0]
    if is_local and isinstance(op, ConstantOp):
        return None
    builder, value = local.builder(op), op.value
    if isinstance(value, DenseElements) and value.is_splat:
        return [builder.splat(type, value.data)]
    whole = builder.create(ConstantOp, (), op.signature.result_types, {"value": value}).result
    if is_local or sharding is None:
        return [whole]
    mesh = local.mesh(sharding, op)
    return [local.slice_for_axes(builder, whole, local.axes_per_dim(op.output), mesh, type)]


@lowering(IotaOp)
def lower_iota(op: IotaOp, local: LocalContext) -> Lowered:
    """A local iota, plus the offset of the shard if the dimension that it counts is sharded."""
    axes_per_dim, type = local.axes_per_dim(op.output), local.local_tensor(op.output, op)
    if not any(axes_per_dim):
        return None
    builder, dimension = local.builder(op), op.iota_dimension
    iota = builder.iota(type, dimension)
    axes = axes_per_dim[dimension]
    if not axes:
        return [iota]
    mesh = local.common_mesh(op)
    offset = local.offset(builder, axes, mesh, type.shape[dimension])
    offset = builder.convert(offset, type.element)
    return [builder.binary(AddOp, iota, builder.broadcast(offset, type))]


@crosses_shards(BroadcastInDimOp)
def broadcast_in_dim(op: BroadcastInDimOp, types: LocalTypes) -> Iterator[Dim]:
    """Dimensions of size 1: all their shards but the first are padding."""
    for dim, result_dim in enumerate(op.broadcast_dimensions):
        if shape_of(op.operand)[dim] == 1:
            yield Dim(0, dim)
            if shape_of(op.results[0])[result_dim] == 1:
                yield Dim(1, result_dim)


@crosses_shards(IotaOp)
def iota(op: IotaOp, types: LocalTypes) -> Iterator[Dim]:
    """No dimension: each shard counts from its offset."""
    yield from ()


@lowering(RngBitGeneratorOp)
def lower_rng_bit_generator(op: RngBitGeneratorOp, local: LocalContext) -> Lowered:
    """Generates the bits of this shard; the new state is that of the first shard."""
    if any(local.axes_per_dim(op.initial_state)) or any(local.axes_per_dim(op.output_state)):
        raise op.op_error("the state is sharded, and every device needs all of it")
    axes_per_dim = local.axes_per_dim(op.output)
    if not any(axes_per_dim):
        return None
    builder, type = local.builder(op), local.local_tensor(op.output, op)
    attributes = dict(op.signature.attributes)
    if not Behavior.SHARDED_RANDOM_BITS.active:
        state, bits = builder.create(
            RngBitGeneratorOp, [op.initial_state], op.signature.result_types, attributes
        ).results
        return [state, local.slice_for_axes(builder, bits, axes_per_dim, local.common_mesh(op), type)]
    axes = tuple([axis for dim_axes in axes_per_dim for axis in dim_axes])
    device = local.device_id(builder)
    initial = _state_of_shard(op, device, axes, builder, local)
    state, bits = builder.create(RngBitGeneratorOp, [initial], [initial.type, type], attributes).results
    return [_state_of_first_shard(op, state, device, axes, builder, local), bits]


def _state_of_shard(
    op: RngBitGeneratorOp, device: Value, axes: Axes, builder: LocalBuilder, local: LocalContext
) -> Value:
    """The initial state plus a hash of the index of the shard."""
    mesh, type = local.common_mesh(op), ranked(op.initial_state)
    check_device_count(mesh, op)
    assert isinstance(type.element, IntegerType)
    hashes = [_hash(index, type.element.width) for index in shard_indices(axes, mesh)]
    shift = builder.reshape(builder.look_up(hashes, type.element, device), ())
    return builder.binary(AddOp, op.initial_state, builder.broadcast(shift, type))


def _hash(index: int, width: int) -> int:
    """The low half of MurmurHash3's 64-bit finalizer, repeated to the width of a number."""
    mask = (1 << 64) - 1
    index ^= index >> 33
    index = index * 0xFF51AFD7ED558CCD & mask
    index ^= index >> 33
    index = index * 0xC4CEB9FE1A85EC53 & mask
    low = (index ^ index >> 33) & 0xFFFFFFFF
    return (low << 32 | low) & (1 << width) - 1


def _state_of_first_shard(
    op: RngBitGeneratorOp, state: Value, device: Value, axes: Axes, builder: LocalBuilder, local: LocalContext
) -> Value:
    """The state after the generation of the first shard, on every device."""
    sharding, mesh = local.sharding(op.output), local.common_mesh(op)
    assert sharding is not None
    table = first_shard_table(axes, mesh, op)
    is_first = builder.reshape(builder.look_up(table, I1, device), ())
    type = ranked(state)
    kept = builder.select(is_first, state, builder.zero(RankedTensor(type.shape, type.element)))
    groups = local.replica_groups(axes, mesh, sharding.mesh_or_ref, op)
    return builder.all_reduce(kept, groups.attribute, local.new_channel(), AddOp)


@pads(SdyConstantOp, ConstantOp)
def pad_constant(op: SdyConstantOp | ConstantOp, padder: Padder) -> Padded:
    """A splat becomes a larger splat; any other constant is padded with zeros on every device, and sliced."""
    type = padder.padded_type(op.output)
    assert isinstance(type, RankedTensor)
    value = op.value
    if isinstance(value, DenseElements) and value.is_splat:
        padder.rewriter.set_attribute(op, "value", DenseElements(type, value.data))
        return None
    whole = padder.builder(op).create(ConstantOp, (), op.signature.result_types, {"value": value}).result
    return [slice_replicated(op, whole, padder.types.sharding(op.output), padder)]


@pads(RngBitGeneratorOp)
def pad_rng_bit_generator(op: RngBitGeneratorOp, padder: Padder) -> Padded:
    """The numbers depend on the shape, so every device generates all of them, and slices.

    They also depend on the whole state, which can therefore not be padded.
    """
    sizes = zip(shape_of(op.initial_state), unpadded_shape(op, 0), strict=True)
    for dim, (padded, unpadded) in enumerate(sizes):
        if padded != unpadded:
            raise unsupported(op, dim)
    attributes = dict(op.signature.attributes)
    whole = padder.builder(op).create(RngBitGeneratorOp, op.operands, op.signature.result_types, attributes)
    state, bits = whole.results
    sharding = padder.types.sharding(op.output)
    return [state, slice_replicated(op, bits, sharding, padder) if sharding is not None else bits]
