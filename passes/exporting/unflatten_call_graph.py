"""sdy-unflatten-call-graph: merge clones of a function that are still equivalent.

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

With `dedup-functions-fully`, all copies of one function with the same manual axes are equivalent, whatever
their shardings: less code to compile, but more reshards at calls. Then all calls call the copy whose
shardings have most calls; in a tie, the one that reaches this number first.

The original names and manual axes of all functions are removed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.axes import ManualAxes
from sdyopt.mlir.dialects.sdy.mesh import FUNCTION_MANUAL_AXES
from sdyopt.mlir.ir.attribute import Attribute, SymbolRef
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import Pass, option
from sdyopt.mlir.registry import register

from ..common.support.call_graph import ORIGINAL_NAME, called_function, original_name
from ..common.support.function_shardings import argument_shardings, result_shardings

# The parent operation, original name and manual axes of a function.
_Origin = tuple[Op | None, str, Attribute | None]
# The origin of a function, its argument shardings and its result shardings.
_EquivalenceKey = tuple[_Origin, Attribute | None, Attribute | None]


@register("sdy-unflatten-call-graph")
class UnflattenCallGraph(Pass):
    dedup_functions_fully: bool = option(
        default=False, help="merge all copies of a function, whatever their shardings"
    )

    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        calls = {call: called_function(call) for call in module.nested(CallOp)}
        find_replacements = _most_called if self.dedup_functions_fully else _first_called
        replacements = find_replacements(list(calls.values()))
        for call, function in calls.items():
            rewriter.set_attribute(call, "callee", SymbolRef(replacements[function].sym_name))
        for function in module.nested(FuncOp):
            remaining = function.attributes.without(ORIGINAL_NAME, FUNCTION_MANUAL_AXES)
            rewriter.set_attributes(function, remaining)
        return rewriter.changed


def _first_called(callees: Sequence[FuncOp]) -> dict[FuncOp, FuncOp]:
    """For each callee, the first callee with an equal key."""
    first: dict[_EquivalenceKey, FuncOp] = {}
    return {
        function: first.setdefault(_equivalence_key(function), function)
        for function in dict.fromkeys(callees)
    }


def _most_called(callees: Sequence[FuncOp]) -> dict[FuncOp, FuncOp]:
    """For each callee, the callee of its origin whose key has most calls."""
    keys = {function: _equivalence_key(function) for function in callees}
    counts: Counter[_EquivalenceKey] = Counter()
    leaders: dict[_Origin, FuncOp] = {}
    for function in callees:
        key = keys[function]
        counts[key] += 1
        leader = leaders.setdefault(key[0], function)
        if counts[key] > counts[keys[leader]]:
            leaders[key[0]] = function
    return {function: leaders[keys[function][0]] for function in callees}


def _equivalence_key(function: FuncOp) -> _EquivalenceKey:
    attribute = function.attributes.get(FUNCTION_MANUAL_AXES)
    manual_axes = attribute if isinstance(attribute, ManualAxes) else None
    origin = (function.parent_op, original_name(function), manual_axes)
    return origin, argument_shardings(function), result_shardings(function)
