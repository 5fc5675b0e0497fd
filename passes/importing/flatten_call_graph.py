"""sdy-flatten-call-graph: give every call a function of its own.

    func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> { … }
    …
    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = call @f(%0) : (tensor<8xf32>) -> tensor<8xf32>
becomes
    func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> { … }
    func.func private @f_0(%a: tensor<8xf32>) -> tensor<8xf32> attributes {sdy.original_func_name = "f"} { … }
    …
    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = call @f_0(%0) : (tensor<8xf32>) -> tensor<8xf32>

A function that two calls share would have to be sharded in one way for both. With one function for each
call, propagation may decide differently for each. The first call keeps the function, every other gets a
copy, together with copies of all that it calls. Functions are looked at before their callers. Copies
know which function they came from, so that `sdy-unflatten-call-graph` can join those again that turned
out alike.

A function that calls itself cannot be copied in this way, nor can a chain of functions that doubles in
size with every link: where more than a million operations would have to be copied, that is an error.
"""

from __future__ import annotations

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.func import CallOp, FuncOp
from sdyopt.ir.rewrite import Rewriter
from sdyopt.pipeline import Pass
from sdyopt.registry import register

from ..common.support.call_graph import CopyBudget, callees_first, calls_in
from ..common.support.clone_functions import FunctionCopies


@register("sdy-flatten-call-graph")
class FlattenCallGraph(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        functions = callees_first(module)
        calls = [call for function in functions for call in calls_in(function)]
        copies = FunctionCopies(module, rewriter)
        budget = CopyBudget(functions)
        called: set[FuncOp] = set()
        repeated: list[CallOp] = []
        for call in calls:
            function = copies.original(call)
            if function in called:
                budget.spend(call, function)
                repeated.append(call)
            called.add(function)
        for call in repeated:
            copies.copy_for(call)
        return rewriter.changed
