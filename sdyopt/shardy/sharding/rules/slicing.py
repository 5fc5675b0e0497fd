"""Sharding rules of operations that move elements: slices, pads, transposes, reshapes, gathers, scatters.

A reshape splits dimensions, merges them, or both. Both shapes are read from the major-most dimension on,
and divided into factors. While the products of the factors read so far are equal, the greatest common
divisor of what remains of both current dimensions is a factor of both, along which shardings propagate. If
it is 1, both shapes share a permutation factor of what remains of the operand's dimension. While the
products differ, the shape with the smaller product gets factors of its own, which need replication.

Gathers and scatters address slices of an operand by a tensor of indices: the slices are the result of a
gather and the updates of a scatter. Every dimension of the slices corresponds to a dimension of the operand
(a window dimension), of the indices (a batch dimension) or of both (a batching dimension of operand and
indices).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import gcd

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.sdy.ops import ConstantOp
from sdyopt.mlir.dialects.stablehlo.compare_select import BitcastConvertOp
from sdyopt.mlir.dialects.stablehlo.control_flow import ReturnOp
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp, AndOp, MaxOp, MinOp, MulOp, OrOp
from sdyopt.mlir.dialects.stablehlo.gather import GatherDimensions, GatherOp, ScatterDimensions
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp, ReshapeOp, ReverseOp, TransposeOp
from sdyopt.mlir.dialects.stablehlo.slicing import (
    ConcatenateOp,
    DynamicSliceOp,
    DynamicUpdateSliceOp,
    PadOp,
    SliceOp,
)
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import CONSTANT_LIKE
from sdyopt.mlir.ir.types import I1, element_of
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.sharding.op_sharding_rule_builder import (
    FactorType,
    NoRule,
    OpShardingRuleBuilder,
    Reduction,
    sharding_rule,
)


@sharding_rule(SliceOp)
def slice(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([i, j])->([i, j]) permutation={i}, where i is sliced"""
    builder.add_pointwise_with_type_for_mismatch(
        signature[SliceOp.operand].shape,
        signature[SliceOp.out].shape,
        FactorType.PERMUTATION,
        is_mismatch_blocked=builder.is_conservative,
    )


