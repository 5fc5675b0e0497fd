"""Explanations of shardings. The code that explains is imported when it is used."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.module_parser import parse_module
from sdyopt.mlir.asm.printer.asm_printer import PrintOptions
from sdyopt.mlir.ir.verify_incremental import IncrementalVerifier
from sdyopt.mlir.pipeline.run import run_pipeline
from sdyopt.tools.api.errors import ParseError, PassError, diagnostic_of
from sdyopt.tools.api.pipelines import Passes, combined_pipeline
from sdyopt.tools.api.program import Program, session


def explanation(program: Program, what: str, passes: Sequence[Passes], width: int) -> str:
    """The answer to a question about a program, whose values have the names of the printed program.

    Raises PassError if a pass fails, and ParseError, located in `what`, if `what` names nothing.
    """
    from sdyopt.analysis.explain.explainer import Explainer
    from sdyopt.analysis.explain.recorded_program import RecordedProgram

    pipeline = combined_pipeline(passes, {})
    # The printed program has the names that its user sees.
    source = Source(program.source.name, program.text(PrintOptions(debuginfo=True)))
    collector = program.collector()
    with session(collector.handle, program.sdy_version):
        module, _ = parse_module(source, program.dialects, program.options)
        try:
            recorded = RecordedProgram(source, module, program.dialects, program.options)
            explainer = Explainer(recorded)
            target = explainer.target(what)
            with recorded.recording():
                succeeded = run_pipeline(pipeline, module, IncrementalVerifier(program.verifier))
            if succeeded:
                return explainer.answer(target, width)
        except DiagnosticError as error:
            raise ParseError([diagnostic_of(error.diagnostic, error.diagnostic.source)]) from None
    raise PassError(collector.diagnostics)
