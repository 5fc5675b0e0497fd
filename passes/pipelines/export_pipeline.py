"""What comes after propagation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sdyopt.dialects.sdy.canonicalize_collectives import COLLECTIVE_LABEL
from sdyopt.dialects.sdy.canonicalize_reshard import RESHARD_LABEL
from sdyopt.ir.patterns import RegionSimplification
from sdyopt.pipeline import Pass, option
from sdyopt.registry import register_pipeline

from ..common.canonicalize import Canonicalizer
from ..common.support.save_module import ModuleDumps
from ..exporting.close_shardings import CloseShardings
from ..exporting.constant_or_scalar_merger import ConstantOrScalarMerger
from ..exporting.drop_sharding_rules import DropShardingRules
from ..exporting.insert_explicit_reshards import InsertExplicitReshards
from ..exporting.remove_all_gather_reduce_scatter_for_cmv1 import RemoveAllGatherReduceScatterForCMV1
from ..exporting.remove_propagation_debug_info import RemovePropagationDebugInfo
from ..exporting.remove_sharding_groups import RemoveShardingGroups
from ..exporting.remove_sub_axes_in_input_output_shardings import RemoveSubAxesInInputOutputShardings
from ..exporting.reshard_to_collectives import ReshardToCollectives
from ..exporting.sharding_constraint_to_reshard import ShardingConstraintToReshard
from ..exporting.sink_data_flow_edges import SinkDataFlowEdges
from ..exporting.update_non_divisible_input_output_shardings import UpdateNonDivisibleInputOutputShardings


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """What is exported, and how far."""

    avoid_export_for_partitioning: bool = False
    enable_insert_explicit_collectives: bool = False
    remove_all_gather_reduce_scatter_for_cmv1: bool = False
    keep_sharding_rules: bool = False
    dump_sharding_origins: bool = False
    dump_propagation_edges: bool = False
    update_non_divisible_input_output_shardings: bool = True


@register_pipeline("sdy-export-pipeline")
def export_pipeline(
    dump_directory: str = option(default="", help="Where to write the program in between."),
    avoid_export_for_partitioning: bool = option(
        default=False, help="Whether to leave constraints and groups, and insert no reshards."
    ),
    enable_insert_explicit_collectives: bool = option(
        default=False, help="Whether to insert all reshards, and make collectives of them."
    ),
    remove_all_gather_reduce_scatter_for_cmv1: bool = option(
        default=False, help="Whether to leave all-gathers and reduce-scatters next to products to XLA."
    ),
    keep_sharding_rules: bool = option(default=False, help="Whether to leave sharding rules on operations."),
    dump_sharding_origins: bool = option(
        default=False, help="Whether to show the origins of axes in what is written in between."
    ),
    dump_propagation_edges: bool = option(
        default=False, help="Whether to show the steps of propagation in what is written in between."
    ),
    avoid_reshards_on_calls: bool = option(default=False, help="Accepted; it makes no difference."),
    update_non_divisible_input_output_shardings: bool = option(
        default=True, help="Whether to split inputs and outputs into parts of one size only."
    ),
) -> Sequence[Pass]:
    """sdy-export-pipeline: run the export passes needed behind Shardy propagation.

    From what propagation leaves to what a partitioner takes: all that was there for propagation alone is
    gone, shardings are closed, and where data has to move there is a reshard or, with
    `enable-insert-explicit-collectives`, the collectives that move it.

    Run it once, not behind itself or `sdy-propagation-pipeline`, of which it is the end: reshards that
    have been inserted would be inserted again, and sums made twice.

    Constants are merged, edges sunk, constraints become reshards, shardings of inputs and outputs are cut to
    parts of one size, and all are closed. Then come `sdy-insert-explicit-reshards` and, for collectives, its
    full version and `sdy-reshard-to-collectives`, and simplifications of collectives: an all-reduce with an
    all-slice behind it becomes a reduce-scatter. `--dump-pass-pipeline` shows each pass with its options.

    With `dump-directory`, a folder that is there, the program is written there behind its main parts, as
    `00.after_propagation.mlir` and so on. What propagation noted for people, if it was asked to, can be
    seen there with `dump-sharding-origins` and `dump-propagation-edges`, and is removed afterwards.
    """
    options = ExportOptions(
        avoid_export_for_partitioning=avoid_export_for_partitioning,
        enable_insert_explicit_collectives=enable_insert_explicit_collectives,
        remove_all_gather_reduce_scatter_for_cmv1=remove_all_gather_reduce_scatter_for_cmv1,
        keep_sharding_rules=keep_sharding_rules,
        dump_sharding_origins=dump_sharding_origins,
        dump_propagation_edges=dump_propagation_edges,
        update_non_divisible_input_output_shardings=update_non_divisible_input_output_shardings,
    )
    return export_passes(options, ModuleDumps(dump_directory))


def export_passes(options: ExportOptions, dumps: ModuleDumps) -> Sequence[Pass]:
    """The passes of the export pipeline, on its own or as a part of another one."""
    return [*_tidy_up(options), dumps.save("after_propagation"), *_finish(options, dumps)]


def _tidy_up(options: ExportOptions) -> Iterator[Pass]:
    """What was there for propagation goes, and its result becomes final."""
    # Constants that were split so that each could be sharded for its user, and did not need to be.
    yield ConstantOrScalarMerger()
    yield SinkDataFlowEdges(
        sink_debug_sharding_origins=options.dump_sharding_origins,
        sink_debug_propagation_edge_sharding=options.dump_propagation_edges,
    )
    if not options.avoid_export_for_partitioning:
        yield RemoveShardingGroups()
        yield ShardingConstraintToReshard()
    if options.update_non_divisible_input_output_shardings:
        # Before shardings are closed: what is open here is what users left open, and may be changed.
        yield UpdateNonDivisibleInputOutputShardings()
        yield RemoveSubAxesInInputOutputShardings()
    yield CloseShardings()


def _finish(options: ExportOptions, dumps: ModuleDumps) -> Iterator[Pass]:
    """Where data has to move, that is said; then what is needed no longer goes."""
    if options.avoid_export_for_partitioning:
        pass
    elif options.enable_insert_explicit_collectives:
        yield from _insert_collectives(options, dumps)
    else:
        yield InsertExplicitReshards()
        yield _simplify(COLLECTIVE_LABEL)
        yield dumps.save("after_minimal_partitioner_with_global_shapes")
    if options.dump_sharding_origins or options.dump_propagation_edges:
        yield RemovePropagationDebugInfo()
    # After reshards, which are found by rules.
    if not options.keep_sharding_rules:
        yield DropShardingRules()


def _insert_collectives(options: ExportOptions, dumps: ModuleDumps) -> Iterator[Pass]:
    yield InsertExplicitReshards(enable_full_version=True)
    yield dumps.save("after_explicit_reshards")
    # Of two reshards in a row, the first would only cost time.
    yield _simplify(RESHARD_LABEL)
    yield ReshardToCollectives()
    # Sums of the full version and slices of what was just made can be reduce-scatters.
    yield _simplify(COLLECTIVE_LABEL)
    if options.remove_all_gather_reduce_scatter_for_cmv1:
        yield RemoveAllGatherReduceScatterForCMV1()
    yield dumps.save("after_partitioner_with_global_shapes")


def _simplify(label: str) -> Pass:
    """The simplifications with a label, and no others: the program is the user's otherwise."""
    return Canonicalizer(
        enable_patterns=(label,), top_down=False, region_simplify=RegionSimplification.AGGRESSIVE
    )
