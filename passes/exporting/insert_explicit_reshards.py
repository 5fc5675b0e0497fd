"""sdy-insert-explicit-reshards: insert reshards so that operations have compatible shardings.

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

Here the rows of `%lhs` and the columns of `%rhs` are both sharded along "x", so no device has the rows and
columns for its shard of the product. Propagation leaves such a conflict; this pass resolves it, one operation
at a time. The factor that shards most elements along "x" gets it: the 512 elements of `%rhs` against the 256
of `%lhs` and the 128 of the result. So `%lhs` is resharded, and the result gets another sharding and a
reshard back to its own. The contracting dimension is sharded along "y", hence the all-reduce along "y".
(Shardy's documentation of this pass shows the same program with a reshard of `%rhs` and without an
all-reduce; its implementation does this.)

The default version, without `enable-full-version`, does not change this example. It leaves conflicts to a
later partitioner and inserts only what is always beneficial. If `%0` is unreduced along "y",

      %0 = stablehlo.dot … {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"y"}>]>}
      %1 = stablehlo.negate %0
becomes in both versions
      %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{}, {}]>
      %2 = stablehlo.negate %1

In the full version, the operands and results of an operation with a sharding rule get the same axes for each
factor, and no axis shards two factors. If just two tensors are not scalars, one keeps its sharding: the one
whose permutation factors are not sharded, or else the larger one. Otherwise, or if a factor must be
replicated or a dimension has several factors, the axes that shard most elements win. A factor that must be
replicated is; its axes move to another factor where possible. If a reduction factor is sharded, the results
are all-reduced, unless they are unreduced. The sources of a data-flow edge are resharded to the sharding of
its owner, the operands of a manual computation and the values that its body returns to its input and output
shardings, and the values that a function returns to its result shardings. Where such a sharding is missing,
the value is replicated.

In both versions, call operands are resharded to the callee's argument shardings, or replicated if it has
none. A `stablehlo.concatenate` whose operands and result do not all have the same sharding, and every
`mhlo.ragged_dot`, are handled as in the full version. An unreduced value is all-reduced along the axes that
its user is not unreduced along. A value that must be unreduced is converted by `sdy.replicated_to_unreduced`
and `sdy.sharded_to_unreduced`.

In the default version, if the operands of a dot are compatible, and a dimension of the result is sharded
along exactly the axes of the contracting dimensions where an operand that is not smaller is sharded along
others, the result gets the axes of that operand and a reshard. A result that is unreduced along some axes is
all-reduced along the other axes that shard the reduction.

If the meshes of the shardings differ in device order only, the most frequent mesh of those that are not fully
replicated is used for all. Operations with shardings on meshes with different axes or on a maximal mesh, and
operations with a user-defined rule, get no reshards, and their results are not all-reduced. This
pass includes `sdy-reshard-single-devices`, and arguments and results of functions must not be on a single
device; not so with `--sdy-version=jaxlib-0.10.2`.

A value that is unreduced on another mesh than its user requires, or required so, is an error. With
`change-unreduced-meshes`, which `sdy-partition-pipeline` sets, it is all-reduced on its mesh, resharded to
the other, and made unreduced there.

Run the pass once: it does not recognize its own all-reduces and repeats them. It warns if it has done so.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from sdyopt.base.context import kept_by
from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.axes import axis_ref_list_text
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp, CollectiveOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING, are_there_single_devices
from sdyopt.mlir.dialects.sdy.mesh_op import find_mesh, meshes_at
from sdyopt.mlir.dialects.sdy.ops import ReshardOp, value_before_barriers
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding, are_there_unreduced_axes
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.dialects.stablehlo.asynchronous import AsyncStartOp
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.mlir.dialects.stablehlo.slicing import ConcatenateOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import FUNCTION, Pass, Since, option
from sdyopt.mlir.registry import register
from sdyopt.shardy.record import plan_to_record, record_plan
from sdyopt.shardy.sharding.axis_lists import Axes, overlap
from sdyopt.shardy.sharding.explicit_reshards.lookups import find_stages
from sdyopt.shardy.sharding.explicit_reshards.partitioner_axes import find_partitioner_axes
from sdyopt.shardy.sharding.explicit_reshards.reshape_overflow import find_partitioner_reshape_axes
from sdyopt.shardy.sharding.op_sharding_rule_registry import is_rule_context_free, sharding_rule_of

from .explicit_reshards.insertion import (
    ShardingCache,
    UseResharder,
    apply_plan,
    gather_batch_of_product,
    is_splat,
    is_sufficient_key,
    recreate_splats,
)
from .explicit_reshards.reshard_plan import (
    DOTS,
    IncompatibleReductionError,
    PlanInput,
    ReshardPlan,
    ReshardPlanner,
    all_reduce_use,
    change_unreduced_mesh,
    unreduce_use,
)
from .explicit_reshards.single_devices import SingleDeviceResharder, check_arguments_and_results


@register("sdy-insert-explicit-reshards")
class InsertExplicitReshards(Pass):
    anchor = FUNCTION

    enable_full_version: bool = option(
        default=False, help="resolve all conflicts, instead of leaving most to a later partitioner"
    )

    mark_partial_result_with_unreduced_axes: bool = option(
        default=False,
        help="give results that are all-reduced a sharding with these unreduced axes",
        since=Since(Behavior.REDUCTION_KINDS_OF_BODIES),
    )

    change_unreduced_meshes: bool = option(
        default=False,
        help="reshard a value that is unreduced on another mesh than its user requires, or required so, "
        "instead of an error",
        is_addition=True,
    )

    as_partitioner: bool = option(
        default=False,
        help="resolve conflicts as the SPMD partitioner of XLA does, instead of by the sizes of tensors",
        is_addition=True,
    )

    def run(self, function: FuncOp) -> bool:
        rewriter = Rewriter()
        follows_august = Behavior.SINGLE_DEVICE_RESHARDS.active
        inserter = _ReshardInserter(function, self, follows_august, rewriter)
        if follows_august:
            inserter.check_arguments_and_results()
        for op in function.walk_post_order():
            if not op.is_terminator:
                inserter.visit(op)
        inserter.finish()
        return rewriter.changed


class _ReshardInserter:
    """Inserts the reshards of one function."""

    def __init__(
        self,
        function: FuncOp,
        options: InsertExplicitReshards,
        reshard_single_devices: bool,
        rewriter: Rewriter,
    ) -> None:
        self._function = function
        self._full = full = options.enable_full_version
        self._change_meshes = change_meshes = options.change_unreduced_meshes
        self._as_partitioner = options.as_partitioner
        self._mark_partial = options.mark_partial_result_with_unreduced_axes
        self._rewriter = rewriter
        self._mesh_of = cache(lambda mesh_or_ref: find_mesh(mesh_or_ref, function))
        self._use_resharder = UseResharder(self._mesh_of, full, rewriter, change_meshes)
        self._single_devices = (
            SingleDeviceResharder(function, self._mesh_of, rewriter)
            if reshard_single_devices and are_there_single_devices()
            else None
        )
        self._planner = (
            ReshardPlanner(self._mesh_of, find_partitioner_axes, find_partitioner_reshape_axes, find_stages)
            if options.as_partitioner
            else ReshardPlanner(self._mesh_of)
        )
        self._shardings = ShardingCache()
        # In trials of changes, most plans are those of an earlier one: planning takes a tenth of their time.
        self._plans: dict[object, ReshardPlan | None] = kept_by(lambda: (options, meshes_at(function)))
        # Whether few operations need reshards, unless there are unreduced axes.
        self._skips_others = not (full or are_there_single_devices())
        # The all-reduces of the input program.
        self._all_reduces: list[AllReduceOp] = []

    def visit(self, op: Op) -> None:
        if self._skips_others and not _may_need_reshards(type(op)) and not are_there_unreduced_axes():
            sharding_rule_of(op)  # warns of an unknown operation
            return
        if isinstance(op, AllReduceOp):
            self._all_reduces.append(op)
        if self._full and isinstance(op.parent_op, AsyncStartOp):
            # No reshard may be in the region.
            if self._needs_reshards(op):
                self._rewriter.remove_attribute(op, SHARDING)
        elif op.data_flow is not None:
            self._use_resharder.reshard_edge_sources(op)
        elif isinstance(op, CallOp):
            self._use_resharder.reshard_call_operands(op)
        elif isinstance(op, ReshardOp) and self._lower_to_unreduced(op):
            pass
        elif self._as_partitioner and isinstance(op, CollectiveOp):
            # Of a sharding constraint that has been met already.
            pass
        elif self._single_devices is not None and (device := self._single_devices.device_sharding(op)):
            self._all_reduce_operands(op, [sharding_of(value) for value in op.operands])
            self._single_devices.reshard(op, device)
        else:
            self._reshard_by_rule(op)

    def check_arguments_and_results(self) -> None:
        """Checks that no argument or result of the function is on a single device."""
        check_arguments_and_results(self._function, self._mesh_of)

    def finish(self) -> None:
        self._use_resharder.reshard_returned_values(self._function)
        for op in self._all_reduces:
            self._warn_if_repeated(op)

    def _lower_to_unreduced(self, op: ReshardOp) -> bool:
        """Lowers a reshard if its target has new unreduced axes; returns whether it was lowered."""
        (use,) = op.operand_uses
        if self._change_meshes:
            change_unreduced_mesh(use, op.sharding, self._mesh_of, {"before": op}, self._rewriter)
        if unreduce_use(use, op.sharding, self._mesh_of, {"before": op}, self._rewriter) is None:
            return False
        self._rewriter.replace(op, [use.value])
        return True

    def _reshard_by_rule(self, op: Op) -> None:
        # Most operations have the signature, attributes and operand shardings of an earlier one.
        operand_shardings = [self._shardings[use.value] for use in op.operand_uses]
        key = op.signature, op.attributes, self._free_operands(op), *operand_shardings
        if key in self._plans:
            plan = self._plans[key]
        else:
            plan = self._prepare_and_plan(op, operand_shardings)
            if is_rule_context_free(op) and all(map(is_sufficient_key, operand_shardings)):
                self._plans[key] = plan
        if plan is not None:
            of_results = [(len(op.operands) + index, sharding) for index, sharding in plan.results]
            before = plan_to_record(op, (*plan.operands, *of_results))
            created = apply_plan(op, plan, self._rewriter, self._mark_partial)
            record_plan(before, created)
            if self._as_partitioner:
                created = recreate_splats(created, self._rewriter)
            if self._as_partitioner and isinstance(op, DotGeneralOp) and plan.reduction_axes:
                gather_batch_of_product(op, created, plan.reduction_axes, self._rewriter)
            self._shardings.invalidate(op.results)

    def _prepare_and_plan(self, op: Op, operand_shardings: Sequence[object]) -> ReshardPlan | None:
        # Before operands are all-reduced, because that changes their shardings.
        full = self._full or _is_always_full(op)
        self._all_reduce_operands(op, operand_shardings)
        return self._plan(op, full)

    def _needs_reshards(self, op: Op) -> bool:
        """Whether the shardings of an operation are not compatible, or reduce operands."""
        unreduced = {_unreduced_axes(value) for value in (*op.operands, *op.results)}
        return len(unreduced) > 1 or self._plan(op, full=True) is not None

    def _plan(self, op: Op, full: bool) -> ReshardPlan | None:
        rule = sharding_rule_of(op)
        if rule is None or rule.is_custom:
            return None
        if not full and not isinstance(op, DOTS):
            # As `ReshardPlanner.plan`.
            first = op.results[0] if op.results else None
            if first is None or not _unreduced_axes(value_before_barriers(first)):
                return None
        values = [value_before_barriers(value) for value in (*op.operands, *op.results)]
        shardings = tuple([sharding_of(value) for value in values])
        reshape_input = sharding_of(op.operand_at(0)) if isinstance(op, ReshapeOp) else None
        try:
            return self._planner.plan(
                PlanInput(op.signature, rule, shardings, reshape_input, self._free_operands(op)), full
            )
        except IncompatibleReductionError:
            raise op.error(
                "the result has unreduced axes while the operand has incompatible sharding along reduction "
                "factors."
            ) from None

    def _free_operands(self, op: Op) -> tuple[int, ...]:
        """The tables of a scatter that can be resharded without sending anything."""
        if not self._as_partitioner or not isinstance(op, ScatterOp):
            return ()
        return tuple([number for number, table in enumerate(op.operands) if is_splat(table)])

    def _all_reduce_operands(self, op: Op, operand_shardings: Sequence[object]) -> None:
        """All-reduces operands along their unreduced axes that are not unreduced axes of the results."""
        if not op.results:
            if any(_unreduced_axes(value) for value in op.operands):
                raise op.error("Some operands have unreduced axes but the operation has no results.")
            return
        required = sharding_of(op.results[0])
        axes = () if required is None else required.unreduced_axes
        if any(_unreduced_axes(result) != axes for result in op.results[1:]):
            raise op.error("Unreduced axes mismatch between results for multi-result op.")
        for use, operand_sharding in zip(op.operand_uses, operand_shardings, strict=True):
            if is_sufficient_key(operand_sharding):
                # It has no unreduced axes.
                continue
            sharding = None if self._is_on_another_mesh(use.value, required) else required
            all_reduce_use(use, sharding, self._mesh_of, {"before": op}, self._rewriter)

    def _is_on_another_mesh(self, value: Value, required: TensorSharding | None) -> bool:
        if not self._change_meshes or required is None or (sharding := sharding_of(value)) is None:
            return False
        return self._mesh_of(sharding.mesh_or_ref) is not self._mesh_of(required.mesh_or_ref)

    def _warn_if_repeated(self, op: AllReduceOp) -> None:
        """Warns if the operand of an all-reduce is an all-reduce along some of the same axes."""
        definition = op.tensor.defining_op
        if isinstance(definition, AllReduceOp) and overlap(op.reduction_axes, definition.reduction_axes.axes):
            op.warning(
                f"repeats the all-reduce along {axis_ref_list_text(definition.reduction_axes)}: explicit "
                "reshards were inserted before; run the pass once"
            )


@cache
def _may_need_reshards(op_class: type[Op]) -> bool:
    """Whether the default version inserts reshards at an operation without unreduced axes."""
    classes = (*DOTS, ConcatenateOp, CallOp, CollectiveOp, ReshardOp)
    return issubclass(op_class, classes) or op_class.data_flow is not None or op_class.name == _RAGGED_DOT


_RAGGED_DOT = "mhlo.ragged_dot"


def _is_always_full(op: Op) -> bool:
    """Whether the default version handles an operation as the full version does."""
    if op.name == _RAGGED_DOT:
        return True
    if not isinstance(op, ConcatenateOp):
        return False
    sharding = sharding_of(op.result)
    return any(sharding_of(value) is not sharding for value in op.operands)


def _unreduced_axes(value: Value) -> Axes:
    sharding = sharding_of(value)
    return () if sharding is None else sharding.unreduced_axes
