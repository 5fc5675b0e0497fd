"""Partitioning of a program that is not partitioned yet, from the stage that it has reached."""

from __future__ import annotations

from sdyopt.analysis.execution.failure import NotValidated
from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity, handling
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.collectives import CollectiveOp
from sdyopt.mlir.pipeline import Pass, Pipeline
from sdyopt.mlir.pipeline.run import Verify, run_pipeline
from sdyopt.mlir.registry import lookup

_WHOLE = "sdy-partition-pipeline"
# A second run, on a program with collectives, would reduce partial results again.
_ONCE = "sdy-insert-explicit-reshards"


def partitioning_of(before: ModuleOp, after: ModuleOp) -> Pipeline:
    """The passes that partition a program after other passes."""
    pipeline = Pipeline()
    pipeline.add_nested(lookup(_WHOLE).build(""))
    if _collectives(after) <= _collectives(before):
        return pipeline
    flags = [_flags(element) for element in pipeline.elements]
    (position,) = [position for position, each in enumerate(flags) if _ONCE in each]
    return Pipeline(pipeline.anchor, pipeline.elements[position + 1 :])


def _flags(element: Pass | Pipeline) -> list[str]:
    passes = [element] if isinstance(element, Pass) else element.passes()
    return [each.flag for each in passes]


def _collectives(module: ModuleOp) -> int:
    return sum(isinstance(op, CollectiveOp) for op in module.walk())


def partition(module: ModuleOp, pipeline: Pipeline, verify: Verify) -> None:
    """Runs passes on a program, in place. Raises NotValidated with the first error."""
    errors: list[Diagnostic] = []

    def keep(diagnostic: Diagnostic) -> None:
        if diagnostic.severity is Severity.ERROR:
            errors.append(diagnostic)

    with handling(keep):
        succeeded = run_pipeline(pipeline, module, verify)
    if not succeeded:
        message = errors[0].message.partition("\n")[0] if errors else "a pass failed"
        raise NotValidated(f"it cannot be partitioned: {message}")
