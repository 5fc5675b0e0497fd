"""sdy-import-func-calls: convert calls to named computations.

    func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> { … }
    …
    %0 = call @f(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
becomes
    %0 = sdy.named_computation<"f">(%arg0) (%a: tensor<8xf32>) {
      %1 = sdy.data_flow_edge %a : tensor<8xf32>
      …
    } : (tensor<8xf32>) -> tensor<8xf32>
    %2 = sdy.data_flow_edge %0 : tensor<8xf32>

A named computation has the body of the callee in a region, so shardings propagate through it. It has the name
of the callee, or of the function that the callee is a clone of, so that `sdy-export-named-computations` can
convert it back. The argument shardings of the callee become its input shardings, the result shardings of the
call its output shardings; other attributes of the call are kept.

The body of the callee moves to the first call; every other call gets a copy, and the first copy is reported
with a warning. After `sdy-flatten-call-graph`, every callee has one call only. Callees are erased. A
recursive callee is an error, and so is copying more than 100,000 operations and 100 for each operation of the
program, or nesting regions deeper than 1000.

Because this pass may run after `sdy-add-data-flow-edges`, it inserts the data-flow edges of all named
computations, unless `add-data-flow-edges-on-named-computations` is false.
"""

from __future__ import annotations

from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity, emit, is_first_occurrence
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.mesh import EXECUTION_THREAD, SHARDING
from sdyopt.mlir.dialects.sdy.ops import NamedComputationOp, ReturnOp
from sdyopt.mlir.ir.attribute import Attribute, string
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import Pass, option
from sdyopt.mlir.registry import register

from ..common.support.call_graph import CallGraph, CopyBudget, called_function, calls_in, original_name
from ..common.support.function_shardings import add_edges, argument_shardings


@register("sdy-import-func-calls")
class ImportFuncCalls(Pass):
    add_data_flow_edges_on_named_computations: bool = option(
        default=True, help="insert data-flow edges for the arguments and results of named computations"
    )

    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        _CallImporter(module, rewriter).run()
        if self.add_data_flow_edges_on_named_computations:
            for op in module.nested(NamedComputationOp):
                # The verifier rejects a computation without a block after the pass.
                if op.body.blocks:
                    add_edges(op.block.arguments, rewriter)
                    add_edges(op.results, rewriter)
        return rewriter.changed


class _CallImporter:
    def __init__(self, module: ModuleOp, rewriter: Rewriter) -> None:
        self._rewriter = rewriter
        graph = CallGraph(module)
        self._functions = graph.callees_first()
        self._budget = CopyBudget(graph)
        self._check_growth(graph)
        # The region that the body of each callee has moved to.
        self._bodies: dict[FuncOp, Region] = {}

    def run(self) -> None:
        for function in self._functions:
            # The body of a recursive function may have moved already; the calls in it are not replaced.
            for call in calls_in(function):
                self._replace(call, called_function(call))
        for function in self._bodies:
            self._rewriter.erase(function)

    def _replace(self, call: CallOp, function: FuncOp) -> None:
        if function.is_ancestor(call) or _is_inside(call, self._bodies.get(function)):
            raise call.op_error(f"cannot inline '{function.sym_name}': its calls are recursive")
        if function.is_declaration and function not in self._bodies:
            raise call.op_error(f"cannot inline '{function.sym_name}': it is a declaration without a body")
        region = Region()
        computation = self._rewriter.create(
            NamedComputationOp,
            call.operands,
            call.signature.result_types,
            _attributes(call, function),
            before=call,
            location=call.lazy_location,
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
            terminator = block.last  # it may be unregistered
            assert terminator is not None
            self._rewriter.create(
                ReturnOp, terminator.operands, at_end_of=block, location=terminator.lazy_location
            )
            self._rewriter.erase(terminator)

    def _copy_body(self, call: CallOp, function: FuncOp, body: Region, region: Region) -> None:
        if is_first_occurrence("body copied for a call"):
            message = (
                f"function @{function.sym_name} has multiple call ops, we need to clone the function body "
                "for each call"
            )
            emit(Diagnostic(Severity.WARNING, call.location, message, operation=call, in_custom_syntax=True))
        if self._budget.is_recursive(function):
            # How much of the recursion has been inlined into the body is only known now.
            self._budget.spend_operations(
                call, function, sum(1 for block in body.blocks for op in block.ops for _ in op.walk())
            )
        self._rewriter.copy_region(body, region)

    def _check_growth(self, graph: CallGraph) -> None:
        """Raises, before any change, if the copies of functions that are not recursive would be too large."""
        called: set[FuncOp] = set()
        for caller in self._functions:
            for call in graph.calls[caller]:
                function = called_function(call)
                if self._budget.is_recursive(function):
                    continue
                self._budget.check_nesting(call, function)
                if function in called:
                    self._budget.spend(call, function)
                called.add(function)


def _is_inside(call: CallOp, region: Region | None) -> bool:
    """Whether a call is in a region or in one nested in it."""
    return region is not None and region.parent is not None and region.parent.is_ancestor(call)


def _attributes(call: CallOp, function: FuncOp) -> dict[str, Attribute]:
    """The attributes of the named computation that replaces a call."""
    attributes: dict[str, Attribute] = {"name": string(original_name(function))}
    inputs, outputs = argument_shardings(function), call.attributes.get(SHARDING)
    if inputs is not None:
        attributes["in_shardings"] = inputs
    if outputs is not None:
        attributes["out_shardings"] = outputs
    attributes |= {name: value for name, value in call.attributes if name != SHARDING}
    thread = function.attributes.get(EXECUTION_THREAD)
    return attributes if thread is None else {**attributes, EXECUTION_THREAD: thread}
