"""Sharding rules of custom calls, by what they call."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sdyopt.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.dialects.stablehlo.random import RngBitGeneratorOp
from sdyopt.ir.form import Form
from sdyopt.ir.types import RankedTensor
from sdyopt.sharding.builder import Kind, RuleBuilder
from sdyopt.sharding.rule import NoRule, sharding_rule

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
_Function = Callable[[Shapes, Shapes, RuleBuilder], None]
# What is called -> numbers of operands and results, least rank of the first, and the rule.
_targets: dict[str, tuple[int, int, int, _Function]] = {}


def _target(*names: str, takes: int, gives: int, rank: int = 0) -> Callable[[_Function], _Function]:
    def register(function: _Function) -> _Function:
        _targets.update(dict.fromkeys(names, (takes, gives, rank, function)))
        return function

    return register


def _makes_random_state(op: CustomCallOp) -> bool:
    """Whether an integer is put together that random numbers are made from."""
    if op.call_target_name != "X64Combine":
        return False
    return any(isinstance(user, RngBitGeneratorOp) for result in op.results for user in result.users)


@sharding_rule(CustomCallOp, seeing=_makes_random_state)
def custom_call(form: Form, rule: RuleBuilder, makes_random_state: bool) -> NoRule | None:
    """What is called decides; only a few are known."""
    name: str = form.call_target_name
    if name in _OPAQUE:
        return NoRule()
    if name in _ALIKE:
        return _alike(form, rule, makes_random_state)
    if name not in _targets:
        return NoRule("custom call", f"@{name}")
    takes, gives, rank, function = _targets[name]
    operands, results = _shapes(form.operand_types), _shapes(form.result_types)
    if (len(operands), len(results)) != (takes, gives) or len(operands[0]) < rank:
        return NoRule()
    function(operands, results, rule)
    return None


def _shapes(types: Sequence[object]) -> Shapes:
    return [type.shape if isinstance(type, RankedTensor) else () for type in types]


def _alike(form: Form, rule: RuleBuilder, makes_random_state: bool) -> NoRule | None:
    """([i, j])->([i, j]), or ([i], [i])->([i]) need_replication={i} blocked_propagation={i} of a state

    All devices need all of a random state.
    """
    first = next(iter(form.result_types), None)
    if not isinstance(first, RankedTensor):
        return NoRule()
    if makes_random_state and first.shape:
        rule.common_factor(0, first.shape[0], Kind.NEED_REPLICATION, is_blocked=True)
    else:
        rule.number_dimensions(first)
    return None


@_target("Eigh", takes=1, gives=2, rank=2)
def _eigh(operands: Shapes, results: Shapes, rule: RuleBuilder) -> None:
    """([i, j, k])->([i, j, k], [i, k]): eigenvectors and eigenvalues"""
    (shape,) = operands
    rows, columns = len(shape) - 2, len(shape) - 1
    rule.pointwise(shape[:-2])
    rule.factor(shape[rows], [rows], [rows, None])
    rule.factor(shape[columns], [columns], [columns, rows])


@_target("Qr", "QrDecompositionBlock", takes=1, gives=2, rank=2)
def _qr(operands: Shapes, results: Shapes, rule: RuleBuilder) -> None:
    """([i, j, k])->([i, j, k], [i, l]) need_replication={j, k, l}"""
    (shape,) = operands
    rows, columns = len(shape) - 2, len(shape) - 1
    rule.pointwise(shape[:-2])
    for dim in (rows, columns):
        rule.factor(shape[dim], [dim], [dim, None], Kind.NEED_REPLICATION)
    rule.factor(results[1][rows], [None], [None, rows], Kind.NEED_REPLICATION)


@_target("ProductOfElementaryHouseholderReflectors", takes=2, gives=1, rank=2)
def _householder_product(operands: Shapes, results: Shapes, rule: RuleBuilder) -> None:
    """([i, j, k], [i, l])->([i, j, k]) need_replication={j, k, l}"""
    shape, scales = operands
    rows, columns = len(shape) - 2, len(shape) - 1
    rule.pointwise(shape[:-2])
    for dim in (rows, columns):
        rule.factor(shape[dim], [dim, None], [dim], Kind.NEED_REPLICATION)
    rule.factor(scales[rows], [None, rows], [None], Kind.NEED_REPLICATION)


@_target("mhlo.topk", takes=1, gives=2)
def _top_k(operands: Shapes, results: Shapes, rule: RuleBuilder) -> None:
    """([i, j])->([i, j], [i, j]) need_replication={j} blocked_propagation={j}"""
    rule.pointwise_if_same(operands[0], results[0], Kind.NEED_REPLICATION, is_blocked=True)


@_target("ApproxTopK", "PartialReduce", takes=4, gives=2)
def _approximate_top_k(operands: Shapes, results: Shapes, rule: RuleBuilder) -> None:
    """([i, j], [i, j], [], [])->([i, k], [i, k]) need_replication={k} blocked_propagation={k}"""
    for dim, (size, result_size) in enumerate(zip(operands[0], results[0], strict=True)):
        if size == result_size:
            rule.common_factor(dim, size)
        else:
            rule.factor(size, [dim, dim, None, None], [None, None])
            rule.factor(result_size, [None] * 4, [dim, dim], Kind.NEED_REPLICATION, is_blocked=True)
