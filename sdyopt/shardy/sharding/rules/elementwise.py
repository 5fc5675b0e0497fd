"""Sharding rules of elementwise operations, of linear algebra, fft and random numbers."""

from __future__ import annotations

from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.stablehlo.compare_select import (
    AbsOp,
    ClampOp,
    CompareOp,
    ConvertOp,
    ImagOp,
    IsFiniteOp,
    RealOp,
    ReducePrecisionOp,
    SelectOp,
)
from sdyopt.mlir.dialects.stablehlo.elementwise import (
    AddOp,
    AndOp,
    Atan2Op,
    CbrtOp,
    CeilOp,
    ClzOp,
    ComplexOp,
    CosineOp,
    DivOp,
    Expm1Op,
    ExpOp,
    FloorOp,
    Log1pOp,
    LogisticOp,
    LogOp,
    MaxOp,
    MinOp,
    MulOp,
    NegOp,
    NotOp,
    OrOp,
    PopulationCountOp,
    PowOp,
    RemOp,
    RoundNearestEvenOp,
    RoundOp,
    RsqrtOp,
    ShiftLeftOp,
    ShiftRightArithmeticOp,
    ShiftRightLogicalOp,
    SignOp,
    SineOp,
    SqrtOp,
    SubtractOp,
    TanhOp,
    TanOp,
    XorOp,
)
from sdyopt.mlir.dialects.stablehlo.numerics import (
    BatchNormInferenceOp,
    CholeskyOp,
    FftOp,
    RngBitGeneratorOp,
    TriangularSolveOp,
)
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.types import RankedShapedType
from sdyopt.shardy.sharding.op_sharding_rule_builder import (
    FactorType,
    NoRule,
    OpShardingRuleBuilder,
    sharding_rule,
)

_UNARY = (
    *(AbsOp, CbrtOp, CeilOp, ClzOp, ConvertOp, CosineOp, ExpOp, Expm1Op, FloorOp, ImagOp, IsFiniteOp),
    *(LogOp, Log1pOp, LogisticOp, NegOp, NotOp, PopulationCountOp, RealOp, ReducePrecisionOp, RoundOp),
    *(RoundNearestEvenOp, RsqrtOp, SignOp, SineOp, SqrtOp, TanOp, TanhOp, ShardingConstraintOp),
)
_BINARY = (
    *(AddOp, AndOp, Atan2Op, CompareOp, ComplexOp, DivOp, MaxOp, MinOp, MulOp, OrOp, PowOp, RemOp),
    *(ShiftLeftOp, ShiftRightArithmeticOp, ShiftRightLogicalOp, SubtractOp, XorOp),
)


@sharding_rule(*_UNARY, *_BINARY)
def elementwise(signature: OpSignature, builder: OpShardingRuleBuilder) -> NoRule | None:
    """([i, j], [i, j])->([i, j]); no rule for a constraint on a token"""
    if not isinstance(signature.result_types[0], RankedShapedType):
        return NoRule()
    builder.set_pointwise(signature.result_types[0])
    return None


@sharding_rule(SelectOp)
def select(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([], [i, j], [i, j])->([i, j]), or pointwise if the predicate is not a scalar"""
    builder.add_pointwise(signature[SelectOp.out].shape)


@sharding_rule(ClampOp)
def clamp(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([], [i, j], [])->([i, j]), or pointwise if the limits are not scalars"""
    builder.add_pointwise(signature[ClampOp.out].shape)


@sharding_rule(CholeskyOp)
def cholesky(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([i, j, k])->([i, j, k]) need_replication={j, k}"""
    shape = signature[CholeskyOp.a].shape
    builder.add_pointwise(shape[:-2])
    for dim in (len(shape) - 2, len(shape) - 1):
        builder.add_common_factor(dim, shape[dim], FactorType.NEED_REPLICATION)


@sharding_rule(TriangularSolveOp)
def triangular_solve(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([i, j, l], [i, j, k])->([i, l, k]) need_replication={j, k, l} for a * out = b

    Apart from batch dimensions, one factor belongs to a and b, one to b and the result, and one, the
    contracting dimension, to a and the result.
    """
    a, b = signature[TriangularSolveOp.a].shape, signature[TriangularSolveOp.b].shape
    builder.add_pointwise(a[:-2])
    rows, columns = len(a) - 2, len(a) - 1
    # The dimensions of a that correspond to a dimension of b, and to a dimension of the result.
    is_left = signature[TriangularSolveOp.left_side]
    is_transposed = signature[TriangularSolveOp.transpose_a].value in ("TRANSPOSE", "ADJOINT")
    free, contracting = (rows, columns) if is_left != is_transposed else (columns, rows)
    # The dimensions of b that correspond to a dimension of a, and to a dimension of the result.
    shared, other = (rows, columns) if is_left else (columns, rows)
    for dim in (rows, columns):
        if dim == shared:
            builder.add_factor(a[free], [free, shared], [None], FactorType.NEED_REPLICATION)
        else:
            builder.add_factor(b[other], [None, other], [other], FactorType.NEED_REPLICATION)
    builder.add_factor(a[contracting], [contracting, None], [shared], FactorType.NEED_REPLICATION)


@sharding_rule(FftOp)
def fft(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([i, j, k])->([i, j, k]) need_replication={j, k}, with k blocked if its size changes"""
    shape, result_shape = signature[FftOp.operand].shape, signature[FftOp.out].shape
    batch_rank = len(shape) - len(signature[FftOp.fft_length])
    builder.add_pointwise(shape[:batch_rank])
    for dim in range(batch_rank, len(shape)):
        is_resized = dim == len(shape) - 1 and shape[dim] != result_shape[dim]
        builder.add_common_factor(dim, shape[dim], FactorType.NEED_REPLICATION, is_blocked=is_resized)


@sharding_rule(BatchNormInferenceOp)
def batch_norm_inference(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([i, j], [j], [j], [j], [j])->([i, j]): the vectors have one element per feature"""
    feature_dim = signature[BatchNormInferenceOp.feature_index]
    for dim, size in enumerate(signature[BatchNormInferenceOp.operand].shape):
        vector_dims = [0 if dim == feature_dim else None] * 4
        builder.add_factor(size, [dim, *vector_dims], [dim])


@sharding_rule(RngBitGeneratorOp)
def rng_bit_generator(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([i])->([i], [j]) need_replication={i} blocked_propagation={i}: every device needs the whole state"""
    for dim, size in enumerate(signature[RngBitGeneratorOp.initial_state].shape):
        builder.add_factor(size, [dim], [dim, None], FactorType.NEED_REPLICATION, is_blocked=True)
    for dim, size in enumerate(signature[RngBitGeneratorOp.output].shape):
        builder.add_factor(size, [None], [None, dim])
