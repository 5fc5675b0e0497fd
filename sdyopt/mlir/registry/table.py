"""The table of registered passes and pipelines, filled when their modules are imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import TypeVar

from sdyopt.base.dataclasses import dataclass, field
from sdyopt.base.diagnostics.usage import UsageError
from sdyopt.base.releases import Behavior
from sdyopt.mlir.pipeline.base import Option, OptionValue, Pass, declared_options, manual_text, read_options
from sdyopt.mlir.pipeline.tree import Pipeline

P = TypeVar("P", bound=type[Pass])
Builder = Callable[..., Sequence[Pass | Pipeline]]


@dataclass(frozen=True, slots=True)
class PassEntry:
    """A registered pass."""

    flag: str
    pass_class: type[Pass]
    # Whether help lists it. A pass that only pipelines contain is unlisted, but registered so that pipeline
    # text can name it.
    is_listed: bool = True
    # What the first release with the pass is asked for; None if all releases have it.
    since: Behavior | None = None
    is_pass: bool = field(default=True, init=False)

    @property
    def module(self) -> str:
        return self.pass_class.__module__

    @property
    def manual(self) -> str:
        return self.pass_class.manual()

    def options(self) -> tuple[Option, ...]:
        return self.pass_class.options()

    def build(self, option_text: str) -> Sequence[Pass]:
        """The pass with these options, as a list of one.

        Raises UsageError for invalid options, and if the release that is followed lacks the pass.
        """
        if self.since is not None and not self.since.active:
            message = f"'{self.flag}' does not refer to a registered pass or pass pipeline"
            raise UsageError(message, f"the pass came with {self.since.since.name}; change --sdy-version")
        return self.create(read_options(self.options(), option_text))

    def create(self, values: Mapping[str, OptionValue]) -> Sequence[Pass]:
        """The pass with these option values, given by option name, as a list of one."""
        defaults = {option.name: option.default for option in self.options() if option.since}
        return [self.pass_class(**{**defaults, **values})]


@dataclass(frozen=True, slots=True)
class PipelineEntry:
    """A registered pass pipeline: a function that returns passes and nested pipelines."""

    flag: str
    builder: Builder
    is_listed: bool = field(default=True, init=False)
    is_pass: bool = field(default=False, init=False)

    @property
    def module(self) -> str:
        return self.builder.__module__

    @property
    def manual(self) -> str:
        builder = self.builder
        return manual_text(builder.__doc__, builder.__module__, builder.__qualname__.split("."))

    def options(self) -> tuple[Option, ...]:
        return declared_options(self.builder)

    def build(self, option_text: str) -> Sequence[Pass | Pipeline]:
        """The passes of the pipeline with these options; raises UsageError for invalid options."""
        return self.create(read_options(self.options(), option_text))

    def create(self, values: Mapping[str, OptionValue]) -> Sequence[Pass | Pipeline]:
        """The passes of the pipeline with these option values, given by option name."""
        return self.builder(**values)


entries: dict[str, PassEntry | PipelineEntry] = {}


def register(flag: str, is_listed: bool = True, since: Behavior | None = None) -> Callable[[P], P]:
    """Class decorator: registers a pass by its flag.

    `since`: the releases of Shardy without this behaviour lack the pass.
    """

    def add(cls: P) -> P:
        cls.flag = flag
        _add(PassEntry(flag, cls, is_listed, since))
        return cls

    return add


def register_pipeline(flag: str) -> Callable[[Builder], Builder]:
    """Decorator that registers a function that returns passes.

    Parameters whose default is `option(…)` are the options of the pipeline.

    @register_pipeline("sdy-export-pipeline")
    def export_pipeline(enable_insert_explicit_collectives: bool = option(default=False, help="…")):
        return [SinkDataFlowEdges(), CloseShardings()]
    """

    def add(function: Builder) -> Builder:
        @wraps(function)
        def with_defaults(**values: object) -> Sequence[Pass | Pipeline]:
            defaults = {option.name: option.default for option in declared_options(function)}
            return function(**defaults | values)

        _add(PipelineEntry(flag, with_defaults))
        return with_defaults

    return add


def _add(entry: PassEntry | PipelineEntry) -> None:
    other = entries.get(entry.flag)
    if other is not None and not other.module == entry.module == _INTERACTIVE:
        raise UsageError(f"'{entry.flag}' is defined twice, by {other.module} and by {entry.module}")
    entries[entry.flag] = entry


# The module of definitions in a notebook. Running a cell again replaces the passes that it defines.
_INTERACTIVE = "__main__"
