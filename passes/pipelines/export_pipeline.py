"""The export pipeline: the passes that run after propagation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.sdy.canonicalization import COLLECTIVE_LABEL
from sdyopt.mlir.dialects.sdy.reshard_canonicalization import RESHARD_LABEL
from sdyopt.mlir.ir.patterns import RegionSimplification
from sdyopt.mlir.pipeline import Pass, Pipeline, Since, option
from sdyopt.mlir.registry import register_pipeline

from ..common.canonicalize import Canonicalizer
from ..common.support.save_module import ModuleDumps
from ..exporting.close_shardings import CloseShardings
from ..exporting.constant_or_scalar_merger import ConstantOrScalarMerger
from ..exporting.drop_sharding_and_mesh import DropShardingAndMesh
from ..exporting.drop_sharding_rules import DropShardingRules
from ..exporting.inline_meshes import InlineMeshes
from ..exporting.insert_explicit_reshards import InsertExplicitReshards
from ..exporting.optimize_collectives import OptimizeCollectives
from ..exporting.remove_all_gather_reduce_scatter_for_cmv1 import RemoveAllGatherReduceScatterForCMV1
from ..exporting.remove_propagation_debug_info import RemovePropagationDebugInfo
from ..exporting.remove_sharding_groups import RemoveShardingGroups
from ..exporting.remove_sub_axes_in_input_output_shardings import RemoveSubAxesInInputOutputShardings
from ..exporting.reshard_to_collectives import ReshardToCollectives
from ..exporting.sharding_constraint_to_reshard import ShardingConstraintToReshard
from ..exporting.sink_data_flow_edges import SinkDataFlowEdges
from ..exporting.update_non_divisible_input_output_shardings import UpdateNonDivisibleInputOutputShardings
from ..exporting.verify_unreduced_axes import VerifyUnreducedAxes

# Options that the propagation pipeline has too.
DUMP_DIRECTORY = option(
    default="", help="directory for the module after each stage; nothing is written if empty"
)
ENABLE_INSERT_EXPLICIT_COLLECTIVES = option(
    default=False, help="insert all reshards and lower them to collectives"
)


@register_pipeline("sdy-export-pipeline")
def export_pipeline(
    dump_directory: str = DUMP_DIRECTORY,
    avoid_export_for_partitioning: bool = option(
        default=False, help="keep sharding constraints and groups, and insert no reshards"
    ),
    enable_insert_explicit_collectives: bool = ENABLE_INSERT_EXPLICIT_COLLECTIVES,
    remove_all_gather_reduce_scatter_for_cmv1: bool = option(
        default=False, help="leave all-gathers and reduce-scatters next to dots to XLA"
    ),
    keep_sharding_rules: bool = option(default=False, help="keep sharding rules on operations"),
    dump_sharding_origins: bool = option(
        default=False, help="keep sharding origins in the modules in `dump-directory`"
    ),
    dump_propagation_edges: bool = option(
        default=False, help="keep propagation edges in the modules in `dump-directory`"
    ),
    avoid_reshards_on_calls: bool = option(default=False, help="accepted for compatibility; no effect"),
    update_non_divisible_input_output_shardings: bool = option(
        default=True,
        help="truncate input and output shardings that have sub-axes or do not divide their dimensions",
    ),
    enable_per_instruction_partitioning: bool = option(
        default=False,
        help="partition single operations, in manual computations, instead of inserting collectives",
    ),
    per_instruction_partitioning_filter: str = option(
        default="", help="the operations that are partitioned, as for `sdy-per-instruction-partitioning`"
    ),
    replica_count: int = option(default=1, help="number of replicas of the program"),
    partition_count: int = option(default=1, help="number of partitions of each replica"),
    mark_partial_result_with_unreduced_axes: bool = option(
        default=False,
        help="as for `sdy-insert-explicit-reshards`",
        since=Since(Behavior.REDUCTION_KINDS_OF_BODIES),
    ),
    partitioner_stage: Literal[
        "unspecified",
        "resolve-permutation-factors",
        "reshard-to-collectives",
        "pad-for-divisibility",
        "resolve-single-device-sharding",
        "convert-global-to-local",
    ] = option(
        default="unspecified",
        help="partition the program, up to the pass of this name",
        since=Since(Behavior.PARTITIONER_STAGES),
    ),
    rng_bit_generator_unsafe: bool = option(
        default=True,
        help="as for `sdy-resolve-permutation-factors`",
        since=Since(Behavior.PARTITIONER_STAGES),
    ),
    inline_meshes: Literal["default", "true", "false"] = option(
        default="default", help="replace mesh names by meshes; by default since jaxlib 0.11.2"
    ),
    dumps: ModuleDumps | None = None,
    keep_debug_info: bool = False,
    partitioning: Sequence[Pass] | None = None,
) -> Sequence[Pass | Pipeline]:
    """sdy-export-pipeline: run the passes that follow propagation.

    Converts a propagated program to one for a partitioner: removes what only propagation needs, closes all
    shardings, and inserts reshards or, with `enable-insert-explicit-collectives`, collectives.

    Run it once, and not after `sdy-propagation-pipeline`, which ends with it: a second run would insert
    reshards and all-reduces again.

    The passes merge constants, sink data-flow edges, remove sharding groups, replace sharding constraints
    with reshards, truncate the input and output shardings that have sub-axes or do not divide their
    dimensions, and close all shardings. Then `sdy-insert-explicit-reshards` runs, or, for collectives, its
    full version, `sdy-reshard-to-collectives` and `sdy-optimize-collectives`. Finally, collectives are
    simplified: an all-reduce followed by an all-slice becomes a reduce-scatter. `--dump-pass-pipeline` prints
    every pass with its options.

    With `enable-per-instruction-partitioning`, for debugging, `sdy-insert-explicit-reshards` runs in its full
    version, followed by `sdy-per-instruction-partitioning`; the remaining reshards are not lowered.
    `sdy-verify-unreduced-axes` runs before the reshards, and `sdy-inline-meshes` at the end; not with
    `--sdy-version=jaxlib-0.10.2`.

    With `partitioner-stage=convert-global-to-local`, the pipeline ends with the program of one device.
    Earlier stages are for debugging: the passes after the one of the given name do not run. For other uses,
    `sdy-partition-pipeline` exchanges less data.

    With `dump-directory`, the module is written after each stage, as `00.after_propagation.mlir` and so on.
    With `dump-sharding-origins` and `dump-propagation-edges`, these files show the debug info of propagation,
    if it was recorded; it is removed afterwards.
    """
    dumps = dumps or ModuleDumps(dump_directory)
    mark_partial = mark_partial_result_with_unreduced_axes
    passes: list[Pass] = [
        # After propagation, most copies of a constant have equal shardings.
        ConstantOrScalarMerger(),
        SinkDataFlowEdges(
            sink_debug_sharding_origins=dump_sharding_origins,
            sink_debug_propagation_edge_sharding=dump_propagation_edges,
        ),
    ]
    if not avoid_export_for_partitioning:
        passes += [RemoveShardingGroups(), ShardingConstraintToReshard()]
    if update_non_divisible_input_output_shardings:
        # Before shardings are closed: sub-axes are removed from open dimensions only.
        passes += [UpdateNonDivisibleInputOutputShardings(), RemoveSubAxesInInputOutputShardings()]
    passes += [CloseShardings(), dumps.save("after_propagation")]
    if Behavior.VERIFIED_UNREDUCED_AXES.active and not avoid_export_for_partitioning:
        # Before `sdy-insert-explicit-reshards`, which combines partial results wherever they are used.
        passes.append(VerifyUnreducedAxes())
    if partitioning is not None:
        passes += partitioning
    elif enable_per_instruction_partitioning and not avoid_export_for_partitioning:
        # It imports all lowerings, which no other run of this pipeline needs.
        from ..partitioning.per_instruction_partitioning import PerInstructionPartitioning

        partition_ops = PerInstructionPartitioning(
            filter=per_instruction_partitioning_filter,
            replica_count=replica_count,
            partition_count=partition_count,
            rng_bit_generator_unsafe=rng_bit_generator_unsafe,
        )
        passes += [
            InsertExplicitReshards(
                enable_full_version=True,
                mark_partial_result_with_unreduced_axes=Behavior.PARTITIONER_STAGES.active or mark_partial,
            ),
            dumps.save("before_per_instruction_partitioning"),
            partition_ops,
            dumps.save("after_per_instruction_partitioning"),
            simplify(COLLECTIVE_LABEL),
            dumps.save(_name_of_dump("after_minimal_partitioner_with_global_shapes")),
        ]
    elif partitioner_stage != "unspecified" and not avoid_export_for_partitioning:
        passes += _partition_until(
            partitioner_stage, dumps, replica_count, partition_count, rng_bit_generator_unsafe
        )
    elif enable_insert_explicit_collectives and not avoid_export_for_partitioning:
        passes += _insert_collectives(dumps, remove_all_gather_reduce_scatter_for_cmv1, mark_partial)
    elif not avoid_export_for_partitioning:
        passes.append(InsertExplicitReshards(mark_partial_result_with_unreduced_axes=mark_partial))
        passes.append(simplify(COLLECTIVE_LABEL))
        passes.append(dumps.save(_name_of_dump("after_minimal_partitioner_with_global_shapes")))
    if (dump_sharding_origins or dump_propagation_edges) and not keep_debug_info:
        passes.append(RemovePropagationDebugInfo())
    if not keep_sharding_rules:
        # After the reshards, which are derived from the rules.
        passes.append(DropShardingRules())
    is_inlining_default = inline_meshes == "default" and Behavior.INLINED_MESHES.active
    if (inline_meshes == "true" or is_inlining_default) and not avoid_export_for_partitioning:
        passes.append(InlineMeshes())
    return passes


def _insert_collectives(dumps: ModuleDumps, leave_dots_to_xla: bool, mark_partial: bool) -> Sequence[Pass]:
    return [
        InsertExplicitReshards(
            enable_full_version=True, mark_partial_result_with_unreduced_axes=mark_partial
        ),
        dumps.save("after_explicit_reshards"),
        # Of two consecutive reshards, the first is redundant.
        simplify(RESHARD_LABEL),
        ReshardToCollectives(),
        *([OptimizeCollectives()] if Behavior.OPTIMIZED_COLLECTIVES.active else ()),
        # All-reduces and all-slices that are consecutive now become reduce-scatters.
        simplify(COLLECTIVE_LABEL),
        *([RemoveAllGatherReduceScatterForCMV1()] if leave_dots_to_xla else ()),
        dumps.save(_name_of_dump("after_partitioner_with_global_shapes")),
    ]


def _partition_until(
    stage: str, dumps: ModuleDumps, replica_count: int, partition_count: int, rng_bit_generator_unsafe: bool
) -> Sequence[Pass]:
    """The passes that partition a program, up to the one of the name `sdy-STAGE`."""
    # They import all lowerings, which no other run of this pipeline needs.
    from ..partitioning.convert_global_to_local import ConvertGlobalToLocal
    from ..partitioning.pad_for_divisibility import PadForDivisibility
    from ..partitioning.resolve_permutation_factors import ResolvePermutationFactors
    from ..partitioning.resolve_single_device_sharding import ResolveSingleDeviceSharding

    passes: list[Pass] = [
        ResolvePermutationFactors(
            replica_count=replica_count,
            partition_count=partition_count,
            rng_bit_generator_unsafe=rng_bit_generator_unsafe,
        ),
        ReshardToCollectives(),
        OptimizeCollectives(),
        simplify(COLLECTIVE_LABEL),
        PadForDivisibility(replica_count=replica_count),
        ResolveSingleDeviceSharding(replica_count=replica_count, partition_count=partition_count),
        ConvertGlobalToLocal(replica_count=replica_count, partition_count=partition_count),
    ]
    last = next(number for number, step in enumerate(passes) if step.flag == f"sdy-{stage}")
    passes = passes[: last + 1]
    if stage == "convert-global-to-local":
        # For runtimes, the module keeps the shardings of the arguments and results of `@main`.
        passes.append(DropShardingAndMesh(keep_module_sharding_metadata=True))
    return [
        InsertExplicitReshards(enable_full_version=True, mark_partial_result_with_unreduced_axes=True),
        dumps.save("after_explicit_reshards"),
        simplify(RESHARD_LABEL),
        *passes,
        simplify(COLLECTIVE_LABEL),
        dumps.save("after_partitioner_passes"),
    ]


def _name_of_dump(before: str) -> str:
    """The name of the last module that is written: since jaxlib 0.12.0.1, it is the same for all options."""
    return "after_partitioner_passes" if Behavior.PARTITIONER_STAGES.active else before


def simplify(label: str) -> Pass:
    """Applies only the canonicalization patterns with a label."""
    return Canonicalizer(
        enable_patterns=(label,), top_down=False, region_simplify=RegionSimplification.AGGRESSIVE
    )
