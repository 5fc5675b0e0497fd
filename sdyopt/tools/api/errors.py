"""Source locations and diagnostics as plain data, and the exceptions that carry them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import PurePath

from sdyopt.analysis.figures.source_locations import SourceLocation, source_location
from sdyopt.base import diagnostics as ir
from sdyopt.base.diagnostics.diagnostic import Severity
from sdyopt.base.diagnostics.ids import USAGE_ERROR, identified
from sdyopt.base.diagnostics.location import FileLoc, Source, UnknownLoc, resolve_file_location
from sdyopt.base.diagnostics.render import render
from sdyopt.base.diagnostics.usage import UsageError
from sdyopt.mlir.asm.parser.module_parser import ParseOptions
from sdyopt.mlir.asm.printer.asm_printer import print_for_note
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.tools.driver.display import LazyExplainer

# What messages about flags start with.
_FLAG = re.compile(r"^for the --([a-z-]+) option: ")
# Characters of Python strings that have no UTF-8 encoding.
SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Location:
    """A source location. `str` is MLIR's `loc(…)`.

    `file`, `line` and `column` are the innermost position in a file, such as the line of the Python program
    that JAX has lowered; `name` is the outermost name, such as JAX's name stack. Unknown fields are empty or
    0.
    """

    text: str
    file: str = ""
    line: int = 0
    column: int = 0
    name: str = ""

    @property
    def short(self) -> str:
        """`model.py:12`, without folders, or `name` if the line is unknown."""
        return f"{PurePath(self.file).name}:{self.line}" if self.line else self.name

    def __str__(self) -> str:
        return self.text


def from_source(location: SourceLocation) -> Location:
    """The data of a location in a report."""
    file, line, column, name = location[:4]
    inner = ir.FileLoc(file, line, column) if line else ir.UnknownLoc()
    return location_of(ir.NameLoc(name, inner) if name else inner)


def location_of(location: ir.Location) -> Location:
    """The data of a location in the IR."""
    return Location(AttributePrinter().location(location), *source_location(location)[:4])


# The number of diagnostics in the text of an exception; `diagnostics` has all.
MAX_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """An error, a warning, a remark or a note. `str` is the text that `sdy-opt` prints, with the source line.

    `location` is the source location that the program gives, such as a line of the Python source;
    `input_location` is the location in the parsed text, if that is known. `help` suggests a fix. `id` is
    stable and names the check that reports the diagnostic. `pass_name` is the pass that was running,
    `operation` the text of the operation that an error is about. `help`, `pass_name` and `operation` may be
    empty.
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
    error. `diagnostics` has all errors, and the warnings and remarks of the same call.
    """

    __module__ = "sdyopt"  # as tracebacks show it

    diagnostics: tuple[Diagnostic, ...]

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__(self.diagnostics)

    @property
    def _first(self) -> Diagnostic:
        errors = (diagnostic for diagnostic in self.diagnostics if diagnostic.severity is Severity.ERROR)
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
        first = self.diagnostics[:MAX_SHOWN]
        if self._first not in first:
            # The error itself is shown, however many warnings precede it.
            first = (*first[:-1], self._first)
        shown = "".join(map(str, first)).rstrip("\n")
        return f"{shown}\n… and {hidden} more" if hidden > 0 else shown


class ParseError(Error):
    """A program, another file such as a budget or a snapshot, or a question to `explain` is malformed."""

    __module__ = "sdyopt"  # as tracebacks show it


class VerifyError(Error):
    """The verifier rejects the program."""

    __module__ = "sdyopt"  # as tracebacks show it


class PassError(Error):
    """A pass, or the verification of its result, has failed."""

    __module__ = "sdyopt"  # as tracebacks show it


class PipelineError(Error, ValueError):
    """A pipeline is invalid, for example because a pass is unknown, or a plugin cannot be loaded."""

    __module__ = "sdyopt"  # as tracebacks show it


class Collector:
    """Collects the diagnostics of one call, each completed with its culprit in the source and with help."""

    def __init__(self, source: Source, dialects: DialectTable, options: ParseOptions) -> None:
        self._source = source
        self._explainer = LazyExplainer(source, dialects, options)
        self.diagnostics: list[Diagnostic] = []

    def handle(self, diagnostic: ir.Diagnostic) -> None:
        """Adds a diagnostic, and renders it now, because a pass may change its operation later."""
        self._explainer.complete(diagnostic)
        self.diagnostics.append(diagnostic_of(diagnostic, self._source))


def diagnostic_of(diagnostic: ir.Diagnostic, source: Source | None) -> Diagnostic:
    """The data of a diagnostic, whose text shows lines of `source`."""
    # Only errors have the text of their operation: there may be many warnings, about whole functions.
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
    """The location of the diagnostic if it is in the source, else that of its culprit; None if unknown."""
    for location in (diagnostic.location, diagnostic.culprit):
        point = None if location is None else resolve_file_location(location)
        if point is not None and source is not None and point.file == source.name:
            return location_of(FileLoc(point.file, point.line, point.column))
    return None


@contextmanager
def as_parse_error(id: str, source: Source | None = None) -> Iterator[None]:
    """Raises ParseError in place of a DiagnosticError, which gets this id if it has none.

    `source` is what it is about, by default the file that the diagnostic names.
    """
    try:
        with identified(id):
            yield
    except ir.DiagnosticError as error:
        raise ParseError([diagnostic_of(error.diagnostic, source or error.diagnostic.source)]) from None


@contextmanager
def as_value_error() -> Iterator[None]:
    """Raises ValueError, with the help, in place of a UsageError; flags become arguments of Python."""
    try:
        yield
    except UsageError as error:
        message = _FLAG.sub(lambda flag: f"for {flag[1].replace('-', '_')}: ", error.message)
        raise ValueError(f"{message}; {error.help}" if error.help else message) from None


def require_text(name: str, value: object, example: str = "") -> None:
    """Raises TypeError or ValueError for an argument that is not text, or that no UTF-8 encodes."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is text{f' {example}' if example else ''}, not {value!r}")
    if SURROGATE.search(value):
        raise ValueError(f"{name} has half of a surrogate pair: {value!r}")


def path_text(name: str, value: object) -> str:
    """A path as text. Raises TypeError for another argument."""
    if not isinstance(value, str | PathLike):
        raise TypeError(f"{name} is a path, not {value!r}")
    return str(fspath(value))


def pipeline_error(error: UsageError) -> PipelineError:
    """The exception for a usage error in a pipeline or in the name of a plugin."""
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
