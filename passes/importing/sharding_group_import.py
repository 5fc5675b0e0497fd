"""sdy-sharding-group-import: merge sharding groups that share a value.

    sdy.sharding_group %a group_id=7 : tensor<8xf32>
    sdy.sharding_group %b group_id=3 : tensor<8xf32>
    sdy.sharding_group %c group_id=7 : tensor<8xf32>
    sdy.sharding_group %c group_id=3 : tensor<8xf32>
becomes
    sdy.sharding_group %a group_id=0 : tensor<8xf32>
    sdy.sharding_group %b group_id=0 : tensor<8xf32>
    sdy.sharding_group %c group_id=0 : tensor<8xf32>

All values of a group are sharded alike, so two groups with a common value are one group. Groups are
renumbered from 0, and duplicate memberships are removed.

It is an error if values with one group id have different shapes. It is also an error if some of them are in
the body of a manual computation, where shapes and shardings are local, and others are not in it. A function
that is called in a manual computation is in it too; if other calls are elsewhere, the last one counts, in the
order of `sdy-pre-order-funcs`.
"""

from __future__ import annotations

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, ShardingGroupOp
from sdyopt.mlir.ir.builtin_attributes import integer
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import I64, RankedShapedType
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register

from ..common.support.call_graph import CallGraph, callee_of


@register("sdy-sharding-group-import")
class ShardingGroupImport(Pass):
    def run(self, module: ModuleOp) -> bool:
        group_ops = _checked_group_ops(module)
        groups = _DisjointGroups()
        for ops in group_ops.values():
            for op in ops:
                groups.union(ops[0].group_id, op.group_id)
        numbers = groups.numbers()
        rewriter = Rewriter()
        for first, *others in group_ops.values():
            rewriter.set_attribute(first, "group_id", integer(numbers[groups.find(first.group_id)], I64))
            for op in others:
                rewriter.erase(op)
        return rewriter.changed


def _checked_group_ops(module: ModuleOp) -> dict[Value, list[ShardingGroupOp]]:
    """The `sdy.sharding_group` operations of each value that has any. Raises on an invalid group."""
    group_ops: dict[Value, list[ShardingGroupOp]] = {}
    first_of_group: dict[int, tuple[Op | None, tuple[int, ...]]] = {}
    ops = module.nested(ShardingGroupOp)
    called_in = _computations_of_functions(module) if ops else {}
    for op in ops:
        group_ops.setdefault(op.input, []).append(op)
        computation, type = _computation_around(op, called_in), op.input.type
        assert isinstance(type, RankedShapedType)
        first_computation, first_shape = first_of_group.setdefault(op.group_id, (computation, type.shape))
        if computation is not first_computation:
            raise op.error(
                "ShardingGroupOps values cannot cross ManualComputationOp boundaries for groupId: "
                f"{op.group_id}"
            )
        if type.shape != first_shape:
            raise op.error(f"ShardingGroupOps values must have the same shape for groupId: {op.group_id}")
    return group_ops


def _computations_of_functions(module: ModuleOp) -> dict[FuncOp, Op | None]:
    """The manual computation in which the last call of each called function is."""
    called_in: dict[FuncOp, Op | None] = {}
    if Behavior.GROUPS_IN_CALLED_FUNCTIONS.active:
        graph = CallGraph(module)
        for caller in reversed(graph.callees_first()):
            for call in graph.calls[caller]:
                callee = callee_of(call)
                if callee is not None:
                    called_in[callee] = _computation_around(call, called_in)
    return called_in


def _computation_around(op: Op, called_in: dict[FuncOp, Op | None]) -> Op | None:
    """The innermost manual computation around an operation, or else around the call of its function."""
    computation = op.parent_of_type(ManualComputationOp)
    function = op.parent_of_type(FuncOp)
    if computation is None and isinstance(function, FuncOp):
        return called_in.get(function)
    return computation


class _DisjointGroups:
    """A union-find structure. The root of a union is that of the first group passed to `union`."""

    def __init__(self) -> None:
        self._parent: dict[int, int] = {}

    def union(self, first: int, second: int) -> None:
        for group in (first, second):
            self._parent.setdefault(group, group)
        self._parent[self.find(second)] = self.find(first)

    def find(self, group: int) -> int:
        """The root of a group."""
        while (parent := self._parent[group]) != group:
            # Path halving.
            self._parent[group] = group = self._parent[parent]
        return parent

    def numbers(self) -> dict[int, int]:
        """The new number of each root, in the order in which the roots were added."""
        roots = [group for group, parent in self._parent.items() if group == parent]
        return {root: number for number, root in enumerate(roots)}
