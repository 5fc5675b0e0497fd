"""Sharding rules of elementwise operations, linear algebra, fft, collectives, and operations without a rule.

Those without a rule are structural, have no operands that are tensors, transfer data to or from the host,
reshard their operand, or are handled by propagation itself. Terminators and operations with data-flow edges
need no rule either, and are not listed.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.ops import ConstantOp as SdyConstantOp
from sdyopt.mlir.dialects.sdy.ops import (
    PropagationBarrierOp,
    ReshardOp,
    ShardingConstraintOp,
    ShardingGroupOp,
)
from sdyopt.mlir.dialects.sdy.value_shardings import DataFlowEdgeOp, FuncDataFlowEdgeOp
from sdyopt.mlir.dialects.stablehlo.asynchronous import InfeedOp, OutfeedOp, RecvOp, SendOp
from sdyopt.mlir.dialects.stablehlo.collectives import (
    AllGatherOp,
    AllReduceOp,
    AllToAllOp,
    CollectiveBroadcastOp,
    CollectivePermuteOp,
    CrossReplicaSumOp,
    ReduceScatterOp,
)
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
from sdyopt.mlir.dialects.stablehlo.control_flow import GetTupleElementOp
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
from sdyopt.mlir.dialects.stablehlo.nullary import (
    AfterAllOp,
    ConstantOp,
    CreateTokenOp,
    IotaOp,
    PartitionIdOp,
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


@sharding_rule(AllReduceOp, CollectiveBroadcastOp, CollectivePermuteOp, CrossReplicaSumOp)
def same_shape(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([i, j])->([i, j])"""
    builder.set_pointwise(signature.result_types[0])


@sharding_rule(AllGatherOp)
def all_gather(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([j, i])->([k, i]) need_replication={j, k}"""
    shape, result_shape = signature[AllGatherOp.inputs][0].shape, signature[AllGatherOp.out][0].shape
    _add_factors(builder, shape, result_shape, signature[AllGatherOp.all_gather_dim])


@sharding_rule(ReduceScatterOp)
def reduce_scatter(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([j, i])->([k, i]) need_replication={j, k}"""
    shape, result_shape = signature[ReduceScatterOp.value].shape, signature[ReduceScatterOp.out].shape
    _add_factors(builder, shape, result_shape, signature[ReduceScatterOp.scatter_dimension])


@sharding_rule(AllToAllOp)
def all_to_all(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
    """([i, l, j])->([i, m, k]) need_replication={j, k, l, m}: j is split into k, l concatenated to m"""
    exchanged_dims = dict.fromkeys(
        (signature[AllToAllOp.split_dimension], signature[AllToAllOp.concat_dimension])
    )
    shape, result_shape = signature[AllToAllOp.inputs][0].shape, signature[AllToAllOp.out][0].shape
    _add_factors(builder, shape, result_shape, *exchanged_dims)


def _add_factors(
    builder: OpShardingRuleBuilder, shape: Sequence[int], result_shape: Sequence[int], *exchanged_dims: int
) -> None:
    """Adds need-replication factors for the exchanged dimensions, and pass-through factors for others."""
    for dim, size in enumerate(shape):
        if dim not in exchanged_dims:
            builder.add_common_factor(dim, size)
    for dim in exchanged_dims:
        builder.add_operand_factor(dim, shape[dim], FactorType.NEED_REPLICATION)
        builder.add_result_factor(dim, result_shape[dim], FactorType.NEED_REPLICATION)


_STRUCTURAL = (ModuleOp, FuncOp, CallOp, MeshOp, AfterAllOp, CreateTokenOp)
_NO_TENSOR_OPERANDS = (ConstantOp, SdyConstantOp, IotaOp, PartitionIdOp, GetTupleElementOp)
_HOST_TRANSFER = (InfeedOp, OutfeedOp, RecvOp, SendOp)
_HANDLED_BY_PROPAGATION = (
    DataFlowEdgeOp,
    FuncDataFlowEdgeOp,
    PropagationBarrierOp,
    ShardingGroupOp,
)


@sharding_rule(*_STRUCTURAL, *_NO_TENSOR_OPERANDS, *_HOST_TRANSFER, ReshardOp, *_HANDLED_BY_PROPAGATION)
def no_rule(signature: OpSignature, builder: OpShardingRuleBuilder) -> NoRule:
    return NoRule()
