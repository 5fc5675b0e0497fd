"""Groups dimensions that one axis may shard together: the batch, the heads, the hidden units of all layers.

The factors of sharding rules relate dimensions of operands and results, and so do loops and branches. The
dimensions of the values of one role belong together, too, so that all layers have one group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from sdyopt.analysis.changes.roles import RoleGroup, is_uniform
from sdyopt.analysis.figures.execution_counts import ExecutionCounts, entry_functions, functions_in
from sdyopt.analysis.figures.flops import FLOPS
from sdyopt.base.diagnostics.diagnostic import handling
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.record import FunctionResult
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule_of

_Dim = tuple[Value, int]


@dataclass(eq=False)
class DimensionGroup:
    """Dimensions of values. `work` are the multiplications of the products that have one of them."""

    first: _Dim
    work: int = 0


class Dimensions:
    """The groups of the dimensions of a program. `operands` are those of the operands of all products."""

    def __init__(self, module: Op, roles: Sequence[RoleGroup]) -> None:
        self._parents: dict[_Dim, _Dim] = {}
        self._groups: dict[_Dim, DimensionGroup] = {}
        products: list[tuple[Op, OpShardingRule]] = []
        counts = ExecutionCounts(module)
        with handling(lambda _: None):  # operations without a rule relate nothing
            for function in entry_functions(functions_in(module)):
                for op in function.walk():
                    self._add(op)
                    if type(op) in FLOPS and (rule := sharding_rule_of(op)) is not None:
                        products.append((op, rule))
        for role in roles:
            for value_class in role.classes:
                for place in value_class.arguments:
                    assert not isinstance(place.subject, FunctionResult)
                    self._unite_values(role.classes[0].first, place.subject)
                self._unite_values(role.classes[0].first, value_class.first)
        self.operands: list[list[DimensionGroup]] = []
        for op, rule in products:
            times = counts.times(op)
            size = prod(rule.factor_sizes) * (1 if times is None else times.high)
            dimension_groups = [self._of_value(operand) for operand in op.operands]
            self.operands += dimension_groups
            for group in dict.fromkeys(group for groups in dimension_groups for group in groups):
                group.work += size

    def of(self, role: RoleGroup) -> list[DimensionGroup]:
        """The group of each dimension of the values of a role."""
        return self._of_value(role.classes[0].first)

    def _of_value(self, value: Value) -> list[DimensionGroup]:
        rank = value.type.rank if isinstance(value.type, RankedTensor) else 0
        return [self._group((value, dim)) for dim in range(rank)]

    def _group(self, dim: _Dim) -> DimensionGroup:
        root = self._find(dim)
        return self._groups.setdefault(root, DimensionGroup(root))

    def _find(self, dim: _Dim) -> _Dim:
        root = dim
        while (parent := self._parents.get(root, root)) is not root:
            root = parent
        while dim is not root:
            self._parents[dim], dim = root, self._parents.get(dim, root)
        return root

    def _unite(self, first: _Dim, second: _Dim) -> None:
        one, other = self._find(first), self._find(second)
        if one != other:
            self._parents[other] = one

    def _unite_values(self, first: Value, second: Value) -> None:
        if isinstance(first.type, RankedTensor) and isinstance(second.type, RankedTensor):
            for dim in range(min(first.type.rank, second.type.rank)):
                self._unite((first, dim), (second, dim))

    def _add(self, op: Op) -> None:
        """Unites the dimensions that an operation relates."""
        if op.data_flow is not None and not isinstance(op, FuncOp):
            for owner in op.data_flow.owners(op):
                for source in op.data_flow.sources(op, owner):
                    self._unite_values(source.value, owner)
                for target in op.data_flow.other_targets(op, owner):
                    self._unite_values(target, owner)
        elif op.results and (rule := sharding_rule_of(op)) is not None:
            special = {*rule.need_replication, *rule.permutation}
            for first, *rest in _related(op, rule, lambda factor: factor not in special):
                for dim in rest:
                    self._unite(first, dim)


def _related(op: Op, rule: OpShardingRule, is_used: Callable[[int], bool]) -> Iterator[list[_Dim]]:
    """The dimensions of each factor, where it is the major-most one; not those of constants."""
    pairs_by_number: dict[int, list[_Dim]] = {}
    for value, mapping in zip((*op.operands, *op.results), rule.tensors, strict=True):
        if is_uniform(value):
            continue
        for number, dim in enumerate(mapping.dims):
            factor = next((factor for factor in dim.factors if rule.factor_sizes[factor] > 1), None)
            if factor is not None and is_used(factor):
                pairs_by_number.setdefault(factor, []).append((value, number))
    yield from pairs_by_number.values()
