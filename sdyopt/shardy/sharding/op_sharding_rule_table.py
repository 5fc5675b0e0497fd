"""The table of sharding rules, which the modules of the rules fill.

    @sharding_rule(TransposeOp)
    def transpose(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
        shape = signature[TransposeOp.operand].shape
        for result_dim, dim in enumerate(signature[TransposeOp.permutation]):
            builder.add_factor(shape[dim], [dim], [result_dim])

A derived rule is cached per signature. A rule that also depends on the operands, uses or regions of the
operation declares a `context`: the function gets `context(op)` as a third argument, and the cache has one
rule per signature and context.

A rule with reduction factors declares how partial results are combined, such as `reduction=Reduction.MAX`.
If it does not, its reduction factors need replication, because no collective is known to be right.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.ir.dialect import check_parameters
from sdyopt.mlir.ir.operation import Op
from sdyopt.shardy.sharding.op_sharding_rule_builder import Reduction


class NoRule(NamedTuple):
    """The result for a signature without a rule.

    If `kind` is set, the operation is unknown, and a warning names `kind` and `name`.
    """

    kind: str = ""
    name: str = ""


# (signature, builder) or (signature, builder, context) -> NoRule, or None if the builder has the factors
RuleFunction = Callable[..., NoRule | None]
# A context function only takes operations of the classes that it is registered for.
Context = Callable[[Any], Hashable]
F = TypeVar("F", bound=RuleFunction)


class RuleEntry(NamedTuple):
    function: RuleFunction
    context: Context | None = None
    reduction: Reduction | None = None


rule_entries: dict[type[Op], RuleEntry] = {}


def sharding_rule(
    *op_classes: type[Op], context: Context | None = None, reduction: Reduction | None = None
) -> Callable[[F], F]:
    """Registers the function that derives the rules of operations of these classes.

    `reduction` says how partial results along reduction factors are combined; by default, it is unknown.
    """

    def register(function: F) -> F:
        check_parameters(function, 2 if context is None else 3, "sharding_rule")
        for op_class in op_classes:
            assert op_class not in rule_entries, f"{op_class.name} has two sharding rules"
            rule_entries[op_class] = RuleEntry(function, context, reduction)
        return function

    return register
