"""The pass manager: runs a pipeline on an operation, with instruments and verification."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity, emit, watching
from sdyopt.base.diagnostics.ids import PASS, PIPELINE_ERROR, VERIFY_ERROR, identified, identify
from sdyopt.base.diagnostics.usage import nearest
from sdyopt.mlir.ir.attribute import StringAttr
from sdyopt.mlir.ir.edit_log import current_log, recording
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import APPLY_PATTERN
from sdyopt.mlir.ir.symbols import SYMBOL_TABLE
from sdyopt.mlir.ir.traits import ISOLATED
from sdyopt.mlir.pipeline.base import Pass
from sdyopt.mlir.pipeline.tree import ANY, Pipeline


class Verify(Protocol):
    """Verifies operations, and emits errors. `ir.verify.Verifier` implements it."""

    def verify(self, op: Op) -> bool:
        """Whether `op` and everything nested in it is valid."""

    def verify_regions(self, op: Op) -> bool:
        """Whether `op` is valid, after its nested operations have been verified one by one."""

    def is_valid(self, op: Op) -> bool:
        """As `verify`, but discards errors."""


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


class OptBisect(Instrument):
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

    After each pass, `verify` verifies its operation; after each nested pipeline, its parent operation.
    """
    return _run(pipeline, op, _Runner(verify, instruments))


def _run(pipeline: Pipeline, op: Op, runner: _Runner) -> bool:
    try:
        if pipeline.anchor not in (ANY, op.signature.name):
            raise _wrong_anchor_error(pipeline, op)
        runner.run_on(pipeline.merged(), op)
    except DiagnosticError as error:
        identify(error.diagnostic, PIPELINE_ERROR)
        emit(error.diagnostic)
        return False
    except PipelineFailure:
        return False
    return True


def run_and_verify(
    pipeline: Pipeline,
    op: Op,
    verify: Verify,
    restart: Callable[[], Op],
    instruments: Sequence[Instrument] = (),
) -> bool:
    """As `run_pipeline`, but verifies the operation once, after the last pass. It must be valid before.

    If that fails, or a pass does, the passes run again, with verification after each: so errors are those of
    the first pass that leaves an invalid program. `restart` forgets the diagnostics of the first run, and
    returns the operation as it was. The first run verifies after each pass, too, if one is of a plugin or
    writes files, and if symbol tables are nested, between which passes move what uses symbols.
    """
    is_verified_once = all(is_own_pass(pass_) and not pass_.writes_files for pass_ in pipeline.passes())
    children = (child for region in op.regions for block in region.blocks for child in block.ops)
    if not is_verified_once or any(SYMBOL_TABLE in child.traits for child in children):
        return run_pipeline(pipeline, op, verify, instruments)
    problem: Exception | None = None
    try:
        if _run(pipeline, op, _Runner(verify, instruments, is_verified_once=True)) and verify.is_valid(op):
            return True
    except MemoryError:
        raise
    except Exception as error:  # a pass may rely on a valid program
        problem = error
    op = restart()
    if not run_pipeline(pipeline, op, verify):
        return False
    with identified(VERIFY_ERROR):
        is_valid = verify.verify(op)
    if is_valid:
        raise problem or RuntimeError(f"'{pipeline}' fails only without verification after each pass")
    return False


def is_own_pass(pass_: Pass) -> bool:
    """Whether a pass is one of this project, not of a plugin."""
    return type(pass_).__module__.partition(".")[0] in ("passes", "sdyopt")


class _Runner:
    def __init__(
        self, verify: Verify | None, instruments: Sequence[Instrument], is_verified_once: bool = False
    ) -> None:
        self._verify = verify
        self._is_verified_once = is_verified_once
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

    def _verify_regions(self, parent: Op) -> bool:
        if self._verify is None or self._is_verified_once:
            return True
        with identified(VERIFY_ERROR):
            return self._verify.verify_regions(parent)

    def run_nested(self, passes: Sequence[Pass], ops: Sequence[Op]) -> None:
        """Implements `RunNested`. The operations that enclose them are verified after the calling pass."""
        has_failed = False
        for op in ops:
            try:
                for pass_ in passes:
                    self._run_pass(pass_, op, is_nested=True)
            except PipelineFailure:
                has_failed = True
        if has_failed:
            raise PipelineFailure

    def _run_pass(self, pass_: Pass, op: Op, is_nested: bool = False) -> None:
        """Runs a pass, and verifies the operation."""
        # Raises DiagnosticError unless the pass may run on the operation, which must be isolated from above.
        if pass_.anchor not in (None, op.signature.name):
            raise op.op_error("trying to schedule a pass on an unsupported operation")
        if not op.has_trait(ISOLATED):
            raise op.op_error("trying to schedule a pass on an operation not marked as 'IsolatedFromAbove'")
        if not all(instrument.admits(pass_, op) for instrument in self._outermost_first):
            return
        for instrument in self._outermost_first:
            instrument.before_pass(pass_, op)
        try:
            with recording() as edits:
                changed = self._run_checked(pass_, op)
            self._is_verified_once &= not edits.may_be_invalid
            self._check_valid(pass_, op)
        except PipelineFailure:
            for instrument in self._innermost_first:
                instrument.after_pass_failed(pass_, op)
            raise
        if is_nested:
            # The calling pass may still refer to them.
            current_log().erased += edits.erased
        else:
            edits.release_erased()
        for instrument in self._innermost_first:
            instrument.after_pass(pass_, op, changed)

    def _check_valid(self, pass_: Pass, op: Op) -> None:
        """Raises PipelineFailure if a pass has made the operation invalid."""
        if self._verify is None or self._is_verified_once:
            return
        with identified(VERIFY_ERROR, pass_.flag):
            if not self._verify.verify(op):
                raise PipelineFailure

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
