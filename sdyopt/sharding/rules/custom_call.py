"""Sharding rules of custom calls, by what they call."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

from sdyopt.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.dialects.stablehlo.random import RngBitGeneratorOp
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.types import RankedTensor
from sdyopt.sharding.op_sharding_rule_builder import FactorType, OpShardingRuleBuilder
from sdyopt.sharding.op_sharding_rule_registry import NoRule, sharding_rule

# Called for what they do on the host; nobody knows what comes back.
_OPAQUE = {
    "sdy_testonly",
    "tpu_custom_call",
    "xla_ffi_python_cpu_callback",
    "xla_ffi_python_gpu_callback",
    "xla_python_cpu_callback",
    "xla_python_gpu_callback",
}

# Take and give tensors that are sharded alike, though some move elements.
_ALIKE = {
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

Shapes = Sequence[tuple[int, ...]]
# (shapes of operands, shapes of results, rule)
_Function = Callable[[Shapes, Shapes, OpShardingRuleBuilder], None]


class _Target(NamedTuple):
    """How to make the rule of a call, and what there must be for that."""

    function: _Function
    operands: range
    results: range
    rank: int


_targets: dict[str, _Target] = {}


def _target(*names: str, takes: range, gives: range, rank: int = 0) -> Callable[[_Function], _Function]:
    """Decorator of the function that makes the rule of calls of `names`, whose first operand has a rank."""

    def register(function: _Function) -> _Function:
        _targets.update(dict.fromkeys(names, _Target(function, takes, gives, rank)))
        return function

    return register


def _makes_random_state(op: CustomCallOp) -> bool:
    """Whether an integer is put together that random numbers are made from."""
    if op.call_target_name != "X64Combine":
        return False
    return any(isinstance(user, RngBitGeneratorOp) for result in op.results for user in result.users)


@sharding_rule(CustomCallOp, seeing=_makes_random_state)
def custom_call(
    signature: OpSignature, rule: OpShardingRuleBuilder, makes_random_state: bool
) -> NoRule | None:
    """What is called decides; only a few are known."""
    name: str = signature.call_target_name
    if name in _OPAQUE:
        return NoRule()
    if name in _ALIKE:
        return _alike(signature, rule, makes_random_state)
    if name not in _targets:
        return NoRule("custom call", f"@{name}")
    misfit = NoRule("custom call", f"@{name} with such operands and results")
    target = _targets[name]
    operands, results = _shapes(signature.operand_types), _shapes(signature.result_types)
    if len(operands) not in target.operands or len(results) not in target.results:
        return misfit
    if len(operands[0]) < target.rank:
        return misfit
    try:
        target.function(operands, results, rule)
    except IndexError:  # a tensor does not have all the dimensions that it would need
        return misfit
    return None


def _shapes(types: Sequence[object]) -> Shapes:
    return [type.shape if isinstance(type, RankedTensor) else () for type in types]


def _alike(signature: OpSignature, rule: OpShardingRuleBuilder, makes_random_state: bool) -> NoRule | None:
    """([i, j])->([i, j]), or of a random state ([i], [i])->([i]) need_replication={i} blocked_propagation={i}

    All devices need all of a random state.
    """
    first = next(iter(signature.result_types), None)
    if not isinstance(first, RankedTensor):
        return NoRule()
    if makes_random_state and first.shape:
        rule.add_common_factor(0, first.shape[0], FactorType.NEED_REPLICATION, is_blocked=True)
    else:
        rule.set_pointwise(first)
    return None


_ONE, _TWO = range(1, 2), range(2, 3)
_ANY = range(1, sys.maxsize)


@_target("Eigh", takes=_ONE, gives=range(1, 3), rank=2)
def _eigh(operands: Shapes, results: Shapes, rule: OpShardingRuleBuilder) -> None:
    """([i, j, k])->([i, j, k], [i, k]): eigenvectors, and eigenvalues if they are wanted"""
    (shape,) = operands
    rows, columns = len(shape) - 2, len(shape) - 1
    rule.add_pointwise(shape[:-2])
    rule.add_factor(shape[rows], [rows], [rows, None][: len(results)])
    rule.add_factor(shape[columns], [columns], [columns, rows][: len(results)])


@_target("Qr", "QrDecompositionBlock", takes=_ONE, gives=_TWO, rank=2)
def _qr(operands: Shapes, results: Shapes, rule: OpShardingRuleBuilder) -> None:
    """([i, j, k])->([i, j, k], [i, l]) need_replication={j, k, l}"""
    (shape,) = operands
    rows, columns = len(shape) - 2, len(shape) - 1
    rule.add_pointwise(shape[:-2])
    for dim in (rows, columns):
        rule.add_factor(shape[dim], [dim], [dim, None], FactorType.NEED_REPLICATION)
    rule.add_factor(results[1][rows], [None], [None, rows], FactorType.NEED_REPLICATION)


@_target("ProductOfElementaryHouseholderReflectors", takes=_TWO, gives=_ONE, rank=2)
def _householder_product(operands: Shapes, results: Shapes, rule: OpShardingRuleBuilder) -> None:
    """([i, j, k], [i, l])->([i, j, k]) need_replication={j, k, l}"""
    shape, scales = operands
    rows, columns = len(shape) - 2, len(shape) - 1
    rule.add_pointwise(shape[:-2])
    for dim in (rows, columns):
        rule.add_factor(shape[dim], [dim, None], [dim], FactorType.NEED_REPLICATION)
    rule.add_factor(scales[rows], [None, rows], [None], FactorType.NEED_REPLICATION)


@_target("mhlo.topk", takes=_ANY, gives=_ANY)
def _top_k(operands: Shapes, results: Shapes, rule: OpShardingRuleBuilder) -> None:
    """([i, j])->([i, j], [i, j]) need_replication={j} blocked_propagation={j}"""
    shape = operands[0]
    for dim, size in enumerate(shape):
        if size == results[0][dim]:
            rule.add_common_factor(dim, size)
        else:
            rule.add_common_factor(dim, size, FactorType.NEED_REPLICATION, is_blocked=True)


@_target("ApproxTopK", "PartialReduce", takes=range(2, 5), gives=range(1, 3))
def _approximate_top_k(operands: Shapes, results: Shapes, rule: OpShardingRuleBuilder) -> None:
    """([i, j], [i, j], [], [])->([i, k], [i, k]) need_replication={k} blocked_propagation={k}"""
    for dim, size in enumerate(operands[0]):
        result_size = results[0][dim]
        if size == result_size:
            rule.add_common_factor(dim, size)
            continue
        absent = [None] * (len(operands) - 2)
        rule.add_factor(size, [dim, dim, *absent], [None] * len(results))
        no_operand, result_dims = [None] * len(operands), [dim] * len(results)
        rule.add_factor(result_size, no_operand, result_dims, FactorType.NEED_REPLICATION, is_blocked=True)
