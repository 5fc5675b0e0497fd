"""Builds a job from the arguments: its pass pipeline, its options and those of its analyses."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from sdyopt.analysis.interface import AnalysisOptions, all_analyses
from sdyopt.analysis.interface.flag import STDIN, TextFile
from sdyopt.base.dataclasses import dataclass
from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity
from sdyopt.base.diagnostics.ids import FLAG_WITHOUT_EFFECT
from sdyopt.base.diagnostics.location import UnknownLoc
from sdyopt.base.diagnostics.render import DEFAULT_COLUMNS, Paint, leave_plain
from sdyopt.base.diagnostics.usage import UsageError, nearest, nearest_or_all, read_uint
from sdyopt.base.diagnostics.whole_files import MOST_OF_OPTION_FILE
from sdyopt.base.releases import following
from sdyopt.mlir.asm.printer.asm_printer import PrintOptions
from sdyopt.mlir.pipeline.instrumentation import IRPrintingOptions
from sdyopt.mlir.pipeline.run import COUNTED
from sdyopt.mlir.pipeline.tree import Pipeline, failed_to_add, parse_pipeline
from sdyopt.mlir.registry import (
    LIST_PASSES,
    all_passes,
    find_entry,
    lookup,
    of_other_tool,
    plugins_not_loaded,
)
from sdyopt.tools.cli.arguments import Arguments, PassFlag, missing_flag
from sdyopt.tools.cli.files import STDIN_NAME, check_files, open_log, read_input, write_file, write_to_stderr
from sdyopt.tools.cli.flags import FLAGS
from sdyopt.tools.driver.job import NEWEST_BYTECODE, TERMINAL_OP_LINES, BytecodeRequest, Job

# Columns of a report that is not printed to a terminal.
DEFAULT_WIDTH = 100

STDOUT_NUMBER, STDERR_NUMBER = 1, 2


def build_pipeline(arguments: Arguments) -> Pipeline:
    """The pipeline of the pass flags, or of --pass-pipeline. Raises UsageError."""
    text = arguments["pass-pipeline"]
    if arguments["run-reproducer"] and (arguments.passes or text is not None):
        message = "the --run-reproducer option runs the pipeline of the input and cannot be used with passes"
        raise UsageError(message, "remove --run-reproducer, or the passes")
    if text is not None:
        if arguments.passes:
            raise UsageError(
                "'-pass-pipeline' option can't be used with individual pass options",
                f"move {arguments.passes[0].spelling} into the text of the pipeline, or make all of it flags",
            )
        return parse_pipeline(text, lookup)
    pipeline = Pipeline()
    for flag in arguments.passes:
        entry = find_entry(flag.name)
        if entry is None:
            raise _unknown(flag)
        try:
            pipeline.add_nested(entry.build(flag.options))
        except UsageError as error:
            raise failed_to_add(flag.name, flag.options, error) from None
    return pipeline


def _unknown(flag: PassFlag) -> UsageError:
    if (error := missing_flag(flag.name, flag.spelling)) is not None:
        return error
    message = f"Unknown command line argument '{flag.spelling}'.  Try: 'sdy-opt --help'"
    entries = all_passes()
    for entry in entries:
        for option in entry.options():
            if option.flag == flag.name:
                # Suggest `true` for an option that is false by default.
                default = (
                    "true" if option.default is False else option.write(option.default).partition("=")[2]
                )
                value = flag.options or default
                return UsageError(
                    message,
                    f"'{option.flag}' is an option of a pass; write -{entry.flag}='{option.flag}={value}'",
                )
    names = flag.name.split(",")
    if len(names) > 1 and all(map(find_entry, names)):
        return UsageError(message, f"write {' '.join(f'-{name}' for name in names)}")
    help = nearest(flag.name, [*FLAGS, *(entry.flag for entry in entries)]).replace("'", "'--", 1)
    return UsageError(message, of_other_tool(flag.name) or help or plugins_not_loaded())


def selected_sdy_version(arguments: Arguments) -> AbstractContextManager[None]:
    """Follows the selected release of Shardy within the `with` block."""
    return following(arguments["sdy-version"])


def build_job(arguments: Arguments, pipeline: Pipeline) -> Job:
    """The job of the arguments, without the input data."""
    check_files(arguments, [arguments.input])
    analyses, analysis_warnings = analyses_of(arguments, pipeline, build_pipeline)
    options = _JobOptions(arguments)
    return Job(
        name=STDIN_NAME if arguments.input == STDIN else arguments.input,
        pipeline=pipeline,
        write_log=write_to_stderr,
        write_file=write_file,
        paint=choose_paint(arguments["color"]),
        columns=_terminal_columns(STDERR_NUMBER) or _given_columns() or DEFAULT_COLUMNS,
        folds_help=(_terminal_columns(STDERR_NUMBER) or _given_columns()) > 0,
        max_op_lines=_max_op_lines(arguments["max-diagnostic-op-lines"], is_for_people=bool(analyses)),
        split_marker=arguments["split-input-file"],
        output_split_marker=arguments["output-split-marker"],
        allow_unregistered_dialects=arguments["allow-unregistered-dialect"],
        mesh_version=int(arguments["mesh-version"]),
        verifies_input=not arguments["mlir-very-unsafe-disable-verifier-on-parsing"],
        verify_each=arguments["verify-each"] if "verify-each" in arguments.values else None,
        verify_roundtrip=arguments["verify-roundtrip"],
        verify_diagnostics=arguments["verify-diagnostics"],
        werror=options.werror(),
        print_op_on_diagnostic=arguments["mlir-print-op-on-diagnostic"],
        verbosity=arguments["mlir-diagnostic-verbosity-level"],
        hides_notes=arguments["mlir-disable-diagnostic-notes"],
        shows_trace=arguments["mlir-print-stacktrace-on-diagnostic"],
        implicit_module=not arguments["no-implicit-module"],
        is_anchored=arguments["pass-pipeline"] is not None,
        dump_pipeline=arguments["dump-pass-pipeline"],
        bytecode=options.bytecode(),
        print_options=options.print_options(),
        ir_printing=options.ir_printing_options(),
        assume_verified=arguments["mlir-print-assume-verified"],
        debug_counters=options.debug_counters(),
        prints_debug_counters=arguments["mlir-print-debug-counter"],
        bisect_limit=arguments["opt-bisect-limit"],
        log_action=None if arguments["log-actions-to"] is None else open_log(arguments["log-actions-to"]),
        timing=arguments["mlir-timing-display"] if arguments["mlir-timing"] else "",
        timing_as_json=arguments["mlir-output-format"] == "json",
        statistics=arguments["mlir-pass-statistics-display"] if arguments["mlir-pass-statistics"] else "",
        warnings=(*flag_warnings(arguments), *analysis_warnings),
        analyses=analyses,
        width=output_width(),
        run_reproducer=arguments["run-reproducer"],
        crash_reproducer=arguments["mlir-pass-pipeline-crash-reproducer"],
        local_reproducer=options.local_reproducer(),
        reproducer=arguments["mlir-generate-reproducer"],
    )


@dataclass(frozen=True)
class _JobOptions:
    """The options of a job, as the arguments give them."""

    arguments: Arguments

    def werror(self) -> bool:
        """Whether warnings are errors. Raises UsageError with --verify-diagnostics."""
        if self.arguments["werror"] and self.arguments["verify-diagnostics"]:
            message = "the --werror option cannot be used with --verify-diagnostics"
            raise UsageError(
                message, "remove --werror: a warning that no comment expects is an error already"
            )
        return bool(self.arguments["werror"])

    def bytecode(self) -> BytecodeRequest | None:
        """The bytecode that is written; None for text. Raises UsageError for a version that there is not."""
        target, version = self.arguments["target"] or "", self.arguments["emit-bytecode-version"]
        if not self.arguments["emit-bytecode"] and not target:
            return None
        flag = "--target" if target else "--emit-bytecode"
        if self.arguments["split-input-file"]:
            raise UsageError(f"the {flag} option writes one program", "remove --split-input-file")
        if target and self.arguments["emit-bytecode"]:
            message = "the --target option writes bytecode in the version that the artifact has"
            raise UsageError(message, "remove --emit-bytecode")
        if version is not None and not 0 <= version <= NEWEST_BYTECODE:
            message = f"unsupported version requested {version}, must be in range [0, {NEWEST_BYTECODE}]"
            raise UsageError(f"for the --emit-bytecode-version option: {message}")
        return BytecodeRequest(
            NEWEST_BYTECODE if version is None else version,
            self.arguments["elide-resource-data-from-bytecode"],
            target,
        )

    def local_reproducer(self) -> bool:
        """Whether the crash reproducer is a local one. Raises UsageError without a file for it."""
        flag, file_flag = "mlir-pass-pipeline-local-reproducer", "mlir-pass-pipeline-crash-reproducer"
        if self.arguments[flag] and not self.arguments[file_flag]:
            raise UsageError(f"the --{flag} option has no file to write to", f"add --{file_flag}=FILE")
        return bool(self.arguments[flag])

    def print_options(self) -> PrintOptions:
        return PrintOptions(
            generic=self.arguments["mlir-print-op-generic"],
            debuginfo=self.arguments["mlir-print-debuginfo"],
            pretty_debuginfo=self.arguments["mlir-pretty-debuginfo"],
            local_scope=self.arguments["mlir-print-local-scope"],
            elide_elements_larger_than=self.arguments["mlir-elide-elementsattrs-if-larger"],
            elide_resources_larger_than=self.arguments["mlir-elide-resource-strings-if-larger"],
            hex_elements_larger_than=self.arguments["mlir-print-elementsattrs-with-hex-if-larger"],
            value_users=self.arguments["mlir-print-value-users"],
            unique_ssa_ids=self.arguments["mlir-print-unique-ssa-ids"],
            skip_regions=self.arguments["mlir-print-skip-regions"],
            names_from_locations=self.arguments["mlir-use-nameloc-as-prefix"],
        )

    def ir_printing_options(self) -> IRPrintingOptions:
        only_on_change = self.arguments["mlir-print-ir-after-change"]
        only_on_failure = self.arguments["mlir-print-ir-after-failure"]
        after = self._selected_passes("mlir-print-ir-after")
        if self.arguments["mlir-print-ir-after-all"] or (not after and (only_on_change or only_on_failure)):
            after = None
        return IRPrintingOptions(
            before=None
            if self.arguments["mlir-print-ir-before-all"]
            else self._selected_passes("mlir-print-ir-before"),
            after=after,
            only_on_change=only_on_change,
            only_on_failure=only_on_failure,
            module_scope=self.arguments["mlir-print-ir-module-scope"],
            tree_directory=self.arguments["mlir-print-ir-tree-dir"],
            # A program of a later LLVM is one for mlir-opt.
            are_headers_of_mlir_opt=int(self.arguments["mesh-version"]) > 19,
        )

    def debug_counters(self) -> dict[str, int] | None:
        """The settings of `--mlir-debug-counter`; None if actions are not counted. Raises UsageError."""
        settings = {}
        for text in self.arguments["mlir-debug-counter"]:
            name, _, number = text.partition("=")
            names = [f"{tag}-{end}" for tag in COUNTED for end in ("skip", "count")]
            if name not in names:
                message = f"for the --mlir-debug-counter option: no counter has the setting '{name}'"
                raise UsageError(message, nearest_or_all(name, names))
            try:
                settings[name] = read_uint(number)
            except ValueError as problem:
                raise UsageError(f"for the --mlir-debug-counter option: {problem}") from None
        return settings if settings or self.arguments["mlir-print-debug-counter"] else None

    def _selected_passes(self, flag: str) -> frozenset[str] | None:
        for name in self.arguments[flag]:
            if find_entry(name) is None:
                help = nearest(name, [entry.flag for entry in all_passes()]) or LIST_PASSES
                raise UsageError(f"for the --{flag} option: Cannot find option named '{name}'!", help)
        return frozenset(self.arguments[flag])


def output_width() -> int:
    """The columns of stdout, if it is a terminal; else those of the variable COLUMNS, or DEFAULT_WIDTH."""
    return _terminal_columns(STDOUT_NUMBER) or _given_columns() or DEFAULT_WIDTH


def _given_columns() -> int:
    """The columns of the variable COLUMNS; 0 if it is no sensible number."""
    given = os.environ.get("COLUMNS", "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 6 else 0


def _terminal_columns(file_number: int) -> int:
    """The columns of a file descriptor, if it is a terminal; otherwise 0.

    A terminal of a container may have no size: then the variable COLUMNS has it, or it is DEFAULT_COLUMNS.
    """
    try:
        columns = os.get_terminal_size(file_number).columns
    except OSError:
        return 0
    return columns or _given_columns() or DEFAULT_COLUMNS


def _max_op_lines(value: int | None, is_for_people: bool = False) -> int:
    """The maximum number of lines of an operation in a diagnostic; 0 for no limit.

    What is only parsed or transformed has the diagnostics of MLIR, unless a terminal shows them.
    """
    if value is not None:
        return value
    return TERMINAL_OP_LINES if is_for_people or _terminal_columns(STDERR_NUMBER) else 0


def choose_paint(mode: str) -> Paint:
    """The coloring of diagnostics: `always`, `never`, or by NO_COLOR, FORCE_COLOR and the terminal."""
    if mode in ("", "auto"):
        if os.environ.get("NO_COLOR"):
            return leave_plain
        is_terminal = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        mode = "always" if is_terminal or os.environ.get("FORCE_COLOR") else "never"
    if mode == "never":
        return leave_plain
    from sdyopt.base.diagnostics.render import paint

    return paint


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
        _options(analysis, arguments)
        for analysis in all_analyses()
        if any(flag.name in arguments.values for flag in analysis.flags())
    ]
    request = CommandLine(arguments, pipeline, build, given)
    prepared = [options.prepared(request) for options in given]
    return tuple(analysis for analysis in prepared if analysis.is_needed), request.warnings


def _options(options: type[AnalysisOptions], arguments: Arguments) -> AnalysisOptions:
    values: dict[str, Any] = {flag.name.replace("-", "_"): arguments[flag.name] for flag in options.flags()}
    for name, value in values.items():
        if value is not None and options.__annotations__[name].startswith(TextFile.__name__):
            values[name] = _text_file(value)
    return options(**values)


def _text_file(path: str) -> TextFile:
    return TextFile(path, read_input(path, MOST_OF_OPTION_FILE).decode("utf-8", "surrogateescape"))


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
            f"-{step.name}={step.options}" if step.options else f"-{step.name}"
            for step in self._arguments.passes
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

    def read_text(self, path: str) -> TextFile:
        """A small file, such as one of settings."""
        return _text_file(path)

    def warn(self, message: str, help: str) -> None:
        """Adds a warning."""
        self.warnings.append(flag_warning(message, help))

    def prints_other(self, options: AnalysisOptions) -> bool:
        """Whether another analysis replaces the program on stdout."""
        others = [other for other in self._given if type(other) is not type(options)]
        return any(other.replaces_output for other in others)


def flag_warnings(arguments: Arguments) -> Iterator[Diagnostic]:
    """A warning for each flag without effect."""
    for flag in FLAGS.values():
        if (
            flag.needs
            and flag.name in arguments.values
            and arguments[flag.name] != flag.default
            and not any(arguments[other] for other in flag.needs)
        ):
            yield flag_warning(f"the --{flag.name} option has no effect", f"add --{flag.needs[0]}")


def flag_warning(message: str, help: str) -> Diagnostic:
    """A warning about a flag without effect."""
    return Diagnostic(Severity.WARNING, UnknownLoc(), message, help=help, id=FLAG_WITHOUT_EFFECT)
