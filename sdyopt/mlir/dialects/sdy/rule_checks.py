"""The verifier of sharding rules."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.sdy.rule import DimMapping, OpShardingRule, TensorMapping, factor_symbol
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import RankedShapedType, Type


def check_rule(op: Op, rule: OpShardingRule) -> None:
    """Checks the sharding rule attribute of an operation."""
    valid_rules = op.signature.cached(_valid_rules)
    if rule in valid_rules:
        return
    problem = rule_problem(rule, op.signature.operand_types, op.signature.result_types)
    if problem is not None:
        raise op.op_error(problem)
    valid_rules.add(rule)


def _valid_rules(signature: OpSignature) -> set[OpShardingRule]:
    """The rules that are known to be valid for a signature; initially none."""
    return set()


def rule_problem(rule: OpShardingRule, operands: Sequence[Type], results: Sequence[Type]) -> str | None:
    """The error of a rule for these operand and result types, None if it is valid."""
    return (
        _mappings_problem(rule, rule.operands, operands, "operand")
        or _mappings_problem(rule, rule.results, results, "result")
        or _unused_problem(rule)
        or _special_problem(rule)
    )


# --- Mappings -------------------------------------------------------------------------------------


def _mappings_problem(
    rule: OpShardingRule, mappings: Sequence[TensorMapping], types: Sequence[Type], word: str
) -> str | None:
    if len(types) != len(mappings):
        return f"number of {word}s and mappings must match: {len(types)} != {len(mappings)}"
    if not mappings:
        return (
            f"number of {word}s mappings cannot be 0. Op sharding rules can only be defined on operations "
            "with at least one operand and result."
        )
    for index, (mapping, type) in enumerate(zip(mappings, types, strict=True)):
        problem = _mapping_problem(rule, mapping, type)
        if problem is not None:
            which = "-" if len(types) == 1 else f"{index} -"
            return f"{word} {which} {problem}"
    return None


def _mapping_problem(rule: OpShardingRule, mapping: TensorMapping, type: Type) -> str | None:
    if not isinstance(type, RankedShapedType) or not type.has_static_shape:
        return f"expected a ranked tensor with a static shape. type: '{plain_type(type)}'"
    if mapping.rank != type.rank:
        return f"mapping rank must match: {mapping.rank} != {type.rank}"
    used: set[int] = set()
    for dim in mapping.dims:
        problem = _dim_problem(rule, dim, used)
        if problem is not None:
            return problem
    return None


def _dim_problem(rule: OpShardingRule, dim: DimMapping, used: set[int]) -> str | None:
    if not dim.factors:
        return "dim mapping must have at least one factor"
    count = len(rule.factor_sizes)
    for factor in dim.factors:
        if not 0 <= factor < count:
            return (
                f"expecting factor indices to be within 0<=...<num_factors; received: {factor}, "
                f"num_factors: {count}"
            )
        if factor in used:
            return "cannot reuse factors for the same tensor value"
        if rule.factor_sizes[factor] == 1 and len(dim.factors) > 1:
            return "dim mapping can't have a factor of size 1 if there are multiple factors"
        used.add(factor)
    return None


def _unused_problem(rule: OpShardingRule) -> str | None:
    for factor, size in enumerate(rule.factor_sizes):
        if not any(mapping.has_factor(factor) for mapping in rule.tensors):
            return f"has factor {factor_symbol(factor)}={size} that isn't used in operand and result mappings"
    return None


# --- Special factors ------------------------------------------------------------------------------


def _special_problem(rule: OpShardingRule) -> str | None:
    exclusive = (rule.reduction, rule.need_replication, rule.permutation)
    count = len(rule.factor_sizes)
    for factors in exclusive:
        problem = _factors_problem(factors, count)
        if problem is not None:
            return problem
    if len(set().union(*exclusive)) != sum(map(len, exclusive)):
        return "a factor can only be in one of the reduction, need replication, or permutation factor sets"
    problem = _factors_problem(rule.blocked_propagation, count)
    if problem is not None:
        return problem
    if any(mapping.has_factor(factor) for factor in rule.reduction for mapping in rule.results):
        return "reduction factor cannot be in result mappings"
    return None


def _factors_problem(factors: Sequence[int], count: int) -> str | None:
    if not factors:
        return None
    if list(factors) != sorted(factors):
        return "indices of special factors must be sorted"
    if len(set(factors)) != len(factors):
        return "indices of special factors must be unique"
    if factors[-1] >= count:
        return f"index must be less than {count}, got: {factors[-1]}"
    return None
