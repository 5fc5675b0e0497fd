"""Sums: products whose operands are rather gathered, and all-reduces of results that are not partial.

    %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : … -> tensor<64x64xf32>
    %2 = sdy.all_reduce {"x"} %1 out_sharding=<@mesh, [{}, {}]> : tensor<64x64xf32>
becomes, if %0 is sharded along "x" in its second dimension and %w is a slice of a replicated tensor,
    %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<64x8xf32>
    %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : … -> tensor<64x64xf32>

`sdy-insert-explicit-reshards` shards what is summed over if it is sharded in an operand. If such sums have
few terms, computing them on all devices takes the place of communication.

    %1 = stablehlo.sine %0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i, k])->([i, j]) … reduction={k}>}
    %2 = sdy.all_reduce {"x"} %1 …

`sdy-insert-explicit-reshards` inserts the all-reduce by the rule, if %0 is sharded along "x" by `k`. But a
sine sums nothing, so %0 is gathered, and the all-reduce would add copies of the result. It is removed, and
the mark that the result is unreduced, too. If the rule was written by the user, there is a warning.

If a result marked so has other uses, which expect partial results, the all-reduce is kept: the copies become
parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod

from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef, AxisRefList, difference, sorted_and_merged
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.ops import ReshardOp
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule, factor_symbol
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.dialects.sdy.sharding_edits import set_sharding
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp
from sdyopt.mlir.dialects.stablehlo.convolution import ConvolutionOp
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import bit_width
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import element_of
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.local_builder import shape_of
from sdyopt.shardy.partition.local_context import Axes, LocalTypes
from sdyopt.shardy.partition.operations.convolution import replicates_sums_of_groups
from sdyopt.shardy.partition.replication import dims_to_replicate, has_user_rule
from sdyopt.shardy.sharding.axis_lists import sharded_size
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule_of
from sdyopt.shardy.sharding.reshard_to_collectives.plan import elements_of_reshard, shard_elements

from ...exporting.explicit_reshards.insertion import reshard_use
from .without_reshards import erase_unused

PRODUCTS = (DotGeneralOp, ConvolutionOp)
# An accelerator computes 2,000 to 4,500 operations in the time in which its link sends a byte. What is
# computed on all devices must be worth it by far.
_OPERATIONS_PER_BYTE = 500


def gather_instead_of_sum(op: Op, types: LocalTypes, rewriter: Rewriter) -> None:
    """Gathers the dimensions that a product sums over, if this communicates at most half."""
    if has_user_rule(op):
        return
    (result,) = op.results
    uses, sharding = list(result.uses), types.sharding(result)
    mesh = None if sharding is None else types.mesh(sharding)
    collective = uses[0].owner if len(uses) == 1 else None
    if sharding is None or mesh is None or not isinstance(collective, AllReduceOp):
        return
    sums = _Sums(types)
    targets = [sums.without_sums(op, number) for number in range(len(op.operands))]
    summed = sums.summed_axes(op, targets)
    if summed is None or sharding.unreduced_axes or collective.out_sharding.unreduced_axes:
        return
    axes = sorted_and_merged(collective.reduction_axes.axes, mesh)
    if sorted_and_merged(summed, mesh) != axes:
        return
    devices = sharded_size(axes, mesh)
    elements = shard_elements(shape_of(result), sharding, mesh)
    saved = Fraction(2 * (devices - 1), devices) * elements * _bits(result)
    more = Fraction(0)
    for value, target in zip(op.operands, targets, strict=True):
        if target is not None:
            gathered = sums.cost(value, target, mesh)
            if gathered is None:
                return
            more += gathered
    repeated = 2 * elements * _terms(op) * Fraction(devices - 1, devices)
    if 2 * more > saved or repeated > (saved - more) / 8 * _OPERATIONS_PER_BYTE:
        return
    for use, target in zip(op.operand_uses, targets, strict=True):
        if target is not None:
            reshard = use.value.defining_op
            if isinstance(reshard, ReshardOp):
                rewriter.set_operand(use, reshard.input)
                erase_unused([reshard], rewriter)
            reshard_use(use, target, {"before": op}, rewriter)
    rewriter.replace(collective, [result])


def _terms(op: Op) -> int:
    """The number of terms of the sum that each element of the result is."""
    rule = sharding_rule_of(op)
    return 1 if rule is None else prod(rule.factor_sizes[factor] for factor in rule.reduction)


@dataclass(frozen=True)
class _Sums:
    """The sums that operations make of partial results."""

    types: LocalTypes

    def without_sums(self, op: Op, number: int) -> TensorSharding | None:
        """The sharding of an operand without the axes along which the operation sums; None without any."""
        rule, sharding = sharding_rule_of(op), self.types.sharding(op.operands[number])
        if rule is None or sharding is None:
            return None
        mapping = rule.operands[number]
        dims = [
            DimensionSharding() if set(factors.factors) & set(rule.reduction) else dim
            for dim, factors in zip(sharding.dims, mapping.dims, strict=True)
        ]
        return None if tuple(dims) == sharding.dims else sharding.with_dims(dims)

    def summed_axes(self, op: Op, targets: Sequence[TensorSharding | None]) -> Sequence[AxisRef] | None:
        """The axes along which the operation sums; None unless all operands lose the same ones."""
        removed: list[Sequence[AxisRef]] = []
        for value, target in zip(op.operands, targets, strict=True):
            sharding = self.types.sharding(value)
            if target is None or sharding is None or sharding.unreduced_axes:
                return None
            pairs = zip(sharding.dims, target.dims, strict=True)
            removed.append([axis for old, new in pairs if old.axes != new.axes for axis in old.axes])
        lhs, rhs = removed
        return lhs if lhs == rhs else None

    def cost(self, value: Value, target: TensorSharding, mesh: Mesh) -> Fraction | None:
        """The bits that a device receives, if an operand gets a sharding instead of its own."""
        reshard, sharding = value.defining_op, self.types.sharding(value)
        is_resharded = isinstance(reshard, ReshardOp) and len(list(value.uses)) == 1
        source = (
            self.types.sharding(reshard.input)
            if isinstance(reshard, ReshardOp) and is_resharded
            else sharding
        )
        if source is None or sharding is None or source.mesh_or_ref is not target.mesh_or_ref:
            return None
        shape = shape_of(value)
        now, then = (elements_of_reshard(shape, source, goal, mesh) for goal in (sharding, target))
        return (then - now) * _bits(value)

    def may_replicate_sums(self, op: Op) -> bool:
        if isinstance(op, ConvolutionOp) and replicates_sums_of_groups(op, self.types):
            return True
        if isinstance(op, ScatterOp) and not op.scatter_dimension_numbers.scatter_dims_to_operand_dims:
            return True
        return isinstance(op, CustomCallOp) or has_user_rule(op)

    def drop_sums(
        self, op: Op, rule: OpShardingRule, all_reduces: Sequence[AllReduceOp], rewriter: Rewriter
    ) -> None:
        replicated, others = self._axes_of_replicated_sums(op, rule)
        has_changed = False
        for all_reduce in all_reduces:
            mesh = self.types.mesh(all_reduce.out_sharding)
            assert mesh is not None
            dropped = difference(replicated, others, mesh)
            before = tuple(all_reduce.reduction_axes.axes)
            kept = difference(before, dropped, mesh)
            if kept == before or not self._mark_whole(all_reduce.tensor, dropped, rewriter):
                continue
            if kept:
                rewriter.set_attribute(all_reduce, "reduction_axes", AxisRefList(kept))
            else:
                rewriter.replace(all_reduce, [all_reduce.tensor])
            has_changed = True
        if has_changed and (isinstance(op, CustomCallOp) or has_user_rule(op)):
            factors = ", ".join(map(factor_symbol, rule.reduction))
            op.warning(
                f"operands are replicated along the reduction factors {{{factors}}} of the sharding rule, "
                "so no all-reduce of the results follows",
                help=""
                if isinstance(op, CustomCallOp)
                else "without `sdy.sharding_rule`, the operation's own rule is used",
            )

    def _mark_whole(self, value: Value, axes: Axes, rewriter: Rewriter) -> bool:
        """Marks a value as not unreduced along some axes; false if other uses expect partial results."""
        sharding = self.types.sharding(value)
        mesh = None if sharding is None else self.types.mesh(sharding)
        if sharding is None or mesh is None:
            return True
        kept = difference(sharding.unreduced_axes, axes, mesh)
        if kept == sharding.unreduced_axes:
            return True
        if not all(isinstance(use.owner, AllReduceOp) for use in value.uses):
            return False
        set_sharding(value, sharding.with_unreduced_axes(kept), rewriter)
        return True

    def _axes_of_replicated_sums(self, op: Op, rule: OpShardingRule) -> tuple[Axes, Axes]:
        """The axes of the dimensions with reduction factors that must be replicated, and of the others."""
        to_replicate = set(dims_to_replicate(op, self.types, keep_local_windows=True))
        replicated: dict[AxisRef, None] = {}
        others: dict[AxisRef, None] = {}
        for number, (value, mapping) in enumerate(zip(op.operands, rule.operands, strict=True)):
            for dim, (axes, dim_mapping) in enumerate(
                zip(self.types.axes_per_dim(value), mapping.dims, strict=False)
            ):
                if set(rule.reduction).intersection(dim_mapping.factors):
                    (replicated if (number, dim) in to_replicate else others).update(dict.fromkeys(axes))
        return tuple(replicated), tuple(others)


def _bits(value: Value) -> int:
    element = element_of(value.type)
    assert element is not None
    return bit_width(element)


def drop_sums_of_copies(module: ModuleOp, types: LocalTypes, rewriter: Rewriter) -> None:
    """Removes the axes of replicated reduction factors from the all-reduces of results."""
    reduced = (op.tensor.defining_op for op in module.nested(AllReduceOp))
    sums = _Sums(types)
    for op in dict.fromkeys(op for op in reduced if op is not None):
        all_reduces = [
            use.owner for result in op.results for use in result.uses if isinstance(use.owner, AllReduceOp)
        ]
        if all_reduces and sums.may_replicate_sums(op):
            rule = sharding_rule_of(op)
            if rule is not None:
                sums.drop_sums(op, rule, all_reduces, rewriter)
