"""sdy-unflatten-call-graph: merge equivalent functions that are copies of one function.

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

The inverse of `sdy-flatten-call-graph`, to be run after propagation. Two functions are equivalent if they are
copies of one function, with the same manual axes, and have equal argument and result shardings; their bodies
are not compared. All calls of equivalent functions call the one that is called first. `symbol-dce` removes
the functions that are no longer called.

With `dedup-functions-fully`, all copies of one function are equivalent, whatever their shardings: less code
to compile, but more reshards at calls. Then all calls call the copy whose shardings have most calls; of
several, the one that reaches this number first.

The original names and manual axes of all functions are removed.
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

# The parent operation, original name and manual axes of a function.
Origin = tuple[Op | None, str, Attribute | None]
# The origin of a function, its argument shardings and its result shardings.
Signature = tuple[Origin, Attribute | None, Attribute | None]


@register("sdy-unflatten-call-graph")
class UnflattenCallGraph(Pass):
    dedup_functions_fully: bool = option(
        default=False, help="merge all copies of a function, whatever their shardings"
    )

    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        ops = list(module.walk())
        calls = {op: called_function(op) for op in ops if isinstance(op, CallOp)}
        find_replacements = _most_called if self.dedup_functions_fully else _first_called
        replacements = find_replacements(list(calls.values()))
        for call, function in calls.items():
            rewriter.set_attribute(call, "callee", SymbolRef(replacements[function].sym_name))
        for op in ops:
            if isinstance(op, FuncOp):
                rewriter.set_attributes(op, op.attributes.without(ORIGINAL_NAME, FUNCTION_MANUAL_AXES))
        return rewriter.changed


def _first_called(callees: Sequence[FuncOp]) -> dict[FuncOp, FuncOp]:
    """For each callee, the first callee with its signature."""
    first: dict[Signature, FuncOp] = {}
    return {function: first.setdefault(_signature(function), function) for function in dict.fromkeys(callees)}


def _most_called(callees: Sequence[FuncOp]) -> dict[FuncOp, FuncOp]:
    """For each callee, the callee of its origin whose signature has most calls."""
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
    attribute = function.attributes.get(FUNCTION_MANUAL_AXES)
    manual_axes = attribute if isinstance(attribute, ManualAxes) else None
    origin = (function.parent_op, original_name(function), manual_axes)
    return origin, argument_shardings(function), result_shardings(function)
