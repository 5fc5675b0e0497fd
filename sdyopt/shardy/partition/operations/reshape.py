"""`reshape`, and operations that create elements: constants, `iota`, `rng_bit_generator`, broadcasts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import prod

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.releases import Behavior
from sdyopt.mlir.asm.printer.asm_printer import legalization_error
from sdyopt.mlir.dialects.sdy.axes import AxisRef, with_axes
from sdyopt.mlir.dialects.sdy.ops import ConstantOp as SdyConstantOp
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp
from sdyopt.mlir.dialects.stablehlo.nullary import ConstantOp, IotaOp
from sdyopt.mlir.dialects.stablehlo.numerics import RngBitGeneratorOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp, ReshapeOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import ranked
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.types import I1, IntegerType, RankedTensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.halo_exchange import Padding, ReadDimension, Reads, exchange, plan_halo
from sdyopt.shardy.partition.local_builder import LocalBuilder, scalar_type, shape_of
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
from sdyopt.shardy.partition.padding import (
    Padded,
    Padder,
    pads,
    unpadded_result_shape,
    unpadded_shape,
    unsupported,
)
from sdyopt.shardy.partition.replication import Dim, all_dims, crosses_shards, dims_to_replicate
from sdyopt.shardy.partition.sharded_body import HaloContext, Values, begin_body, exchanges_halos
from sdyopt.shardy.sharding.axis_lists import shard_indices

Groups = tuple[list[int], list[int]]


@crosses_shards(ReshapeOp)
def reshape(op: ReshapeOp, types: LocalTypes) -> Iterator[Dim]:
    """Dimensions that are split or merged, unless both sides have the same blocks of elements.

    Also dimensions of size 1 next to a dimension that is kept.
    """
    if 0 in shape_of(op.operands[0]):
        yield from all_dims(op)
        return
    for group in groups_of_reshape(op, types):
        yield from group.crossing


@exchanges_halos(ReshapeOp)
def exchange_reshape(op: ReshapeOp, context: HaloContext) -> Values:
    """Groups of dimensions are sharded along their first dimension, by the same axes before and after."""
    operand, result = op.operands[0], op.results[0]
    # Most reshapes need no other shards, which is cached.
    if 0 in shape_of(operand) or not dims_to_replicate(op, context.types, keep_local_windows=True):
        return None
    groups = list(groups_of_reshape(op, context.types))
    reads = _reads(groups, op, context.types)
    body = begin_body(op, context) if reads else None
    if body is None or reads is None:
        return None
    shard = body.shard_of(operand)
    value = body.reshape(
        shard, [prod(shape_of(shard)[dim] for dim in group.operand_dims) for group in groups]
    )
    zero = Padding(body.zero(scalar_type(value)), is_zero=True)
    for read in reads:
        value = exchange(body, value, read, zero)
    sharding = body.sharding(result)
    padded = context.types.padded_type(result.type, sharding)
    local = context.types.local_type(padded, sharding, op)
    assert isinstance(local, RankedTensor)
    return body.finish([body.reshape(value, local.shape)])


def received_elements(op: ReshapeOp, types: LocalTypes) -> Fraction | None:
    """The number of elements that a device receives in halos; None if a dimension must be replicated."""
    reads = _reads(list(groups_of_reshape(op, types)), op, types)
    if reads is None:
        return None
    value = op.operands[0]
    axes = types.axes_per_dim(value)
    shard_shape = [types.shard_size(size, axes[dim], value) for dim, size in enumerate(shape_of(value))]
    total, elements = Fraction(0), Fraction(prod(shard_shape))
    for read in reads:
        shard_size = -(-read.reads.size // read.reads.shards)
        total += elements * read.plan.received / shard_size
        elements = elements * read.reads.length / shard_size
    return total


def _reads(groups: Sequence[ReshapeGroup], op: ReshapeOp, types: LocalTypes) -> list[ReadDimension] | None:
    """The reads of each device from groups that need other shards; None if one needs them all."""
    reads: list[ReadDimension] = []
    for number, group in enumerate(groups):
        if group.crossing:
            read = _read(number, group, op, types)
            if read is None:
                return None
            reads.append(read)
    return reads


def _read(number: int, group: ReshapeGroup, op: ReshapeOp, types: LocalTypes) -> ReadDimension | None:
    """The reads of each device from the elements of a group, in row-major order."""
    operand, result = op.operands[0], op.results[0]
    before = consecutive_shards(operand, group.operand_dims, types)
    after = consecutive_shards(result, group.result_dims, types)
    if before is None or after is None or before.axes != after.axes:
        return None
    count = types.shard_count(before.axes, operand)
    size = prod(shape_of(operand)[dim] for dim in group.operand_dims)
    starts = [shard * after.size for shard in range(count)]
    needed = [(start, min(start + after.size, size)) if start < size else None for start in starts]
    read = Reads(before.size * count, starts, after.size, needed)
    plan = plan_halo(read)
    return None if plan is None else ReadDimension(number, before.axes, read, plan)


@pads(ReshapeOp)
def pad_reshape(op: ReshapeOp, padder: Padder) -> Padded:
    """Keeps a reshape if only the first of the dimensions that it splits or merges are padded, and alike.

    The padding is then after the elements on both sides. `sdy-resolve-permutation-factors` has replicated
    other dimensions, or exchanged their halos.
    """
    padded = padder.padded_type(op.results[0])
    assert isinstance(padded, RankedTensor)
    before, after = unpadded_shape(op, 0), unpadded_result_shape(op)
    if 0 in before:
        return None
    old = list(zip(before, shape_of(op.operand), strict=True))
    new = list(zip(after, padded.shape, strict=True))
    dim = _misplaced_padding(old, new, reshape_groups(before, after))
    # A padded dimension of one element corresponds to another by its padded size only.
    if dim is not None and not _keeps_padding(old, new):
        error = op.op_error(
            "participating reshape dimensions are not divisible. "
            "Reshape sharding should have been resolved by resolve-permutation-factors."
        )
        help = f"dimension {dim} has padding before elements; run -sdy-resolve-permutation-factors first"
        raise error.help(help).then(legalization_error(op))
    return None


def _keeps_padding(old: Sequence[tuple[int, int]], new: Sequence[tuple[int, int]]) -> bool:
    """Whether the dimensions that correspond by their padded sizes are padded alike."""
    shape, result_shape = [size for _, size in old], [size for _, size in new]
    if prod(shape) != prod(result_shape):
        return False
    return _misplaced_padding(old, new, reshape_groups(shape, result_shape)) is None


def _misplaced_padding(
    old: Sequence[tuple[int, int]], new: Sequence[tuple[int, int]], groups: Iterable[Groups]
) -> int | None:
    """The first dimension of a group with padding before other elements, or not alike on both sides."""
    for dims, result_dims in groups:
        # Without dimensions of one element, which may be anywhere in a group.
        before = [old[dim] for dim in dims if old[dim][1] != 1]
        after = [new[dim] for dim in result_dims if new[dim][1] != 1]
        is_padded = any(size != padded_size for size, padded_size in (*before, *after))
        is_at_end = all(size == padded_size for size, padded_size in (*before[1:], *after[1:]))
        if is_padded and not (is_at_end and _products(before) == _products(after)):
            return dims[0] if dims else 0
    return None


def _products(sizes: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The number of elements without padding and with it."""
    return prod(size for size, _ in sizes), prod(size for _, size in sizes)


