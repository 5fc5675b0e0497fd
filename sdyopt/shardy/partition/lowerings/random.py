"""rng_bit_generator: each device generates the bits of its shard from a state of its own.

Before jaxlib 0.12.0.1, every device generates all bits, and slices them to its shard.
"""

from __future__ import annotations

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp
from sdyopt.mlir.dialects.stablehlo.random import RngBitGeneratorOp
from sdyopt.mlir.ir.types import I1, IntegerType, RankedTensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.device_positions import shard_indices
from sdyopt.shardy.partition.local_builder import LocalBuilder, ranked
from sdyopt.shardy.partition.local_context import LocalContext, check_device_count, first_shard_table
from sdyopt.shardy.partition.local_types import Axes
from sdyopt.shardy.partition.registry import Lowered, lowering


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
