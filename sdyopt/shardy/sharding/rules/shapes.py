"""Sharding rules of transpose, reverse, broadcast_in_dim, bitcast_convert and reshape.

A reshape splits dimensions, merges them, or both. Both shapes are read from the major-most dimension on,
and divided into factors. While the products of the factors read so far are equal, the greatest common
divisor of what remains of both current dimensions is a factor of both, along which shardings propagate. If
it is 1, both shapes share a permutation factor of what remains of the operand's dimension. While the
products differ, the shape with the smaller product gets factors of its own, which need replication.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.stablehlo.broadcast import BroadcastInDimOp
from sdyopt.mlir.dialects.stablehlo.conversion import BitcastConvertOp
from sdyopt.mlir.dialects.stablehlo.shapes import ReshapeOp, ReverseOp, TransposeOp
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.shardy.sharding.op_sharding_rule_builder import FactorType, OpShardingRuleBuilder
from sdyopt.shardy.sharding.op_sharding_rule_table import NoRule, sharding_rule


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
