"""Diagnostics as plain data, and the exceptions that carry them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from sdyopt.api.locations import Location, location_of
from sdyopt.asm.parser.module_parser import ParseOptions
from sdyopt.asm.printer.asm_printer import print_for_note
from sdyopt.diagnostics import diagnostic as ir
from sdyopt.diagnostics.diagnostic import Severity
from sdyopt.diagnostics.ids import USAGE_ERROR
from sdyopt.diagnostics.location import FileLoc, UnknownLoc, resolve_file_location
from sdyopt.diagnostics.render import render
from sdyopt.diagnostics.source import Source
from sdyopt.diagnostics.usage import UsageError
from sdyopt.driver.error_help import LazyExplainer
from sdyopt.ir.dialect import DialectTable

# The errors that the text of an exception shows; `diagnostics` has all.
MAX_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """An error, a warning or a remark. `str` is the text that `sdy-opt` prints, with the source line.

    `location` is where the program says that it comes from, such as a line of the Python source, and
    `input_location` where it is in the parsed text, if that is known. `help` suggests a fix. `id` is stable
    and names the check that reports it. `pass_name` is the pass that was running, `operation` the text of the
    operation that an error is about; both may be empty.
    """

    severity: Severity
    message: str
    location: Location
    input_location: Location | None = None
    notes: tuple[Diagnostic, ...] = ()
    help: str = ""
    id: str = ""
    pass_name: str = ""
    operation: str = field(default="", repr=False)
    text: str = field(default="", repr=False)

    def __str__(self) -> str:
        return self.text


class Error(Exception):
    """Base class of the errors of this library. `str` is the text of its diagnostics, with help.

    `message`, `location`, `input_location`, `notes`, `help`, `id` and `pass_name` are those of the first
    error. `diagnostics` has all errors, and the warnings and remarks before them.
    """

    __module__ = "sdyopt"  # as tracebacks show it

    diagnostics: tuple[Diagnostic, ...]

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__(self.diagnostics)

    @property
    def _first(self) -> Diagnostic:
        errors = (each for each in self.diagnostics if each.severity is Severity.ERROR)
        return next(errors, self.diagnostics[0])

    @property
    def message(self) -> str:
        return self._first.message

    @property
    def location(self) -> Location:
        return self._first.location

    @property
    def input_location(self) -> Location | None:
        return self._first.input_location

    @property
    def notes(self) -> tuple[Diagnostic, ...]:
        return self._first.notes

    @property
    def help(self) -> str:
        return self._first.help

    @property
    def id(self) -> str:
        return self._first.id

    @property
    def pass_name(self) -> str:
        return self._first.pass_name

    def __str__(self) -> str:
        hidden = len(self.diagnostics) - MAX_SHOWN
        shown = "".join(map(str, self.diagnostics[:MAX_SHOWN])).rstrip("\n")
        return f"{shown}\n… and {hidden} more" if hidden > 0 else shown


class ParseError(Error):
    """The text is not a program."""

    __module__ = "sdyopt"  # as tracebacks show it


class VerifyError(Error):
    """The program is parsed and not valid."""

    __module__ = "sdyopt"  # as tracebacks show it


class PassError(Error):
    """A pass has failed, or the verification of its result."""

    __module__ = "sdyopt"  # as tracebacks show it


class PipelineError(Error, ValueError):
    """There is no such pass, option or value of an option."""

    __module__ = "sdyopt"  # as tracebacks show it


class Collector:
    """A handler that collects the diagnostics of one call, with the culprit in the source and help."""

    def __init__(self, source: Source, dialects: DialectTable, options: ParseOptions) -> None:
        self._source = source
        self._explainer = LazyExplainer(source, dialects, options)
        self.diagnostics: list[Diagnostic] = []

    def handle(self, diagnostic: ir.Diagnostic) -> None:
        """Adds a diagnostic. Its texts are made at once, because passes may change its operation later."""
        self._explainer.complete(diagnostic)
        self.diagnostics.append(diagnostic_of(diagnostic, self._source))


def diagnostic_of(diagnostic: ir.Diagnostic, source: Source | None) -> Diagnostic:
    """The data of a diagnostic, whose text shows lines of `source`."""
    # Not of warnings: there may be many, at operations as large as functions.
    has_operation = diagnostic.operation is not None and diagnostic.severity is Severity.ERROR
    return Diagnostic(
        diagnostic.severity,
        diagnostic.message,
        location_of(diagnostic.location),
        _input_location(diagnostic, source),
        tuple([diagnostic_of(note, source) for note in diagnostic.notes]),
        diagnostic.help,
        diagnostic.id,
        diagnostic.pass_flag,
        print_for_note(diagnostic.operation).strip() if has_operation else "",
        render(diagnostic, source),
    )


def _input_location(diagnostic: ir.Diagnostic, source: Source | None) -> Location | None:
    """The position in the source: of the diagnostic or, if it is elsewhere, of the culprit."""
    for location in (diagnostic.location, diagnostic.culprit):
        place = None if location is None else resolve_file_location(location)
        if place is not None and source is not None and place.file == source.name:
            return location_of(FileLoc(place.file, place.line, place.column))
    return None


def pipeline_error(error: UsageError) -> PipelineError:
    """The exception for an error in the text or the options of a pipeline."""
    help = f"\nhelp: {error.help}" if error.help else ""
    return PipelineError(
        [
            Diagnostic(
                Severity.ERROR,
                error.message,
                location_of(UnknownLoc()),
                help=error.help,
                id=USAGE_ERROR,
                text=f"{error.message}{help}\n",
            )
        ]
    )
