"""The operations that combine partial results, and their identities.

An operation whose reduced dimension is sharded has a partial result on each device. The collective after it
combines them by the operation's own kind of reduction: the maximum of partial maxima, not their sum. The
operation's body or its sharding rule has the kind. A collective may also name it: `sdy.all_reduce max`.
"""

from __future__ import annotations

from collections.abc import Callable

from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp, ReduceScatterOp
from sdyopt.mlir.dialects.sdy.ops import ConstantOp as SdyConstantOp
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp, AndOp, MaxOp, MinOp, MulOp, OrOp, XorOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp, ReshapeOp
from sdyopt.mlir.dialects.stablehlo.slicing import PadOp, SliceOp
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import DenseElements, can_be_negative, element_size
from sdyopt.mlir.ir.cse import constant_value
from sdyopt.mlir.ir.floats import encode_double, extreme_bits
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import I1, ComplexType, FloatType, IntegerType, Type, element_of
from sdyopt.mlir.ir.value import OpResult, Value
from sdyopt.shardy.sharding.op_sharding_rule_builder import Reduction
from sdyopt.shardy.sharding.op_sharding_rule_registry import reduction_of

# The reducers that all backends support in collectives; `and` and `or` on booleans only.
_SUPPORTED = (AddOp, MulOp, MaxOp, MinOp)
_SUPPORTED_ON_BOOLEANS = (AndOp, OrOp, *_SUPPORTED)


# `sum` is missing because it is also the default: a collective with `sum` may need another combiner.
_COMBINERS: dict[ReductionKind, type[Op]] = {ReductionKind.MAX: MaxOp, ReductionKind.MIN: MinOp}
_DECLARED: dict[Reduction | None, type[Op]] = {
    Reduction.MAX: MaxOp,
    Reduction.MIN: MinOp,
    Reduction.MUL: MulOp,
    Reduction.AND: AndOp,
    Reduction.OR: OrOp,
}


def combiner_of(collective: AllReduceOp | ReduceScatterOp) -> type[Op] | None:
    """The operation that combines the partial results of a collective's operand; by default, addition.

    None if no single collective can combine them, such as the results of a reduction that combines several
    values together.
    """
    if (combiner := _COMBINERS.get(collective.reduction_op)) is not None:
        return combiner
    value = collective.tensor
    origin = origin_of_partial_results(value)
    op = origin.defining_op
    if isinstance(op, ReduceOp | ScatterOp):
        assert isinstance(origin, OpResult)
        combiner = binary_body(op.regions[0], origin.index)
        supported = _SUPPORTED_ON_BOOLEANS if element_of(value.type) is I1 else _SUPPORTED
        return combiner if combiner in supported else None
    return AddOp if op is None else _DECLARED.get(reduction_of(op), AddOp)


def origin_of_partial_results(value: Value) -> Value:
    """Follows `value` back through reductions along other axes, and the padding and slices between them."""
    op = value.defining_op
    while isinstance(op, AllReduceOp | ReduceScatterOp | PadOp | SliceOp):
        value = op.operand_at(0)
        op = value.defining_op
    return value


def binary_body(region: Region, index: int) -> type[Op] | None:
    """The binary operation by which a region combines the two arguments that belong to one result.

    None if the region computes this result in another way.
    """
    (block,) = region.blocks
    returned = block.last
    assert returned is not None
    count = len(block.arguments) // 2
    op = returned.operand_at(index).defining_op
    if op is None or len(op.results) != 1 or len(op.operands) != 2:
        return None
    arguments = [block.arguments[index], block.arguments[index + count]]
    return type(op) if op.operands in (arguments, arguments[::-1]) else None


# Reductions whose result changes if the initial value counts once for each device. A maximum does not change.
COUNTS_EACH = (AddOp, MulOp, XorOp)


def identity_of(combiner: type[Op], element: Type) -> bytes | None:
    """The bytes of the identity of a binary operation on an element type; None if it has none."""
    make = _IDENTITIES.get(combiner)
    return None if make is None else make(element)


def exact_sum_identity(element: Type) -> bytes:
    """The bytes of an element whose sum with any other is this other one, even if it is -0.0."""
    if isinstance(element, ComplexType):
        return 2 * exact_sum_identity(element.element)
    if isinstance(element, FloatType):
        return _little_endian(encode_double(-0.0, element.format), element)
    return bytes(element_size(element))


def _zero(element: Type) -> bytes | None:
    return bytes(element_size(element))


def _one(element: Type) -> bytes | None:
    if isinstance(element, ComplexType):
        one = _one(element.element)
        return None if one is None else one + bytes(element_size(element.element))
    if isinstance(element, FloatType):
        return _little_endian(encode_double(1.0, element.format), element)
    return _little_endian(1, element)


def _all_ones(element: Type) -> bytes | None:
    if not isinstance(element, IntegerType):
        return None
    return _integer(_all_bits(element) if not can_be_negative(element) else -1, element)


def _smallest(element: Type) -> bytes | None:
    if isinstance(element, FloatType):
        return _little_endian(extreme_bits(True, element.format), element)
    if isinstance(element, IntegerType):
        return _integer(-(1 << (element.width - 1)) if can_be_negative(element) else 0, element)
    return None


def _largest(element: Type) -> bytes | None:
    if isinstance(element, FloatType):
        return _little_endian(extreme_bits(False, element.format), element)
    if isinstance(element, IntegerType):
        return _integer(_all_bits(element) >> can_be_negative(element), element)
    return None


_IDENTITIES: dict[type[Op], Callable[[Type], bytes | None]] = {
    AddOp: _zero,
    OrOp: _zero,
    XorOp: _zero,
    MulOp: _one,
    AndOp: _all_ones,
    MaxOp: _smallest,
    MinOp: _largest,
}


def _all_bits(element: IntegerType) -> int:
    return (1 << element.width) - 1


def _integer(value: int, element: Type) -> bytes:
    return _little_endian(value & ((1 << 8 * element_size(element)) - 1), element)


def _little_endian(bits: int, element: Type) -> bytes:
    return bits.to_bytes(element_size(element), "little")


def is_identity(combiner: type[Op], value: Value) -> bool:
    """Whether a value is a constant, or broadcast from one, that is the identity of a binary operation."""
    constant = constant_of(value)
    return constant is not None and constant.data == identity_of(combiner, constant.type.element)


def constant_of(value: Value) -> DenseElements | None:
    """The constant that a value is, or is broadcast from; None for other values."""
    op = value.defining_op
    while isinstance(op, BroadcastInDimOp | ReshapeOp):
        op = op.operand_at(0).defining_op
    constant = op.value if isinstance(op, SdyConstantOp) else constant_value(op)
    return constant if isinstance(constant, DenseElements) else None
