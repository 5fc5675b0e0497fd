"""The propagation pipeline: import, propagation and export."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.base.releases import Behavior
from sdyopt.mlir.pipeline import Pass, Pipeline
from sdyopt.mlir.registry import register_pipeline

from ..common.support.save_module import ModuleDumps
from ..common.symbol_dce import SymbolDCE
from ..exporting.export_named_computations import ExportNamedComputations
from ..exporting.insert_func_call_reshards import InsertFuncCallReshards
from ..exporting.propagate_to_func_results import PropagateToFuncResults
from ..exporting.sink_func_data_flow_edges import SinkFuncDataFlowEdges
from ..exporting.unflatten_call_graph import UnflattenCallGraph
from ..importing.add_func_data_flow_edges import AddFuncDataFlowEdges
from ..importing.flatten_call_graph import FlattenCallGraph
from ..importing.import_func_calls import ImportFuncCalls
from ..importing.pre_order_funcs import PreOrderFuncs
from ..propagation.basic_propagate import DEBUG_PROPAGATION_EDGE_SHARDING, DEBUG_SHARDING_ORIGINS
from ..propagation.user_priority_propagate import UserPriorityPropagation
from .export_pipeline import DUMP_DIRECTORY, ENABLE_INSERT_EXPLICIT_COLLECTIVES, export_pipeline
from .import_pipeline import DEDUP_FUNCTIONS_FULLY, import_pipeline, import_sharding_constraints


@register_pipeline("sdy-propagation-pipeline")
def propagation_pipeline(
    dedup_functions_fully: bool = DEDUP_FUNCTIONS_FULLY,
    enable_insert_explicit_collectives: bool = ENABLE_INSERT_EXPLICIT_COLLECTIVES,
    dump_directory: str = DUMP_DIRECTORY,
    debug_sharding_origins: bool = DEBUG_SHARDING_ORIGINS,
    debug_propagation_edge_sharding: bool = DEBUG_PROPAGATION_EDGE_SHARDING,
    partitioning: Sequence[Pass] | None = None,
) -> Sequence[Pass | Pipeline]:
    """sdy-propagation-pipeline: the whole pipeline: import, propagate and export.

    Converts a program with some shardings to one with final shardings, ready to be partitioned; with
    `enable-insert-explicit-collectives`, to one with explicit collectives. With `dump-directory`, the
    module is written after each stage, as `01.before_propagation.mlir` and so on. (Shardy has all options but
    the first in its C++ interface only.)

    `debug-sharding-origins` and `debug-propagation-edge-sharding` show why a value has its sharding: where
    its axes come from, and in which steps they propagated. With `dump-directory`, this is in the files of
    the stages only, otherwise in the output.

    The pipeline runs `sdy-import-pipeline`, `sdy-user-priority-propagate` and `sdy-export-pipeline`, with
    passes for function calls between them; `--dump-pass-pipeline` prints every pass with its options.

    The calls of a function may need different shardings. By default every call is therefore inlined as a
    named computation before propagation; afterwards computations become functions again, and equivalent ones
    are merged.

    With `dedup-functions-fully`, functions are kept, and shardings propagate between calls and functions
    along data-flow edges. There is less to propagate and to compile, but shardings in which the calls of a
    function differ do not propagate to the function, and its calls get reshards.
    """
    # 00 is left for the input.
    dumps = ModuleDumps(dump_directory, first=1)
    origins, edges = debug_sharding_origins, debug_propagation_edge_sharding
    return [
        *import_pipeline(
            dedup_functions_fully=dedup_functions_fully,
            dumps=dumps,
            debug_sharding_origins=origins,
            debug_propagation_edge_sharding=edges,
        ),
        *([AddFuncDataFlowEdges()] if dedup_functions_fully else _inline_calls(origins, edges)),
        # Propagation visits functions in this order, and earlier operations take precedence.
        PreOrderFuncs(),
        # The export pipeline derives reshards from the rules, and drops them.
        UserPriorityPropagation(
            keep_sharding_rules=True,
            module_dump_directory=dump_directory,
            dump_index=dumps.next_index,
            debug_sharding_origins=origins,
            debug_propagation_edge_sharding=edges,
        ),
        *(_sink_func_edges() if dedup_functions_fully else _export_calls()),
        UnflattenCallGraph(),
        # Erases the functions that are no longer called.
        SymbolDCE(),
        # Calls that share a function now may have had different result shardings.
        InsertFuncCallReshards(),
        *export_pipeline(
            enable_insert_explicit_collectives=enable_insert_explicit_collectives,
            dump_sharding_origins=origins,
            dump_propagation_edges=edges,
            inline_meshes="false",
            dumps=dumps,
            keep_debug_info=not dump_directory,
            partitioning=partitioning,
        ),
    ]


def _inline_calls(debug_sharding_origins: bool, debug_propagation_edge_sharding: bool) -> Sequence[Pass]:
    constraints, groups = import_sharding_constraints(debug_sharding_origins, debug_propagation_edge_sharding)
    # One function per call, whose body can be moved.
    flatten = [FlattenCallGraph(), SymbolDCE()]
    if Behavior.CONSTRAINTS_BEFORE_INLINING.active:
        # Between the edges, constraints apply to the values of callers and callees as they do after inlining.
        edges = AddFuncDataFlowEdges(), SinkFuncDataFlowEdges()
        return [*flatten, edges[0], constraints, edges[1], groups, ImportFuncCalls(), SymbolDCE()]
    # After inlining, because constraints and groups apply to values of the callees too.
    return [*flatten, ImportFuncCalls(), SymbolDCE(), constraints, groups]


def _export_calls() -> Sequence[Pass]:
    """Result shardings are set last, because the functions must be created first."""
    return [ExportNamedComputations(), PropagateToFuncResults()]


def _sink_func_edges() -> Sequence[Pass]:
    """Result shardings are set first, because returned values may be edges."""
    return [PropagateToFuncResults(), SinkFuncDataFlowEdges()]
