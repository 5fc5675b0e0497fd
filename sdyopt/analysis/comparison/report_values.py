"""The JSON of a report as one side of a comparison: its figures, and the values that are live at the peak."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from sdyopt.analysis.comparison.comparison import ComparedProgram
from sdyopt.analysis.comparison.program_values import FunctionValues, ProgramValue, ProgramValues, ValueRole
from sdyopt.analysis.comparison.value_sharding import ValueSharding
from sdyopt.analysis.figures.figures import Collective, LiveValue, Memory, Product, Report, RunTimes
from sdyopt.analysis.figures.json_file import JsonFile, JsonReader, Path
from sdyopt.analysis.figures.source_locations import SourceLocation
from sdyopt.analysis.report.json_report import SCHEMA, VERSION
from sdyopt.base.dataclasses import replace
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.sharding_checks import sharding_problem
from sdyopt.mlir.ir.types import F32, RankedTensor
from sdyopt.shardy.notation.mesh_text import parse_mesh, parse_sdy

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
