"""--show-sharding: shows a sharding that is given in any notation, or that of a value of the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from sdyopt.analysis.interface.flag import STDIN
from sdyopt.base.dataclasses import dataclass, field, replace
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.diagnostics.render import render
from sdyopt.base.diagnostics.usage import UsageError
from sdyopt.mlir.ir.operation import Op
from sdyopt.shardy.notation.drawing import drawing
from sdyopt.shardy.notation.mesh_text import parse_mesh, parse_shape
from sdyopt.shardy.notation.reading import (
    MeshAndShape,
    ShardingView,
    mesh_name,
    names_a_value,
    read_sharding,
    view_of_sharding,
)
from sdyopt.shardy.notation.value_lookup import only_mesh, sharding_of_value
from sdyopt.tools.cli.arguments import Arguments
from sdyopt.tools.cli.diagnostics_output import FAILURE, SUCCESS, WRONG_USAGE
from sdyopt.tools.cli.files import Input, Output, read_input, write_to_stderr
from sdyopt.tools.cli.request import build_job, build_pipeline, choose_paint, output_width
from sdyopt.tools.driver.run import run_job

if TYPE_CHECKING:  # imported only with one of its flags
    from sdyopt.tools.cli.diagnostics_output import DiagnosticsOutput

T = TypeVar("T")

# Flags that read the program, too, and print something else.
_OTHER_OUTPUTS = (
    *("report", "budget", "baseline"),
    *("compare-with", "compare-pipeline", "compare-sdy-version", "snapshot", "check-snapshot"),
)


def show_sharding(arguments: Arguments, diagnostics: DiagnosticsOutput | None) -> int:
    """Prints the sharding of the arguments and returns the exit status. Raises UsageError and FileProblem."""
    text = arguments["show-sharding"]
    if text is None:
        flag = next(name for name in ("mesh", "shape", "sharding-rows") if name in arguments.values)
        raise UsageError(f"for the --{flag} option: requires --show-sharding")
    other = next((name for name in _OTHER_OUTPUTS if name in arguments.values), None)
    if other is not None:
        raise UsageError(f"the --{other} option cannot be used with --show-sharding", "run sdy-opt twice")
    request = _Request(arguments, Source("--show-sharding", text), diagnostics)
    try:
        output = request.output()
    except DiagnosticError as error:
        request.report(error)
        return WRONG_USAGE
    if output is None:
        return WRONG_USAGE if request.is_reported else FAILURE
    Output(arguments["o"]).write(output)
    return SUCCESS


@dataclass
class _Request:
    arguments: Arguments
    source: Source
    diagnostics: DiagnosticsOutput | None
    is_reported: bool = False
    sources: dict[str, Source] = field(default_factory=dict)

    def output(self) -> str | None:
        """The text to print; None after an error that is already reported. Raises DiagnosticError."""
        shape = self._parsed("shape", parse_shape)
        context = MeshAndShape(self._parsed("mesh", parse_mesh), shape)
        has_input = self.arguments.input != STDIN
        is_value = names_a_value(self.source.text, has_input)
        if not is_value and not (has_input and context.mesh is None):
            return self._drawing(read_sharding(self.source, context))
        return self._output_of_program(context, is_value)

    def report(self, error: DiagnosticError) -> None:
        """Reports an error that is located in the value of a flag."""
        name = getattr(error.diagnostic.location, "file", "")
        source = self.sources.get(name, self.source)
        self.is_reported = True
        if self.diagnostics is not None:
            self.diagnostics.add(error.diagnostic, source)
        if self.diagnostics is None or self.diagnostics.shows_text:
            write_to_stderr(render(error.diagnostic, source, choose_paint(self.arguments["color"])))

    def _parsed(self, flag: str, parse: Callable[[Source], T]) -> T | None:
        text = self.arguments[flag]
        if text is None:
            return None
        source = self.sources[f"--{flag}"] = Source(f"--{flag}", text)
        return parse(source)

    def _output_of_program(self, context: MeshAndShape, is_value: bool) -> str | None:
        job = build_job(self.arguments, build_pipeline(self.arguments))
        if self.diagnostics is not None:
            self.diagnostics.input_name = job.name
            job = replace(job, collect=self.diagnostics.add, shows_text=self.diagnostics.shows_text)

        def show(program: Op) -> str:
            if not is_value:
                mesh = only_mesh(program, mesh_name(self.source.text))
                return self._drawing(read_sharding(self.source, replace(context, mesh=mesh)))
            sharding = sharding_of_value(self.source, program)
            return self._drawing(view_of_sharding(sharding.on_mesh, sharding.shape))

        def show_or_report(program: Op) -> str:
            try:
                return show(program)
            except DiagnosticError as error:
                self.report(error)
                return ""

        read = Input(read_input(self.arguments.input)).take
        outcome = run_job(replace(job, read=read, show=show_or_report))
        return outcome.output if outcome.succeeded and not self.is_reported else None

    def _drawing(self, view: ShardingView) -> str:
        rows = self.arguments["sharding-rows"]
        return drawing(view, output_width(), rows or None, int(self.arguments["mesh-version"]))
