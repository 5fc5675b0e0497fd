"""sdy-flatten-call-graph: clone functions so that every call has its own callee.

    func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> { … }
    …
    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = call @f(%0) : (tensor<8xf32>) -> tensor<8xf32>
becomes
    func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> { … }
    …
    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = call @f_0(%0) : (tensor<8xf32>) -> tensor<8xf32>
    …
    func.func private @f_0(%a: tensor<8xf32>) -> tensor<8xf32> attributes {sdy.original_func_name = "f"} { … }

Two calls of one function would have to be sharded alike. With one function for each call, propagation may
choose different shardings. The first call keeps the function; every other call gets a clone, with clones of
all its callees. Functions are visited callees first. A clone records the name of its original, so that
`sdy-unflatten-call-graph` can merge equivalent functions.

A recursive function that would have to be cloned is an error, and so is cloning more than 100,000 operations
and 100 for each operation of the program, as for a long chain of functions that each call the next one twice.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register

from ..common.support.call_graph import CallGraph, CopyBudget, FunctionCopies


@register("sdy-flatten-call-graph")
class FlattenCallGraph(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        graph = CallGraph(module)
        calls = [call for function in graph.callees_first() for call in graph.calls[function]]
        FunctionCopies(module, rewriter).copy_for_each(calls, CopyBudget(graph))
        return rewriter.changed
