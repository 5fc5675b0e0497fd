"""The options of the analyses that the arguments ask for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sdyopt.analysis.flag import STDIN, TextFile
from sdyopt.analysis.interface import AnalysisOptions
from sdyopt.analysis.registry import all_analyses
from sdyopt.base.diagnostics.diagnostic import Diagnostic
from sdyopt.base.diagnostics.usage import UsageError
from sdyopt.base.releases import following
from sdyopt.mlir.pipeline.tree import Pipeline
from sdyopt.tools.cli.arguments import Arguments
from sdyopt.tools.cli.files import STDIN_NAME, read_input
from sdyopt.tools.cli.flag_warnings import flag_warning
from sdyopt.tools.cli.flags import FLAGS


def analyses_of(
    arguments: Arguments, pipeline: Pipeline, build: Callable[[Arguments], Pipeline]
) -> tuple[tuple[AnalysisOptions, ...], list[Diagnostic]]:
    """The options of the analyses that run, and warnings about them. Raises UsageError and FileProblem.

    `build` makes the pipeline of the arguments as it is in the release that is followed.
    """
    for name, value in arguments.values.items():
        if (minimum := FLAGS[name].minimum) and isinstance(value, int) and value < minimum:
            raise UsageError(f"for the --{name} option: {value} is too small", f"write at least {minimum}")
    given = [
        _options(each, arguments)
        for each in all_analyses()
        if any(flag.name in arguments.values for flag in each.flags())
    ]
    request = CommandLine(arguments, pipeline, build, given)
    prepared = [options.prepared(request) for options in given]
    return tuple(each for each in prepared if each.is_needed), request.warnings


def _options(options: type[AnalysisOptions], arguments: Arguments) -> AnalysisOptions:
    values: dict[str, Any] = {flag.name.replace("-", "_"): arguments[flag.name] for flag in options.flags()}
    for name, value in values.items():
        if value is not None and options.__annotations__[name].startswith(TextFile.__name__):
            values[name] = TextFile(value, read_input(value).decode("utf-8", "surrogateescape"))
    return options(**values)


class CommandLine:
    """Implements `Request` of the interface of analyses."""

    def __init__(
        self,
        arguments: Arguments,
        pipeline: Pipeline,
        build: Callable[[Arguments], Pipeline],
        given: list[AnalysisOptions],
    ) -> None:
        self.input = arguments.input
        self.pipeline = pipeline
        self._build = build
        self.warnings: list[Diagnostic] = []
        self._arguments = arguments
        self._given = given

    @property
    def pipeline_text(self) -> str:
        """The pipeline or the flags of passes, as they are given."""
        flags = [
            f"-{each.name}={each.options}" if each.options else f"-{each.name}"
            for each in self._arguments.passes
        ]
        return self._arguments["pass-pipeline"] or " ".join(flags)

    def pipeline_in(self, release: str) -> Pipeline:
        """The pipeline as it is in another release of Shardy."""
        with following(release):
            return self._build(self._arguments)

    def __getitem__(self, flag: str) -> Any:
        return self._arguments[flag]

    def name_of(self, path: str) -> str:
        """The name in diagnostics and titles."""
        return STDIN_NAME if path == STDIN else path

    def read(self, path: str) -> bytes:
        """The content of a file."""
        return read_input(path)

    def warn(self, message: str, help: str) -> None:
        """Adds a warning."""
        self.warnings.append(flag_warning(message, help))

    def prints_other(self, options: AnalysisOptions) -> bool:
        """Whether another analysis replaces the program on stdout."""
        others = [each for each in self._given if type(each) is not type(options)]
        return any(each.replaces_output for each in others)
