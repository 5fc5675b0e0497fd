"""Moves in words: what to write, where, and what is written there now."""

from __future__ import annotations

from sdyopt.analysis.figures.source_locations import Phase, source_location
from sdyopt.analysis.trials.annotation_edits import Change
from sdyopt.analysis.trials.moves import Move
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.ir.value import BlockArgument, OpResult
from sdyopt.mlir.value_names import name_of, name_of_result
from sdyopt.shardy.record import FunctionResult


def heading(move: Move) -> str:
    """The annotation in the words of JAX programs."""
    if move.title:
        return f"{move.title}: {_names(move)}"
    change = move.changes[0]
    spec = change.jax or sdy_text(change.sharding)
    if isinstance(change.subject, FunctionResult) or change.is_boundary:
        return f"shard {_names(move)} as {spec}"
    where = place_text(change)
    if change.replaced is not None:
        return f"{where}: write {spec} in with_sharding_constraint"
    return f"{where}: jax.lax.with_sharding_constraint(…, {spec})"


def _names(move: Move) -> str:
    """`params['w'] and 3 more`."""
    names = list(dict.fromkeys(place_text(change) for change in move.changes))
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def place_text(change: Change) -> str:
    subject = change.subject
    if isinstance(subject, FunctionResult):
        return name_of_result(subject.function, subject.result_index) or f"result {subject.result_index}"
    if isinstance(subject, BlockArgument) and change.is_boundary:
        return name_of(subject) or f"argument {subject.index}"
    location = source_location(subject.location)
    op = subject.op.signature.name.partition(".")[2] if isinstance(subject, OpResult) else "a loop's value"
    # JAX gives what computes the gradient of an operand the line of the operation.
    gradient = "gradient of an operand of " if location.phase is Phase.BACKWARD else ""
    return f"{gradient}{location.file_text or 'unknown location'} ({op})"


def current(move: Move) -> str:
    change = move.changes[0]
    if move.title or isinstance(change.subject, FunctionResult):
        return ""
    current = sharding_of(change.subject)
    if current is None:
        return "without an annotation"
    return change._replace(sharding=current).jax or sdy_text(current)


def sdy_text(sharding: TensorSharding) -> str:
    return TensorSharding.assembly.text(sharding)