@sharding_rule(PadOp)
def pad(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([i, j], [])->([i, j]) permutation={i}, where i is padded"""
    shape, result_shape = signature[PadOp.operand].shape, signature[PadOp.out].shape
    by_padding = Behavior.PERMUTATION_OF_PADDED_DIMS.active
    paddings = zip(*[signature[amount] for amount in _PADDING], strict=True)
    for dim, (size, result_size, padding) in enumerate(zip(shape, result_shape, paddings, strict=True)):
        is_resized = size != result_size
        is_padded = is_resized or (by_padding and any(padding))
        builder.add_common_factor(
            dim,
            size,
            FactorType.PERMUTATION if is_padded else FactorType.PASS_THROUGH,
            is_blocked=is_resized and builder.is_conservative,
        )


_PADDING = (PadOp.edge_padding_low, PadOp.edge_padding_high, PadOp.interior_padding)


@sharding_rule(DynamicSliceOp)
def dynamic_slice(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([i, j], [], [])->([i, j]) need_replication={i} blocked_propagation={i}"""
    builder.add_pointwise_with_type_for_mismatch(
        signature[DynamicSliceOp.operand].shape,
        signature[DynamicSliceOp.out].shape,
        FactorType.NEED_REPLICATION,
        is_mismatch_blocked=True,
    )


@sharding_rule(
    DynamicUpdateSliceOp, context=lambda op: all(_is_constant(index) for index in op.start_indices)
)
def dynamic_update_slice(
    signature: OpSignature, builder: OpShardingRuleBuilder, has_constant_indices: bool
) -> None:
    """([i, k], [j, k], [], [])->([i, k]) permutation={i, j}"""
    if Behavior.PERMUTED_UPDATES.active:
        operand_type = update_type = FactorType.PERMUTATION
    else:  # each device updates its own shard, by the whole update unless the start indices are constants
        operand_type = FactorType.PASS_THROUGH
        update_type = operand_type if has_constant_indices else FactorType.NEED_REPLICATION
    shape = signature[DynamicUpdateSliceOp.operand].shape
    update_shape = signature[DynamicUpdateSliceOp.update].shape
    indices = [None] * len(signature[DynamicUpdateSliceOp.start_indices])
    for dim, (size, update_size) in enumerate(zip(shape, update_shape, strict=True)):
        if size == update_size:
            builder.add_factor(size, [dim, dim, *indices], [dim])
        else:
            builder.add_factor(size, [dim, None, *indices], [dim], operand_type)
            builder.add_factor(update_size, [None, dim, *indices], [None], update_type)


def _concatenates_slices(op: ConcatenateOp) -> bool:
    """Whether all operands are slices, or some are slices of a tensor and the others this tensor."""
    operands = op.inputs
    are_slices = [isinstance(value.defining_op, SliceOp) for value in operands]
    return all(are_slices) or (any(are_slices) and len({_sliced_value(value) for value in operands}) == 1)


@sharding_rule(ConcatenateOp, context=_concatenates_slices)
def concatenate(signature: OpSignature, builder: OpShardingRuleBuilder, are_slices: bool) -> None:
    """([i, j], [i, j])->([i, j]) need_replication={i}, or permutation={i} if the operands are slices"""
    concatenated_dim = signature[ConcatenateOp.dimension]
    for dim, size in enumerate(signature[ConcatenateOp.out].shape):
        if dim != concatenated_dim:
            builder.add_common_factor(dim, size)
        elif not builder.is_conservative:
            builder.add_common_factor(
                dim, size, FactorType.PERMUTATION if are_slices else FactorType.NEED_REPLICATION
            )


def _sliced_value(value: Value) -> Value:
    definition = value.defining_op
    return definition.operand if isinstance(definition, SliceOp) else value


def _is_constant(value: Value) -> bool:
    definition = value.defining_op
    return definition is not None and (
        isinstance(definition, ConstantOp) or CONSTANT_LIKE in definition.traits
    )


@sharding_rule(TransposeOp)
def transpose(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([j, i])->([i, j])"""
    shape = signature[TransposeOp.operand].shape
    for result_dim, dim in enumerate(signature[TransposeOp.permutation]):
        builder.add_factor(shape[dim], [dim], [result_dim])


@sharding_rule(ReverseOp)
def reverse(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([i, j])->([i, j]) permutation={i}"""
    reversed_dims = signature[ReverseOp.dimensions]
    for dim, size in enumerate(signature[ReverseOp.out].shape):
        is_reversed = dim in reversed_dims
        builder.add_common_factor(
            dim, size, FactorType.PERMUTATION if is_reversed else FactorType.PASS_THROUGH
        )


@sharding_rule(BroadcastInDimOp)
def broadcast_in_dim(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([i, k])->([i, j, l]): k=1 is expanded to l, and j is a new dimension"""
    shape = signature[BroadcastInDimOp.operand].shape
    result_dims = signature[BroadcastInDimOp.broadcast_dimensions]
    operand_dims = {result_dim: dim for dim, result_dim in enumerate(result_dims)}
    for result_dim, size in enumerate(signature[BroadcastInDimOp.out].shape):
        dim = operand_dims.get(result_dim)
        if dim is not None and shape[dim] == 1 != size:
            builder.add_factor(1, [dim], [None])
            dim = None
        builder.add_factor(size, [dim], [result_dim])


@sharding_rule(BitcastConvertOp)
def bitcast_convert(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([i, j])->([i]) need_replication={j}: j narrow elements make up a wide one; or the reverse"""
    shape, result_shape = signature[BitcastConvertOp.operand].shape, signature[BitcastConvertOp.out].shape
    rank, result_rank = len(shape), len(result_shape)
    builder.add_pointwise(min(shape, result_shape, key=len))
    if rank > result_rank:
        builder.add_factor(shape[-1], [rank - 1], [None], FactorType.NEED_REPLICATION)
    elif rank < result_rank:
        builder.add_factor(result_shape[-1], [None], [result_rank - 1], FactorType.NEED_REPLICATION)


@sharding_rule(ReshapeOp)
def reshape(signature: OpSignature, builder: OpShardingRuleBuilder) -> NoRule | None:
    """([ij])->([i, j]), or without a common divisor, such as 3x2 to 2x3,
    ([i, k])->([i, j]) need_replication={j, k} permutation={i}
    """
    operand, result = signature[ReshapeOp.operand], signature[ReshapeOp.out]
    if not operand.has_static_shape or not result.has_static_shape:
        return NoRule()
    if operand.num_elements != result.num_elements or operand.num_elements == 0:
        return NoRule()
    has_types = Behavior.RESHAPE_FACTOR_TYPES.active
    unshared_type = FactorType.NEED_REPLICATION if has_types else FactorType.PASS_THROUGH
    source, target = _ShapeReader(operand.shape), _ShapeReader(result.shape)
    while not (source.is_done and target.is_done):
        if source.has_unit_dim:
            builder.add_factor(1, [source.advance()], [None], unshared_type)
        elif target.has_unit_dim:
            builder.add_factor(1, [None], [target.advance()], unshared_type)
        elif source.product != target.product:
            smaller, larger = (source, target) if source.product < target.product else (target, source)
            size = smaller.next_factor(larger)
            dim = smaller.take_factor(size)
            dims, result_dims = ([dim], [None]) if smaller is source else ([None], [dim])
            builder.add_factor(size, dims, result_dims, unshared_type)
        elif (size := gcd(source.remaining, target.remaining)) > 1:
            builder.add_factor(size, [source.take_factor(size)], [target.take_factor(size)])
        else:
            size, result_size = source.remaining, target.remaining
            dims, result_dims = [source.take_factor(size)], [target.take_factor(result_size)]
            if has_types:
                builder.add_factor(size, dims, result_dims, FactorType.PERMUTATION)
            else:
                builder.add_factor(size, dims, [None])
                builder.add_factor(result_size, [None], result_dims)
    return None


class _ShapeReader:
    """A shape of which a prefix has been divided into factors.

    `product` is the product of these factors, `remaining` the size of the current dimension divided by its
    factors.
    """

    def __init__(self, shape: Sequence[int]) -> None:
        self._shape = shape
        self._dim = 0
        self.product = 1
        self.remaining = shape[0] if shape else 1

    @property
    def is_done(self) -> bool:
        return self._dim == len(self._shape)

    @property
    def has_unit_dim(self) -> bool:
        """Whether the current dimension has size 1, and so corresponds to no dimension of the other shape."""
        return not self.is_done and self._shape[self._dim] == 1

    def advance(self) -> int:
        """Moves to the next dimension; returns the dimension that was current."""
        self._dim += 1
        self.remaining = 1 if self.is_done else self._shape[self._dim]
        return self._dim - 1

    def take_factor(self, size: int) -> int:
        """Removes a factor from the current dimension; returns this dimension."""
        self.product *= size
        self.remaining //= size
        return self.advance() if self.remaining == 1 else self._dim

    def next_factor(self, other: _ShapeReader) -> int:
        """The factor to take next if the other shape has the larger product.

        It is the factor that makes both products equal, if it divides `remaining`; otherwise `remaining`
        divided by the greatest common divisor of both shapes' `remaining`, or `remaining` if this gives 1.
        """
        quotient, rest = divmod(other.product, self.product)
        if rest == 0 and self.remaining % quotient == 0:
            return quotient
        common = gcd(self.remaining, other.remaining)
        return self.remaining // common if self.remaining > common else self.remaining


@sharding_rule(GatherOp, reduction=Reduction.ADD)
def gather(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([k, j], [i, l])->([i, j]) reduction={k} need_replication={l}

    i is a batch dimension, j a window dimension. If k is sharded, each device gathers the slices that are in
    its own shard, and zeros for the others; the result is the sum over the devices.
    """
    dims = signature[GatherOp.dimension_numbers]
    operand, indices = signature[GatherOp.operand].shape, signature[GatherOp.start_indices].shape
    for slice_dim, size, dim, indices_dim in _slice_dims(
        signature[GatherOp.result].shape, len(operand), dims
    ):
        if dim is None or indices_dim is not None or operand[dim] == size:
            builder.add_factor(size, [dim, indices_dim], [slice_dim])
        elif size == 1:
            builder.add_factor(operand[dim], [dim, None], [None], FactorType.REDUCTION)
            builder.add_factor(size, [None, None], [slice_dim], FactorType.NEED_REPLICATION)
        else:
            builder.add_factor(
                operand[dim], [dim, None], [slice_dim], FactorType.NEED_REPLICATION, is_blocked=True
            )
    for dim in dims.collapsed_slice_dims:
        factor_type = FactorType.NEED_REPLICATION if operand[dim] == 1 else FactorType.REDUCTION
        builder.add_factor(operand[dim], [dim, None], [None], factor_type)
    if (vector := dims.index_vector_dim) < len(indices):
        builder.add_factor(indices[vector], [None, vector], [None], FactorType.NEED_REPLICATION)


def _has_commutative_reducer(op: ScatterOp) -> bool:
    """Whether one commutative operation combines the elements and updates of every input."""
    block = op.update_computation.entry
    terminator = None if block is None else block.last
    if block is None or not isinstance(terminator, ReturnOp):
        return False
    reducers = {_reducer(block.arguments, index, value) for index, value in enumerate(terminator.operands)}
    return len(reducers) == 1 and None not in reducers


@sharding_rule(ScatterOp, context=_has_commutative_reducer, reduction=Reduction.REGION)
def scatter(signature: OpSignature, builder: OpShardingRuleBuilder, is_commutative: bool) -> None:
    """([k, j], [i, l], [i, j])->([k, j]) reduction={i} need_replication={l}

    If i is sharded, each device scatters its own updates, and the results are reduced over the devices. This
    needs a commutative reducer; otherwise i needs replication.
    """
    dims = _gather_dimensions(signature[ScatterOp.scatter_dimension_numbers])
    count = len(signature[ScatterOp.inputs])
    operand = signature[ScatterOp.inputs][0].shape
    indices, updates = signature[ScatterOp.scatter_indices].shape, signature[ScatterOp.updates][0].shape

    def add_factor(
        size: int, dim: int | None, indices_dim: int | None, update_dim: int | None, factor_type: FactorType
    ) -> None:
        builder.add_factor(
            size, [dim] * count + [indices_dim] + [update_dim] * count, [dim] * count, factor_type
        )

    for update_dim, size, dim, indices_dim in _slice_dims(updates, len(operand), dims):
        if dim is None:
            factor_type = FactorType.REDUCTION if is_commutative else FactorType.NEED_REPLICATION
            add_factor(size, None, indices_dim, update_dim, factor_type)
        elif indices_dim is not None or operand[dim] == size:
            add_factor(size, dim, indices_dim, update_dim, FactorType.PASS_THROUGH)
        else:
            add_factor(operand[dim], dim, None, None, FactorType.NEED_REPLICATION)
            add_factor(size, None, None, update_dim, FactorType.NEED_REPLICATION)
    for dim in dims.collapsed_slice_dims:
        add_factor(operand[dim], dim, None, None, FactorType.PASS_THROUGH)
    if (vector := dims.index_vector_dim) < len(indices):
        add_factor(indices[vector], None, vector, None, FactorType.NEED_REPLICATION)


class _SliceDim(NamedTuple):
    """A dimension of the slices, and the corresponding dimensions of operand and indices."""

    slice_dim: int
    size: int
    operand_dim: int | None
    indices_dim: int | None


def _slice_dims(slice_shape: Sequence[int], operand_rank: int, dims: GatherDimensions) -> Iterator[_SliceDim]:
    non_window_dims = {*dims.collapsed_slice_dims, *dims.operand_batching_dims}
    window_dims = iter([dim for dim in range(operand_rank) if dim not in non_window_dims])
    indices_dims = iter([dim for dim in range(len(slice_shape) + 1) if dim != dims.index_vector_dim])
    operand_batching_dims = dict(
        zip(dims.start_indices_batching_dims, dims.operand_batching_dims, strict=True)
    )
    for slice_dim, size in enumerate(slice_shape):
        if slice_dim in dims.offset_dims:
            yield _SliceDim(slice_dim, size, next(window_dims), None)
        else:
            indices_dim = next(indices_dims)
            yield _SliceDim(slice_dim, size, operand_batching_dims.get(indices_dim), indices_dim)


def _gather_dimensions(dims: ScatterDimensions) -> GatherDimensions:
    """The dimension numbers of the gather that reads the slices which a scatter writes."""
    return GatherDimensions(
        dims.update_window_dims,
        dims.inserted_window_dims,
        dims.input_batching_dims,
        dims.scatter_indices_batching_dims,
        dims.scatter_dims_to_operand_dims,
        dims.index_vector_dim,
    )


_REDUCERS = (AddOp, MulOp, MaxOp, MinOp)


def _reducer(arguments: Sequence[Value], index: int, value: Value) -> type[Op] | None:
    """The commutative operation that combines the element and update of input `index`, if there is one."""
    op = value.defining_op
    is_logical = isinstance(op, AndOp | OrOp) and element_of(value.type) is I1
    if op is None or not (is_logical or isinstance(op, _REDUCERS)):
        return None
    elements = {arguments[index], arguments[index + len(arguments) // 2]}
    return type(op) if set(op.operands) == elements else None
