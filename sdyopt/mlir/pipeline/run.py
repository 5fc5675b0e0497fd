"""The pass manager: runs a pipeline on an operation, with instruments and verification."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity, emit, watching
from sdyopt.base.diagnostics.ids import PASS, PIPELINE_ERROR, VERIFY_ERROR, identified, identify
from sdyopt.base.diagnostics.usage import nearest
from sdyopt.mlir.ir.attribute import StringAttr
from sdyopt.mlir.ir.edit_log import EditLog, current_log, recording
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import APPLY_PATTERN
from sdyopt.mlir.ir.traits import ISOLATED
from sdyopt.mlir.pipeline.base import Pass
from sdyopt.mlir.pipeline.tree import ANY, Pipeline


class Verify(Protocol):
    """Verifies operations that were valid before, and emits errors."""

    def verify_edits(self, op: Op, edits: EditLog) -> bool:
        """Whether `op` is valid after edits inside it."""

    def verify_regions(self, op: Op) -> bool:
        """Whether `op` is valid, after its nested operations have been verified one by one."""


class Instrument:
    """Base class of pass instrumentation (IR printing, timing). All callbacks are optional."""

    def admits(self, pass_: Pass, op: Op) -> bool:
        """Whether a pass runs; called once for each run, before all other callbacks."""
        return True

    def before_pass(self, pass_: Pass, op: Op) -> None:
        pass

    def after_pass(self, pass_: Pass, op: Op, changed: bool) -> None:
        pass

    def after_pass_failed(self, pass_: Pass, op: Op) -> None:
        pass

    def before_pipeline(self, pipeline: Pipeline) -> None:
        """Called before a nested pipeline runs on all its operations."""

    def after_pipeline(self, pipeline: Pipeline) -> None:
        pass


class Bisection(Instrument):
    """Runs only the first `limit` passes, all of them for -1, and writes a line for each (`OptBisect`)."""

    def __init__(self, limit: int, write: Callable[[str], object]) -> None:
        self._limit = limit
        self._write = write
        self._number = 0

    def admits(self, pass_: Pass, op: Op) -> bool:
        self._number += 1
        runs = self._limit < 0 or self._number <= self._limit
        symbol = op.signature.attributes.get("sym_name")
        name = f" @{symbol.value}" if isinstance(symbol, StringAttr) else ""
        words = "running" if runs else "NOT running"
        self._write(f"BISECT: {words} pass ({self._number}) {pass_.flag} on {op.signature.name}{name}\n")
        return runs


# The actions that are counted: runs of passes, and attempts to apply patterns.
PASS_EXECUTION: Final = "pass-execution"
COUNTED: Final = (PASS_EXECUTION, APPLY_PATTERN)


class DebugCounters(Instrument):
    """Runs only some of the actions of each kind (`mlir::tracing::DebugCounter`).

    `settings` are `TAG-skip`, how many do not run at first, and `TAG-count`, how many run after these.
    """

    def __init__(self, settings: Mapping[str, int]) -> None:
        self._settings = settings
        self._counts = dict.fromkeys(COUNTED, 0)

    def executes(self, tag: str) -> bool:
        """Counts an action; whether it runs."""
        self._counts[tag] += 1
        number = self._counts[tag] - self._settings.get(f"{tag}-skip", 0)
        limit = self._settings.get(f"{tag}-count", -1)
        return number > 0 and (limit < 0 or number <= limit)

    def admits(self, pass_: Pass, op: Op) -> bool:
        return self.executes(PASS_EXECUTION)

    def __str__(self) -> str:
        """The number of actions of each kind, and the settings, as MLIR prints them."""
        rows = []
        for tag, count in sorted(self._counts.items()):
            settings = [self._settings.get(f"{tag}-skip", 0), self._settings.get(f"{tag}-count", -1)]
            rows.append(f"{tag:<32}: {{{','.join(map(str, [count, *settings]))}}}\n")
        return "".join(["DebugCounter counters:\n", *rows])


class PipelineFailure(Exception):
    """A pass, or the verification after it, failed; the errors are already emitted."""


def run_pipeline(
    pipeline: Pipeline,
    op: Op,
    verify: Verify | None = None,
    instruments: Sequence[Instrument] = (),
) -> bool:
    """Runs a pipeline on an operation. Returns whether it succeeded; errors are emitted.

    After each pass that changed something, `verify` verifies its operation; after each nested pipeline that
    did, its parent operation.
    """
    try:
        if pipeline.anchor not in (ANY, op.signature.name):
            raise _wrong_anchor_error(pipeline, op)
        _Runner(verify, instruments).run_on(pipeline.merged(), op)
    except DiagnosticError as error:
        identify(error.diagnostic, PIPELINE_ERROR)
        emit(error.diagnostic)
        return False
    except PipelineFailure:
        return False
    return True


class _Runner:
    def __init__(self, verify: Verify | None, instruments: Sequence[Instrument]) -> None:
        self._verify = verify
        # Whether a pass of the current nested pipeline has changed something.
        self._changed = False
        self._outermost_first = list(instruments)
        self._innermost_first = list(reversed(instruments))

    def run_on(self, pipeline: Pipeline, op: Op) -> None:
        for element in pipeline.elements:
            if isinstance(element, Pass):
                self._run_pass(element, op)
            else:
                self._run_nested_pipeline(element, op)

    def _run_nested_pipeline(self, pipeline: Pipeline, parent: Op) -> None:
        for instrument in self._outermost_first:
            instrument.before_pipeline(pipeline)
        changed_before, self._changed = self._changed, False
        has_failed = False
        for child in [child for region in parent.regions for block in region.blocks for child in block.ops]:
            if pipeline.anchor not in (child.signature.name, ANY):
                continue
            try:
                self.run_on(pipeline, child)
            except PipelineFailure:
                # Run on the other operations, so that one run reports the errors of each.
                has_failed = True
        for instrument in self._innermost_first:
            instrument.after_pipeline(pipeline)
        if has_failed or not self._verify_regions(parent):
            raise PipelineFailure
        self._changed |= changed_before

    def _verify_regions(self, parent: Op) -> bool:
        if not self._changed or self._verify is None:
            return True
        with identified(VERIFY_ERROR):
            return self._verify.verify_regions(parent)

    def run_nested(self, passes: Sequence[Pass], ops: Sequence[Op]) -> None:
        """Implements `RunNested`. Verifies operations in full: the calling pass may have edited them, too.

        The operations that enclose them are verified after the calling pass.
        """
        edits = current_log()
        has_failed = False
        for op in ops:
            try:
                for pass_ in passes:
                    if self._run_pass(pass_, op, verifies_all=True):
                        edits.changed_inside.add(op)
            except PipelineFailure:
                has_failed = True
        if has_failed:
            raise PipelineFailure

    def _run_pass(self, pass_: Pass, op: Op, verifies_all: bool = False) -> bool:
        """Runs a pass, and verifies the operation; returns whether it changed something."""
        _check_schedule(pass_, op)
        if not all(instrument.admits(pass_, op) for instrument in self._outermost_first):
            return False
        for instrument in self._outermost_first:
            instrument.before_pass(pass_, op)
        try:
            with recording() as edits:
                edits.needs_full_verification = verifies_all
                changed = self._run_checked(pass_, op)
            self._changed |= changed
            # The edits of a plugin's pass that wrongly reports no change are verified, too.
            must_verify = changed or not edits.is_empty
            if must_verify and not self._verify_edits(pass_, op, edits):
                raise PipelineFailure
        except PipelineFailure:
            for instrument in self._innermost_first:
                instrument.after_pass_failed(pass_, op)
            raise
        if verifies_all:
            # The calling pass may still refer to them.
            current_log().erased += edits.erased
        else:
            edits.release_erased()
        edits.clear()
        for instrument in self._innermost_first:
            instrument.after_pass(pass_, op, changed)
        return changed

    def _verify_edits(self, pass_: Pass, op: Op, edits: EditLog) -> bool:
        if self._verify is None:
            return True
        with identified(VERIFY_ERROR, pass_.flag):
            return self._verify.verify_edits(op, edits)

    def _run_checked(self, pass_: Pass, op: Op) -> bool:
        """Runs a pass; returns whether it changed something. Emitting a fatal error counts as failure."""
        errors: list[Diagnostic] = []

        def watch(diagnostic: Diagnostic) -> None:
            identify(diagnostic, f"{PASS}/{pass_.flag}", pass_.flag)
            if diagnostic.severity is Severity.ERROR and diagnostic.is_fatal:
                errors.append(diagnostic)

        changed = False
        with watching(watch):
            try:
                changed = pass_.run_with(op, self.run_nested)
            except DiagnosticError as error:
                emit(error.diagnostic)
            except PipelineFailure:
                raise
            except Exception as error:
                # A bug, which the caller reports. The note names the innermost pass.
                if not getattr(error, "__notes__", ()):
                    error.add_note(f"while running pass '{pass_.flag}' on '{op.signature.name}'")
                raise
        if errors:
            raise PipelineFailure
        return changed


def _wrong_anchor_error(pipeline: Pipeline, op: Op) -> DiagnosticError:
    anchor, name = pipeline.anchor, op.signature.name
    error = DiagnosticError.at(op.location, f"can't run '{anchor}' pass manager on '{name}' op")
    lacks_namespace = name.endswith(f".{anchor}")
    suggestion = nearest(name if lacks_namespace else anchor, (name, ANY))
    return error.help(suggestion or f"write {name}({pipeline})")


def _check_schedule(pass_: Pass, op: Op) -> None:
    """Raises DiagnosticError unless the pass may run on the operation, which must be isolated from above."""
    if pass_.anchor not in (None, op.signature.name):
        raise op.op_error("trying to schedule a pass on an unsupported operation")
    if not op.has_trait(ISOLATED):
        raise op.op_error("trying to schedule a pass on an operation not marked as 'IsolatedFromAbove'")
