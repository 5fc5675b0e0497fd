"""All of Shardy: import, propagation, export."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.pipeline import Pass, option
from sdyopt.registry import register_pipeline

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
from ..propagation.user_priority_propagate import UserPriorityPropagation
from .export_pipeline import ExportOptions, export_passes
from .import_pipeline import finish_sharding_constraints, import_passes


@register_pipeline("sdy-propagation-pipeline")
def propagation_pipeline(
    dedup_functions_fully: bool = option(default=False, help="Whether to dedup functions fully."),
    enable_insert_explicit_collectives: bool = option(
        default=False, help="Whether to insert all reshards, and make collectives of them."
    ),
    dump_directory: str = option(default="", help="Where to write the program in between."),
) -> Sequence[Pass]:
    """sdy-propagation-pipeline: import, propagate and export: from a few shardings to all of them.

    From a program in which some values are sharded to one in which all are, ready to be partitioned; with
    `enable-insert-explicit-collectives`, to one that says by which communication data moves. With
    `dump-directory`, a folder that is there, the program is written there behind its main parts, as
    `01.before_propagation.mlir` and so on. (Shardy has these two options in its C++ interface only.)

    It runs, in this order, the import pipeline, `sdy-flatten-call-graph`, `sdy-import-func-calls`,
    `sdy-apply-sharding-constraints`, `sdy-sharding-group-import`, `sdy-pre-order-funcs`,
    `sdy-user-priority-propagate`, `sdy-export-named-computations`, `sdy-propagate-to-func-results`,
    `sdy-unflatten-call-graph`, `sdy-insert-func-call-reshards`, and the export pipeline;
    `--dump-pass-pipeline` shows each with its options.

    A function may be called from places where its arguments are sharded in different ways. By default each
    call is therefore put in place of what it calls before propagation; afterwards computations become
    functions again, and those that turned out alike one function.

    With `dedup-functions-fully`, functions stay what they are, and shardings go from calls to functions
    and back over data-flow edges: there is less to propagate and to compile, but where the calls of a
    function disagree it is not sharded, and they get reshards.
    """
    # Number 0 is left for the input.
    dumps = ModuleDumps(dump_directory, first=1)
    export = ExportOptions(enable_insert_explicit_collectives=enable_insert_explicit_collectives)
    return [
        *import_passes(dedup_functions_fully, dumps),
        # How shardings get from calls to functions and back.
        *([AddFuncDataFlowEdges()] if dedup_functions_fully else _inline_calls()),
        # Callers come before what they call: an earlier operation has the first say.
        PreOrderFuncs(),
        # Rules are kept: reshards are found by them. The export pipeline drops them.
        UserPriorityPropagation(
            keep_sharding_rules=True, module_dump_directory=dump_directory, dump_index=dumps.next_index
        ),
        *(_sink_edges_of_calls() if dedup_functions_fully else _export_calls()),
        UnflattenCallGraph(),
        # The copies that nobody calls any longer.
        SymbolDCE(),
        # Calls may share a function now whose results they would have sharded in different ways.
        InsertFuncCallReshards(),
        *export_passes(export, dumps),
    ]


def _inline_calls() -> Sequence[Pass]:
    return [
        # For each call a function of its own, which can be put in its place.
        FlattenCallGraph(),
        SymbolDCE(),
        ImportFuncCalls(),
        SymbolDCE(),
        # Only now, because constraints and groups reach into the functions that are called.
        *finish_sharding_constraints(),
    ]


def _export_calls() -> Sequence[Pass]:
    """Functions declare what they return once they are functions."""
    return [ExportNamedComputations(), PropagateToFuncResults()]


def _sink_edges_of_calls() -> Sequence[Pass]:
    """What functions return is behind the edges: these go last."""
    return [PropagateToFuncResults(), SinkFuncDataFlowEdges()]
