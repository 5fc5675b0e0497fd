"""Sharding groups: values that are sharded alike, whatever happens to one of them."""

from __future__ import annotations

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.sdy.ops import ShardingConstraintOp, ShardingGroupOp
from sdyopt.dialects.sdy.sharding import TensorSharding, fully_replicated
from sdyopt.dialects.sdy.value_shardings import owning_op, sharding_of
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.value import BlockArgument, OpResult, Value

from ...common.support.set_sharding import set_sharding

Members = list[OpResult | BlockArgument]


class ShardingGroups:
    """The groups of a module, by number."""

    def __init__(self, module: ModuleOp) -> None:
        self._members: dict[int, Members] = {}
        self._group_of: dict[Value, int] = {}
        for op in module.walk_post_order():
            if isinstance(op, ShardingGroupOp):
                value = op.input
                assert isinstance(value, OpResult | BlockArgument)
                if self._group_of.setdefault(value, op.group_id) != op.group_id:
                    raise op.op_error("value can only map to one sharding group id after import")
                self._members.setdefault(op.group_id, []).append(value)

    def members(self, value: Value) -> Members:
        """The members of the group of a value, itself included; none if it is in no group."""
        group = self._group_of.get(value)
        return [] if group is None else self._members[group]

    def synchronize(self, rewriter: Rewriter) -> None:
        """Gives all members of a group the sharding that some of them have.

        If they have different ones, none wins: an open constraint goes behind every member, and takes
        its place in the group.
        """
        for group in sorted(self._members):
            members = self._members[group]
            found = [sharding for value in members if (sharding := sharding_of(value)) is not None]
            told = found if len(members) == 1 else [s for s in found if not _is_open(s)]
            if not told:
                continue
            if any(sharding is not told[0] for sharding in told):
                self._warn(group)
                self._members[group] = [self._constrain(value, told[0], rewriter) for value in members]
                self._group_of.update(dict.fromkeys(self._members[group], group))
                continue
            for value in members:
                set_sharding(value, told[0], rewriter)

    def _warn(self, group: int) -> None:
        owning_op(self._members[group][0]).warn(
            f"The initial operand shardings on the sharding groups of groupID: {group} do not match. "
            "Inserting an open sharding constraint to all constrained values. This can be caused when "
            "shardings from different values are grouped (e.g. from jax.shard_alike) but have separate "
            "inconsistent sharding constraints on them."
        )

    def _constrain(
        self, value: OpResult | BlockArgument, like: TensorSharding, rewriter: Rewriter
    ) -> OpResult:
        # A value may be in its group several times, and then gets as many constraints.
        self._group_of.pop(value, None)
        sharding = fully_replicated(like.rank, like.mesh_or_ref, is_closed=False)
        attributes = {"sharding": sharding}
        types = [value.type]
        if isinstance(value, BlockArgument):
            constraint = rewriter.create(
                ShardingConstraintOp,
                [value],
                types,
                attributes,
                at_start_of=value.owner,
                location=value.location,
            )
        else:
            constraint = rewriter.create(
                ShardingConstraintOp, [value], types, attributes, after=value.op, location=value.location
            )
        rewriter.replace_uses_except(value, constraint.result, constraint)
        return constraint.result


def _is_open(sharding: TensorSharding) -> bool:
    """Whether a sharding says nothing at all."""
    return all(not dim.axes and not dim.is_closed for dim in sharding.dims)
