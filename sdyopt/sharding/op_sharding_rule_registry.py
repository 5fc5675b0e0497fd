"""Which rule an operation has: the one written on it, or the one that follows from what it is.

    @sharding_rule(TransposeOp)
    def transpose(form: Form, rule: OpShardingRuleBuilder) -> None:
        for result_dim, dim in enumerate(form.permutation):
            rule.add_factor(form.operand.shape[dim], [dim], [result_dim])

A rule follows from the form, so it is worked out once per form. Where it depends on what is around
the operation, `seeing` says on what: the function is given `seeing(op)` as well, and there is one
rule for each value of it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple, TypeVar, cast

from sdyopt.diagnostics.diagnostic import Diagnostic, Severity, emit
from sdyopt.diagnostics.once import is_first
from sdyopt.dialects.sdy.attribute_names import SHARDING_RULE
from sdyopt.dialects.sdy.rule import OpShardingRule
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.operation import Op
from sdyopt.sharding.op_sharding_rule_builder import OpShardingRuleBuilder


class NoRule(NamedTuple):
    """Why a form has no rule: it needs none, or (`sort`, `name`) is something that nobody has heard of."""

    sort: str = ""
    name: str = ""


# (form, rule) or (form, rule, what is seen) -> nothing if the rule is built, else why not
RuleFunction = Callable[..., NoRule | None]
Seeing = Callable[[Any], Hashable]
F = TypeVar("F", bound=RuleFunction)


class _Entry(NamedTuple):
    function: RuleFunction
    seeing: Seeing | None = None


_entries: dict[type[Op], _Entry] = {}


def sharding_rule(*op_classes: type[Op], seeing: Seeing | None = None) -> Callable[[F], F]:
    """Decorator of the function that adds the factors of operations of these classes."""

    def register(function: F) -> F:
        for op_class in op_classes:
            assert op_class not in _entries, f"{op_class.name} has two sharding rules"
            _entries[op_class] = _Entry(function, seeing)
        return function

    return register


def sharding_rule_of(op: Op, conservative: bool = False) -> OpShardingRule | None:
    """The rule of an operation; None if it has none, with a warning if that is a surprise.

    By a conservative rule no dimension is split into parts of different sizes.
    """
    written = op.attributes.get(SHARDING_RULE)
    if written is not None:
        return cast(OpShardingRule, written)
    _load_rules()
    entry = _entries.get(type(op), _UNKNOWN)
    seen = () if entry.seeing is None else (entry.seeing(op),)
    key = (sharding_rule_of, conservative, *seen)
    memo = op.signature.memo
    rule: OpShardingRule | NoRule
    try:
        rule = memo[key]
    except KeyError:
        rule = memo[key] = _derive(op.signature, entry.function, conservative, seen)
    if isinstance(rule, OpShardingRule):
        return rule
    if rule.sort and is_first(f"{rule.sort} without a sharding rule"):
        _warn(op, rule)
    return None


def is_rule_context_free(op: Op) -> bool:
    """Whether the rule follows from the operation's form and attributes, whatever is around it."""
    _load_rules()
    return _entries.get(type(op), _UNKNOWN).seeing is None or SHARDING_RULE in op.attributes


def _derive(
    signature: OpSignature, function: RuleFunction, conservative: bool, seen: tuple[Hashable, ...]
) -> OpShardingRule | NoRule:
    rule = OpShardingRuleBuilder(signature.operand_types, signature.result_types, conservative)
    return function(signature, rule, *seen) or rule.build()


def _unknown(signature: OpSignature, rule: OpShardingRuleBuilder) -> NoRule:
    op_class = signature.op_class
    is_no_surprise = op_class.is_terminator or op_class.data_flow is not None
    return NoRule() if is_no_surprise else NoRule("op", f"'{signature.name}'")


_UNKNOWN = _Entry(_unknown)


def _warn(op: Op, why: NoRule) -> None:
    message = f"{why.sort} {why.name} is unknown to SDY sharding rule registry"
    emit(Diagnostic(Severity.WARNING, op.location, message, operation=op, in_own_syntax=True))


@cache
def _load_rules() -> None:
    """Fills in the table. Nobody waits for that who does not ask for a rule."""
    import_module("sdyopt.sharding.rules")
