"""sdy-unflatten-call-graph: let calls share a function again, where copies of it turned out alike.

    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = call @f_0(%0) : (tensor<8xf32>) -> tensor<8xf32>
    …
    func.func private @f(…) … attributes {sdy.original_func_name = "f"} { … }
    func.func private @f_0(…) … attributes {sdy.original_func_name = "f"} { … }
becomes
    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = call @f(%0) : (tensor<8xf32>) -> tensor<8xf32>
    …
    func.func private @f(…) … { … }
    func.func private @f_0(…) … { … }

The opposite of `sdy-flatten-call-graph`, when propagation is done. Functions are alike if they are copies
of one function, for the same manual axes, and their arguments and results have the same shardings; that
the bodies are then sharded alike as well is taken for granted. All such calls go to the function that is
called first. The functions that nobody calls any longer are left to `symbol-dce`.

With `dedup-functions-fully`, all copies of one function count as alike, whatever their shardings: there
is less to compile, for the price of reshards at calls. Then it is the function with the most calls, all
those of the same shardings counted together, that stays; of several, the one that had so many first.

What functions remember of their origin and their manual axes is removed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.func import CallOp, FuncOp
from sdyopt.dialects.sdy.attribute_names import FUNCTION_MANUAL_AXES
from sdyopt.dialects.sdy.axis_lists import ManualAxes
from sdyopt.ir.attribute import Attribute, SymbolRef
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.pipeline import Pass, option
from sdyopt.registry import register

from ..common.support.call_graph import called_function
from ..common.support.clone_functions import ORIGINAL_NAME, original_name
from ..common.support.function_shardings import argument_shardings, result_shardings

# Where a function stands, its original, its manual axes, and the shardings of its arguments and results.
Origin = tuple[Op | None, str, Attribute | None]
Signature = tuple[Origin, Attribute | None, Attribute | None]


@register("sdy-unflatten-call-graph")
class UnflattenCallGraph(Pass):
    dedup_functions_fully: bool = option(default=False, help="Whether to dedup functions fully.")

    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        ops = list(module.walk())
        calls = {op: called_function(op) for op in ops if isinstance(op, CallOp)}
        choose = _most_called if self.dedup_functions_fully else _first_called
        chosen = choose(list(calls.values()))
        for call, function in calls.items():
            rewriter.set_attribute(call, "callee", SymbolRef(chosen[function].sym_name))
        for op in ops:
            if isinstance(op, FuncOp):
                rewriter.set_attributes(op, op.attributes.without(ORIGINAL_NAME, FUNCTION_MANUAL_AXES))
        return rewriter.changed


def _first_called(callees: Sequence[FuncOp]) -> dict[FuncOp, FuncOp]:
    """For each callee, the first one with its signature."""
    first: dict[Signature, FuncOp] = {}
    return {function: first.setdefault(_signature(function), function) for function in dict.fromkeys(callees)}


def _most_called(callees: Sequence[FuncOp]) -> dict[FuncOp, FuncOp]:
    """For each callee, that of its origin whose signature is called most often."""
    signatures = {function: _signature(function) for function in callees}
    counts: Counter[Signature] = Counter()
    leaders: dict[Origin, FuncOp] = {}
    for function in callees:
        signature = signatures[function]
        counts[signature] += 1
        leader = leaders.setdefault(signature[0], function)
        if counts[signature] > counts[signatures[leader]]:
            leaders[signature[0]] = function
    return {function: leaders[signatures[function][0]] for function in callees}


def _signature(function: FuncOp) -> Signature:
    held = function.attributes.get(FUNCTION_MANUAL_AXES)
    manual_axes = held if isinstance(held, ManualAxes) else None
    origin = (function.parent_op, original_name(function), manual_axes)
    return origin, argument_shardings(function), result_shardings(function)
