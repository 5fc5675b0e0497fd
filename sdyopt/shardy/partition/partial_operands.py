"""Operations of partial results: which of them have partial results of their own result.

The difference of two partial sums is a partial sum of the difference, if both operands are partial; the
product is one if only one operand is. Operations that only move elements preserve any reduction.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind
from sdyopt.mlir.dialects.stablehlo.broadcast import BroadcastInDimOp
from sdyopt.mlir.dialects.stablehlo.compare_select import SelectOp
from sdyopt.mlir.dialects.stablehlo.concatenate_pad import ConcatenateOp, PadOp
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp, DotOp
from sdyopt.mlir.dialects.stablehlo.conversion import ConvertOp, ImagOp, RealOp
from sdyopt.mlir.dialects.stablehlo.convolution import ConvolutionOp
from sdyopt.mlir.dialects.stablehlo.elementwise import (
    AddOp,
    ComplexOp,
    DivOp,
    MaxOp,
    MinOp,
    MulOp,
    NegOp,
    SubtractOp,
)
from sdyopt.mlir.dialects.stablehlo.gather import GatherOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.dialects.stablehlo.shapes import ReshapeOp, ReverseOp, TransposeOp
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicSliceOp, DynamicUpdateSliceOp, SliceOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import I1, ComplexType, FloatType, Type, element_of
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.combiners import binary_body
from sdyopt.shardy.partition.identities import is_identity
from sdyopt.shardy.sharding.op_sharding_rule_builder import Reduction
from sdyopt.shardy.sharding.op_sharding_rule_registry import reduction_of

# The operands whose elements an operation moves; None for all.
_MOVED: dict[type[Op], tuple[int, ...] | None] = {
    BroadcastInDimOp: None,
    ConcatenateOp: None,
    DynamicSliceOp: (0,),
    DynamicUpdateSliceOp: (0, 1),
    GatherOp: (0,),
    PadOp: None,
    ReshapeOp: None,
    ReverseOp: None,
    SelectOp: (1, 2),
    SliceOp: None,
    TransposeOp: None,
}
# The operands that an operation is linear in, together.
_SUMMED: dict[type[Op], tuple[int, ...] | None] = {
    AddOp: None,
    ComplexOp: None,
    SubtractOp: None,
    NegOp: None,
    RealOp: None,
    ImagOp: None,
    **_MOVED,
}
# The operations that are linear in either operand, if the other one is whole.
_PRODUCTS = (MulOp, DotOp, DotGeneralOp, ConvolutionOp)
_BY_KIND: dict[ReductionKind, type[Op]] = {
    ReductionKind.SUM: AddOp,
    ReductionKind.MAX: MaxOp,
    ReductionKind.MIN: MinOp,
}
_DECLARED = {
    None: ReductionKind.SUM,
    Reduction.ADD: ReductionKind.SUM,
    Reduction.MAX: ReductionKind.MAX,
    Reduction.MIN: ReductionKind.MIN,
}


def partial_together(op: Op, kind: ReductionKind) -> Sequence[int]:
    """The operands that must all be partial, by a reduction of this kind, for a partial result.

    Empty if the result is not partial even then.
    """
    every = range(len(op.operands))
    if any(element_of(value.type) is I1 for value in op.results):
        return ()
    if isinstance(op, ReduceOp):
        return range(len(op.results)) if _combines(op, kind) else ()
    if kind is not ReductionKind.SUM:
        if isinstance(op, _BY_KIND[kind]):
            return every
        return _positions(_MOVED, op, every)
    if isinstance(op, DivOp) and _is_float(op.results[0].type):
        return (0,)
    if isinstance(op, ConvertOp) and all(_is_float(value.type) for value in (*op.operands, *op.results)):
        return every
    return _positions(_SUMMED, op, every)


def is_product(op: Op, kind: ReductionKind) -> bool:
    """Whether the result is partial if exactly one operand is."""
    return kind is ReductionKind.SUM and isinstance(op, _PRODUCTS)


def is_partial_everywhere(value: Value, kind: ReductionKind) -> bool:
    """Whether a value is a constant that changes nothing, on however many devices it is added."""
    return is_identity(_BY_KIND[kind], value)


def introduced_kind(op: Op) -> ReductionKind | None:
    """The reduction of the partial results that an operation on shards has; None for another one."""
    if not isinstance(op, ReduceOp | ScatterOp):
        return _DECLARED.get(reduction_of(op))
    bodies = {binary_body(op.regions[0], index) for index in range(len(op.results))}
    return next((kind for kind, combiner in _BY_KIND.items() if bodies == {combiner}), None)


def _positions(table: dict[type[Op], tuple[int, ...] | None], op: Op, every: range) -> Sequence[int]:
    return () if type(op) not in table else table[type(op)] or every


def _combines(op: ReduceOp, kind: ReductionKind) -> bool:
    """Whether a reduction of partial results has partial results: it must not add initial values to each."""
    combiner = _BY_KIND[kind]
    return introduced_kind(op) is kind and (
        kind is not ReductionKind.SUM or all(is_identity(combiner, init) for init in op.init_values)
    )


def _is_float(type: Type) -> bool:
    return isinstance(element_of(type), FloatType | ComplexType)
