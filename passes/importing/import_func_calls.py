"""sdy-import-func-calls: put the bodies of functions in place of their calls, but keep them together.

    func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> { … }
    …
    %0 = call @f(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
becomes
    %0 = sdy.named_computation<"f">(%arg0) (%a: tensor<8xf32>) {
      %1 = sdy.data_flow_edge %a : tensor<8xf32>
      …
    } : (tensor<8xf32>) -> tensor<8xf32>
    %2 = sdy.data_flow_edge %0 : tensor<8xf32>

Propagation works on one function at a time. A named computation is a call that it can see into; it
remembers the function's name, so that `sdy-export-named-computations` can turn it into a function
again. Shardings of the arguments become those of its inputs, shardings of the call those of its
outputs; other attributes of the call stay.

The first call gets the body itself, and every further one a copy, of which the pass warns: with
`sdy-flatten-call-graph` before it, there are none. Functions that were called are gone afterwards.
Functions that call themselves are an error, and so is copying more than a million operations.

The data-flow edges of all named computations are added too, because this pass may run after
`sdy-add-data-flow-edges`, unless `add-data-flow-edges-on-named-computations` is off.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.diagnostics.diagnostic import Diagnostic, Severity, emit
from sdyopt.diagnostics.once import is_first
from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.func import CallOp, FuncOp
from sdyopt.dialects.sdy.attribute_names import EXECUTION_THREAD, SHARDING
from sdyopt.dialects.sdy.computation_ops import NamedComputationOp
from sdyopt.dialects.sdy.ops import ReturnOp
from sdyopt.ir.attribute import Attribute, string
from sdyopt.ir.block import Region
from sdyopt.ir.rewrite import Rewriter
from sdyopt.pipeline import Pass, option
from sdyopt.registry import register

from ..common.support.call_graph import CopyBudget, called_function, callees_first, calls_in
from ..common.support.clone_functions import original_name
from ..common.support.data_flow_edges import add_edges
from ..common.support.function_shardings import argument_shardings


@register("sdy-import-func-calls")
class ImportFuncCalls(Pass):
    add_data_flow_edges_on_named_computations: bool = option(
        default=True, help="Whether to add data flow edges on named computations."
    )

    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        _Import(module, rewriter).run()
        if self.add_data_flow_edges_on_named_computations:
            for op in module.walk_post_order():
                # One without a block is an error that verification tells of.
                if isinstance(op, NamedComputationOp) and op.body.blocks:
                    add_edges(op.block.arguments, rewriter)
                    add_edges(op.results, rewriter)
        return rewriter.changed


class _Import:
    def __init__(self, module: ModuleOp, rewriter: Rewriter) -> None:
        self._rewriter = rewriter
        functions = callees_first(module)
        self._calls = [call for function in functions for call in calls_in(function)]
        _check(functions, self._calls)
        # Where the body of each function that was called has gone.
        self._bodies: dict[FuncOp, Region] = {}

    def run(self) -> None:
        for call in self._calls:
            self._replace(call, called_function(call))
        for function in self._bodies:
            self._rewriter.erase(function)

    def _replace(self, call: CallOp, function: FuncOp) -> None:
        region = Region()
        computation = self._rewriter.create(
            NamedComputationOp,
            call.operands,
            call.signature.result_types,
            _attributes(call, function),
            before=call,
            location=call.location,
            regions=[region],
        )
        body = self._bodies.get(function)
        if body is None:
            self._bodies[function] = region
            self._take_body(function, region)
        else:
            self._copy_body(call, function, body, region)
        self._rewriter.replace(call, computation)

    def _take_body(self, function: FuncOp, region: Region) -> None:
        self._rewriter.take_body(function.body, region)
        for block in region.blocks:
            end = block.terminator
            assert end is not None
            self._rewriter.create(ReturnOp, end.operands, at_end_of=block, location=end.location)
            self._rewriter.erase(end)

    def _copy_body(self, call: CallOp, function: FuncOp, body: Region, region: Region) -> None:
        if is_first("body copied for a call"):
            message = (
                f"function @{function.sym_name} has multiple call ops, we need to clone the function body "
                "for each call"
            )
            emit(Diagnostic(Severity.WARNING, call.location, message, operation=call, in_own_syntax=True))
        self._rewriter.copy_region(body, region)


def _check(functions: Sequence[FuncOp], calls: Sequence[CallOp]) -> None:
    """Refuses what would never end, or take more memory than there is, before anything is changed."""
    budget = CopyBudget(functions)
    called: set[FuncOp] = set()
    for call in calls:
        function = called_function(call)
        budget.check_nesting(call, function)
        if function in called:
            budget.spend(call, function)
        called.add(function)


def _attributes(call: CallOp, function: FuncOp) -> dict[str, Attribute]:
    """The attributes of what takes the place of a call."""
    found: dict[str, Attribute] = {"name": string(original_name(function))}
    inputs, outputs = argument_shardings(function), call.attributes.get(SHARDING)
    if inputs is not None:
        found["in_shardings"] = inputs
    if outputs is not None:
        found["out_shardings"] = outputs
    found |= {name: value for name, value in call.attributes if name != SHARDING}
    thread = function.attributes.get(EXECUTION_THREAD)
    return found if thread is None else {**found, EXECUTION_THREAD: thread}
