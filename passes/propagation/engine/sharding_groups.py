"""Sharding groups: values that must have the same sharding."""

from __future__ import annotations

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp, ShardingGroupOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding, fully_replicated
from sdyopt.mlir.dialects.sdy.sharding_edits import set_sharding
from sdyopt.mlir.dialects.sdy.value_shardings import owning_op, sharding_of
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.shardy.record import Means, record_copy

Members = list[OpResult | BlockArgument]


class ShardingGroups:
    """The sharding groups of a module, by group id."""

    def __init__(self, module: ModuleOp) -> None:
        self._members: dict[int, Members] = {}
        self._group_of: dict[Value, int] = {}
        for op in module.nested(ShardingGroupOp):
            value = op.input
            assert isinstance(value, OpResult | BlockArgument)
            is_new = value not in self._group_of
            if self._group_of.setdefault(value, op.group_id) != op.group_id:
                raise op.op_error("value can only map to one sharding group id after import")
            if is_new or not Behavior.DISTINCT_GROUP_MEMBERS.active:
                self._members.setdefault(op.group_id, []).append(value)

    def members(self, value: Value) -> Members:
        """The members of the group of a value, itself included; none if it is in no group."""
        group = self._group_of.get(value)
        return [] if group is None else self._members[group]

    def synchronize(self, rewriter: Rewriter) -> None:
        """Sets the sharding of each group on all its members.

        If the members have different shardings, apart from fully open ones, a fully open constraint is
        inserted after each of them and becomes the member of the group instead.
        """
        for group in sorted(self._members):
            members = self._members[group]
            shardings = [sharding for value in members if (sharding := sharding_of(value)) is not None]
            if len(members) > 1:
                shardings = [sharding for sharding in shardings if not _is_fully_open(sharding)]
            if not shardings:
                continue
            if any(sharding is not shardings[0] for sharding in shardings):
                self._warn(group)
                self._members[group] = [self._constrain(value, shardings[0], rewriter) for value in members]
                self._group_of.update(dict.fromkeys(self._members[group], group))
                continue
            annotated = next(value for value in members if sharding_of(value) is shardings[0])
            for value in members:
                if sharding_of(value) is not shardings[0]:
                    record_copy(owning_op(annotated), value, shardings[0], Means.GROUP)
                set_sharding(value, shardings[0], rewriter)

    def _warn(self, group: int) -> None:
        owning_op(self._members[group][0]).warning(
            f"The initial operand shardings on the sharding groups of groupID: {group} do not match. "
            "Inserting an open sharding constraint to all constrained values. This can be caused when "
            "shardings from different values are grouped (e.g. from jax.shard_alike) but have separate "
            "inconsistent sharding constraints on them."
        )

    def _constrain(
        self, value: OpResult | BlockArgument, sharding: TensorSharding, rewriter: Rewriter
    ) -> OpResult:
        # A group may list a value several times, which then gets as many constraints.
        self._group_of.pop(value, None)
        attributes = {"sharding": fully_replicated(sharding.rank, sharding.mesh_or_ref, is_closed=False)}
        types = [value.type]
        if isinstance(value, BlockArgument):
            constraint = rewriter.create(
                ShardingConstraintOp,
                [value],
                types,
                attributes,
                at_start_of=value.block,
                location=value.lazy_location,
            )
        else:
            constraint = rewriter.create(
                ShardingConstraintOp, [value], types, attributes, after=value.op, location=value.lazy_location
            )
        rewriter.replace_uses_except(value, constraint.result, constraint)
        return constraint.result


def _is_fully_open(sharding: TensorSharding) -> bool:
    """Whether all dimensions are open and have no axes."""
    return all(not dim.axes and not dim.is_closed for dim in sharding.dims)
