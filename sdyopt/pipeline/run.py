"""Running a pipeline on a program, watched by instruments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sdyopt.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity, emit, watching
from sdyopt.diagnostics.usage import nearest
from sdyopt.ir.edit_log import EditLog, recording
from sdyopt.ir.operation import Op
from sdyopt.ir.traits import ISOLATED
from sdyopt.pipeline.base import Pass
from sdyopt.pipeline.tree import ANY, Pipeline


class Verify(Protocol):
    """Says of an operation, valid before, whether it still is, and emits why not."""

    def verify_edits(self, op: Op, edits: EditLog) -> bool:
        """After edits inside it."""

    def around(self, op: Op) -> bool:
        """After operations in it have been verified by themselves: whether they fit together."""


class Instrument:
    """Watches a pipeline run: base of IR printing, timing and the like. What is not needed stays empty."""

    def before_pass(self, single: Pass, op: Op) -> None:
        pass

    def after_pass(self, single: Pass, op: Op, changed: bool) -> None:
        pass

    def after_pass_failed(self, single: Pass, op: Op) -> None:
        pass

    def before_pipeline(self, pipeline: Pipeline) -> None:
        """A nested pipeline starts; its passes follow, on one operation after the other."""

    def after_pipeline(self, pipeline: Pipeline) -> None:
        pass


class PipelineFailure(Exception):
    """A pass failed, and has said why."""


def run_pipeline(
    pipeline: Pipeline,
    op: Op,
    verify: Verify | None = None,
    instruments: Sequence[Instrument] = (),
) -> bool:
    """Runs a pipeline on an operation. Returns whether it succeeded; if not, why has been emitted.

    `verify` checks what a pass has changed, and what is around it when a nested pipeline ends.
    """
    try:
        if pipeline.anchor not in (ANY, op.signature.name):
            raise _misanchored(pipeline, op)
        _Runner(verify, instruments).run_on(pipeline.merged(), op)
    except DiagnosticError as error:
        emit(error.diagnostic)
        return False
    except PipelineFailure:
        return False
    return True


class _Runner:
    def __init__(self, verify: Verify | None, instruments: Sequence[Instrument]) -> None:
        self._verify = verify
        # Whether a pass has changed something in the nested pipeline that is running.
        self._changed = False
        self._instruments = instruments
        self._outermost_first = list(instruments)
        self._innermost_first = list(reversed(instruments))

    def run_on(self, pipeline: Pipeline, op: Op) -> None:
        for element in pipeline.elements:
            if isinstance(element, Pass):
                self._run_pass(element, op)
            else:
                self._run_nested(element, op)

    def _run_nested(self, pipeline: Pipeline, parent: Op) -> None:
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
                # The others have their turn, so that one run shows what is wrong with each.
                has_failed = True
        for instrument in self._innermost_first:
            instrument.after_pipeline(pipeline)
        if has_failed or (self._changed and self._verify and not self._verify.around(parent)):
            raise PipelineFailure
        self._changed |= changed_before

    def run_inside(self, passes: Sequence[Pass], ops: Sequence[Op]) -> None:
        """Runs passes on each of some operations, for a pass that itself edits them in between."""
        has_failed = False
        for op in ops:
            try:
                for single in passes:
                    self._run_pass(single, op, verifies_all=True)
            except PipelineFailure:
                has_failed = True
        if has_failed:
            raise PipelineFailure

    def _run_pass(self, single: Pass, op: Op, verifies_all: bool = False) -> None:
        _check_schedule(single, op)
        for instrument in self._outermost_first:
            instrument.before_pass(single, op)
        try:
            with recording() as edits:
                edits.is_unbounded = verifies_all
                changed = self._run_checked(single, op)
            self._changed |= changed
            is_new = changed or verifies_all
            if is_new and self._verify is not None and not self._verify.verify_edits(op, edits):
                raise PipelineFailure
        except PipelineFailure:
            for instrument in self._innermost_first:
                instrument.after_pass_failed(single, op)
            raise
        for instrument in self._innermost_first:
            instrument.after_pass(single, op, changed)

    def _run_checked(self, single: Pass, op: Op) -> bool:
        """Runs a pass. One that emits an error has failed, as one that raises it has."""
        errors: list[Diagnostic] = []

        def watch(diagnostic: Diagnostic) -> None:
            if diagnostic.severity is Severity.ERROR and diagnostic.is_fatal:
                errors.append(diagnostic)

        changed = False
        with watching(watch):
            try:
                changed = single.run_with(op, self.run_inside)
            except DiagnosticError as error:
                emit(error.diagnostic)
        if errors:
            raise PipelineFailure
        return changed


def _misanchored(pipeline: Pipeline, op: Op) -> DiagnosticError:
    anchor, name = pipeline.anchor, op.signature.name
    error = DiagnosticError.at(op.location, f"can't run '{anchor}' pass manager on '{name}' op")
    is_short = name.endswith(f".{anchor}")
    meant = nearest(name if is_short else anchor, (name, ANY))
    return error.help(meant or f"write {name}({pipeline})")


def _check_schedule(single: Pass, op: Op) -> None:
    """A pass may only change what is inside its operation, so nothing else may be in reach."""
    if single.anchor not in (None, op.signature.name):
        raise op.op_error("trying to schedule a pass on an unsupported operation")
    if not op.has_trait(ISOLATED):
        raise op.op_error("trying to schedule a pass on an operation not marked as 'IsolatedFromAbove'")
