"""Pass pipelines from text, from flags, and from names with keyword options.

Passes and dialects of other packages are plugins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sdyopt.base.dataclasses import replace
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.diagnostics.usage import UsageError, nearest_or_all
from sdyopt.base.releases import followed_release
from sdyopt.mlir.asm.parser.module_parser import ParseOptions
from sdyopt.mlir.asm.resources import Resources
from sdyopt.mlir.ir.edit_log import current_log
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.pipeline import base
from sdyopt.mlir.pipeline.base import MODULE, Option, OptionValue, Scalar
from sdyopt.mlir.pipeline.tree import Pipeline
from sdyopt.mlir.registry import PassEntry, PipelineEntry, all_passes, lookup, plugins, register
from sdyopt.mlir.registry.discovery import read_pipeline
from sdyopt.tools.api.errors import pipeline_error, require_text
from sdyopt.tools.api.program import IrProgram
from sdyopt.tools.api.rewriting import Rewriter

P = TypeVar("P", bound=type[base.Pass])


class Pass(base.Pass):
    """Base class of passes, whose options are fields. The docstring is the manual.

    @sdyopt.register_pass("drop-names")
    class DropNames(sdyopt.Pass):
        attribute: str = sdyopt.option(default="name", help="the attribute that contains the name")

        def rewrite(self, rewriter: sdyopt.Rewriter) -> None:
            for operation in rewriter.walk():
                rewriter.remove_attribute(operation, self.attribute)

    A pass that sets `anchor = "func.func"` runs on each function.
    """

    def rewrite(self, rewriter: Rewriter) -> None:
        """Edits the program. To fail, raise `operation.error(message)`."""
        raise NotImplementedError

    def run(self, op: Op) -> bool:
        """Calls `rewrite`."""
        options = ParseOptions(allow_unregistered_dialects=True)
        program = IrProgram(op, Source("", ""), Resources(), options, 19, followed_release().name)
        program.editing = nullcontext
        rewriter = Rewriter(program, current_log())
        self.rewrite(rewriter)
        return rewriter.changed


def register_pass(name: str) -> Callable[[P], P]:
    """Decorator of the class of a pass, which has this name in pipelines, and as a flag of `sdy-opt`."""
    return register(name)


class PassPipeline:
    """Passes with their options. `str` is the text of the pipeline, as `--dump-pass-pipeline` prints it."""

    __slots__ = ("ir",)

    ir: Pipeline

    def __init__(self, ir: Pipeline) -> None:
        self.ir = ir

    def __str__(self) -> str:
        return str(self.ir)

    def __repr__(self) -> str:
        return f"PassPipeline({str(self.ir)!r})"


# What runs on a module: the text of a pipeline, a pipeline, or an instance of a pass class.
Passes = str | PassPipeline | base.Pass


@dataclass(frozen=True, slots=True)
class PassInfo:
    """A pass or a pipeline. `options` has the default of each option by name."""

    name: str
    summary: str
    options: dict[str, Any]
    manual: str = field(repr=False)

    @classmethod
    def _of(cls, entry: PassEntry | PipelineEntry) -> PassInfo:
        first_line = entry.manual.partition("\n")[0]
        options = {option.name: option.default for option in entry.options()}
        return cls(entry.flag, first_line.partition(": ")[2].rstrip("."), options, entry.manual)


def list_passes() -> list[PassInfo]:
    """All passes and pipelines, sorted by name."""
    return [PassInfo._of(entry) for entry in all_passes()]


def create_pass(name: str, /, **options: object) -> PassPipeline:
    """A pass or pipeline with these options, whose names have underscores in place of dashes.

    Raises PipelineError for an unknown pass or option and for an invalid value.
    """
    require_text("the name of a pass", name)
    try:
        entry = lookup(name.lstrip("-"))
        pipeline = Pipeline()
        pipeline.add_nested(entry.create(_option_values(entry, options)))
    except UsageError as error:
        raise pipeline_error(error) from None
    return PassPipeline(pipeline)


def combined_pipeline(passes: Sequence[Passes], options: Mapping[str, object]) -> Pipeline:
    """A pipeline of all passes in order. Raises PipelineError. Options need a single name."""
    if options:
        if len(passes) == 1 and isinstance(passes[0], str):
            return create_pass(passes[0], **options).ir
        problem = UsageError(
            "options are for the name of a single pass", "use create_pass(name, …) for each pass"
        )
        raise pipeline_error(problem)
    combined = Pipeline()
    try:
        for step in passes:
            combined.add_nested(_elements(step))
    except UsageError as error:
        raise pipeline_error(error) from None
    return combined


def _elements(passes: Passes) -> Sequence[base.Pass | Pipeline]:
    if isinstance(passes, base.Pass):
        return [passes]
    if not isinstance(passes, str | PassPipeline):
        raise TypeError(
            f"passes are text, what create_pass returns, or instances of pass classes, not {passes!r}"
        )
    if isinstance(passes, str):
        require_text("a pipeline", passes)
    pipeline = passes.ir if isinstance(passes, PassPipeline) else read_pipeline(passes)
    return pipeline.elements if pipeline.anchor == MODULE else [pipeline]


def _option_values(entry: PassEntry | PipelineEntry, given: Mapping[str, object]) -> dict[str, OptionValue]:
    by_name = {option.name: option for option in entry.options()}
    values = {}
    for name, value in given.items():
        option = by_name.get(name)
        if option is None:
            help = nearest_or_all(name, by_name) or "the pass has no options"
            raise UsageError(f"'{entry.flag}' has no option '{name}'", help)
        values[name] = _checked(option, value)
    return values


def _checked(option: Option, value: object) -> OptionValue:
    """The value of an option, given as a Python value or as text. Raises UsageError if it is invalid."""
    if option.is_list and isinstance(value, list | tuple):
        elements = [_checked(replace(option, is_list=False), item) for item in value]
        return tuple([element for element in elements if not isinstance(element, tuple)])
    if not isinstance(value, Scalar):
        raise UsageError(f"for the --{option.flag} option: {value!r} is not a value of an option")
    return option.read(option.kind.write(value) if isinstance(value, bool) else str(value))


def load_pass_plugin(name: str) -> None:
    """Registers the passes of an entry point of the group `sdyopt.passes`; raises PipelineError."""
    require_text("the name of a plugin", name)
    try:
        plugins.load_pass_plugin(name)
    except UsageError as error:
        raise pipeline_error(error) from None


def load_dialect_plugin(name: str) -> None:
    """Registers the dialect of an entry point of the group `sdyopt.dialects`; raises PipelineError."""
    require_text("the name of a plugin", name)
    try:
        plugins.load_dialect_plugin(name)
    except UsageError as error:
        raise pipeline_error(error) from None
