"""`gather` and `scatter`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdyopt.base.dataclasses import NamedTuple, dataclass
from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.sdy.axes import AxisRef, difference
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.stablehlo.compare_select import ClampOp
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp, AndOp, SubtractOp
from sdyopt.mlir.dialects.stablehlo.gather import GatherOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import ranked
from sdyopt.mlir.ir.builtin_attributes import boolean, dense_array
from sdyopt.mlir.ir.types import I1, I64, RankedTensor, tensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.combiners import binary_body, identity_of
from sdyopt.shardy.partition.local_builder import LocalBuilder, broadcast_components, largest_index, shape_of
from sdyopt.shardy.partition.local_context import (
    FULL_RESHARD_HELP,
    Axes,
    LocalContext,
    LocalTypes,
    Lowered,
    first_shard_table,
    lowering,
)
from sdyopt.shardy.partition.padding import Padded, Padder, pads, unpadded_shape, unsupported
from sdyopt.shardy.partition.partial_results import check_is_combined
from sdyopt.shardy.partition.replication import Dim, by_rule, crosses_shards, dims_with_factors
from sdyopt.shardy.sharding.axis_lists import sharded_size
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule_of


@lowering(GatherOp)
def lower_gather(op: GatherOp, local: LocalContext) -> Lowered:
    """Gathers from the shard of this device.

    Along a sharded dimension, slices have the whole size or are single elements. This device has only some of
    the single elements: indices become local, and a mask selects those in its shard.
    """
    axes_per_dim = local.axes_per_dim(op.operand)
    if not any(axes_per_dim):
        return None
    mesh = local.common_mesh(op)
    builder, indices, mask = local.builder(op), op.start_indices, None
    local_gather = _LocalGather(op, mesh, builder, local)
    sizes, selected = local_gather.local_slice_sizes()
    if selected:
        check_is_combined(
            op,
            [axis for dim in selected for axis in axes_per_dim[dim]],
            mesh,
            local,
            "Expected the gather to have one user and the user is an sdy.all_reduce.",
            "The axes of the sdy.all_reduce should match the sharded "
            "collapsed operand dimensions of the gather.",
        )
        indices, mask = local_gather.localize_indices(selected)
    attributes = {
        **dict(op.signature.attributes),
        "slice_sizes": dense_array(I64, sizes),
        "indices_are_sorted": boolean(op.indices_are_sorted),
        **dict(op.attributes),
    }
    type = local.local_tensor(op.result, op)
    slices = builder.create(GatherOp, [op.operand, indices], [type], attributes).result
    if mask is None:
        return [slices]
    return [builder.select(local_gather.broadcast_mask(mask, type), slices, builder.zero(type))]


@dataclass(frozen=True)
class _LocalGather:
    """A gather of the shards of its operand, as it is lowered."""

    op: GatherOp
    mesh: Mesh
    builder: LocalBuilder
    local: LocalContext

    def local_slice_sizes(self) -> tuple[list[int], list[int]]:
        """The local slice sizes, and the sharded dimensions in which slices are single elements."""
        sizes, selected = list(self.op.slice_sizes), []
        whole = self.op.signature[GatherOp.operand].shape
        for dim, axes in enumerate(self.local.axes_per_dim(self.op.operand)):
            if not axes or dim in self.op.dimension_numbers.operand_batching_dims:
                continue
            if sizes[dim] == 1:
                selected.append(dim)
            elif sizes[dim] == whole[dim]:
                sizes[dim] //= sharded_size(axes, self.mesh)
            else:
                raise self.op.op_error(
                    f"dimension {dim} of the operand is sharded, but slices of size {sizes[dim]} are "
                    "not whole"
                ).help(FULL_RESHARD_HELP)
        return sizes, selected

    def localize_indices(self, selected: Sequence[int]) -> tuple[Value, Value]:
        """Local indices, and a mask of the slices that are in the shard of this device."""
        dims = self.op.dimension_numbers
        indices: Value = self.op.start_indices
        mask: Value | None = None
        if any(dim in selected for dim in dims.start_index_map):
            indices, mask = self._shift_indices(selected)
        for dim in selected:
            if dim in dims.start_index_map:
                continue
            # Without an index, the slices start at 0: the first shard has them.
            axes = self.local.axes_per_dim(self.op.operand)[dim]
            offset = self.local.offset(self.builder, axes, self.mesh, shape_of(self.op.operand)[dim])
            is_first = self.builder.compare(offset, self.builder.index(0, ranked(offset).element), "EQ")
            if mask is None:
                mask = is_first
            else:
                mask = self.builder.binary(AndOp, mask, self.builder.broadcast(is_first, ranked(mask)))
        assert mask is not None
        return indices, mask

    def _shift_indices(self, selected: Sequence[int]) -> tuple[Value, Value]:
        dims, type = self.op.dimension_numbers, ranked(self.op.start_indices)
        whole, axes_per_dim = (
            self.op.signature[GatherOp.operand].shape,
            self.local.axes_per_dim(self.op.operand),
        )
        clamped = self._clamp([whole[dim] - 1 for dim in dims.start_index_map])
        scalar = tensor((), type.element)
        lows, highs = [], []
        for dim in dims.start_index_map:
            if dim in selected:
                size = shape_of(self.op.operand)[dim]
                offset = self.local.offset(self.builder, axes_per_dim[dim], self.mesh, size)
                low = self.builder.convert(offset, type.element)
                high = self.builder.binary(AddOp, low, self.builder.integers(scalar, [size - 1]))
            else:
                low = self.builder.integers(scalar, [0])
                high = self.builder.integers(scalar, [largest_index(type.element, whole[dim] - 1)])
            lows.append(low)
            highs.append(high)
        mesh_or_ref = self.local.first_sharding(self.op).mesh_or_ref
        low = broadcast_components(self.builder, lows, type, dims.index_vector_dim, mesh_or_ref)
        high = broadcast_components(self.builder, highs, type, dims.index_vector_dim, mesh_or_ref)
        shifted = self.builder.binary(SubtractOp, clamped, low)
        is_above = self.builder.compare(clamped, low, "GE")
        is_below = self.builder.compare(clamped, high, "LE")
        return shifted, self.builder.binary(AndOp, is_above, is_below)

    def _clamp(self, largest: Sequence[int]) -> Value:
        """Clamps indices to the operand, as gather itself does."""
        type = ranked(self.op.start_indices)
        largest = [largest_index(type.element, limit) for limit in largest]
        lower = self.builder.integers(type, [0])
        if len(largest) == 1:
            upper = self.builder.integers(type, largest)
        else:
            bounds = self.builder.integers(tensor((len(largest),), type.element), largest)
            upper = self.builder.broadcast(bounds, type, [self.op.dimension_numbers.index_vector_dim])
        return self.builder.create(ClampOp, [lower, self.op.start_indices, upper], [type]).result

    def broadcast_mask(self, mask: Value, type: RankedTensor) -> Value:
        """A mask of the result: whether all components of the index vector of an element are in the shard."""
        dims, shape = self.op.dimension_numbers, shape_of(mask)
        vector_dim = dims.index_vector_dim
        if shape and vector_dim < len(shape):
            kept = tuple([size for dim, size in enumerate(shape) if dim != vector_dim])
            true = self.builder.integers(tensor((), I1), [1])
            attributes = {"dimensions": dense_array(I64, [vector_dim])}
            body = self.builder.reducer(I1, AndOp)
            mask = self.builder.create(ReduceOp, [mask, true], [tensor(kept, I1)], attributes, [body]).result
        batch_dims = [dim for dim in range(type.rank) if dim not in dims.offset_dims]
        positions = batch_dims if shape_of(mask) else []
        return self.builder.broadcast(mask, tensor(type.shape, I1), positions)


@crosses_shards(GatherOp)
def gather(op: GatherOp, types: LocalTypes) -> Iterator[Dim]:
    """Dimensions by the rule, and those of size 1 that the result has: all shards but one are padding."""
    yield from by_rule(op, types)
    rule = sharding_rule_of(op)
    if rule is None:
        return
    dims = op.dimension_numbers
    for dim, (size, mapping) in enumerate(zip(shape_of(op.operand), rule.operands[0].dims, strict=True)):
        if size == 1 and dim not in dims.operand_batching_dims:
            yield from dims_with_factors(rule, set(mapping.factors) - set(rule.reduction))


@pads(GatherOp)
def pad_gather(op: GatherOp, padder: Padder) -> Padded:
    """Indices are clamped as before, so slices contain no padding; those of a whole dimension include it."""
    dims, type = op.dimension_numbers, ranked(op.start_indices)
    unpadded, shape, sizes = unpadded_shape(op, 0), shape_of(op.operand), list(op.slice_sizes)
    builder = padder.builder(op)
    clamped_dims = [
        dim for dim in dims.start_index_map if unpadded[dim] != shape[dim] and sizes[dim] != unpadded[dim]
    ]
    if clamped_dims:
        scalar = tensor((), type.element)
        sharding = padder.types.sharding(op.start_indices)
        lows = [builder.integers(scalar, [0]) for _ in dims.start_index_map]
        highs = [
            builder.integers(scalar, [largest_index(type.element, unpadded[dim] - sizes[dim])])
            for dim in dims.start_index_map
        ]
        low, high = (
            padder.with_sharding(broadcast_components(builder, part, type, dims.index_vector_dim), sharding)
            for part in (lows, highs)
        )
        indices = builder.create(ClampOp, [low, op.start_indices, high], [type]).result
        padder.rewriter.set_operands(op, [op.operand, padder.with_sharding(indices, sharding)])
    for dim, size in enumerate(unpadded):
        if size != shape[dim] and sizes[dim] == size and size > 1:
            sizes[dim] = shape[dim]
    padder.rewriter.set_attribute(op, "slice_sizes", dense_array(I64, sizes))
    return None


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
    local_scatter = _LocalScatter(op, mesh, builder, local)
    reduced = local_scatter.reduced_axes()
    if reduced:
        check_is_combined(
            op,
            reduced,
            mesh,
            local,
            "Expected the scatter to have one user and the user is an sdy.all_reduce.",
            "The axes of the sdy.all_reduce should match the sharded scatter dimensions of the updates.",
        )
        inputs = local_scatter.keep_on_first_device(reduced)
    windows = local_scatter.sharded_windows()
    if any(window.is_indexed for window in windows):
        indices = local_scatter.shift_scatter_indices(windows)
    at_start = [axis for window in windows if not window.is_indexed for axis in window.axes]
    if at_start:
        indices = local_scatter.drop_except_on_first_device(indices, tuple(at_start))
    if not reduced and indices is op.scatter_indices:
        return None
    local.rewriter.set_operands(op, [*inputs, indices, *op.updates])
    # As in the C++ pass, these attributes are set even if they have their defaults.
    local.rewriter.set_attribute(op, "indices_are_sorted", boolean(op.indices_are_sorted))
    local.rewriter.set_attribute(op, "unique_indices", boolean(op.unique_indices))
    return None


@dataclass(frozen=True)
class _LocalScatter:
    """A scatter into the shards of its inputs, as it is lowered."""

    op: ScatterOp
    mesh: Mesh
    builder: LocalBuilder
    local: LocalContext

    def reduced_axes(self) -> tuple[AxisRef, ...]:
        """The axes that shard scatter dimensions of the updates, and no dimension of the inputs."""
        window_dims = self.op.scatter_dimension_numbers.update_window_dims
        updates = [
            axis
            for dim, axes in enumerate(self.local.axes_per_dim(self.op.updates[0]))
            if dim not in window_dims
            for axis in axes
        ]
        inputs = [axis for axes in self.local.axes_per_dim(self.op.inputs[0]) for axis in axes]
        return difference(updates, inputs, self.mesh)

    def keep_on_first_device(self, reduced: tuple[AxisRef, ...]) -> list[Value]:
        """The inputs on the first device of each group, and identities on the others."""
        identities = []
        for index, input in enumerate(self.op.inputs):
            combiner, element = binary_body(self.op.update_computation, index), ranked(input).element
            bits = None if combiner is None else identity_of(combiner, element)
            if bits is None:
                raise self.op.op_error("failed to get scatter reduction identity.").help(FULL_RESHARD_HELP)
            identities.append((ranked(input), bits))
        table = first_shard_table(reduced, self.mesh, self.op)
        if not Behavior.SCALAR_SCATTER_MASKS.active:
            return self._mask_each(identities, table)
        # Inputs with the same type and identity share a constant.
        fills = dict.fromkeys(identities)
        scalars = [self.builder.splat(tensor((), type.element), bits) for type, bits in fills]
        for (type, bits), scalar in zip(list(fills), scalars, strict=True):
            fills[type, bits] = self.builder.broadcast(scalar, type)
        mask = self.builder.reshape(self.local.lookup(self.builder, table, I1), ())
        kept = []
        for input, identity in zip(self.op.inputs, identities, strict=True):
            fill = fills[identity]
            assert fill is not None
            kept.append(self.builder.select(mask, input, fill))
        return kept

    def _mask_each(
        self, identities: Sequence[tuple[RankedTensor, bytes]], table: Sequence[int]
    ) -> list[Value]:
        """The inputs on the first device, and identities on the others, by masks of their shapes."""
        scalars = [self.builder.splat(tensor((), type.element), bits) for type, bits in identities]
        mask = self.local.lookup(self.builder, table, I1)
        kept = []
        for input, scalar in zip(self.op.inputs, scalars, strict=True):
            type = ranked(input)
            if not type.rank:
                mask = self.builder.reshape(mask, ())
            full_mask = self.builder.broadcast(mask, tensor(type.shape, I1), [0] if type.rank else [])
            kept.append(self.builder.select(full_mask, input, self.builder.broadcast(scalar, type)))
        return kept

    def sharded_windows(self) -> Sequence[_ShardedWindow]:
        """The sharded dimensions of the inputs, except those along which the updates are sharded alike."""
        dims, shape = self.op.scatter_dimension_numbers, shape_of(self.op.inputs[0])
        update_shape, update_axes = shape_of(self.op.updates[0]), self.local.axes_per_dim(self.op.updates[0])
        free_dims = [
            dim
            for dim in range(len(shape))
            if dim not in (*dims.inserted_window_dims, *dims.input_batching_dims)
        ]
        window_dims = dict(zip(free_dims, dims.update_window_dims, strict=True))
        windows = []
        for dim, axes in enumerate(self.local.axes_per_dim(self.op.inputs[0])):
            if not axes or dim in dims.input_batching_dims:
                continue
            is_indexed = dim in dims.scatter_dims_to_operand_dims
            if dim in dims.inserted_window_dims and not is_indexed:
                raise self.op.op_error(
                    f"sharding operand dimension {dim} that is not indexed but in inserted window "
                    "dimension is "
                    "not supported."
                ).help(FULL_RESHARD_HELP)
            window_dim = window_dims.get(dim)
            if window_dim is not None and update_axes[window_dim] == axes:
                continue
            size = 1 if window_dim is None else update_shape[window_dim]
            if size > (1 if is_indexed else shape[dim]):
                raise self.op.op_error(
                    f"dimension {dim} of the inputs is sharded, but updates of size {size} may be in several "
                    "shards"
                ).help(FULL_RESHARD_HELP)
            windows.append(_ShardedWindow(dim, axes, is_indexed))
        return windows

    def shift_scatter_indices(self, windows: Sequence[_ShardedWindow]) -> Value:
        """Indices minus the offsets of this device. Those of other shards are out of bounds."""
        dims, type = self.op.scatter_dimension_numbers, ranked(self.op.scatter_indices)
        axes_of = {window.dim: window.axes for window in windows if window.is_indexed}
        components = []
        for dim in dims.scatter_dims_to_operand_dims:
            if dim in axes_of:
                offset = self.local.offset(
                    self.builder, axes_of[dim], self.mesh, shape_of(self.op.inputs[0])[dim]
                )
                components.append(self.builder.convert(offset, type.element))
            else:
                components.append(self.builder.integers(tensor((), type.element), [0]))
        mesh_or_ref = self.local.first_sharding(self.op).mesh_or_ref
        offsets = broadcast_components(self.builder, components, type, dims.index_vector_dim, mesh_or_ref)
        return self.builder.binary(SubtractOp, self.op.scatter_indices, offsets)

    def drop_except_on_first_device(self, indices: Value, axes: Axes) -> Value:
        """Indices that are out of bounds except on devices with the first shard along `axes`."""
        type = ranked(indices)
        if not self.op.scatter_dimension_numbers.scatter_dims_to_operand_dims:
            raise self.op.op_error(
                "the inputs are sharded along a dimension that is neither indexed nor whole"
            ).help(FULL_RESHARD_HELP)
        is_first = self.builder.reshape(
            self.local.lookup(self.builder, first_shard_table(axes, self.mesh, self.op), I1), ()
        )
        mask = self.builder.broadcast(is_first, tensor(type.shape, I1))
        return self.builder.select(mask, indices, self.builder.integers(type, [-1]))


class _ShardedWindow(NamedTuple):
    """A sharded dimension of the inputs along which updates are single elements, or start at 0."""

    dim: int
    axes: Axes
    is_indexed: bool


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
