"""The passes of a pipeline one by one, and what runs them: this project, or the C++ passes of jaxlib."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from sdyopt.analysis.execution.failure import NotValidated
from sdyopt.analysis.execution.process import Worker
from sdyopt.base.dataclasses import dataclass, field
from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity, handling
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.module_parser import parse_module
from sdyopt.mlir.asm.printer.asm_printer import PrintOptions, print_op
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import Pass, Pipeline
from sdyopt.mlir.pipeline.option import write_options
from sdyopt.mlir.pipeline.run import Verify, run_pipeline
from sdyopt.mlir.registry import all_dialects, find_dialect


@dataclass(frozen=True)
class Step:
    """One pass: its flag, and the pipeline that runs it."""

    flag: str
    pipeline: Pipeline

    @property
    def text(self) -> str:
        """The pipeline, with the options that do not have their defaults."""
        return _text(self.pipeline)


def _text(element: Pass | Pipeline) -> str:
    if isinstance(element, Pipeline):
        return f"{element.anchor}({','.join(map(_text, element.elements))})"
    changed = tuple(each for each in element.options() if getattr(element, each.name) != each.default)
    return element.flag + write_options(changed, element)


_WITH_LOCATIONS = PrintOptions(debuginfo=True)
# It writes the program to a file and changes nothing.
_SAVE = "sdy-save-module"


def steps_of(pipeline: Pipeline) -> Iterator[Step]:
    """The passes of a pipeline in order; passes on functions run on all functions, one pass at a time."""
    for element in pipeline.elements:
        if isinstance(element, Pass) and element.flag != _SAVE:
            yield Step(element.flag, Pipeline(pipeline.anchor, [element]))
        elif isinstance(element, Pipeline):
            for step in steps_of(element):
                yield Step(step.flag, Pipeline(pipeline.anchor, [step.pipeline]))


class Runner(Protocol):
    """Runs steps on a copy of a program."""

    def run(self, program: ModuleOp, steps: Sequence[Step]) -> list[ModuleOp]:
        """The program after each step. Raises NotValidated if one fails."""


@dataclass(frozen=True)
class OwnPasses:
    """Runs the passes of this project."""

    verify: Verify

    def run(self, program: ModuleOp, steps: Sequence[Step]) -> list[ModuleOp]:
        """The program after each step."""
        programs: list[ModuleOp] = []
        for step in steps:
            program = _copy(program)
            _run(program, step, self.verify)
            programs.append(program)
        return programs


def _copy(program: ModuleOp) -> ModuleOp:
    copy = Rewriter().clone(program)
    assert isinstance(copy, ModuleOp)
    return copy


def _run(program: ModuleOp, step: Step, verify: Verify) -> None:
    errors: list[Diagnostic] = []

    def keep(diagnostic: Diagnostic) -> None:
        if diagnostic.severity is Severity.ERROR:
            errors.append(diagnostic)

    with handling(keep):
        succeeded = run_pipeline(step.pipeline, program, verify)
    if not succeeded:
        message = errors[0].message.partition("\n")[0] if errors else "it failed"
        raise NotValidated(f"'{step.flag}': {message}")


@dataclass(frozen=True)
class ReferencePasses:
    """Runs the C++ passes of jaxlib, and those of this project that jaxlib does not have.

    `note_own` is called with the flag of each pass of this project that runs.
    """

    worker: Worker
    verify: Verify
    note_own: Callable[[str], None] = field(default=lambda flag: None)

    def run(self, program: ModuleOp, steps: Sequence[Step]) -> list[ModuleOp]:
        """The program after each step."""
        programs: list[ModuleOp] = []
        remaining = list(steps)
        while remaining:
            request = {
                "program": print_op(program, _WITH_LOCATIONS),
                "pipelines": [step.text for step in remaining],
            }
            answers = self.worker.run("reference", {**request, "devices": 1})
            texts = [answer["text"] for answer in answers if "text" in answer]
            programs += map(_parse, texts)
            program = programs[-1] if programs else program
            del remaining[: len(texts)]
            last = answers[-1]
            if "failed" in last:
                message = " ".join(last["failed"].split())[:200]
                raise NotValidated(f"'{remaining[0].flag}' of C++: {message}")
            if remaining and "unknown" in last:
                self.note_own(remaining[0].flag)
                programs += OwnPasses(self.verify).run(program, [remaining.pop(0)])
                program = programs[-1]
            elif remaining:
                raise NotValidated(f"'{remaining[0].flag}' of C++ ends the process")
        return programs


def _parse(text: str) -> ModuleOp:
    try:
        program, _ = parse_module(Source("<reference>", text), DialectTable(find_dialect, all_dialects))
    except DiagnosticError as error:
        raise NotValidated(f"the output of C++ cannot be read: {error}") from None
    assert isinstance(program, ModuleOp)
    return program
