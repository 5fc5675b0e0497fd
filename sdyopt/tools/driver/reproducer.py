"""Reproducers: programs whose external resources contain the pipeline to run:

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(cse)",
      disable_threading: true,
      verify_each: true
    }
  }
#-}
"""

from __future__ import annotations

from collections.abc import Callable

from sdyopt.base.dataclasses import dataclass
from sdyopt.base.diagnostics.diagnostic import DiagnosticError, emit
from sdyopt.base.diagnostics.ids import REPRODUCER, identify
from sdyopt.base.diagnostics.location import quoted
from sdyopt.mlir.asm.resources import Resources
from sdyopt.mlir.ir.attribute import StringAttr
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline.base import Pass
from sdyopt.mlir.pipeline.run import Instrument
from sdyopt.mlir.pipeline.tree import Pipeline

SECTION, GROUP = "external_resources", "mlir_reproducer"
END = "#-}\n"

# Group -> key -> text of the value.
Groups = dict[str, dict[str, str]]


@dataclass(frozen=True, slots=True)
class Reproducer:
    """The pipeline of a reproducer, and its option `verify_each`; None if absent."""

    pipeline: str | None = None
    verify_each: bool | None = None


def detach_reproducer(resources: Resources) -> Reproducer:
    """Removes the reproducer from the resources of a program and returns it."""
    entries = resources.external.pop(GROUP, {})
    pipeline, verify_each = entries.get("pipeline"), entries.get("verify_each")
    return Reproducer(
        None if pipeline is None else pipeline.strip().removeprefix('"').removesuffix('"'),
        None if verify_each is None else verify_each.strip() == "true",
    )


def reproducer_group(pipeline: Pipeline, verify_each: bool) -> Groups:
    """The resource group of a reproducer."""
    entries = {
        "pipeline": quoted(str(pipeline)),
        "disable_threading": "true",
        "verify_each": "true" if verify_each else "false",
    }
    return {GROUP: entries}


def with_external_resources(text: str, groups: Groups) -> str:
    """A printed program with external resource groups appended, after its dialect resources if any."""
    if not any(groups.values()):
        return text
    section = f"  {SECTION}: {{\n{_print_groups(groups)}\n  }}\n{END}"
    if text.endswith(END):
        return f"{text.removesuffix(END).rstrip()},\n{section}"
    return f"{text}\n{{-#\n{section}"


def _print_groups(groups: Groups) -> str:
    return ",\n".join(
        f"    {name}: {{\n" + ",\n".join(f"      {key}: {value}" for key, value in group.items()) + "\n    }"
        for name, group in groups.items()
        if group
    )


# `--mlir-pass-pipeline-crash-reproducer`: records the program and the passes of a pipeline that fails.
#
# A reproducer contains the program before the first pass, and all passes. A local reproducer contains the
# program before the pass that failed, and this pass alone.


# (program, pipeline) -> the text of a reproducer.
PrintReproducer = Callable[[Op, Pipeline], str]


class CrashReproducer(Instrument):
    """Records the program before the first pass, and the pass that started last."""

    def __init__(self, root: Op, pipeline: Pipeline, print: PrintReproducer) -> None:
        self._text = print(root, pipeline)
        self._description = self._flag = ""
        self._location = root.location

    def before_pass(self, pass_: Pass, op: Op) -> None:
        self._flag = pass_.flag
        self._description = f"[`{pass_.label()}` on '{op.signature.name}' operation]"

    def text(self) -> str:
        """The reproducer."""
        return self._text

    def emit_error(self, path: str) -> None:
        """Emits an error that names the pass and the file of the reproducer. Called after `text`."""
        message = "Failures have been detected while processing an MLIR pass pipeline"
        error = DiagnosticError.at(self._location, message)
        note = f"Pipeline failed while executing {self._description}: reproducer generated at `{path}`"
        identify(error.note(note).diagnostic, REPRODUCER, self._flag)
        emit(error.diagnostic)


class LocalReproducer(CrashReproducer):
    """Copies the operation of each pass before the pass runs, until a pass fails."""

    def __init__(self, root: Op, print: PrintReproducer) -> None:
        self._root = root
        self._print = print
        self._description = self._flag = ""
        self._location = root.location
        # The running passes, innermost last, each with its operation and a copy from before the pass.
        self._running: list[tuple[Pass, Op, Op]] = []
        self._failed: tuple[Pass, Op, Op] | None = None

    def before_pass(self, pass_: Pass, op: Op) -> None:
        if self._failed is None:
            self._running.append((pass_, op, Rewriter().clone(op)))

    def after_pass(self, pass_: Pass, op: Op, changed: bool) -> None:
        if self._failed is None:
            self._running.pop()

    def after_pass_failed(self, pass_: Pass, op: Op) -> None:
        if self._failed is None:
            self._failed = self._running.pop()

    def text(self) -> str:
        failed = self._failed or next(reversed(self._running), None)
        if failed is None:
            return self._print(self._root, Pipeline())
        pass_, op, before = failed
        self._flag, self._location = pass_.flag, op.location
        self._description = f"`{pass_.label()}` on '{op.signature.name}' operation{_symbol(op)}"
        pipeline = Pipeline(op.signature.name, [pass_])
        for ancestor in op.ancestors():
            pipeline = Pipeline(ancestor.signature.name, [pipeline])
        return self._print(self._with_copy(op, before), pipeline)

    def _with_copy(self, op: Op, before: Op) -> Op:
        """A copy of the program `root` with `before` in place of `op`."""
        if op is self._root:
            return before
        rewriter = Rewriter()
        copy = rewriter.clone(self._root)
        [replaced] = [
            twin for original, twin in zip(self._root.walk(), copy.walk(), strict=True) if original is op
        ]
        rewriter.insert(before, before=replaced)
        rewriter.replace(replaced, before.results)
        return copy


def _symbol(op: Op) -> str:
    name = op.attribute("sym_name")
    return f": @{name.value}" if isinstance(name, StringAttr) else ""
