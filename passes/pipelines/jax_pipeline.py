"""The pipeline that stands for what becomes of a program of JAX."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.base.compilers import CompilerBehavior
from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.sdy.canonicalization import COLLECTIVE_LABEL
from sdyopt.mlir.dialects.sdy.reshard_canonicalization import RESHARD_LABEL
from sdyopt.mlir.pipeline import Pass, Pipeline, option
from sdyopt.mlir.registry import register_pipeline

from ..common.cse import CSE
from ..common.inline import Inliner
from ..exporting.insert_explicit_reshards import InsertExplicitReshards
from ..exporting.reshard_to_collectives import ReshardToCollectives
from ..importing.import_hlo_shardings import ImportHloShardings
from ..importing.inline_unsharded_calls import InlineUnshardedCalls
from ..importing.simplify_hlo import SimplifyHlo
from ..importing.stablehlo_legalize_composite_to_call import LegalizeCompositeToCall
from ..partitioning.add_elementwise_sharding_rules import AddElementwiseShardingRules
from ..partitioning.all_reduces_to_reshards import AllReducesToReshards
from ..partitioning.merge_all_reduces import MergeAllReduces, SlicesBefore
from ..partitioning.merge_collectives import MergeCollectives
from ..partitioning.reshard_single_devices import ReshardSingleDevices
from ..partitioning.resolve_permutation_factors import ResolvePermutationFactors
from ..partitioning.resolve_single_device_sharding import ResolveSingleDeviceSharding
from ..partitioning.unify_meshes import UnifyMeshes
from .export_pipeline import simplify
from .propagation_pipeline import propagation_pipeline

# Up to which distance the compiler for TPU merges all-gathers. It is 100 in its own operations, of which
# programs of JAX have a few less: what is up to 104 apart here is merged, and from 107 on not.
_MAX_DISTANCE = 105


@register_pipeline("sdy-jax-pipeline")
def jax_pipeline(
    compiler: str = option(
        default="", help="compiler that is followed: tpu, gpu or cpu; default: what those for tpu and gpu do"
    ),
) -> Sequence[Pass | Pipeline]:
    """sdy-jax-pipeline: propagate as XLA does for a program of JAX, and insert collectives.

    Without passes on the command line, reports, comparisons, explanations, lint and budgets run this. It is
    `sdy-partition-pipeline` up to `sdy-pad-for-divisibility`: all communication is explicit, that of halos,
    sorts and `top_k` too, but types are still global. Before it runs what XLA does before Shardy:
    `sdy-import-hlo-shardings`, for a program that has only shardings of HLO,
    `stablehlo-legalize-composite-to-call`, `sdy-inline-unsharded-calls`, `sdy-simplify-hlo`, and `cse`, which
    also removes dead operations. At the end, `sdy-merge-collectives` merges equal collectives and what is
    computed from them, as XLA does after it has partitioned a program.

    Where XLA's partitioner decides otherwise than `sdy-partition-pipeline`, which sends less, this pipeline
    follows XLA: products keep the axes that two of their tensors agree on, so weights that are sharded along
    the axis of the batch are gathered; if the axes that they agree on do not shard a product over all
    devices, the operands are resharded for its result; a gather or scatter is computed in the way that needs
    least memory, in the steps of XLA; others are computed with the sharding of their result; reshards may
    gather whole tensors, and two in a row are both done; cumulative operations gather the dimension; each
    sharding constraint is met by itself; the all-reduces of a sum are merged only if it has no other terms;
    and a slice of a sum is done before transposes, for TPU before conversions, too, and for CPU before
    neither.

    A manual computation that exchanges data in place of an operation has the name of the operation as
    `sdy.replaces`.

    Shardy's own pipeline has none of this: calls are cloned for each use, propagation stops at chlo, and an
    operation that needs elements of other shards keeps its operands.
    """
    before: SlicesBefore = (
        "conversions" if compiler == "tpu" else "nothing" if compiler == "cpu" else "transposes"
    )
    max_distance = _MAX_DISTANCE if CompilerBehavior.GATHERS_AGAIN.holds(compiler) else 0
    partitioning = exchanges(
        mark_exchanges=True, reduce_communication=False, slices_before=before, max_distance=max_distance
    )
    return [
        ImportHloShardings(),
        LegalizeCompositeToCall(),
        InlineUnshardedCalls(),
        SimplifyHlo(compiler=compiler),
        CSE(),
        AddElementwiseShardingRules(),
        *propagation_pipeline(partitioning=partitioning),
        MergeCollectives(before_broadcasts=compiler != "cpu", max_distance=max_distance),
    ]


def exchanges(
    replica_count: int = 1,
    partition_count: int = 1,
    keep_calls: bool = False,
    mark_exchanges: bool = False,
    reduce_communication: bool = True,
    slices_before: SlicesBefore = "conversions",
    max_distance: int = 0,
) -> Sequence[Pass]:
    """The passes that insert all communication, on types that are still global."""

    def lowering() -> Pass:
        return ReshardToCollectives(
            keep_unreduced_axes=True, move_borders=True, as_partitioner=not reduce_communication
        )

    return [
        # Otherwise tensors would be gathered between them.
        UnifyMeshes(),
        # Otherwise the program's own all-reduces would be repeated.
        AllReducesToReshards(),
        ReshardSingleDevices(),
        # XLA meets each constraint of the program by itself.
        *([] if reduce_communication else [lowering()]),
        InsertExplicitReshards(
            enable_full_version=True,
            change_unreduced_meshes=True,
            as_partitioner=not reduce_communication,
        ),
        # Calls with shardings of their own, now that their operands and results are resharded.
        *([] if keep_calls else [Inliner(default_pipeline="")]),
        # So that random numbers do not depend on their sharding.
        ResolvePermutationFactors(
            replica_count=replica_count,
            partition_count=partition_count,
            rng_bit_generator_unsafe=not Behavior.SHARDED_RANDOM_BITS.active,
            reduce_communication=reduce_communication,
            mark_exchanges=mark_exchanges,
            as_partitioner=not reduce_communication,
        ),
        # Before reshards are lowered, so that its all-reduces and all-slices after them become
        # reduce-scatters.
        ResolveSingleDeviceSharding(replica_count=replica_count, partition_count=partition_count),
        # Of two consecutive reshards, the first is redundant; XLA does both.
        *([simplify(RESHARD_LABEL)] if reduce_communication else []),
        MergeCollectives(collectives_only=True, max_distance=max_distance),
        # Borders between shards are moved by sdy-pad-for-divisibility.
        lowering(),
        # An all-reduce and an all-slice become a reduce-scatter.
        simplify(COLLECTIVE_LABEL),
        MergeCollectives(collectives_only=True, max_distance=max_distance),
        MergeAllReduces(whole_sums_only=not reduce_communication, slices_before=slices_before),
    ]
