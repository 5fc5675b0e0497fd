"""sdy-sharding-group-import: make of groups that share a value one, and number all groups from 0.

    sdy.sharding_group %a group_id=7 : tensor<8xf32>
    sdy.sharding_group %b group_id=3 : tensor<8xf32>
    sdy.sharding_group %c group_id=7 : tensor<8xf32>
    sdy.sharding_group %c group_id=3 : tensor<8xf32>
becomes
    sdy.sharding_group %a group_id=0 : tensor<8xf32>
    sdy.sharding_group %b group_id=0 : tensor<8xf32>
    sdy.sharding_group %c group_id=0 : tensor<8xf32>

The values of a group are to be sharded alike. So if a value is in two groups, those of both are to be
sharded alike, and the groups are one. A value that is now in a group twice stays in it once.

Values of a group must have the same shape, and may not stand on different sides of the border of a
manual computation, where shapes and shardings mean something else: both are errors.
"""

from __future__ import annotations

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.sdy.computation_ops import ManualComputationOp
from sdyopt.dialects.sdy.ops import ShardingGroupOp
from sdyopt.ir.numeric_attributes import integer
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.types import I64, RankedShape
from sdyopt.ir.value import Value
from sdyopt.pipeline import Pass
from sdyopt.registry import register


@register("sdy-sharding-group-import")
class ShardingGroupImport(Pass):
    def run(self, module: ModuleOp) -> bool:
        of_value = _checked_groups(module)
        groups = _Groups()
        for members in of_value.values():
            for op in members:
                groups.join(members[0].group_id, op.group_id)
        numbers = groups.numbers()
        rewriter = Rewriter()
        for first, *others in of_value.values():
            rewriter.set_attribute(first, "group_id", integer(numbers[groups.leader(first.group_id)], I64))
            for op in others:
                rewriter.erase(op)
        return rewriter.changed


def _checked_groups(module: ModuleOp) -> dict[Value, list[ShardingGroupOp]]:
    """The operations that put a value into groups, for each value that has any."""
    found: dict[Value, list[ShardingGroupOp]] = {}
    first_of_group: dict[int, tuple[Op | None, tuple[int, ...]]] = {}
    for op in module.walk_post_order():
        if not isinstance(op, ShardingGroupOp):
            continue
        found.setdefault(op.input, []).append(op)
        border, type = op.parent_of(ManualComputationOp), op.input.type
        assert isinstance(type, RankedShape)
        first_border, first_shape = first_of_group.setdefault(op.group_id, (border, type.shape))
        if border is not first_border:
            raise op.error(
                "ShardingGroupOps values cannot cross ManualComputationOp boundaries for groupId: "
                f"{op.group_id}"
            )
        if type.shape != first_shape:
            raise op.error(f"ShardingGroupOps values must have the same shape for groupId: {op.group_id}")
    return found


class _Groups:
    """Which groups are one. Of two that are joined, the leader of the first leads both."""

    def __init__(self) -> None:
        self._leader: dict[int, int] = {}

    def join(self, first: int, second: int) -> None:
        for group in (first, second):
            self._leader.setdefault(group, group)
        self._leader[self.leader(second)] = self.leader(first)

    def leader(self, group: int) -> int:
        while (leader := self._leader[group]) != group:
            # Halve the way, so that long chains are walked only once.
            self._leader[group] = group = self._leader[leader]
        return leader

    def numbers(self) -> dict[int, int]:
        """New numbers for the leaders, in the order in which their groups appeared."""
        leaders = [group for group, leader in self._leader.items() if group == leader]
        return {leader: number for number, leader in enumerate(leaders)}
