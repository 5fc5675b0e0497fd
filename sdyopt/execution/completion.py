"""Partitioning of a program that is not partitioned yet, from the stage that it has reached."""

from __future__ import annotations

from sdyopt.diagnostics.diagnostic import Diagnostic, Severity, handling
from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.sdy.collective_base import CollectiveOp
from sdyopt.execution.failure import NotValidated
from sdyopt.pipeline.run import Verify, run_pipeline
from sdyopt.pipeline.text import parse_passes
from sdyopt.registry import lookup

_WHOLE = "sdy-partition-pipeline"
# For a program with collectives: a second `sdy-insert-explicit-reshards` would reduce partial results again.
_AFTER_COLLECTIVES = (
    "sdy-resolve-permutation-factors,func.func(sdy-reshard-to-collectives),func.func(sdy-pad-for-divisibility),"
    "sdy-convert-global-to-local{combine-multi-dimension-reduce-scatter=true},cse,sdy-finish-partitioning"
)


def partitioning_of(before: ModuleOp, after: ModuleOp) -> str:
    """The passes that partition a program after other passes."""
    return _AFTER_COLLECTIVES if _collectives(after) > _collectives(before) else _WHOLE


def _collectives(module: ModuleOp) -> int:
    return sum(isinstance(op, CollectiveOp) for op in module.walk())


def partition(module: ModuleOp, passes: str, verify: Verify) -> None:
    """Runs passes on a program, in place. Raises NotValidated with the first error."""
    errors: list[Diagnostic] = []

    def keep(diagnostic: Diagnostic) -> None:
        if diagnostic.severity is Severity.ERROR:
            errors.append(diagnostic)

    with handling(keep):
        succeeded = run_pipeline(parse_passes(passes, lookup), module, verify)
    if not succeeded:
        message = errors[0].message.partition("\n")[0] if errors else "a pass failed"
        raise NotValidated(f"it cannot be partitioned: {message}")
