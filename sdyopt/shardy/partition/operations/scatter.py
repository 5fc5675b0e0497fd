"""`scatter`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.sdy.axes import AxisRef, difference
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.stablehlo.elementwise import AndOp, SubtractOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.ir.builtin_attributes import boolean
from sdyopt.mlir.ir.types import I1, RankedTensor, tensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.combiners import binary_body
from sdyopt.shardy.partition.identities import identity_of
from sdyopt.shardy.partition.local_builder import LocalBuilder, broadcast_components, ranked, shape_of
from sdyopt.shardy.partition.local_context import FULL_RESHARD_HELP, LocalContext, first_shard_table
from sdyopt.shardy.partition.local_types import Axes, LocalTypes
from sdyopt.shardy.partition.padding import Padded, Padder, pads, unpadded_shape, unsupported
from sdyopt.shardy.partition.partial_results import check_is_combined
from sdyopt.shardy.partition.registry import Lowered, lowering
from sdyopt.shardy.partition.replication import Dim, by_rule, crosses_shards


@lowering(ScatterOp)
def lower_scatter(op: ScatterOp, local: LocalContext) -> Lowered:
    """Scatters into the shard of this device.

    If scatter dimensions of the updates are sharded along axes that do not shard the inputs, the results are
    partial: the first device of each group starts from the inputs, the others from the identity of the
    reduction. Indices into sharded dimensions become local; those of other shards are out of bounds, and
    their updates have no effect.
    """
    if not any(any(local.axes_per_dim(value)) for value in op.operands):
        return None
    mesh = local.common_mesh(op)
    builder = local.builder(op)
    inputs, indices = list(op.inputs), op.scatter_indices
    reduced = _reduced_axes(op, mesh, local)
    if reduced:
        check_is_combined(
            op,
            reduced,
            mesh,
            local,
            "Expected the scatter to have one user and the user is an sdy.all_reduce.",
            "The axes of the sdy.all_reduce should match the sharded scatter dimensions of the updates.",
        )
        inputs = _keep_on_first_device(op, reduced, mesh, builder, local)
    windows = _sharded_windows(op, local)
    if any(window.is_indexed for window in windows):
        indices = _shift_indices(op, windows, mesh, builder, local)
    at_start = [axis for window in windows if not window.is_indexed for axis in window.axes]
    if at_start:
        indices = _drop_except_on_first_device(op, indices, tuple(at_start), mesh, builder, local)
    if not reduced and indices is op.scatter_indices:
        return None
    local.rewriter.set_operands(op, [*inputs, indices, *op.updates])
    # As in the C++ pass, these attributes are set even if they have their defaults.
    local.rewriter.set_attribute(op, "indices_are_sorted", boolean(op.indices_are_sorted))
    local.rewriter.set_attribute(op, "unique_indices", boolean(op.unique_indices))
    return None


def _reduced_axes(op: ScatterOp, mesh: Mesh, local: LocalContext) -> tuple[AxisRef, ...]:
    """The axes that shard scatter dimensions of the updates, and no dimension of the inputs."""
    window_dims = op.scatter_dimension_numbers.update_window_dims
    updates = [
        axis
        for dim, axes in enumerate(local.axes_per_dim(op.updates[0]))
        if dim not in window_dims
        for axis in axes
    ]
    inputs = [axis for axes in local.axes_per_dim(op.inputs[0]) for axis in axes]
    return difference(updates, inputs, mesh)


def _keep_on_first_device(
    op: ScatterOp, reduced: tuple[AxisRef, ...], mesh: Mesh, builder: LocalBuilder, local: LocalContext
) -> list[Value]:
    """The inputs on the first device of each group, and identities on the others."""
    identities = []
    for index, input in enumerate(op.inputs):
        combiner, element = binary_body(op.update_computation, index), ranked(input).element
        bits = None if combiner is None else identity_of(combiner, element)
        if bits is None:
            raise op.op_error("failed to get scatter reduction identity.").help(FULL_RESHARD_HELP)
        identities.append((ranked(input), bits))
    table = first_shard_table(reduced, mesh, op)
    if not Behavior.SCALAR_SCATTER_MASKS.active:
        return _mask_each(op, identities, table, builder, local)
    # Inputs with the same type and identity share a constant.
    fills = dict.fromkeys(identities)
    scalars = [builder.splat(tensor((), type.element), bits) for type, bits in fills]
    for (type, bits), scalar in zip(list(fills), scalars, strict=True):
        fills[type, bits] = builder.broadcast(scalar, type)
    mask = builder.reshape(local.lookup(builder, table, I1), ())
    kept = []
    for input, identity in zip(op.inputs, identities, strict=True):
        fill = fills[identity]
        assert fill is not None
        kept.append(builder.select(mask, input, fill))
    return kept


def _mask_each(
    op: ScatterOp,
    identities: Sequence[tuple[RankedTensor, bytes]],
    table: Sequence[int],
    builder: LocalBuilder,
    local: LocalContext,
) -> list[Value]:
    """The inputs on the first device, and identities on the others, by masks of their shapes."""
    scalars = [builder.splat(tensor((), type.element), bits) for type, bits in identities]
    mask = local.lookup(builder, table, I1)
    kept = []
    for input, scalar in zip(op.inputs, scalars, strict=True):
        type = ranked(input)
        if not type.rank:
            mask = builder.reshape(mask, ())
        full_mask = builder.broadcast(mask, tensor(type.shape, I1), [0] if type.rank else [])
        kept.append(builder.select(full_mask, input, builder.broadcast(scalar, type)))
    return kept


class _ShardedWindow(NamedTuple):
    """A sharded dimension of the inputs along which updates are single elements, or start at 0."""

    dim: int
    axes: Axes
    is_indexed: bool


def _sharded_windows(op: ScatterOp, local: LocalContext) -> Sequence[_ShardedWindow]:
    """The sharded dimensions of the inputs, except those along which the updates are sharded alike."""
    dims, shape = op.scatter_dimension_numbers, shape_of(op.inputs[0])
    update_shape, update_axes = shape_of(op.updates[0]), local.axes_per_dim(op.updates[0])
    free_dims = [
        dim for dim in range(len(shape)) if dim not in (*dims.inserted_window_dims, *dims.input_batching_dims)
    ]
    window_dims = dict(zip(free_dims, dims.update_window_dims, strict=True))
    windows = []
    for dim, axes in enumerate(local.axes_per_dim(op.inputs[0])):
        if not axes or dim in dims.input_batching_dims:
            continue
        is_indexed = dim in dims.scatter_dims_to_operand_dims
        if dim in dims.inserted_window_dims and not is_indexed:
            raise op.op_error(
                f"sharding operand dimension {dim} that is not indexed but in inserted window dimension is "
                "not supported."
            ).help(FULL_RESHARD_HELP)
        window_dim = window_dims.get(dim)
        if window_dim is not None and update_axes[window_dim] == axes:
            continue
        size = 1 if window_dim is None else update_shape[window_dim]
        if size > (1 if is_indexed else shape[dim]):
            raise op.op_error(
                f"dimension {dim} of the inputs is sharded, but updates of size {size} may be in several "
                "shards"
            ).help(FULL_RESHARD_HELP)
        windows.append(_ShardedWindow(dim, axes, is_indexed))
    return windows


def _shift_indices(
    op: ScatterOp, windows: Sequence[_ShardedWindow], mesh: Mesh, builder: LocalBuilder, local: LocalContext
) -> Value:
    """Indices minus the offsets of this device. Those of other shards are out of bounds."""
    dims, type = op.scatter_dimension_numbers, ranked(op.scatter_indices)
    axes_of = {window.dim: window.axes for window in windows if window.is_indexed}
    components = []
    for dim in dims.scatter_dims_to_operand_dims:
        if dim in axes_of:
            offset = local.offset(builder, axes_of[dim], mesh, shape_of(op.inputs[0])[dim])
            components.append(builder.convert(offset, type.element))
        else:
            components.append(builder.integers(tensor((), type.element), [0]))
    mesh_or_ref = local.first_sharding(op).mesh_or_ref
    offsets = broadcast_components(builder, components, type, dims.index_vector_dim, mesh_or_ref)
    return builder.binary(SubtractOp, op.scatter_indices, offsets)


def _drop_except_on_first_device(
    op: ScatterOp, indices: Value, axes: Axes, mesh: Mesh, builder: LocalBuilder, local: LocalContext
) -> Value:
    """Indices that are out of bounds except on devices with the first shard along `axes`."""
    type = ranked(indices)
    if not op.scatter_dimension_numbers.scatter_dims_to_operand_dims:
        raise op.op_error("the inputs are sharded along a dimension that is neither indexed nor whole").help(
            FULL_RESHARD_HELP
        )
    is_first = builder.reshape(local.lookup(builder, first_shard_table(axes, mesh, op), I1), ())
    mask = builder.broadcast(is_first, tensor(type.shape, I1))
    return builder.select(mask, indices, builder.integers(type, [-1]))


@crosses_shards(ScatterOp)
def scatter(op: ScatterOp, types: LocalTypes) -> Iterator[Dim]:
    """The dimensions by the rule, and those of inputs and results that are neither indexed nor in windows.

    Without indexed dimensions every update counts, so that there is no index for updates in the padding.
    """
    yield from by_rule(op, types)
    dims, count = op.scatter_dimension_numbers, len(op.inputs)
    if not dims.scatter_dims_to_operand_dims:
        rank = len(shape_of(op.scatter_indices))
        index_dims = [dim for dim in range(rank) if dim != dims.index_vector_dim]
        update_dims = [
            dim for dim in range(len(shape_of(op.updates[0]))) if dim not in dims.update_window_dims
        ]
        for index_dim, update_dim in zip(index_dims, update_dims, strict=True):
            if index_dim not in dims.scatter_indices_batching_dims:
                yield Dim(count, index_dim)
                for number in range(count):
                    yield Dim(count + 1 + number, update_dim)
    for dim in dims.inserted_window_dims:
        if dim not in dims.scatter_dims_to_operand_dims:
            for number in range(count):
                yield Dim(number, dim)
                yield Dim(2 * count + 1 + number, dim)


@pads(ScatterOp)
def pad_scatter(op: ScatterOp, padder: Padder) -> Padded:
    """Updates in the padding have indices that are out of bounds, so they have no effect."""
    dims = op.scatter_dimension_numbers
    number = len(op.inputs)
    unpadded, shape = unpadded_shape(op, number), shape_of(op.scatter_indices)
    builder, sharding = padder.builder(op), padder.types.sharding(op.scatter_indices)
    mask: Value | None = None
    for dim, size in enumerate(unpadded):
        if size == shape[dim]:
            continue
        if dim in dims.scatter_indices_batching_dims:
            # These updates go to the padding of the inputs.
            continue
        kept = padder.is_before(builder, shape, dim, size, sharding)
        mask = kept if mask is None else padder.with_sharding(builder.binary(AndOp, mask, kept), sharding)
    if mask is not None:
        if not dims.scatter_dims_to_operand_dims:
            raise unsupported(op, 0)
        type = ranked(op.scatter_indices)
        outside = padder.with_sharding(builder.integers(type, [-1]), sharding)
        indices = padder.with_sharding(builder.select(mask, op.scatter_indices, outside), sharding)
        padder.rewriter.set_operands(op, [*op.inputs, indices, *op.updates])
    return None
