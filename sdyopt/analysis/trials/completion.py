"""Completes the pipeline of a program: a copy of it with explicit collectives.

A program with sdy collectives has had its reshards inserted: the remaining ones are lowered. A partitioned
program is complete. On any other program the pipeline runs that reports assume or, if passes are given,
Shardy's own.
"""

from __future__ import annotations

from collections.abc import Mapping

from sdyopt.analysis.figures.assumed_pipeline import PIPELINE
from sdyopt.analysis.figures.stablehlo_collectives import is_partitioned
from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity, emit, handling
from sdyopt.base.diagnostics.ids import ADVICE
from sdyopt.mlir.asm.printer.asm_printer import print_for_note
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.sdy.canonicalize_collectives import COLLECTIVE_LABEL
from sdyopt.mlir.dialects.sdy.collective_base import CollectiveOp
from sdyopt.mlir.dialects.sdy.ops import ReshardOp
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.verify import Verifier
from sdyopt.mlir.ir.verify_incremental import IncrementalVerifier
from sdyopt.mlir.pipeline.option import OptionValue
from sdyopt.mlir.pipeline.run import run_pipeline
from sdyopt.mlir.pipeline.tree import Pipeline
from sdyopt.mlir.registry import lookup

# Flag -> options.
Passes = Mapping[str, Mapping[str, OptionValue]]

_ASSUMED: Passes = {PIPELINE: {}}
_PROPAGATE: Passes = {"sdy-propagation-pipeline": {"enable_insert_explicit_collectives": True}}
_LOWER: Passes = {
    "sdy-reshard-to-collectives": {},
    "canonicalize": {"enable_patterns": (COLLECTIVE_LABEL,), "top_down": False},
}


class NotCompleted(Exception):
    """A pass failed on the program; its errors are emitted."""


def is_complete(module: Op) -> bool:
    """Whether a program has its collectives, and needs no pass."""
    return is_partitioned(module) or (_has(module, CollectiveOp) and not _has(module, ReshardOp))


class Completion:
    """Runs passes on copies of programs, and verifies them after each pass.

    `has_passes`: passes of the command line have run on the programs.
    """

    def __init__(self, dialects: DialectTable, has_passes: bool = False) -> None:
        self._propagate = _PROPAGATE if has_passes else _ASSUMED
        self._verifier = Verifier(dialects, AttributePrinter().type, print_for_note)

    def completed(self, module: Op) -> Op:
        """A copy of a program with explicit collectives; the program itself if it is complete.

        Raises NotCompleted if a pass fails.
        """
        if is_complete(module):
            return module
        copy = Rewriter().clone(module)
        self.complete(copy)
        return copy

    def complete(self, module: Op) -> None:
        """Makes the collectives of a program explicit. Raises NotCompleted if a pass fails."""
        if not is_complete(module):
            self.run(module, _LOWER if _has(module, CollectiveOp) else self._propagate)

    def run(self, module: Op, passes: Passes) -> None:
        """Runs passes on a program. Raises NotCompleted if one fails; emits errors and advice."""
        pipeline = Pipeline()
        for flag, options in passes.items():
            pipeline.add_nested(lookup(flag).create(options))
        found: list[Diagnostic] = []
        with handling(found.append):
            succeeded = run_pipeline(pipeline, module, IncrementalVerifier(self._verifier))
        for diagnostic in found:
            if diagnostic.severity is Severity.ERROR or diagnostic.id in ADVICE:
                emit(diagnostic)
        if not succeeded:
            raise NotCompleted


def _has(module: Op, kind: type[Op]) -> bool:
    return any(isinstance(op, kind) for op in module.walk())
