"""Finds values by their names in the program after the passes."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.analysis.explain.input_names import block_or_result
from sdyopt.analysis.explain.targets import OutputTarget, about
from sdyopt.analysis.notation.text_parser import error_at_range
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.usage import nearest_or_all
from sdyopt.mlir.asm.printer.ssa_names import SsaNames
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.value_shardings import owning_op
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import Value

# The number of names that a help line lists.
_LISTED = 8


def output_values(module: Op, target: OutputTarget) -> Sequence[Value]:
    """The values that are printed with a name, several if regions reuse it. Raises DiagnosticError."""
    names: dict[Value, tuple[str, str]] = {
        value: (_function_of(value), name) for value, name in SsaNames(module).names.items()
    }
    functions = list(dict.fromkeys(function for function, _ in names.values()))
    if target.function is not None and target.function not in functions:
        help = nearest_or_all(f"@{target.function}", [f"@{each}" for each in functions], _LISTED)
        raise _error(target, "the program after the passes has no values in a function of this name", help)
    candidates = {value: known for value, known in names.items() if target.function in (None, known[0])}
    # The name of a group of results, such as %3 for %3#0 and %3#1, stands for the first one.
    found = {
        value: known for value, known in candidates.items() if known[1] in (target.name, f"{target.name}#0")
    }
    if not found:
        choices = list(dict.fromkeys(name for _, name in candidates.values()))
        help = nearest_or_all(target.name, choices, _LISTED)
        raise _error(target, "no value of this name in the program after the passes", help)
    in_functions = list(dict.fromkeys(function for function, _ in found.values()))
    if len(in_functions) > 1:
        choices = [f"'@{each} output {target.name}'" for each in in_functions[:_LISTED]]
        message = f"{len(in_functions)} functions have a value of this name"
        raise _error(target, message, f"choose from {', '.join(choices)}")
    return list(found)


def _function_of(value: Value) -> str:
    op = owning_op(block_or_result(value))
    function = op if isinstance(op, FuncOp) else op.parent_of_type(FuncOp)
    return function.sym_name if isinstance(function, FuncOp) else ""


def _error(target: OutputTarget, message: str, help: str) -> DiagnosticError:
    end = len(target.source.text.rstrip())
    return about(error_at_range(target.source, target.start, end, message).help(help), target.source)
