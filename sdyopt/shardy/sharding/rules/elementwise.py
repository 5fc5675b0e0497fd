"""Sharding rules of elementwise operations."""

from __future__ import annotations

from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.stablehlo.compare_select import ClampOp, CompareOp, SelectOp
from sdyopt.mlir.dialects.stablehlo.conversion import (
    AbsOp,
    ConvertOp,
    ImagOp,
    IsFiniteOp,
    RealOp,
    ReducePrecisionOp,
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
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.types import RankedShapedType
from sdyopt.shardy.sharding.op_sharding_rule_builder import OpShardingRuleBuilder
from sdyopt.shardy.sharding.op_sharding_rule_table import NoRule, sharding_rule

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