class ReshapeGroup(NamedTuple):
    """Dimensions of the operand, and those of the result that they become.

    `crossing` are those that must not be sharded if the shards of the operand are reshaped one by one.
    """

    operand_dims: Sequence[int]
    result_dims: Sequence[int]
    crossing: Sequence[Dim]


def groups_of_reshape(op: ReshapeOp, types: LocalTypes) -> Iterator[ReshapeGroup]:
    """The groups of a reshape of a tensor that is not empty."""
    values = (op.operands[0], op.results[0])
    shapes = [shape_of(value) for value in values]
    axes = [types.axes_per_dim(value) for value in values]
    for dims in reshape_groups(*shapes):
        kept = [[dim for dim in group if shape[dim] != 1] for group, shape in zip(dims, shapes, strict=True)]
        is_kept = len(kept[0]) == len(kept[1]) == 1 and axes[0][kept[0][0]] == axes[1][kept[1][0]]
        numbered = [Dim(number, dim) for number, group in enumerate(dims) for dim in group]
        blocks = [_blocks(value, group, types) for value, group in zip(values, dims, strict=True)]
        shards = [consecutive_shards(value, group, types) for value, group in zip(values, dims, strict=True)]
        if is_kept:
            # Dimensions of size 1 next to a dimension that is kept.
            numbered = [place for place in numbered if shapes[place.tensor][place.dim] == 1]
        elif any(before is not None and before == after for before, after in (blocks, shards)):
            numbered = []
        sharded = [place for place in numbered if axes[place.tensor][place.dim]]
        yield ReshapeGroup(*dims, sharded)


class ConsecutiveShards(NamedTuple):
    """The axes along which the elements of some dimensions are cut into shards of `size`, in row-major order.

    The last shards may be smaller.
    """

    axes: Axes
    size: int


def consecutive_shards(value: Value, dims: Sequence[int], types: LocalTypes) -> ConsecutiveShards | None:
    """The shards of some dimensions, if only the first that is larger than 1 is sharded; else None."""
    axes_per_dim, shape = types.axes_per_dim(value), shape_of(value)
    sharded = [dim for dim in dims if axes_per_dim[dim]]
    first = next((dim for dim in dims if shape[dim] != 1), None)
    if sharded != [first]:
        return None
    sizes = [types.shard_size(shape[dim], axes_per_dim[dim], value) for dim in dims]
    return ConsecutiveShards(axes_per_dim[sharded[0]], prod(sizes))


def _blocks(value: Value, dims: Sequence[int], types: LocalTypes) -> Axes | None:
    """The axes along which the elements of some dimensions, in row-major order, are cut into equal blocks.

    None if the shards are not such blocks: the size of a sharded dimension is not divisible, or a dimension
    before it has shards of more than one element.
    """
    shape, axes_per_dim = shape_of(value), types.axes_per_dim(value)
    blocks: tuple[AxisRef, ...] = ()
    is_complete = True
    for dim in dims:
        axes = axes_per_dim[dim]
        count = types.shard_count(axes, value)
        if count == 1:
            is_complete = is_complete and shape[dim] == 1
            continue
        if not is_complete or shape[dim] % count:
            return None
        is_complete = shape[dim] == count
        sharding = types.sharding(value)
        mesh = None if sharding is None else types.mesh(sharding)
        assert mesh is not None
        blocks = with_axes(blocks, axes, mesh)
    return blocks


def reshape_groups(shape: Sequence[int], result_shape: Sequence[int]) -> Iterator[Groups]:
    """The smallest ranges of dimensions of both shapes with equal numbers of elements."""
    groups: Groups = ([], [])
    products, remaining = [1, 1], [list(enumerate(shape)), list(enumerate(result_shape))]
    while any(remaining):
        side = 0 if remaining[0] and (products[0] <= products[1] or not remaining[1]) else 1
        dim, size = remaining[side].pop(0)
        groups[side].append(dim)
        products[side] *= size
        if products[0] == products[1]:
            yield groups
            groups, products = ([], []), [1, 1]


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
