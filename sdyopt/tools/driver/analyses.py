"""The analyses of a run: started once, and called for each chunk, in their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any

from sdyopt.analysis.interface import Analysis, AnalysisOptions, Program
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.ids import USAGE_ERROR
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.diagnostics.usage import UsageError
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline.tree import Pipeline
from sdyopt.tools.driver.job import Job, JobFailed, JobOutcome

# Times a phase of this name in a `with` block.
Phase = Callable[[str], AbstractContextManager[None]]


class AnalysedRun:
    """Implements `Run` of the interface for a job. `run_job` runs the job of another program."""

    def __init__(
        self,
        job: Job,
        source: Source,
        chunks: Sequence[Source],
        dialects: DialectTable,
        run_job: Callable[[Job], JobOutcome],
    ) -> None:
        self.name, self.pipeline, self.width, self.write_file = (
            job.name,
            job.pipeline,
            job.width,
            job.write_file,
        )
        self.source, self.dialects, self.parse_options = source, dialects, job.parse_options
        self._job = job
        self._chunks = chunks
        self._run_job = run_job

    def check_is_one_chunk(self, other: str, help: str) -> None:
        """Raises DiagnosticError if the input has several chunks."""
        chunks = self._chunks
        if len(chunks) > 1:
            message = f"the input has {len(chunks)} chunks, and {other}"
            error = DiagnosticError.at(chunks[1].location(0), message)
            error.diagnostic.id = USAGE_ERROR
            raise error.help(help)

    def run_other(self, name: str, data: bytes, pipeline: Pipeline, analysis: AnalysisOptions) -> None:
        """Runs a job like this one on another program, but shows only errors, and prints nothing."""
        job = self._job
        other = Job(
            name,
            lambda: data,
            pipeline,
            write_log=job.write_log,
            paint=job.paint,
            columns=job.columns,
            max_op_lines=job.max_op_lines,
            collect=job.collect,
            shows_text=job.shows_text,
            verbosity="errors",
            hides_notes=job.hides_notes,
            shows_trace=job.shows_trace,
            allow_unregistered_dialects=job.allow_unregistered_dialects,
            mesh_version=job.mesh_version,
            implicit_module=job.implicit_module,
            verify_each=job.verify_each,
            print_op_on_diagnostic=job.print_op_on_diagnostic,
            prints_output=False,
            analyses=(analysis,),
        )
        if not self._run_job(other).succeeded:
            raise JobFailed


class Analyses:
    """The analyses of a job. The constructor raises DiagnosticError, UsageError and JobFailed."""

    def __init__(self, run: AnalysedRun, options: Sequence[AnalysisOptions]) -> None:
        self._all: list[Analysis[Any]] = [option.start(run) for option in options]

    @property
    def are_passed(self) -> bool:
        """Whether no check rejects a program."""
        return all(analysis.is_passed for analysis in self._all)

    @property
    def texts(self) -> list[str]:
        """The text for stdout."""
        return [text for analysis in self._all for text in analysis.texts]

    def on_input(self, program: Program) -> None:
        """The program has been parsed and verified."""
        for analysis in self._all:
            analysis.on_input(program)

    def prepare(self, program: Program) -> None:
        """Keeps the program before the passes, if that is needed. Raises UsageError unless it is a module."""
        for analysis in self._all:
            [flag, *_] = analysis.options.flags() or [None]
            if analysis.options.needs_module and not isinstance(program.op, ModuleOp):
                raise UsageError(
                    f"the --{flag and flag.name} option runs on a module", "remove --no-implicit-module"
                )
        # Without given passes, some analyses read the program as it is, and others after assumed passes.
        are_mixed = bool(program.assumption) and not all(
            analysis.options.needs_collectives for analysis in self._all
        )
        if are_mixed or any(analysis.options.needs_before for analysis in self._all):
            program.before = Rewriter().clone(program.op) if program.pipeline.elements else program.op

    @property
    def need_passes(self) -> bool:
        """Whether an analysis reads the result of the passes."""
        return any(
            getattr(type(analysis), hook) is not getattr(Analysis, hook)
            for analysis in self._all
            for hook in ("around_passes", "run_passes", "on_result", "on_output")
        )

    @property
    def need_collectives(self) -> bool:
        """Whether passes are to insert collectives if none are given."""
        return any(analysis.options.needs_collectives for analysis in self._all)

    @property
    def compiler(self) -> str:
        """The compiler of the machine that figures are for; "" if it is unknown."""
        return next(filter(None, (analysis.compiler for analysis in self._all)), "")

    def around_passes(self, program: Program) -> AbstractContextManager[object]:
        """The context in which passes run."""
        stack = ExitStack()
        for analysis in self._all:
            stack.enter_context(analysis.around_passes(program))
        return stack

    def before_passes(self, program: Program, phase: Phase) -> None:
        """The passes are to run."""
        for analysis in self._all:
            if type(analysis).before_passes is not Analysis.before_passes:
                with phase(analysis.phase):
                    analysis.before_passes(program)

    def run_passes(self, program: Program) -> Op | None:
        """The program after passes that an analysis runs; None if none does."""
        results = (analysis.run_passes(program) for analysis in self._all)
        return next((op for op in results if op is not None), None)

    def partitioned(self, program: Program) -> Op | None:
        """The program after the assumed passes, if an analysis runs them on a copy and none records them."""
        if any(
            analysis.options.needs_parse_record
            or type(analysis).around_passes is not Analysis.around_passes
            or type(analysis).run_passes is not Analysis.run_passes
            for analysis in self._all
        ):
            return None
        results = (analysis.partitioned(program) for analysis in self._all)
        return next((op for op in results if op is not None), None)

    def on_result(self, program: Program, phase: Phase) -> None:
        """The passes have run."""
        for analysis in self._all:
            if type(analysis).on_result is not Analysis.on_result:
                with phase(analysis.phase):
                    analysis.on_result(program)

    def on_output(self, program: Program, phase: Phase) -> None:
        """The program has been printed."""
        for analysis in self._all:
            if type(analysis).on_output is not Analysis.on_output:
                with phase(analysis.phase):
                    analysis.on_output(program)

    def on_end(self) -> None:
        """All programs are done."""
        for analysis in self._all:
            analysis.on_end()
