"""Compares the program of a run with another one, or with a report on it."""

from __future__ import annotations

from sdyopt.analysis.comparison import REPORT_SUFFIX, Options
from sdyopt.analysis.comparison.comparison import ComparedProgram as Compared
from sdyopt.analysis.comparison.comparison import compare
from sdyopt.analysis.comparison.comparison_formats import comparison_text, text_comparison
from sdyopt.analysis.comparison.other_program import program_of_report, values_at_peak
from sdyopt.analysis.comparison.program_values import ProgramValues, values_of
from sdyopt.analysis.execution.process import NoJax, NotValidated, Worker
from sdyopt.analysis.figures.causes import stated_results, with_stated_results
from sdyopt.analysis.figures.program_report import report_on
from sdyopt.analysis.figures.topology import Topology, read_topology
from sdyopt.analysis.hlo_comparison.compiled.analysis import Compilation, compilation_error
from sdyopt.analysis.interface import Analysis, AnalysisOptions, Program, Run
from sdyopt.base.dataclasses import field
from sdyopt.base.diagnostics.ids import COMPARISON_ERROR, TOPOLOGY_ERROR, identified
from sdyopt.base.releases import following


class Comparing(Analysis[Options]):
    """The comparison of one run. The constructor runs the other program."""

    phase = "Report"

    def __init__(self, options: Options, run: Run) -> None:
        super().__init__(options, run)
        assert options.other is not None
        other = options.other
        run.check_is_one_chunk(
            f"--compare-with={other.name} is one program", "compare each chunk in a file of its own"
        )
        text = other.data.decode("utf-8", "surrogateescape")
        # Annotations are worth comparing if both programs run passes, and are different ones.
        has_passes = (run.pipeline.elements and other.pipeline.elements) or options.needs_collectives
        has_inputs = bool(has_passes and run.source.text != text)
        with identified(TOPOLOGY_ERROR):
            self._topology = None if options.speeds is None else read_topology(*options.speeds)
        self._own = _Observation(options, run, other.titles[1], has_inputs, self._topology, options.jax)
        self._is_report = other.name.endswith(REPORT_SUFFIX)
        if self._is_report:
            with identified(COMPARISON_ERROR):
                self._other = program_of_report(other.name, text)
        else:
            observe = _Observe(
                title=other.titles[0],
                has_inputs=has_inputs,
                completes=options.needs_collectives,
                topology=self._topology,
                jax=options.jax,
            )
            with following(other.release):
                run.run_other(other.name, other.data, other.pipeline, observe)
            self._other = observe.observations[0].compared

    def on_input(self, program: Program) -> None:
        self._own.on_input(program)

    def on_output(self, program: Program) -> None:
        self._own.on_output(program)
        own = self._own.compared
        comparison = compare(self._other, values_at_peak(own) if self._is_report else own)
        if (path := self.options.compare_output) is not None:
            self.run.write_file(path, comparison_text(comparison, path))
        else:
            self.texts.append(text_comparison(comparison, self.run.width, self.options.rows))


class _Observe(AnalysisOptions):
    """Asks for the observation of the other program."""

    title: str
    has_inputs: bool
    completes: bool
    topology: Topology | None
    jax: tuple[str, int] | None
    observations: list[_Observation] = field(default_factory=list)

    @property
    def is_needed(self) -> bool:
        return True

    @property
    def needs_collectives(self) -> bool:
        return self.completes

    def start(self, run: Run) -> _Observation:
        observation = _Observation(self, run, self.title, self.has_inputs, self.topology, self.jax)
        self.observations.append(observation)
        return observation


class _Observation(Analysis[AnalysisOptions]):
    """The values and the report of a program; with `has_inputs`, also the values before its passes.

    With `jax`, the report has the figures of the compiler.
    """

    phase = "Report"

    def __init__(
        self,
        options: AnalysisOptions,
        run: Run,
        title: str,
        has_inputs: bool,
        topology: Topology | None,
        jax: tuple[str, int] | None,
    ) -> None:
        super().__init__(options, run)
        self._title, self._has_inputs, self._topology, self._jax = title, has_inputs, topology, jax
        self._compilation: Compilation | None = None
        self._inputs: ProgramValues | None = None
        self._stated: dict[str, str] = {}
        self._compared: Compared | None = None

    @property
    def compared(self) -> Compared:
        """The program that was observed."""
        assert self._compared is not None
        return self._compared

    def on_input(self, program: Program) -> None:
        self._stated = stated_results(program.op)
        if self._jax is not None and self._topology is not None:
            self._compilation = Compilation(program.op, self._topology, Worker(*self._jax, 0))
        if self._has_inputs:
            self._inputs = values_of(program.op, self.run.name)

    def on_output(self, program: Program) -> None:
        values = values_of(program.op, self.run.name)
        report = with_stated_results(report_on(program.op, self._topology), self._stated)
        report.assumption = program.assumption
        report.compiled = program.compiled(report)
        if report.compiled is None and self._compilation is not None:
            try:
                report.compiled = self._compilation.figures(report)
            except (NoJax, NotValidated) as failure:
                raise compilation_error(program.op, failure) from None
        self._compared = Compared(self._title, values, report, self._inputs)
