"""Sharding rules of custom calls, by call target."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.dialects.stablehlo.numerics import RngBitGeneratorOp
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.types import RankedTensor, Type
from sdyopt.shardy.sharding.op_sharding_rule_builder import (
    FactorType,
    NoRule,
    OpShardingRuleBuilder,
    sharding_rule,
)

# Callbacks and kernels whose results have no known relation to their operands.
_OPAQUE = {
    "sdy_testonly",
    "tpu_custom_call",
    "xla.debug.Log",
    "xla_ffi_python_cpu_callback",
    "xla_ffi_python_gpu_callback",
    "xla_python_cpu_callback",
    "xla_python_gpu_callback",
}

# Operands and results are sharded alike, although some of these calls move elements.
_POINTWISE = {
    "Cholesky",
    "CompactWyHelper",
    "InspectSharding",
    "InvertDiagBlocksLowerTriangular",
    "InvertDiagBlocksUpperTriangular",
    "LayoutConstraint",
    "MoveToDevice",
    "MoveToHost",
    "X64Combine",
    "X64SplitHigh",
    "X64SplitLow",
    "_SPMDInternalOp_MultiPad",
    "_SPMDInternalOp_MultiRotate",
    "_SPMDInternalOp_MultiSlice",
    "_SPMDInternalOp_RotateRight",
    "_SPMDInternalOp_Wrap",
    "annotate_device_placement",
    "mhlo.erf",
    "xla.megascale.provide_metadata",
}

# Call targets that are unknown before a release.
_NEWER = {"TopK": Behavior.TOP_K_CALLS, "xla.debug.Log": Behavior.DEBUG_LOG_CALLS}

Shapes = Sequence[tuple[int, ...]]
# (shapes of operands, shapes of results, builder)
_TargetRule = Callable[[Shapes, Shapes, OpShardingRuleBuilder], None]


class _Target(NamedTuple):
    """The rule of a call target, and the numbers of operands and results that it applies to.

    The first operand must have at least rank `min_rank`.
    """

    add_factors: _TargetRule
    operand_counts: range
    result_counts: range
    min_rank: int


_targets: dict[str, _Target] = {}


def _target(
    *names: str, operands: range, results: range, min_rank: int = 0
) -> Callable[[_TargetRule], _TargetRule]:
    """Registers the function that adds the factors of calls to these targets."""

    def register(function: _TargetRule) -> _TargetRule:
        _targets.update(dict.fromkeys(names, _Target(function, operands, results, min_rank)))
        return function

    return register


def _feeds_rng_bit_generator(op: CustomCallOp) -> bool:
    """Whether an `rng_bit_generator` uses the integer that the call combines from two halves."""
    if op.call_target_name != "X64Combine":
        return False
    return any(isinstance(user, RngBitGeneratorOp) for result in op.results for user in result.users)


@sharding_rule(CustomCallOp, context=_feeds_rng_bit_generator)
def custom_call(
    signature: OpSignature, builder: OpShardingRuleBuilder, is_random_state: bool
) -> NoRule | None:
    """Adds the factors of the call target.

    There is no rule for an unknown target, nor for unexpected numbers or ranks of operands or results.
    """
    name = signature[CustomCallOp.call_target_name]
    if name in _NEWER and not _NEWER[name].active:
        return NoRule("custom call", f"@{name}")
    if name in _OPAQUE:
        return NoRule()
    if name in _POINTWISE:
        # ([i, j])->([i, j])
        # Every device needs the whole state of a random generator, whose rule is ([i], [i])->([i])
        # need_replication={i} blocked_propagation={i}.
        first = next(iter(signature.result_types), None)
        if not isinstance(first, RankedTensor):
            return NoRule()
        if is_random_state and first.shape:
            builder.add_common_factor(0, first.shape[0], FactorType.NEED_REPLICATION, is_blocked=True)
        else:
            builder.set_pointwise(first)
        return None
    if name not in _targets:
        return NoRule("custom call", f"@{name}")
    mismatch = NoRule("custom call", f"@{name} with these operands and results")
    target = _targets[name]
    operands, results = _shapes(signature.operand_types), _shapes(signature.result_types)
    if len(operands) not in target.operand_counts or len(results) not in target.result_counts:
        return mismatch
    if len(operands[0]) < target.min_rank:
        return mismatch
    try:
        target.add_factors(operands, results, builder)
    except IndexError:  # a tensor has fewer dimensions than the rule needs
        return mismatch
    return None


def _shapes(types: Sequence[Type]) -> Shapes:
    return [type.shape if isinstance(type, RankedTensor) else () for type in types]


_ONE, _TWO = range(1, 2), range(2, 3)
_ANY = range(1, sys.maxsize)


@_target("Eigh", operands=_ONE, results=range(1, 3), min_rank=2)
def _eigh(operands: Shapes, results: Shapes, builder: OpShardingRuleBuilder) -> None:
    """([i, j, k])->([i, j, k], [i, k]): eigenvectors and, optionally, eigenvalues"""
    (shape,) = operands
    rows, columns = len(shape) - 2, len(shape) - 1
    builder.add_pointwise(shape[:-2])
    builder.add_factor(shape[rows], [rows], [rows, None][: len(results)])
    builder.add_factor(shape[columns], [columns], [columns, rows][: len(results)])


@_target("Qr", "QrDecompositionBlock", operands=_ONE, results=_TWO, min_rank=2)
def _qr(operands: Shapes, results: Shapes, builder: OpShardingRuleBuilder) -> None:
    """([i, j, k])->([i, j, k], [i, l]) need_replication={j, k, l}"""
    (shape,) = operands
    rows, columns = len(shape) - 2, len(shape) - 1
    builder.add_pointwise(shape[:-2])
    for dim in (rows, columns):
        builder.add_factor(shape[dim], [dim], [dim, None], FactorType.NEED_REPLICATION)
    builder.add_factor(results[1][rows], [None], [None, rows], FactorType.NEED_REPLICATION)


@_target("ProductOfElementaryHouseholderReflectors", operands=_TWO, results=_ONE, min_rank=2)
def _householder_product(operands: Shapes, results: Shapes, builder: OpShardingRuleBuilder) -> None:
    """([i, j, k], [i, l])->([i, j, k]) need_replication={j, k, l}"""
    shape, scales = operands
    rows, columns = len(shape) - 2, len(shape) - 1
    builder.add_pointwise(shape[:-2])
    for dim in (rows, columns):
        builder.add_factor(shape[dim], [dim, None], [dim], FactorType.NEED_REPLICATION)
    builder.add_factor(scales[rows], [None, rows], [None], FactorType.NEED_REPLICATION)


@_target("TopK", "mhlo.topk", operands=_ANY, results=_ANY)
def _top_k(operands: Shapes, results: Shapes, builder: OpShardingRuleBuilder) -> None:
    """([i, j])->([i, j], [i, j]) need_replication={j} blocked_propagation={j}"""
    shape = operands[0]
    for dim, size in enumerate(shape):
        if size == results[0][dim]:
            builder.add_common_factor(dim, size)
        else:
            builder.add_common_factor(dim, size, FactorType.NEED_REPLICATION, is_blocked=True)


@_target("ApproxTopK", "PartialReduce", operands=range(2, 5), results=range(1, 3))
def _approximate_top_k(operands: Shapes, results: Shapes, builder: OpShardingRuleBuilder) -> None:
    """([i, j], [i, j], [], [])->([i, k], [i, k]) need_replication={k} blocked_propagation={k}"""
    for dim, size in enumerate(operands[0]):
        result_size = results[0][dim]
        if size == result_size:
            builder.add_common_factor(dim, size)
            continue
        absent = [None] * (len(operands) - 2)
        builder.add_factor(size, [dim, dim, *absent], [None] * len(results))
        no_operand, result_dims = [None] * len(operands), [dim] * len(results)
        builder.add_factor(result_size, no_operand, result_dims, FactorType.NEED_REPLICATION, is_blocked=True)
