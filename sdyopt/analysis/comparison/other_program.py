"""The other side of a comparison: a program, or the JSON of a report."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from sdyopt.analysis.comparison.comparison import ComparedProgram
from sdyopt.analysis.comparison.program_values import FunctionValues, ProgramValue, ProgramValues, ValueRole
from sdyopt.analysis.comparison.value_sharding import ValueSharding
from sdyopt.analysis.figures.figures import Collective, LiveValue, Memory, Product, Report, RunTimes
from sdyopt.analysis.figures.located_files import JsonFile, JsonReader, Path
from sdyopt.analysis.figures.source_locations import SourceLocation
from sdyopt.analysis.interface import Request
from sdyopt.analysis.interface.flag import STDIN
from sdyopt.analysis.report.json_report import SCHEMA, VERSION
from sdyopt.base.dataclasses import NamedTuple, replace
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.diagnostics.usage import UsageError
from sdyopt.base.releases import following
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.sharding_checks import sharding_problem
from sdyopt.mlir.ir.types import F32, RankedTensor
from sdyopt.mlir.pipeline.base import MODULE
from sdyopt.mlir.pipeline.tree import Pipeline
from sdyopt.mlir.registry.discovery import read_pipeline
from sdyopt.shardy.notation.mesh_text import parse_mesh, parse_sdy


class OtherProgram(NamedTuple):
    """The name and the content of the other file, and the pipeline that runs on it in a release of Shardy.

    `titles` name both programs, the other one first.
    """

    name: str
    data: bytes
    pipeline: Pipeline
    release: str
    titles: tuple[str, str]


def other_program(
    request: Request, path: str | None, passes: str | None, other_release: str | None
) -> OtherProgram:
    """The program of a file, by default the input, with passes and a release, by default those of the run.

    Raises UsageError and FileProblem.
    """
    name = request.input if path is None else path
    if STDIN in (name, request.input) and (path is None or name == request.input):
        raise UsageError(
            "the program and the one to compare it with cannot both be read from stdin", "write one to a file"
        )
    data = request.read(name)
    name = request.name_of(name)
    release = other_release or request["sdy-version"]
    if passes is not None:
        with following(release):
            pipeline = _pipeline(passes)
    elif other_release is not None:
        pipeline = request.pipeline_in(release)
    else:
        pipeline = _copy(request.pipeline)
    titles = (name, request.name_of(request.input))
    if other_release is not None:
        titles = f"{titles[0]} in {release}", f"{titles[1]} in {request['sdy-version']}"
    if passes is not None:
        titles = _title(titles[0], passes), _title(titles[1], request.pipeline_text)
    return OtherProgram(name, data, pipeline, release, titles)


def _copy(pipeline: Pipeline) -> Pipeline:
    """The same pipeline with new passes, so that the statistics of the other program are separate."""
    return _pipeline(str(pipeline)) if pipeline.elements else Pipeline()


def _pipeline(text: str) -> Pipeline:
    if not text.strip():
        return Pipeline()
    try:
        read, combined = read_pipeline(text), Pipeline()
        combined.add_nested(read.elements if read.anchor == MODULE else [read])
    except UsageError as error:
        raise UsageError(f"for the --compare-pipeline option: {error.message}", error.help) from None
    return combined


def _title(name: str, passes: str) -> str:
    return f"{name} with {passes}" if passes.strip() else name


_HELP = "write a report with --report=FILE.json"


def program_of_report(name: str, text: str) -> ComparedProgram:
    """The program that a report is on. Raises DiagnosticError, located in the file, for any other text."""
    try:
        return _ReportReader(JsonFile(name, text)).program()
    except DiagnosticError as error:
        raise error.help(_HELP) from None


def values_at_peak(program: ComparedProgram) -> ComparedProgram:
    """A program with the values that its report has, which are comparable with those of another report."""
    mesh = program.values.mesh
    function = FunctionValues("", is_public=True)
    function.body = [_value(live, mesh) for live in program.report.memory.live_at_peak]
    values = ProgramValues(program.values.name, program.values.meshes, [function], is_partial=True)
    return replace(program, values=values, inputs=None)


def _value(live: LiveValue, mesh: Mesh | None) -> ProgramValue:
    stack = live.location.name_stack
    return ProgramValue(
        ValueRole.OPERATION,
        "",
        live.value,
        stack,
        "",
        (),
        live.type,
        0,
        _sharding(live.sharding, mesh),
        live.bytes,
        live.location,
        bool(stack),
    )


def _sharding(text: str, mesh: Mesh | None) -> ValueSharding | None:
    """The sharding. Its mesh is that of the report, if the sharding is valid on it, and else unknown."""
    if not text:
        return None
    sharding = parse_sdy(Source("sharding", text))
    is_on_mesh = (
        mesh is not None and sharding_problem(sharding, RankedTensor((1,) * sharding.rank, F32), mesh) is None
    )
    return ValueSharding(sharding, mesh if is_on_mesh else None)


class _ReportReader(JsonReader):
    """Reads the figures that are compared. Raises DiagnosticError at what no report contains."""

    def program(self) -> ComparedProgram:
        self.check_schema("report", SCHEMA, VERSION)
        text = self.text(("mesh",))
        meshes = {"mesh": self.parsed(("mesh",), parse_mesh)} if text else {}
        report = Report(
            self.integer(("devices",)),
            text,
            collectives=[self._collective(path) for path in self.entries(("collectives",))],
            memory=Memory(
                arguments=self.integer(("memory", "arguments")),
                peak=self.integer(("memory", "peak")),
                live_at_peak=[self._live_value(path) for path in self.entries(("memory", "live_at_peak"))],
            ),
            products=[self._product(path) for path in self.entries(("products",))],
        )
        values = ProgramValues(self.file.name, meshes)
        return values_at_peak(ComparedProgram(self.file.name, values, report))

    def _collective(self, path: Path) -> Collective:
        size = self.optional_integer((*path, "wire_bytes"))
        return Collective(
            number=self.integer((*path, "number")),
            kind=self.text((*path, "kind")),
            dialect=self.text((*path, "dialect")),
            axes=self.text((*path, "axes")),
            group=self.text((*path, "group")),
            group_size=None,
            local_operands=tuple(self._texts((*path, "local_operands"))),
            local_results=tuple(self._texts((*path, "local_results"))),
            bytes_in=None,
            bytes_out=None,
            wire_bytes=None if size is None else Fraction(size),
            times=self._times((*path, "times")),
            location=self._location((*path, "location")),
            value=self.text((*path, "value")),
            cause=self.text((*path, "cause")),
        )

    def _live_value(self, path: Path) -> LiveValue:
        sharding = self.text((*path, "sharding"))
        if sharding:
            self.parsed((*path, "sharding"), parse_sdy)
        return LiveValue(
            self.text((*path, "value")),
            self.text((*path, "type")),
            sharding,
            self.integer((*path, "bytes")),
            self.optional_integer((*path, "replicas")),
            self._location((*path, "location")),
        )

    def _product(self, path: Path) -> Product:
        return Product(
            self.text((*path, "kind")),
            self.optional_integer((*path, "flops")),
            self.optional_integer((*path, "global_flops")),
            self._times((*path, "times")),
            self._location((*path, "location")),
            self.text((*path, "value")),
        )

    def _texts(self, path: Path) -> Iterator[str]:
        for entry in self.entries(path):
            yield self.text(entry)

    def _times(self, path: Path) -> RunTimes | None:
        if self.at(path) is None:
            return None
        return RunTimes(self.integer((*path, 0)), self.integer((*path, 1)))

    def _location(self, path: Path) -> SourceLocation:
        return SourceLocation(
            self.text((*path, "file")),
            self.integer((*path, "line")),
            self.integer((*path, "column")),
            self.text((*path, "name_stack")),
        )
