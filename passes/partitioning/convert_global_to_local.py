"""sdy-convert-global-to-local: convert global tensors to the shards of one device.

Over `sdy.mesh @mesh = <["x"=2]>`,

    func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> … {
      %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
      %1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {}]>
      return %1
becomes
    func.func @main(%a: tensor<4x4xf32> …) -> tensor<8x4xf32> {
      %0 = stablehlo.negate %a : tensor<4x4xf32>
      %1 = "stablehlo.all_gather"(%0) <{all_gather_dim = 0, replica_groups = dense<[[0, 1]]>, …}>
      return %1

The result is the program that every device runs. Devices must exchange data in collectives only, so this pass
comes after `sdy-insert-explicit-reshards` in its full version and `sdy-reshard-to-collectives`. All shards of
a tensor must have the same shape: `sdy-pad-for-divisibility` pads the tensors for which this is not true.

Most operations only get local types. Those whose attributes or meaning depend on the shard are lowered:
constants are sliced, an iota starts at the offset of its shard, a gather selects the indices of its shard.
A device looks its offsets up by its id: `stablehlo.partition_id`, or `replica_id` if `replica-count` is
greater than 1. The random bits of each shard are generated from a state of its own.

Partial results are combined by the kind of reduction that they are from: the partial maxima of a
`stablehlo.reduce` by an all-reduce with `maximum`. Where no single collective can combine them, as for a
reduction of pairs, they are gathered and reduced again.

Functions, calls, loops and branches take and return local tensors. Manual computations are inlined. An
operation that would need elements of other shards is an error. For a runtime, the module gets the shardings
of the arguments and results of `@main` as attributes.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.releases import Behavior
from sdyopt.mlir.asm.printer.asm_printer import legalization_error
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule, TensorMapping
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.operation import Op, UnregisteredOp
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import Type
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import Pass, Since, option
from sdyopt.mlir.registry import register
from sdyopt.shardy.partition.local_builder import DeferredReplacements
from sdyopt.shardy.partition.local_context import RESHARD_HELP, LocalContext, LoweringOptions, lowering
from sdyopt.shardy.partition.outlining import shardings_of_main
from sdyopt.shardy.partition.partial_results import combine_results
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule_of
from sdyopt.shardy.sharding.sharding_projection import project_tensor


@register("sdy-convert-global-to-local")
class ConvertGlobalToLocal(Pass):
    per_dim_all_gather: bool = option(
        default=False, help="gather several dimensions one at a time, instead of by one collective"
    )
    combine_multi_dimension_reduce_scatter: bool = option(
        default=False, help="scatter several dimensions by one collective, instead of reducing and slicing"
    )
    enable_rgv3: bool = option(
        default=True,
        help="write replica groups as mesh axes instead of device ids where possible",
        since=Since(Behavior.REPLICA_GROUPS_BY_AXES, before=False),
    )
    replica_count: int = option(default=1, help="number of replicas of the program")
    partition_count: int = option(default=1, help="number of partitions of each replica")

    update_in_place: bool = option(
        default=False,
        help="write the old element back where the index of an update is in another shard, instead of "
        "selecting between whole shards",
        is_addition=True,
    )

    def run(self, module: ModuleOp) -> bool:
        if self.replica_count > 1 and self.partition_count > 1:
            raise module.error(
                "Shardy partitioner convert_global_to_local does not support both replica_count > 1 and "
                "partition_count > 1 yet."
            )
        options = LoweringOptions(
            per_dim_all_gather=self.per_dim_all_gather,
            combine_multi_dimension_reduce_scatter=self.combine_multi_dimension_reduce_scatter,
            enable_rgv3=self.enable_rgv3,
            replica_count=self.replica_count,
            update_in_place=self.update_in_place,
        )
        shardings = shardings_of_main(module) if Behavior.SHARDINGS_OF_MAIN.active else None
        changed = convert_to_local(module, options)
        if shardings is None:
            return changed
        rewriter = Rewriter()
        for name, value in shardings.items():
            rewriter.set_attribute(module, name, value)
        return True


_KEPT = (ModuleOp, MeshOp)


def convert_to_local(module: ModuleOp, options: LoweringOptions) -> bool:
    """Converts a module whose devices exchange data only in collectives; returns whether it changed."""
    rewriter = Rewriter()
    conversion = _Conversion(LocalContext(module, options, rewriter), rewriter)
    for op in list(module.walk()):
        if not isinstance(op, _KEPT):
            conversion.visit(op)
    conversion.finish()
    return rewriter.changed


class _Conversion:
    def __init__(self, local: LocalContext, rewriter: Rewriter) -> None:
        self._local = local
        self._rewriter = rewriter
        self._replacements = DeferredReplacements(rewriter)
        self._manual_computations: list[ManualComputationOp] = []
        # The local result types of kept operations, which follow from their signatures and attributes and
        # the shardings of their operands.
        self._kept_types: dict[object, Sequence[Type]] = {}

    def visit(self, op: Op) -> None:
        """Lowers an operation, or gives it local types."""
        if op.regions or op.data_flow is not None or lowering.get(type(op)) is not None:
            self._convert(op)
            return
        shardings = self._local.types.shardings
        key = op.signature, op.attributes, *[shardings[use.value] for use in op.operand_uses]
        local_types = self._kept_types.get(key)
        if local_types is None:
            self._kept_types[key] = self._convert(op)
        else:
            self._rewriter.retype(op, local_types)

    def _convert(self, op: Op) -> Sequence[Type]:
        """Lowers an operation, or gives it local types. Returns the local result types."""
        local_types = [self._local.local_type(result, op) for result in op.results]
        self._localize_arguments(op)
        lower = lowering.get(type(op))
        if lower is not None:
            try:
                values = lower(op, self._local)
            except DiagnosticError as error:
                raise error.then(legalization_error(op)) from None
            if (axes := self._local.uncombined.pop(op, None)) is not None:
                values = combine_results(op, values or self._copy(op, local_types), axes, self._local)
            if values is not None:
                self._replacements.add(op, values)
        elif op.dialect_name == "sdy" and not op.is_terminator and op.data_flow is None:
            raise legalization_error(op)
        elif not isinstance(op, UnregisteredOp):
            check_is_local(op, self._local)
        if isinstance(op, ManualComputationOp):
            self._manual_computations.append(op)
        self._rewriter.retype(op, local_types)
        return local_types

    def _copy(self, op: Op, types: Sequence[Type]) -> Sequence[Value]:
        """The results of a copy of an operation with local types."""
        attributes = {**dict(op.signature.attributes), **dict(op.attributes)}
        regions = [Region() for _ in op.regions]
        for old, new in zip(op.regions, regions, strict=True):
            self._rewriter.copy_region(old, new)
        return self._local.builder(op).create(type(op), op.operands, types, attributes, regions).results

    def _localize_arguments(self, op: Op) -> None:
        for region in op.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    self._rewriter.retype_argument(argument, self._local.local_type(argument, op))

    def finish(self) -> None:
        """Replaces the results of lowered operations, and inlines manual computations."""
        self._replacements.apply()
        for computation in reversed(self._manual_computations):
            self._inline(computation)

    def _inline(self, computation: ManualComputationOp) -> None:
        block = computation.block
        for argument, operand in zip(block.arguments, computation.operands, strict=True):
            self._rewriter.replace_all_uses(argument, operand)
        returned = block.last
        assert returned is not None and returned.is_terminator
        for op in list(block.ops):
            if op is not returned:
                self._rewriter.move(op, before=computation)
        self._rewriter.replace(computation, returned.operands)


# Checks that an operation without a lowering can run unchanged on the shards of its operands.
#
# This follows from its sharding rule: along a pass-through or reduction factor, an operation needs no other
# shards; a reduction leaves partial results, which a following collective combines. Along any other factor it
# needs whole dimensions.


def check_is_local(op: Op, local: LocalContext) -> None:
    """Raises an error if an operation reads elements of other shards."""
    if op.is_terminator or op.data_flow is not None:
        return
    if not any(any(local.axes_per_dim(value)) for value in (*op.operands, *op.results)):
        return
    rule = sharding_rule_of(op)
    if rule is None:
        raise op.op_error("has sharded operands or results, and no sharding rule").help(RESHARD_HELP)
    crossing = {*rule.need_replication, *rule.permutation}
    if not crossing:
        return
    for kind, values, mappings in (
        ("operand", op.operands, rule.operands),
        ("result", op.results, rule.results),
    ):
        for number, (value, mapping) in enumerate(zip(values, mappings, strict=True)):
            axes = local.axes_per_dim(value)
            for dim, factors in enumerate(mapping.dims):
                if (
                    crossing.intersection(factors.factors)
                    and axes[dim]
                    and _shards_any(crossing, mapping, dim, value, rule, local)
                ):
                    raise op.op_error(
                        f"dimension {dim} of {kind} {number} is sharded, and the operation needs elements of "
                        "other shards"
                    ).help(RESHARD_HELP)


def _shards_any(
    crossing: set[int],
    mapping: TensorMapping,
    dim: int,
    value: Value,
    rule: OpShardingRule,
    local: LocalContext,
) -> bool:
    """Whether a sharded dimension is sharded along any of these factors, or beyond any other factor."""
    factors, sharding = mapping.dims[dim].factors, local.sharding(value)
    mesh = None if sharding is None else local.types.mesh(sharding)
    if len(factors) == 1 or mesh is None:
        return True
    projection = project_tensor(mapping, sharding, rule.factor_sizes, mesh)
    shardings = [projection.factors[factor] for factor in factors if factor in projection.factors]
    return any(sharding.overflow_axes for sharding in shardings) or any(
        projection.factors[factor].axes for factor in crossing.intersection(factors)
    )
