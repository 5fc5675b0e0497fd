"""sdy-insert-explicit-reshards: say where data has to move so that operations can run on their shards.

Over `sdy.mesh @mesh = <["x"=4, "y"=2]>`, with `enable-full-version`,

    func.func @dot(%lhs: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
                   %rhs: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) … {
      %0 = stablehlo.dot %lhs, %rhs {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
      return %0
becomes
      %0 = sdy.reshard %lhs <@mesh, [{}, {"y"}]>
      %1 = stablehlo.dot %0, %rhs {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
      %2 = sdy.all_reduce {"y"} %1 out_sharding=<@mesh, [{}, {"x"}]>
      %3 = sdy.reshard %2 <@mesh, [{"x"}, {}]>
      return %3

Here rows of `%lhs` and columns of `%rhs` are both split along "x", and no device has the rows and columns for
all elements of its part of the product. Propagation leaves such conflicts alone; this pass decides them,
operation by operation. What is split along "x" loses least: the 512 elements of `%rhs`, rather than the 256
of `%lhs` and the 128 of the result. So `%lhs` gets a reshard, and the result another sharding and a reshard
back to its own. What is left on each device is a sum over half of the contracting dimension, hence the
all-reduce along "y". (Shardy's page about this pass shows the same program with a reshard of `%rhs` and
without an all-reduce; what it does is this.)

The form without `enable-full-version` changes nothing in this example: it leaves conflicts to the partitioner
that comes later, and inserts only what always pays. With `%0` unreduced along "y",

      %0 = stablehlo.dot … {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"y"}>]>}
      %1 = stablehlo.negate %0
becomes in either form
      %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{}, {}]>
      %2 = stablehlo.negate %1

In full, operands and results of an operation with a sharding rule come to split each factor alike, and no two
factors along one axis. A factor that has to be replicated comes to be, and hands its axes on to a factor that
all tensors have, if it can. Of just two tensors one stays as it is: that along which no elements have to move
from device to device, or else the larger one. Of more, what splits most elements wins. Where a reduction is
split, the results are summed by an all-reduce, unless their sharding says that they are unreduced. Sources of
a data-flow edge come to be sharded as its owner is, the operands of a manual computation and what its body
returns as it says, and what a function returns as its signature says; where nothing is said they come to be
replicated.

In either form, what is passed to a call comes to be sharded as the argument of the function. A
`stablehlo.concatenate` is dealt with in full if not all operands are sharded as the result is, and so is
`mhlo.ragged_dot`. An unreduced value is summed where what uses it is not unreduced, along the axes that are
missing there. One that is to be unreduced is made so by `sdy.replicated_to_unreduced` and
`sdy.sharded_to_unreduced`.

Without the full form, if the operands of a matrix product agree, and the result is split along just the axes
of the reduction where an operand is split otherwise, the result comes to be split as that operand is, and
gets a reshard. And a result that is unreduced along some axes is summed along the others that split the
reduction.

If shardings are over meshes that differ in the order of devices only, the mesh of most shardings that split
anything is taken for all. If they differ in axes, or all is on one device, the operation is left alone, and
so are operations whose rule was written by a user.

Run it once: it does not know of an all-reduce that it comes from the pass, and would make the sum again. It
warns where it has done so.
"""

from __future__ import annotations

from functools import cache

from sdyopt.dialects.func import CallOp, FuncOp
from sdyopt.dialects.sdy.axis_lists import axis_ref_list_text
from sdyopt.dialects.sdy.collectives import AllReduceOp
from sdyopt.dialects.sdy.mesh_op import find_mesh
from sdyopt.dialects.sdy.ops import ReshardOp
from sdyopt.dialects.sdy.value_shardings import sharding_of
from sdyopt.dialects.stablehlo.concatenate_pad import ConcatenateOp
from sdyopt.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.value import Value
from sdyopt.pipeline import Pass, option
from sdyopt.registry import register
from sdyopt.sharding.axis_lists import overlap
from sdyopt.sharding.op_sharding_rule_registry import is_rule_context_free, sharding_rule_of

from .explicit_reshards.insertion import insert_op_reshards
from .explicit_reshards.op_reshards import (
    IncompatibleReductionError,
    OpReshards,
    OpReshardsFinder,
    OpShardings,
)
from .explicit_reshards.sharding_cache import (
    ShardingCache,
    is_trivially_compatible,
    sharding_through_barriers,
)
from .explicit_reshards.unreduced_axes import reduce_use, unreduce_use
from .explicit_reshards.use_shardings import UseShardings


