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

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import Pass, Since, option
from sdyopt.mlir.registry import register
from sdyopt.shardy.partition.conversion import convert_to_local
from sdyopt.shardy.partition.entry_functions import shardings_of_main
from sdyopt.shardy.partition.local_context import LoweringOptions


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
