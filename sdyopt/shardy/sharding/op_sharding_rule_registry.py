"""The sharding rule of an operation: its `sdy.sharding_rule` attribute, or one derived from its signature.

The modules of the rules (`rules/`) are imported when a rule is first asked for.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cache
from importlib import import_module
from math import prod
from typing import cast

from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity, emit, is_first_occurrence
from sdyopt.base.diagnostics.ids import UNKNOWN_SHARDING_RULE
from sdyopt.mlir.dialects.sdy.mesh import SHARDING_RULE
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import DYNAMIC, I1, RankedShapedType, Type, element_of
from sdyopt.shardy.sharding.op_sharding_rule_builder import (
    NoRule,
    OpShardingRuleBuilder,
    Reduction,
    RuleEntry,
    rule_entries,
)


def sharding_rule_of(op: Op, is_conservative: bool = False) -> OpShardingRule | None:
    """The rule of an operation; None if it has none.

    The first unknown operation and the first unknown custom call get a warning. For `is_conservative`, see
    `OpShardingRuleBuilder`.
    """
    custom = op.attributes.get(SHARDING_RULE)
    if custom is not None:
        return cast(OpShardingRule, custom)
    rule = _derived(op, is_conservative)
    if isinstance(rule, OpShardingRule):
        return rule
    if rule.kind and is_first_occurrence(f"{rule.kind} without a sharding rule"):
        message = f"{rule.kind} {rule.name} is unknown to SDY sharding rule registry"
        diagnostic = Diagnostic(Severity.WARNING, op.location, message, operation=op, in_custom_syntax=True)
        diagnostic.id = UNKNOWN_SHARDING_RULE
        attribute = "add the attribute `sdy.sharding_rule` to the operation"
        if is_of_plugin(op):
            declaration = (
                "`data_flow` in its class" if op.regions else "its rule with `@sdyopt.plugin.sharding_rule`"
            )
            attribute = f"declare {declaration}, or {attribute}"
        diagnostic.help = f"shardings do not propagate through it; {attribute}"
        emit(diagnostic)
    return None


def derived_rule_of(op: Op) -> OpShardingRule | None:
    """The rule that follows from an operation itself, whatever rule it has as an attribute."""
    rule = _derived(op)
    return rule if isinstance(rule, OpShardingRule) else None


def reduction_of(op: Op) -> Reduction | None:
    """The combination of partial results of an operation, as its rule declares; None if it is unknown."""
    return _entry_of(op).reduction


def _derived(op: Op, is_conservative: bool = False) -> OpShardingRule | NoRule:
    entry = _entry_of(op)
    context = () if entry.context is None else (entry.context(op),)
    key = (_KEYS[is_conservative], *context) if context else _KEYS[is_conservative]
    rules = op.signature.cache
    rule: OpShardingRule | NoRule
    try:
        rule = rules[key]
    except KeyError:
        rule = _derive(op.signature, entry, is_conservative, context)
        if is_of_plugin(op) and isinstance(rule, OpShardingRule):
            _check(op, rule, entry)
        rules[key] = rule
    return rule


def is_of_plugin(op: Op) -> bool:
    """Whether the class of an operation is declared outside of this package."""
    return op.dialect is not None and not type(op).__module__.startswith("sdyopt.")


def _check(op: Op, rule: OpShardingRule, entry: RuleEntry) -> None:
    """Raises DiagnosticError for a rule of a plugin that cannot be right."""
    problem = _problem(op, rule)
    if problem:
        code = getattr(entry.function, "__code__", None)
        where = f" ({code.co_filename}:{code.co_firstlineno})" if code is not None else ""
        raise op.op_error(f"has a wrong sharding rule: {problem}").help(
            f"correct the factors in the function of the plugin{where}"
        )


def _problem(op: Op, rule: OpShardingRule) -> str:
    special = {*rule.need_replication, *rule.permutation, *rule.blocked_propagation}
    types = (*op.operand_types, *op.result_types)
    for index, (mapping, type) in enumerate(zip(rule.tensors, types, strict=True)):
        is_result = index >= len(op.operand_types)
        name = f"result {index - len(op.operand_types)}" if is_result else f"operand {index}"
        for dim, mapped in enumerate(mapping.dims):
            factors = mapped.factors
            if is_result and any(factor in rule.reduction for factor in factors):
                return f"a reduction factor is in dimension {dim} of {name}"
            assert isinstance(type, RankedShapedType)
            sizes, size = [rule.factor_sizes[factor] for factor in factors], type.shape[dim]
            # Those of size 1 stand for dimensions without factors.
            if DYNAMIC in (size, *sizes) or special.intersection(factors) or prod(sizes) in (1, size):
                continue
            return (
                f"dimension {dim} of {name} has {size} elements, and factors of {' x '.join(map(str, sizes))}"
            )
    return ""


def is_rule_context_free(op: Op) -> bool:
    """Whether the rule depends on the signature and attributes of the operation only."""
    return _entry_of(op).context is None or SHARDING_RULE in op.attributes


def _derive(
    signature: OpSignature, entry: RuleEntry, is_conservative: bool, context: tuple[Hashable, ...]
) -> OpShardingRule | NoRule:
    builder = OpShardingRuleBuilder(signature.operand_types, signature.result_types, is_conservative)
    without_rule = entry.function(signature, builder, *context)
    if without_rule is not None:
        return without_rule
    if not _has_collective(entry.reduction, signature.result_types):
        builder.replicate_reductions()
    return builder.build()


def _has_collective(reduction: Reduction | None, result_types: Sequence[Type]) -> bool:
    """Whether an all-reduce combines partial results; `and` and `or` only those of booleans."""
    if reduction in (Reduction.AND, Reduction.OR):
        return all(element_of(type) is I1 for type in result_types)
    return reduction is not None


def _unknown(signature: OpSignature, builder: OpShardingRuleBuilder) -> NoRule:
    op_class = signature.op_class
    needs_no_rule = op_class.is_terminator or op_class.data_flow is not None
    return NoRule() if needs_no_rule else NoRule("op", f"'{signature.name}'")


_UNKNOWN = RuleEntry(_unknown)

# The keys of context-free rules in the cache of a signature, by whether the rule is conservative.
_KEYS = (("sharding rule",), ("conservative sharding rule",))


def _entry_of(op: Op) -> RuleEntry:
    _load_rules()
    entry = rule_entries.get(type(op))
    if entry is None and op.dialect_name == "mhlo":
        # A large dialect, of which few programs have an operation.
        import_module("sdyopt.shardy.sharding.mhlo_rules")
        entry = rule_entries.get(type(op))
    return _UNKNOWN if entry is None else entry


@cache
def _load_rules() -> None:
    """Imports the rules at their first use, not at start-up."""
    import_module("sdyopt.shardy.sharding.rules")