@register("sdy-insert-explicit-reshards")
class InsertExplicitReshards(Pass):
    anchor = "func.func"

    enable_full_version: bool = option(default=False, help="Enable full version.")

    def run(self, function: FuncOp) -> bool:
        rewriter = Rewriter()
        inserter = _Inserter(function, self.enable_full_version, rewriter)
        for op in function.walk_post_order():
            if not op.is_terminator:
                inserter.visit(op)
        inserter.use_shardings.reshard_returned_values(function)
        inserter.warn_of_repeated_sums()
        return rewriter.changed


class _Inserter:
    """Goes over the operations of one function."""

    def __init__(self, function: FuncOp, in_full: bool, rewriter: Rewriter) -> None:
        self._in_full = in_full
        self._rewriter = rewriter
        self._mesh_of = cache(lambda mesh_or_ref: find_mesh(mesh_or_ref, function))
        self.use_shardings = UseShardings(self._mesh_of, in_full, rewriter)
        self._reshards_finder = OpReshardsFinder(self._mesh_of)
        self._shardings = ShardingCache()
        self._known: dict[object, OpReshards | None] = {}
        # The all-reduces that were there before.
        self._sums: list[AllReduceOp] = []

    def visit(self, op: Op) -> None:
        if isinstance(op, AllReduceOp):
            self._sums.append(op)
        if op.data_flow is not None:
            self.use_shardings.reshard_edge_sources(op)
        elif isinstance(op, CallOp):
            self.use_shardings.reshard_call_operands(op)
        elif isinstance(op, ReshardOp) and self._unreduce(op):
            pass
        else:
            self._meet_rule(op)

    def warn_of_repeated_sums(self) -> None:
        """Tells of sums that were made already, and are made twice now."""
        for op in self._sums:
            before = op.tensor.defining_op
            if isinstance(before, AllReduceOp) and overlap(op.reduction_axes, before.reduction_axes.axes):
                axes = axis_ref_list_text(before.reduction_axes)
                op.warn(
                    f"sums along {axes} a second time, because explicit reshards had been inserted already: "
                    "insert them once"
                )

    def _unreduce(self, op: ReshardOp) -> bool:
        """Puts more exact operations in place of a reshard to something unreduced."""
        (use,) = op.operand_uses
        if unreduce_use(use, op.sharding, self._mesh_of, {"before": op}, self._rewriter) is None:
            return False
        self._rewriter.replace(op, [use.value])
        return True

    # --- Operations with a rule -----------------------------------------------------------------------

    def _meet_rule(self, op: Op) -> None:
        # Nearly all operations are like one before.
        shardings = self._shardings
        key = op.signature, op.attributes, *[shardings[use.value] for use in op.operand_uses]
        if key in self._known:
            reshards = self._known[key]
        else:
            reshards = self._op_reshards(op)
            if is_rule_context_free(op) and all(map(is_trivially_compatible, key[2:])):
                self._known[key] = reshards
        if reshards is not None:
            insert_op_reshards(op, reshards, self._rewriter)
            shardings.forget(op.results)

    def _op_reshards(self, op: Op) -> OpReshards | None:
        # Of an operand that is summed first, it is the sharding before that decides.
        in_full = self._in_full or _is_always_full(op)
        self._reduce_operands(op)
        rule = sharding_rule_of(op)
        if rule is None or rule.is_custom:
            return None
        shardings = tuple([sharding_through_barriers(value) for value in (*op.operands, *op.results)])
        source = sharding_of(op.operand_at(0)) if isinstance(op, ReshapeOp) else None
        case = OpShardings(op.signature, rule, shardings, source)
        try:
            return self._reshards_finder.of(case, in_full)
        except IncompatibleReductionError:
            raise op.error(
                "the result has unreduced axes while the operand has incompatible sharding along reduction "
                "factors."
            ) from None

    def _reduce_operands(self, op: Op) -> None:
        """Sums over unreduced axes of operands that the results do not have, too."""
        if not op.results:
            if any(_unreduced_axes(value) for value in op.operands):
                raise op.error("Some operands have unreduced axes but the operation has no results.")
            return
        wanted = sharding_of(op.results[0])
        axes = () if wanted is None else wanted.unreduced_axes
        if any(_unreduced_axes(result) != axes for result in op.results[1:]):
            raise op.error("Unreduced axes mismatch between results for multi-result op.")
        for use in op.operand_uses:
            reduce_use(use, wanted, self._mesh_of, {"before": op}, self._rewriter)


def _is_always_full(op: Op) -> bool:
    """Whether an operation is dealt with in full in any case."""
    if op.signature.name == "mhlo.ragged_dot":
        return True
    if not isinstance(op, ConcatenateOp):
        return False
    wanted = sharding_of(op.result)
    return any(sharding_of(value) is not wanted for value in op.operands)


def _unreduced_axes(value: Value) -> tuple[object, ...]:
    sharding = sharding_of(value)
    return () if sharding is None else sharding.unreduced_axes
