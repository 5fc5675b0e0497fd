"""What comes before propagation."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.pipeline import Pass, option
from sdyopt.registry import register_pipeline

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


@register_pipeline("sdy-import-pipeline")
def import_pipeline(
    dedup_functions_fully: bool = option(default=False, help="Whether to dedup functions fully."),
) -> Sequence[Pass]:
    """sdy-import-pipeline: run the import passes needed before Shardy propagation.

    From a program as users write it to one that propagation can read: meshes have one name each, calls say
    how their results are sharded, constants belong to one use each, manual axes are in order, and data-flow
    edges have operations.

    With `dedup-functions-fully`, calls are not going to be inlined before propagation. Then constraints and
    groups are dealt with here; otherwise that has to wait until calls are inlined.
    """
    return import_passes(dedup_functions_fully, ModuleDumps())


def import_passes(dedup_functions_fully: bool, dumps: ModuleDumps) -> Sequence[Pass]:
    """The passes of the import pipeline, on its own or as a part of another one."""
    return [
        # What nobody can reach need not be imported, and must not take part in anything.
        SymbolDCE(),
        # All that follows compares meshes by name.
        LiftInlinedMeshes(),
        # Before calls repeat shardings of functions, so that there is less to clean.
        RemoveSizeOneAxes(),
        PropagateShardingFromFuncToCall(),
        # Before there are edges and copied constraints, which would have made constants look used otherwise.
        ConstantOrScalarSplitter(),
        # Lifting meshes may have left a name that nobody uses.
        SymbolDCE(),
        # After size one axes are gone: there are no manual axes to name that propagation would never meet.
        ManualAxesCleanup(),
        # The last state that people recognise as theirs: what follows is for propagation alone.
        dumps.save("before_propagation"),
        AddDataFlowEdges(),
        *(finish_sharding_constraints() if dedup_functions_fully else ()),
    ]


def finish_sharding_constraints() -> Sequence[Pass]:
    """Constraints first: a group is in conflict also if they give its members different shardings."""
    return [ApplyShardingConstraints(), ShardingGroupImport()]
