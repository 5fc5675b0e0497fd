"""The interface of analyses, which report on a program before and after the passes of a run.

An analysis is a folder of `sdyopt/analysis/`. Its `__init__` declares the options, whose fields are the flags
of the command line:

    class Options(AnalysisOptions):
        order, group = 90, REPORTS
        count_ops: bool = flag(default=False, help="print how many operations the program has")

        @property
        def is_needed(self) -> bool:
            return self.count_ops

Its module `analysis` is imported only if the analysis is needed. It has the class that reads the programs:

    class CountOps(Analysis[Options]):
        def on_output(self, program: Program) -> None:
            self.texts.append(f"{sum(1 for _ in program.op.walk())} operations\n")

Parsing, help, completion, checks of files and the order of calls follow from the declaration.

Analyses of other packages are plugins:

    [project.entry-points."sdyopt.analyses"]
    op-count = "my_package.op_count:Options"

declares the options of an analysis of another package, for `--load-analysis-plugin=op-count`. Without a
package, they are the `Options` of a file, for `--load-analysis-plugin=./op_count.py`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar, dataclass_transform, get_args

from sdyopt.analysis.interface.flag import Flag, TextFile, flag
from sdyopt.base.dataclasses import dataclass, field, fields
from sdyopt.base.diagnostics.usage import UsageError

if TYPE_CHECKING:  # every run imports the declarations of flags, but few run an analysis
    from sdyopt.base.diagnostics.location import Source
    from sdyopt.mlir.asm.parser.module_parser import ParseOptions
    from sdyopt.mlir.asm.parser.ssa_scope import ParseRecord
    from sdyopt.mlir.ir.dialect import DialectTable
    from sdyopt.mlir.ir.operation import Op
    from sdyopt.mlir.pipeline.run import Verify
    from sdyopt.mlir.pipeline.tree import Pipeline


T = TypeVar("T")
AnyOptions = TypeVar("AnyOptions", bound="AnalysisOptions")

_KINDS: dict[str, type[bool] | type[int]] = {"bool": bool, "int": int}


class Request(Protocol):
    """The command line, as options see it that are prepared for a run.

    `input` is the argument for the input, `-` for stdin. `pipeline` is that of the run, and `pipeline_text`
    what was given for it.
    """

    @property
    def input(self) -> str: ...
    @property
    def pipeline(self) -> Pipeline: ...
    @property
    def pipeline_text(self) -> str: ...

    def pipeline_in(self, release: str) -> Pipeline:
        """The pipeline as it is in another release of Shardy. Raises UsageError."""

    def __getitem__(self, flag: str) -> Any:
        """The value of any flag, or its default."""

    def name_of(self, path: str) -> str:
        """The name of a file, which is another name for stdin alone."""

    def read(self, path: str) -> bytes:
        """The content of a file. Raises FileProblem."""

    def read_text(self, path: str) -> TextFile:
        """A small file, such as one of settings. Raises FileProblem."""

    def warn(self, message: str, help: str) -> None:
        """Adds a warning about a flag without effect."""

    def prints_other(self, options: AnalysisOptions) -> bool:
        """Whether another analysis than that of these options replaces the program on stdout."""


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(flag, field))
class AnalysisOptions:
    """Options of an analysis. A subclass is a frozen dataclass; its fields with `flag` are flags.

    At each hook, analyses of a lower `order` are called first. `group` is that of the flags in help.
    `needs_module`: the program must be a module. `needs_before`: `Program.before` must be kept.
    `needs_parse_record`: the parser must fill `Program.parse_record`.
    """

    order: ClassVar[int]
    group: ClassVar[str] = ""
    needs_module: ClassVar[bool] = False
    needs_before: ClassVar[bool] = False
    needs_parse_record: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)

    @property
    def is_needed(self) -> bool:
        """Whether the analysis runs."""
        raise NotImplementedError

    @property
    def replaces_output(self) -> bool:
        """Whether the texts of the analysis replace the program on stdout."""
        return False

    @property
    def needs_collectives(self) -> bool:
        """Whether it tells about what devices run: without passes, those of `DEFAULT_PIPELINE` run."""
        return False

    @property
    def hides_unchanged(self) -> bool:
        """Whether a program on which no named pass ran is only printed with -o."""
        return self.needs_collectives

    def prepared(self: AnyOptions, request: Request) -> AnyOptions:
        """These options with all that they need from the command line. Raises UsageError and FileProblem."""
        return self

    def start(self, run: Run) -> Analysis[Any]:
        """The analysis of a run. Raises DiagnosticError, UsageError and JobFailed."""
        module = import_module(f"{type(self).__module__}.analysis")
        for var in vars(module).values():
            if getattr(var, "options_class", None) is type(self):
                analysis: Analysis[Any] = var(self, run)
                return analysis
        raise TypeError(f"{module.__name__} has no Analysis[{type(self).__name__}]")

    @classmethod
    def flags(cls) -> Sequence[Flag]:
        """The flags in the order of their declaration."""
        return [
            _complete(name, item.metadata["flag"], cls.__annotations__[name].partition(" ")[0], cls.group)
            for name, item in fields(cls).items()
            if "flag" in item.metadata
        ]


def _complete(name: str, declared: Flag, type_name: str, group: str) -> Flag:
    """A flag with what follows from its field: the name, and the type of the value."""
    kind = _KINDS.get(type_name, str)
    return declared._replace(
        name=name.replace("_", "-"),
        group=declared.group or group,
        implied="true" if kind is bool else declared.implied,
        kind=kind,
        is_list=type_name.startswith("tuple") and not declared.repeats,
        reads=declared.reads or type_name == TextFile.__name__,
    )


class Run(Protocol):
    """A run, as its analyses see it: the whole input, and where text goes.

    `name` is the name of the input. `width` is the number of columns of stdout.
    """

    @property
    def name(self) -> str: ...
    @property
    def source(self) -> Source: ...
    @property
    def dialects(self) -> DialectTable: ...
    @property
    def parse_options(self) -> ParseOptions: ...
    @property
    def pipeline(self) -> Pipeline: ...
    @property
    def width(self) -> int: ...

    def write_file(self, path: str, text: str) -> None:
        """Writes a file."""

    def check_is_one_chunk(self, other: str, help: str) -> None:
        """Raises DiagnosticError, about something `other` that is one, if the input has several chunks."""

    def run_other(self, name: str, data: bytes, pipeline: Pipeline, analysis: AnalysisOptions) -> None:
        """Runs a pipeline on another program, for another analysis. Raises JobFailed after errors."""


@dataclass(eq=False)
class Program:
    """A program of the run: the whole input, or a chunk of it.

    `op` is its operation, which passes change; `before` is a copy from before the passes, and `parse_record`
    has the names and offsets in the source, if an analysis needs them. `pipeline` is what runs, and `verify`
    verifies programs. `assumption` is a sentence about passes that run, or do not, because none
    are given; "" if some are. `compiled` takes a report and returns the `Compiled` of `figures`, None if no
    compiler is to be asked; it raises DiagnosticError. `printed` is the program to print, if that is
    not the one after the passes.
    """

    op: Op
    source: Source
    dialects: DialectTable
    parse_options: ParseOptions
    text: Callable[[], str]
    verify: Verify
    pipeline: Pipeline
    before: Op | None = None
    parse_record: ParseRecord | None = None
    assumption: str = ""
    compiled: Callable[[Any], Any] = lambda _: None
    printed: Op | None = None
    _shared: dict[object, Any] = field(default_factory=dict)

    @property
    def after_given_passes(self) -> Op:
        """The program after the passes that are given, before those that only other analyses assume."""
        return self.op if self.before is None or not self.assumption else self.before

    def shared(self, make: Callable[[Program], T]) -> T:
        """The result of a function for this program, computed once for all analyses."""
        if make not in self._shared:
            self._shared[make] = make(self)
        made: T = self._shared[make]
        return made


class Analysis(Generic[AnyOptions]):
    """Reads the programs of one run. The constructor raises DiagnosticError for an invalid file.

    `texts` are printed to stdout after all programs ran. `is_passed` becomes False if a check rejects a
    program: then the run fails. `phase` is the name under which the hooks are timed.
    """

    options_class: ClassVar[type[AnalysisOptions]]
    phase: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        [base] = [item for item in cls.__dict__["__orig_bases__"] if get_args(item)]
        [cls.options_class] = get_args(base)

    def __init__(self, options: AnyOptions, run: Run) -> None:
        self.options = options
        self.run = run
        self.texts: list[str] = []
        self.is_passed = True

    @property
    def compiler(self) -> str:
        """The compiler of the machine that an analysis read as its `_topology`; "" without one."""
        compiler: str = getattr(getattr(self, "_topology", None), "compiler", "")
        return compiler

    def on_input(self, program: Program) -> None:
        """Reads a program that has been parsed and verified."""

    def around_passes(self, program: Program) -> AbstractContextManager[None]:
        """A context in which the passes run."""
        return nullcontext()

    def before_passes(self, program: Program) -> None:
        """Reads a program before the passes, which it must not change. May set `program.printed`."""

    def run_passes(self, program: Program) -> Op | None:
        """Runs the passes in place of the run; None if the run is to do so."""
        return None

    def partitioned(self, program: Program) -> Op | None:
        """The program after the assumed passes, if the analysis runs them on a copy anyway.

        None if the run is to run them, such as to emit diagnostics. Not called if anything observes them.
        """
        return None

    def on_result(self, program: Program) -> None:
        """Reads a program after its passes."""

    def on_output(self, program: Program) -> None:
        """Reads a program after it is printed."""

    def on_end(self) -> None:
        """All programs are done."""


ANALYSIS_GROUP = "sdyopt.analyses"
_PACKAGE = "sdyopt.analysis"
_FOLDER = __file__.removesuffix("__init__.py") + "../"


def all_analyses() -> list[type[AnalysisOptions]]:
    """The options of all analyses, in their order. The analyses themselves are not imported."""
    if not _analyses:
        # Not `pkgutil`, which imports `inspect`; and not `pathlib`, which takes longer.
        rooms = _folders("")
        folders = [*rooms, *(f"{room}/{name}" for room in rooms for name in _folders(room))]
        with_analysis = [name for name in folders if os.path.exists(f"{_FOLDER}{name}/analysis.py")]  # noqa: PTH110
        _analyses.extend(
            import_module(f"{_PACKAGE}.{name.replace('/', '.')}").Options for name in with_analysis
        )
        _analyses.sort(key=lambda options: options.order)
    return _analyses


def _folders(folder: str) -> list[str]:
    return [name for name in os.listdir(_FOLDER + folder) if "." not in name]  # noqa: PTH208


def load_analysis_plugin(name: str) -> type[AnalysisOptions]:
    """Adds the analysis of an entry point; raises UsageError if it cannot be loaded."""
    from sdyopt.mlir.registry.plugins import load_plugin

    failure = f"Failed to load an analysis from '{name}'"
    options = load_plugin(ANALYSIS_GROUP, name, failure, "Options")
    if not (isinstance(options, type) and issubclass(options, AnalysisOptions)):
        raise UsageError(f"{failure}: the entry point is not a subclass of AnalysisOptions")
    if options not in all_analyses():
        _analyses.append(options)
        _analyses.sort(key=lambda cls: cls.order)
    return options


_analyses: list[type[AnalysisOptions]] = []
