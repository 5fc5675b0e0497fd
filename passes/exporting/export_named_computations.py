"""sdy-export-named-computations: convert named computations to functions and calls.

    %0 = sdy.named_computation<"f">(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"y"}]>]
        (%a: tensor<8xf32>) { … } : (tensor<8xf32>) -> tensor<8xf32>
becomes
    %0 = call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>}
        : (tensor<8xf32>) -> tensor<8xf32>
    …
    func.func private @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32>
        attributes {sdy.original_func_name = "f"} { … }

The inverse of `sdy-import-func-calls`, to be run after propagation. Each computation becomes a function at
the end of the module, inner computations first. If the symbol name is taken, a number is appended;
`sdy.original_func_name` keeps the original name, by which `sdy-unflatten-call-graph` finds equivalent
functions.

The input shardings become those of the arguments, the output shardings those of the call. The function gets
no result shardings; `sdy-propagate-to-func-results` adds them. If the computation has data-flow edges, their
shardings are used instead, and the edges are removed. Other attributes move to the call, except the name of
the execution thread, which moves to the function.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp, ReturnOp
from sdyopt.mlir.dialects.sdy.mesh import EXECUTION_THREAD, SHARDING
from sdyopt.mlir.dialects.sdy.ops import NamedComputationOp
from sdyopt.mlir.ir.attribute import Attribute, SymbolRef, TypeAttr, string
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import FunctionType
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register

from ..common.support.call_graph import ORIGINAL_NAME, FreshNames
from ..common.support.function_shardings import remove_edges, shardings_of_edges


@register("sdy-export-named-computations")
class ExportNamedComputations(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        names = FreshNames(module)
        # Post-order: inner computations are calls already when the body around them moves to a function.
        computations = module.nested(NamedComputationOp)
        results: list[Value] = []
        for computation in computations:
            name = names.take(computation.computation_name)
            call = _call(computation, name, rewriter)
            _insert_function(module, name, computation, rewriter)
            rewriter.replace(computation, call)
            results += call.results
        remove_edges(results, rewriter)
        return rewriter.changed


def _call(computation: NamedComputationOp, name: str, rewriter: Rewriter) -> Op:
    """Creates the call that replaces a computation. Its callee does not exist yet."""
    shardings = shardings_of_edges(computation.results) or computation.out_shardings
    attributes: dict[str, Attribute] = {"callee": SymbolRef(name)}
    attributes |= dict(computation.attributes.without(EXECUTION_THREAD))
    if shardings is not None:
        attributes[SHARDING] = shardings
    return rewriter.create(
        CallOp,
        computation.operands,
        computation.signature.result_types,
        attributes,
        before=computation,
        location=computation.lazy_location,
    )


def _insert_function(
    module: ModuleOp, name: str, computation: NamedComputationOp, rewriter: Rewriter
) -> None:
    """Moves the body of a computation to a new function at the end of the module."""
    arguments = computation.block.arguments
    type = FunctionType(tuple([argument.type for argument in arguments]), computation.signature.result_types)
    attributes: dict[str, Attribute] = {
        "sym_name": string(name),
        "sym_visibility": string("private"),
        "function_type": TypeAttr(type),
        ORIGINAL_NAME: string(computation.computation_name),
    }
    thread = computation.attributes.get(EXECUTION_THREAD)
    if thread is not None:
        attributes[EXECUTION_THREAD] = thread
    body = Region()
    function = rewriter.create(
        FuncOp,
        attributes=attributes,
        at_end_of=module.block,
        location=computation.lazy_location,
        regions=[body],
    )
    shardings = shardings_of_edges(arguments) or computation.in_shardings
    for index, sharding in enumerate(shardings or ()):
        rewriter.set_argument_attribute(function, index, SHARDING, sharding)
    rewriter.take_body(computation.body, body)
    terminator = body.blocks[0].terminator
    assert terminator is not None, "the verifier requires sdy.return at the end of a named computation"
    rewriter.create(ReturnOp, terminator.operands, before=terminator, location=terminator.lazy_location)
    rewriter.erase(terminator)
    remove_edges(arguments, rewriter)
