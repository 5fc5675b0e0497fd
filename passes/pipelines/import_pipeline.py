"""The import pipeline: the passes that run before propagation."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.pipeline import Pass, Pipeline, option
from sdyopt.mlir.registry import register_pipeline

from ..common.support.save_module import ModuleDumps
from ..common.symbol_dce import SymbolDCE
from ..importing.add_data_flow_edges import AddDataFlowEdges
from ..importing.apply_sharding_constraints import ApplyShardingConstraints
from ..importing.constant_or_scalar_splitter import ConstantOrScalarSplitter
from ..importing.lift_inlined_meshes import LiftInlinedMeshes
from ..importing.manual_axes_cleanup import ManualAxesCleanup
from ..importing.propagate_sharding_from_func_to_call import PropagateShardingFromFuncToCall
from ..importing.remove_size_one_axes import RemoveSizeOneAxes
from ..importing.sharding_group_import import ShardingGroupImport

# The other pipelines that import programs have this option, too.
DEDUP_FUNCTIONS_FULLY = option(
    default=False, help="keep shared functions instead of cloning them for each call"
)


@register_pipeline("sdy-import-pipeline")
def import_pipeline(
    dedup_functions_fully: bool = DEDUP_FUNCTIONS_FULLY,
    dumps: ModuleDumps | None = None,
    debug_sharding_origins: bool = False,
    debug_propagation_edge_sharding: bool = False,
) -> Sequence[Pass | Pipeline]:
    """sdy-import-pipeline: run the passes that precede propagation.

    Prepares a user program for propagation: every mesh has one name, calls have the result shardings of their
    callees, every use of a constant has a copy of its own, manual axes are sorted, and data-flow edges are
    explicit.

    With `dedup-functions-fully`, calls are not inlined before propagation, so sharding constraints are
    applied and sharding groups merged here. Otherwise `sdy-propagation-pipeline` does that after it has
    inlined calls.
    """
    dumps = dumps or ModuleDumps()
    return [
        # Unreachable functions need not be imported and must not affect the others.
        SymbolDCE(),
        # First, because later passes compare meshes by name.
        LiftInlinedMeshes(),
        # Before function shardings are copied to calls, because there are fewer shardings then.
        RemoveSizeOneAxes(),
        PropagateShardingFromFuncToCall(),
        # Before edges and constraints are added, because they would be uses of the constants.
        ConstantOrScalarSplitter(),
        # Lifted meshes may have left unused symbols.
        SymbolDCE(),
        # After axes of size one are removed, because shardings must mention manual axes of any size.
        ManualAxesCleanup(),
        # The last state that is close to the user's program.
        dumps.save("before_propagation"),
        AddDataFlowEdges(),
        *(
            import_sharding_constraints(debug_sharding_origins, debug_propagation_edge_sharding)
            if dedup_functions_fully
            else ()
        ),
    ]


def import_sharding_constraints(
    debug_sharding_origins: bool, debug_propagation_edge_sharding: bool
) -> Sequence[Pass]:
    """The passes that apply constraints, then import groups.

    In this order, because group import reports members that constraints shard differently.
    """
    constraints = ApplyShardingConstraints(
        debug_sharding_origins=debug_sharding_origins,
        debug_propagation_edge_sharding=debug_propagation_edge_sharding,
    )
    return [constraints, ShardingGroupImport()]
