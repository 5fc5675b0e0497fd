"""Results that are declared unreduced, but would be whole on every device, and uses that are not unreduced.

    %1 = stablehlo.tanh %0 {sdy.sharding = … [{}], unreduced={"x"} …}
becomes, if %0 is replicated,
    %1 = stablehlo.tanh %0 {sdy.sharding = … [{}] …}
    %2 = sdy.replicated_to_unreduced {"x"} %1 out_sharding=<@mesh, [{}], unreduced={"x"}>

A result is partial if a reduction factor is sharded, or if partial operands lead to it: the sum of two
partial sums. Operands that must be partial for that, and are not, become partial. Operands of other
operations are all-reduced: the hyperbolic tangent of a partial sum says nothing.

In these cases, explicit reshards neither combine nor make partial results:

- A value without a sharding is used where an unreduced one is required: a function returns it.
- An unreduced value selects a branch, or ends a loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef, AxisRefList, difference, sorted_and_merged
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp, ReplicatedToUnreducedOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING, Mesh
from sdyopt.mlir.dialects.sdy.ops import ConstantOp, PropagationBarrierOp, ReshardOp
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind, reduction_attributes
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, TensorSharding, fully_replicated
from sdyopt.mlir.dialects.sdy.sharding_edits import set_sharding
from sdyopt.mlir.dialects.sdy.value_shardings import rank_of, sharding_of
from sdyopt.mlir.dialects.stablehlo.control_flow import CaseOp, IfOp, OptimizationBarrierOp, WhileOp
from sdyopt.mlir.ir.attribute import Attribute, DictAttr
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import InsertionPoint, Rewriter
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import OpOperand, OpResult, Value
from sdyopt.shardy.partition.local_context import LocalTypes
from sdyopt.shardy.partition.partial_results import (
    introduced_kind,
    is_partial_everywhere,
    is_product,
    partial_together,
)
from sdyopt.shardy.partition.replication import dims_to_replicate
from sdyopt.shardy.sharding.axis_lists import Axes, overlap
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule_of

from ...exporting.explicit_reshards.insertion import UseResharder, insertion_point_after
from ...exporting.explicit_reshards.reshard_plan import all_reduce_use, unreduce_use


def make_results_partial(op: Op, types: LocalTypes, rewriter: Rewriter) -> None:
    """Makes the results of an operation partial along the axes that they are declared unreduced along."""
    if not _has_unreduced_axes(op.attributes) or op.is_terminator or op.data_flow is not None:
        return
    if op.dialect_name in ("sdy", "func") and not isinstance(op, ConstantOp):
        return
    for result in op.results:
        sharding = types.sharding(result)
        mesh = None if sharding is None or not sharding.unreduced_axes else types.mesh(sharding)
        if sharding is not None and mesh is not None:
            _Result(result, sharding, mesh, types, rewriter).make_partial()


@lru_cache(maxsize=4096)
def _has_unreduced_axes(attributes: DictAttr) -> bool:
    """Whether a result of an operation with these attributes is unreduced."""
    shardings = attributes.get(SHARDING)
    return isinstance(shardings, ShardingPerValue) and any(sharding.unreduced_axes for sharding in shardings)


class _Result:
    """A result that is declared unreduced."""

    def __init__(
        self, result: OpResult, sharding: TensorSharding, mesh: Mesh, types: LocalTypes, rewriter: Rewriter
    ) -> None:
        self._result = result
        self._op = result.op
        self._sharding = sharding
        self._kind = sharding.reduction
        self._mesh = mesh
        self._types = types
        self._rewriter = rewriter

    def make_partial(self) -> None:
        introduced, declared = self._introduced_axes(), self._sharding.unreduced_axes
        # The operation reduces along sub-axes that do not fit the declared ones, or in another way than
        # declared, so that its partial results must be combined.
        combined, clashing = (
            _without_counterpart(introduced, declared),
            _without_counterpart(declared, introduced),
        )
        if not combined and introduced_kind(self._op) is not self._kind:
            combined = clashing = self._common(declared, introduced)
        axes = difference(difference(declared, clashing, self._mesh), introduced, self._mesh)
        if axes and not combined and self._has_partial_operands(axes):
            return
        whole = (*axes, *clashing)
        for use in self._op.operand_uses:
            self._all_reduce(use, axes)
        if whole:
            self._make_whole_result_partial(whole, combined)

    def _introduced_axes(self) -> Axes:
        """The axes along which reduction factors are sharded."""
        rule = sharding_rule_of(self._op)
        if rule is None or not rule.reduction:
            return ()
        replicated = {(place.tensor, place.dim) for place in dims_to_replicate(self._op, self._types, True)}
        axes: dict[AxisRef, None] = {}
        for number, (value, mapping) in enumerate(zip(self._op.operands, rule.operands, strict=True)):
            for dim, (dim_axes, factors) in enumerate(
                zip(self._types.axes_per_dim(value), mapping.dims, strict=False)
            ):
                if set(rule.reduction).intersection(factors.factors) and (number, dim) not in replicated:
                    axes.update(dict.fromkeys(dim_axes))
        return tuple(axes)

    def _common(self, axes: Axes, others: Axes) -> Axes:
        return difference(axes, difference(axes, others, self._mesh), self._mesh)

    # --- Operands -------------------------------------------------------------------------------

    def _has_partial_operands(self, axes: Axes) -> bool:
        """Whether operands can be made partial along `axes`, so that the result is; makes them so."""
        uses = self._op.operand_uses
        together = [uses[index] for index in partial_together(self._op, self._kind)]
        if is_product(self._op, self._kind):
            together = [use for use in uses if self._is_partial(use.value, axes)][:1]
        if not any(self._is_partial(use.value, axes) for use in together):
            return False
        if any(self._is_sharded(use.value, axes) for use in together):
            return False
        for use in uses:
            if use in together:
                self._make_partial(use, axes)
            else:
                self._all_reduce(use, axes)
        return True

    def _is_partial(self, value: Value, axes: Axes) -> bool:
        sharding = self._types.sharding(value)
        if sharding is None or self._types.mesh(sharding) is not self._mesh:
            return False
        return sharding.reduction is self._kind and overlap(axes, sharding.unreduced_axes)

    def _is_sharded(self, value: Value, axes: Axes) -> bool:
        """Whether a value cannot become partial as it is."""
        sharding = self._types.sharding(value)
        if sharding is None:
            return False
        if sharding.unreduced_axes and sharding.reduction is not self._kind:
            return True
        is_elsewhere = self._types.mesh(sharding) is not self._mesh
        return is_elsewhere or any(overlap(dim.axes, axes) for dim in sharding.dims)

    def _make_partial(self, use: OpOperand, axes: Axes) -> None:
        value = use.value
        if is_partial_everywhere(value, self._kind) or not isinstance(value.type, RankedTensor):
            return
        sharding = self._types.sharding(value)
        if sharding is None:
            sharding = fully_replicated(rank_of(value.type), self._sharding.mesh_or_ref, is_closed=True)
            set_sharding(value, sharding, self._rewriter)
        missing = difference(axes, sharding.unreduced_axes, self._mesh)
        if missing and self._kind is ReductionKind.SUM:
            partial = self._unreduced_from(value, sharding, missing, {"before": self._op})
            self._rewriter.set_operand(use, partial)

    def _all_reduce(self, use: OpOperand, axes: Axes) -> None:
        """Combines the partial results of an operand along `axes`."""
        sharding = self._types.sharding(use.value)
        if sharding is None or self._types.mesh(sharding) is not self._mesh:
            return
        common = self._common(sharding.unreduced_axes, axes)
        if common:
            reduced = self._all_reduced(use.value, sharding, common, {"before": self._op})
            self._rewriter.set_operand(use, reduced)

    # --- Results --------------------------------------------------------------------------------

    def _make_whole_result_partial(self, axes: Axes, combined: Axes) -> None:
        """Declares that the result is whole along `axes`, once it is combined, and makes it partial then."""
        result, after = self._result, insertion_point_after(self._op)
        uses = list(result.uses)
        now_whole = sorted_and_merged(axes, self._mesh)
        kept = difference(self._sharding.unreduced_axes, now_whole, self._mesh)
        whole = self._sharding.with_unreduced_axes(kept)
        set_sharding(result, whole, self._rewriter)
        if not uses:
            return
        combination = self._combination(now_whole)
        if combination is not None and not combined:
            self._make_combined_result_partial(combination, now_whole)
            return
        value: Value = result
        if combined:
            attributes: dict[str, Attribute] = {
                "reduction_axes": AxisRefList(sorted_and_merged(combined, self._mesh)),
                "out_sharding": whole,
            }
            value = self._create(AllReduceOp, value, attributes, after)
        # The maximum of equal values is the value: nothing has to be done.
        if self._kind is ReductionKind.SUM:
            value = self._unreduced_from(value, whole, now_whole, after)
        for use in uses:
            self._rewriter.set_operand(use, value)

    def _combination(self, axes: Axes) -> AllReduceOp | None:
        """The all-reduce that combines the result along other axes than `axes`; it is the only user then."""
        (use, *others) = self._result.uses
        if others or not isinstance(use.owner, AllReduceOp):
            return None
        return use.owner if difference(use.owner.reduction_axes, axes, self._mesh) else None

    def _make_combined_result_partial(self, combination: AllReduceOp, axes: Axes) -> None:
        """Makes the result partial after it is combined, because the combination has to come first."""
        reduced, out = combination.reduction_axes, combination.out_sharding
        missing = difference(axes, reduced.axes, self._mesh)
        kept = difference(out.unreduced_axes, missing, self._mesh)
        whole = out.with_unreduced_axes(kept)
        remaining = AxisRefList(difference(reduced, axes, self._mesh))
        self._rewriter.set_attribute(combination, "reduction_axes", remaining)
        self._rewriter.set_attribute(combination, "out_sharding", whole)
        uses = list(combination.result.uses)
        if missing and uses:
            after = insertion_point_after(combination)
            value = self._unreduced_from(combination.result, whole, missing, after)
            for use in uses:
                self._rewriter.set_operand(use, value)

    # --- Operations -----------------------------------------------------------------------------

    def _all_reduced(
        self, value: Value, sharding: TensorSharding, axes: Axes, insertion_point: InsertionPoint
    ) -> Value:
        attributes: dict[str, Attribute] = {
            "reduction_axes": AxisRefList(sorted_and_merged(axes, self._mesh)),
            "out_sharding": sharding.with_unreduced_axes(
                difference(sharding.unreduced_axes, axes, self._mesh)
            ),
            **reduction_attributes(sharding.reduction),
        }
        return self._create(AllReduceOp, value, attributes, insertion_point)

    def _unreduced_from(
        self, value: Value, sharding: TensorSharding, axes: Axes, insertion_point: InsertionPoint
    ) -> Value:
        out = sharding.with_unreduced_axes(
            sorted_and_merged((*sharding.unreduced_axes, *axes), self._mesh)
        ).with_replicated_axes(difference(sharding.replicated_axes, axes, self._mesh))
        axis_list = AxisRefList(sorted_and_merged(axes, self._mesh))
        attributes: dict[str, Attribute] = {"axes": axis_list, "out_sharding": out}
        return self._create(ReplicatedToUnreducedOp, value, attributes, insertion_point)

    def _create(
        self,
        op_class: type[Op],
        value: Value,
        attributes: dict[str, Attribute],
        insertion_point: InsertionPoint,
    ) -> Value:
        return self._rewriter.create(
            op_class, [value], [value.type], attributes, location=value.lazy_location, **insertion_point
        ).result


def _without_counterpart(axes: Axes, others: Axes) -> Axes:
    """The sub-axes that cannot coexist with others."""
    return tuple([axis for axis in axes if not all(axis.can_coexist(other) for other in others)])


def make_all_partial(ops: Sequence[Op], types: LocalTypes, rewriter: Rewriter) -> None:
    """Makes the results of operations partial where they are declared unreduced."""
    for op in ops:
        make_results_partial(op, types, rewriter)


def shard_operand(op: ReplicatedToUnreducedOp, types: LocalTypes, rewriter: Rewriter) -> None:
    """Makes sure that the operand of a collective keeps a sharding on the mesh of its result.

    A reshard from a replicated tensor to a replicated one, also on another mesh, will be removed, and the
    collective then uses the input of the reshard.
    """
    source, out = op.tensor, op.out_sharding
    while isinstance(reshard := source.defining_op, ReshardOp | PropagationBarrierOp):
        source = reshard.input
    sharding = types.sharding(source)
    replicated = fully_replicated(out.rank, out.mesh_or_ref, is_closed=True)
    if sharding is None:
        set_sharding(source, replicated, rewriter)
    elif (
        out.is_fully_replicated
        and sharding.is_fully_replicated
        and types.mesh(sharding) is not types.mesh(out)
    ):
        barrier = rewriter.create(
            OptimizationBarrierOp, [op.tensor], [op.tensor.type], before=op, location=op.lazy_location
        )
        set_sharding(barrier.result, replicated, rewriter)
        rewriter.set_operand(op.operand_uses[0], barrier.result)


# Besides operations with data-flow edges, those with uses to reshard.
_WITH_USES = (FuncOp, CallOp, ReshardOp, CaseOp, IfOp)


def resolve_unreduced_uses(ops: Sequence[Op], types: LocalTypes, rewriter: Rewriter) -> None:
    """Makes partial what must be, and combines what selects a branch."""
    resharder = PartialUseResharder(types, rewriter, only_without_sharding=True)
    for op in ops:
        if op.data_flow is None and not isinstance(op, _WITH_USES):
            continue
        if isinstance(op, FuncOp):
            resharder.reshard_returned_values(op)
        elif isinstance(op, CallOp):
            resharder.reshard_call_operands(op)
        elif op.data_flow is not None:
            resharder.reshard_edge_sources(op)
        elif isinstance(op, ReshardOp):
            resharder.reshard(op.operand_uses[0], op.sharding, {"before": op}, True)
            _lower_to_unreduced(op, types, rewriter)
        if isinstance(op, CaseOp | IfOp):
            all_reduce_use(op.operand_uses[0], None, types.find_mesh, {"before": op}, rewriter)
        elif isinstance(op, WhileOp):
            returned = op.regions[0].blocks[0].last
            assert returned is not None
            all_reduce_use(returned.operand_uses[0], None, types.find_mesh, {"before": returned}, rewriter)


def _lower_to_unreduced(op: ReshardOp, types: LocalTypes, rewriter: Rewriter) -> None:
    """Makes the input of a reshard unreduced along new axes of its target, which no later pass does."""
    (use,) = op.operand_uses
    before, mesh = sharding_of(use.value), types.mesh(op.sharding)
    if before is None or mesh is None or types.mesh(before) is not mesh:
        return
    if not difference(before.unreduced_axes, op.sharding.unreduced_axes, mesh):
        unreduce_use(use, op.sharding, types.find_mesh, {"before": op}, rewriter)


class PartialUseResharder(UseResharder):
    """Reshards uses, also of values without a sharding to unreduced ones."""

    def __init__(self, types: LocalTypes, rewriter: Rewriter, only_without_sharding: bool = False) -> None:
        super().__init__(types.find_mesh, True, rewriter)
        self._types = types
        self._rewriter = rewriter
        self._only_without_sharding = only_without_sharding

    def reshard(
        self, use: OpOperand, required: TensorSharding | None, insertion_point: InsertionPoint, full: bool
    ) -> None:
        """Reshards a used value to the sharding that its user requires."""
        if required is not None and required.unreduced_axes and _is_whole(use.value):
            self._make_partial(use, required, insertion_point)
        if not self._only_without_sharding:
            super().reshard(use, required, insertion_point, full)

    def _make_partial(
        self, use: OpOperand, required: TensorSharding, insertion_point: InsertionPoint
    ) -> None:
        value = use.value
        if required.reduction is not ReductionKind.SUM or self._types.mesh(required) is None:
            return
        replicated = fully_replicated(rank_of(value.type), required.mesh_or_ref, is_closed=True)
        if sharding_of(value) is None:
            set_sharding(value, replicated, self._rewriter)
        attributes: dict[str, Attribute] = {
            "axes": AxisRefList(required.unreduced_axes),
            "out_sharding": replicated.with_unreduced_axes(required.unreduced_axes),
        }
        partial = self._rewriter.create(
            ReplicatedToUnreducedOp,
            [value],
            [value.type],
            attributes,
            location=value.lazy_location,
            **insertion_point,
        )
        self._rewriter.set_operand(use, partial.result)

    def remove(self, barrier: PropagationBarrierOp, types: LocalTypes, rewriter: Rewriter) -> None:
        if barrier.input is barrier.result:
            return
        before, after = types.sharding(barrier.input), types.sharding(barrier.result)
        if before is after or (before is not None and before.is_equivalent(after)):
            rewriter.replace(barrier, [barrier.input])
            return
        for use in list(barrier.result.uses):
            rewriter.set_operand(use, barrier.input)
            if _depends_on_barrier(use.owner):
                self.reshard(use, after, {"before": barrier}, True)
        rewriter.erase(barrier)


def _is_whole(value: Value) -> bool:
    sharding = sharding_of(value)
    return sharding is None or (sharding.is_fully_replicated and not sharding.unreduced_axes)


# Propagation barriers: they are removed, and become reshards where their users need their sharding.
#
# Explicit reshards look through a barrier: the shardings that they make compatible are those of its input.
# Only functions, calls, operations with data-flow edges, and operations of sdy other than reshards have seen
# the sharding of its result.


def remove_barriers(
    module: ModuleOp, types: LocalTypes, resharder: PartialUseResharder, rewriter: Rewriter
) -> None:
    """Removes all barriers of a program, except one of each circle, which has no other value."""
    for barrier in module.nested(PropagationBarrierOp):
        resharder.remove(barrier, types, rewriter)


def _depends_on_barrier(user: Op) -> bool:
    if isinstance(user, PropagationBarrierOp | ReshardOp):
        return False
    return (
        isinstance(user, CallOp)
        or user.is_terminator
        or user.data_flow is not None
        or user.dialect_name == "sdy"
    )


# stablehlo.if and optimization_barrier: values that become results are resharded to the results' shardings.
#
# sdy has data-flow edges for case, but none for if.


def reshard_barrier_operands(op: OptimizationBarrierOp, resharder: PartialUseResharder) -> None:
    """Reshards the operands of a barrier, where its results have other shardings."""
    for use, result in zip(op.operand_uses, op.results, strict=True):
        after = sharding_of(result)
        if after is not None:
            resharder.reshard(use, after, {"before": op}, True)


def reshard_branches(op: IfOp, resharder: PartialUseResharder) -> None:
    """Reshards the values that the branches return; a result without a sharding is replicated."""
    for region in op.regions:
        returned = region.blocks[0].last
        assert returned is not None
        for use, result in zip(returned.operand_uses, op.results, strict=True):
            before, after = sharding_of(use.value), sharding_of(result)
            if after is None and before is not None:
                after = fully_replicated(rank_of(result.type), before.mesh_or_ref, is_closed=True)
            if after is not None:
                resharder.reshard(use, after, {"before": returned}, True)
