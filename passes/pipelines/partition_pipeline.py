"""The partition pipeline: from a program with some shardings to the program that each device runs."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.pipeline import Pass, Pipeline, option
from sdyopt.mlir.registry import register_pipeline

from ..common.cse import CSE
from ..importing.inline_unsharded_calls import InlineUnshardedCalls
from ..importing.stablehlo_legalize_composite_to_call import LegalizeCompositeToCall
from ..partitioning.add_elementwise_sharding_rules import AddElementwiseShardingRules
from ..partitioning.convert_global_to_local import ConvertGlobalToLocal
from ..partitioning.finish_partitioning import FinishPartitioning
from ..partitioning.hoist_collectives import HoistCollectives
from ..partitioning.merge_collectives import MergeCollectives
from ..partitioning.pad_for_divisibility import PadForDivisibility
from .import_pipeline import DEDUP_FUNCTIONS_FULLY
from .jax_pipeline import exchanges
from .propagation_pipeline import propagation_pipeline


@register_pipeline("sdy-partition-pipeline")
def partition_pipeline(
    dedup_functions_fully: bool = DEDUP_FUNCTIONS_FULLY,
    keep_calls: bool = option(default=False, help="keep calls, as Shardy does, instead of inlining them"),
    enable_rgv3: bool = option(
        default=False, help="write replica groups as mesh axes instead of device ids where possible"
    ),
    replica_count: int = option(default=1, help="number of replicas of the program"),
    partition_count: int = option(default=1, help="number of partitions of each replica"),
) -> Sequence[Pass | Pipeline]:
    """sdy-partition-pipeline: partition a program: propagate, reshard, and convert to local.

    Converts a program with some shardings to the program that each device runs: tensors have the types of
    their shards, and all communication is by StableHLO collectives.

    As XLA does, it inlines calls first, with `stablehlo-legalize-composite-to-call`,
    `sdy-inline-unsharded-calls` and `cse`, so that dead and equal operations of several calls are found.
    Calls with shardings of their own are inlined once everything has a sharding. With `keep-calls`, calls are
    kept, and with `dedup-functions-fully`, as they are in Shardy's pipelines.

    Then it is `sdy-add-elementwise-sharding-rules`, so that operations of chlo are sharded too, and
    `sdy-propagation-pipeline` with these passes after the shardings are closed:
    `sdy-unify-meshes`, `sdy-all-reduces-to-reshards`, `sdy-reshard-single-devices`,
    `sdy-insert-explicit-reshards` in its full version, `sdy-resolve-permutation-factors`,
    `sdy-resolve-single-device-sharding`, `sdy-reshard-to-collectives`, `sdy-merge-collectives`,
    `sdy-merge-all-reduces`, `sdy-pad-for-divisibility`, `sdy-convert-global-to-local`,
    `sdy-hoist-collectives`, and `sdy-finish-partitioning`. Between them,
    reshards and collectives are simplified. `--dump-pass-pipeline` prints every pass with its options.
    """
    partitioning = [
        *exchanges(replica_count, partition_count, keep_calls),
        PadForDivisibility(replica_count=replica_count),
        ConvertGlobalToLocal(
            combine_multi_dimension_reduce_scatter=True,
            enable_rgv3=enable_rgv3,
            replica_count=replica_count,
            partition_count=partition_count,
            # In loops, a runtime does not copy the tensor.
            update_in_place=True,
        ),
        # Most offsets are looked up several times, and some halos are exchanged for several operations.
        MergeCollectives(),
        HoistCollectives(),
        FinishPartitioning(replica_count=replica_count),
    ]
    return [
        # As XLA does: shardings propagate through calls, and results without uses are not computed.
        *([] if keep_calls else [LegalizeCompositeToCall(), InlineUnshardedCalls(), CSE()]),
        AddElementwiseShardingRules(),
        *propagation_pipeline(dedup_functions_fully=dedup_functions_fully, partitioning=partitioning),
    ]
