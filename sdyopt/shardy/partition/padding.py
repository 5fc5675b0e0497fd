"""Padding, so that all shards of a dimension have the same size.

A value has one padded type: each dimension is rounded up to a multiple of its number of shards, and the
padding is at the end. The elements of the padding are undefined, except where they are known to be zero.
Before an operation that combines elements along a padded dimension, they are overwritten by an element that
does not change the result.

    @pads(ReduceOp)
    def pad_reduce(op: ReduceOp, padder: Padder) -> Padded: ...

Such a function runs when the operands have their padded types and the signature of the operation still has
the unpadded types. It returns `None` if the operation is kept, with padded result types, or the values that
replace its results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, TensorSharding
from sdyopt.mlir.dialects.stablehlo.elementwise import AndOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import ranked
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import I32, I64, RankedTensor, Type, tensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.local_builder import DeferredReplacements, LocalBuilder, shape_of
from sdyopt.shardy.partition.local_context import OpTable
from sdyopt.shardy.partition.sharded_body import HaloContext

Padded = Sequence[Value] | None
pads: OpTable[Callable[[Any, Padder], Padded]] = OpTable()

# Sizes are 64-bit numbers.
_LARGEST_SIZE = (1 << 63) - 1


class Padder:
    """Pads the values of one function."""

    def __init__(self, context: HaloContext) -> None:
        self.context = context
        self.types = context.types
        self.rewriter = context.rewriter
        # Values whose padding is zero.
        self.zero_padded: set[Value] = set()
        self._replacements = DeferredReplacements(context.rewriter)

    def visit(self, op: Op) -> None:
        """Pads the results of an operation and the arguments of its blocks."""
        padded_types = [self._checked(op, self.padded_type(result)) for result in op.results]
        for region in op.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    self.rewriter.retype_argument(argument, self._checked(op, self.padded_type(argument)))
        is_same = padded_types == list(op.result_types)
        if is_same and all(v.type is t for v, t in zip(op.operands, op.operand_types, strict=True)):
            return
        function = pads.get(type(op))
        values = None if function is None else function(op, self)
        if values is not None:
            self._replacements.add(op, values)
        self.rewriter.retype(op, padded_types)

    def finish(self) -> None:
        """Applies the replacements that pad functions have returned."""
        self._replacements.apply()

    def padded_type(self, value: Value) -> Type:
        """The padded type of a value that still has its unpadded type."""
        return self.types.padded_type(value.type, self.types.sharding(value))

    def _checked(self, op: Op, type: Type) -> Type:
        if isinstance(type, RankedTensor) and max(type.shape, default=0) > _LARGEST_SIZE:
            raise op.op_error(
                f"a dimension would have size {max(type.shape)} with its padding, which is too large"
            )
        return type

    def builder(self, op: Op) -> LocalBuilder:
        """A builder that creates operations before an operation."""
        return LocalBuilder(op, self.rewriter)

    # --- Padding and masks -----------------------------------------------------------------------

    def pad(self, op: Op, value: Value, shape: Sequence[int]) -> Value:
        """The value with zeros after its elements, up to a shape, and with its sharding."""
        if shape_of(value) == tuple(shape):
            return value
        builder = self.builder(op)
        zero = builder.zero(tensor((), ranked(value).element))
        high = [size - before for size, before in zip(shape, shape_of(value), strict=True)]
        padded = builder.pad(value, zero, [0] * len(high), high)
        self.with_sharding(padded, self.types.sharding(value))
        return padded

    def cut(self, op: Op, value: Value, shape: Sequence[int], sharding: TensorSharding | None) -> Value:
        """The value without its last elements, down to a shape, and with this sharding."""
        if shape_of(value) == tuple(shape):
            return value
        cut = self.builder(op).slice(value, [0] * len(shape), shape)
        self.with_sharding(cut, sharding)
        return cut

    def mask(
        self, op: Op, value: Value, unpadded: Sequence[int], dims: Iterable[int], filler: Value | None = None
    ) -> Value:
        """The value with a scalar, `filler`, in its padding along some dimensions; by default zero."""
        padded_dims = [dim for dim in dims if shape_of(value)[dim] != unpadded[dim]]
        if not padded_dims:
            return value
        builder, sharding = self.builder(op), self.types.sharding(value)
        scalar = tensor((), ranked(value).element)
        if filler is None and Behavior.FILLER_BEFORE_MASK.active:
            filler = builder.zero(scalar)
        mask = None
        for dim in padded_dims:
            kept = self.is_before(builder, shape_of(value), dim, unpadded[dim], sharding)
            mask = kept if mask is None else self.with_sharding(builder.binary(AndOp, mask, kept), sharding)
        assert mask is not None
        # jaxlib 0.10.2 creates the zero here.
        filler = builder.zero(scalar) if filler is None else filler
        fill = self.with_sharding(builder.broadcast(filler, ranked(value)), sharding)
        return self.with_sharding(builder.select(mask, value, fill), sharding)

    def is_before(
        self,
        builder: LocalBuilder,
        shape: Sequence[int],
        dim: int,
        limit: int,
        sharding: TensorSharding | None,
    ) -> Value:
        """A mask of this shape: whether the index along a dimension is smaller than a limit."""
        element = I32 if max(shape) < 1 << 31 else I64
        type = tensor(tuple(shape), element)
        iota = self.with_sharding(builder.iota(type, dim), sharding)
        limits = builder.broadcast(builder.integers(tensor((), element), [limit]), type)
        return self.with_sharding(builder.compare(iota, self.with_sharding(limits, sharding), "LT"), sharding)

    def mask_with_zero(self, op: Op, value: Value, unpadded: Sequence[int], dims: Iterable[int]) -> Value:
        """The value with zeros in its padding along some dimensions."""
        if value in self.zero_padded:
            return value
        padded_dims = [dim for dim in dims if shape_of(value)[dim] != unpadded[dim]]
        if not padded_dims and shape_of(value) != tuple(unpadded) and Behavior.FILLER_BEFORE_MASK.active:
            # Not used.
            self.builder(op).zero(tensor((), ranked(value).element))
        return self.mask(op, value, unpadded, padded_dims) if padded_dims else value

    def with_sharding(self, value: Value, sharding: TensorSharding | None) -> Value:
        """Sets the sharding of a new value, and returns the value."""
        op = value.defining_op
        if sharding is not None and op is not None:
            self.rewriter.set_attribute(op, SHARDING, ShardingPerValue((sharding,)))
        return value

    def recreate(
        self,
        op: Op,
        operands: Sequence[Value],
        types: Sequence[Type],
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Op:
        """A copy of an operation without regions, with these operands, types and changed attributes."""
        changed = {**dict(op.signature.attributes), **dict(op.attributes), **(attributes or {})}
        return self.builder(op).create(type(op), operands, types, changed)


def unpadded_shape(op: Op, operand: int) -> tuple[int, ...]:
    """The shape of an operand before it was padded."""
    type = op.signature.operand_types[operand]
    assert isinstance(type, RankedTensor)
    return type.shape


def unpadded_result_shape(op: Op) -> tuple[int, ...]:
    """The shape of the first result before it is padded."""
    type = op.signature.result_types[0]
    assert isinstance(type, RankedTensor)
    return type.shape


def unsupported(op: Op, dim: int) -> DiagnosticError:
    """The error of an operation that cannot be padded along a dimension."""
    return op.op_error(
        f"dimension {dim} is sharded into shards of different sizes, which cannot be padded here"
    )
