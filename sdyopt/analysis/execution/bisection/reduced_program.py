"""What a bisection found: the reduced program as text, and a diagnostic."""

from __future__ import annotations

from sdyopt.analysis.execution.bisection.bisect import Culprit
from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity
from sdyopt.base.diagnostics.ids import BISECTED
from sdyopt.base.diagnostics.text import printable
from sdyopt.mlir.asm.printer.asm_printer import print_op
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.sharding import sharding_text
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import Value


def reduced_program(culprit: Culprit, path: str) -> str:
    """The text of the reduced program, after a comment that says how it fails."""
    pipeline = ",".join(_inside_module(step.text) for step in culprit.steps)
    what = "This operation" if culprit.op is not None else "This program"
    lines = [
        f"{what} computes something else after {culprit.pass_flag}:",
        f"  sdy-opt {path} --pass-pipeline='builtin.module({pipeline})' --validate",
    ]
    return "".join(f"// {printable(line)}\n" for line in lines) + print_op(culprit.program)


def _inside_module(text: str) -> str:
    return text.removeprefix("builtin.module(").removesuffix(")")


def bisection_finding(culprit: Culprit, before: ModuleOp, path: str) -> Diagnostic:
    """A remark on the pass and the operation that make a result differ."""
    flag = culprit.pass_flag
    if culprit.op is None:
        message = f"bisected: pass '{flag}' makes it differ, but no operation does by itself; see '{path}'"
        return Diagnostic(Severity.REMARK, before.location, message, id=BISECTED, pass_flag=flag)
    op = culprit.op
    message = f"bisected: pass '{flag}' makes it differ, by this '{op.name}' op; see '{path}'"
    notes = [Diagnostic(Severity.NOTE, op.location, _shardings(op))]
    return Diagnostic(Severity.REMARK, op.location, message, notes, id=BISECTED, pass_flag=flag)


def _shardings(op: Op) -> str:
    """`shardings: (<@mesh, [{"x"}]>, none) -> (<@mesh, [{}]>)`."""
    operands, results = (", ".join(map(_text, values)) for values in (op.operands, op.results))
    return f"shardings: ({operands}) -> ({results})"


def _text(value: Value) -> str:
    sharding = sharding_of(value)
    return "none" if sharding is None else sharding_text(sharding)
