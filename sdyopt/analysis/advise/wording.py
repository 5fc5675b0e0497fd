"""Moves in words: what to write, where, and what is written there now."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.analysis.figures.source_locations import Phase, source_location
from sdyopt.analysis.figures.user_lines import UserLines, operation_text
from sdyopt.analysis.trials.annotation_edits import Change, is_input
from sdyopt.analysis.trials.moves import Move
from sdyopt.analysis.trials.originals import Gradients
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import BlockArgument, OpResult
from sdyopt.mlir.value_names import name_of, name_of_result
from sdyopt.shardy.record import FunctionResult


class PlaceNames:
    """The names of places in texts: that of an argument or result, or the line that a person would change."""

    def __init__(self, module: Op) -> None:
        self._lines = UserLines.of_module(module)
        self._gradients = Gradients(module)

    def heading(self, move: Move) -> str:
        """The annotation in the words of JAX programs."""
        names = list(dict.fromkeys(map(self.of, move.changes)))
        if move.title:
            return f"{move.title}: {_first(names)}"
        change = next((each for each in move.changes if not each.how), move.changes[0])
        spec = change.jax or sdy_text(change.sharding)
        if change.is_boundary:
            return f"shard {_first(names)} as {spec}"
        if change.replaced is not None:
            lines = dict.fromkeys(self.of(each) for each in move.changes if each.replaced is not None)
            return f"{_first(list(lines))}: write {spec} in with_sharding_constraint"
        return f"{self.of(change)}: jax.lax.with_sharding_constraint(…, {spec}){change.how}"

    def of(self, change: Change) -> str:
        """`params['w']`, `result[0]`, or `model.py:12 (dot_general)`."""
        subject = change.subject
        if isinstance(subject, FunctionResult):
            return name_of_result(subject.function, subject.result_index) or f"result {subject.result_index}"
        if isinstance(subject, BlockArgument) and change.is_boundary:
            return name_of(subject) or f"argument {subject.index}"
        location = source_location(subject.location)
        line = self._lines.chosen(location).file_text or "unknown location"
        if change.replaced is not None:
            # A statement constrains the gradient, too.
            return f"{line} (sharding_constraint)"
        weight = self._gradients.value(subject) if change.how else None
        if isinstance(weight, BlockArgument) and is_input(weight) and (name := name_of(weight)):
            return f"the gradient of {name}"
        op = operation_text(subject.op) if isinstance(subject, OpResult) else "a loop's value"
        # JAX gives what computes the gradient of an operand the line of the operation.
        gradient = "gradient of an operand of " if location.phase is Phase.BACKWARD else ""
        return f"{gradient}{line} ({op})"


def _first(names: Sequence[str]) -> str:
    """`params['w'] and 3 more`; two are named both."""
    return " and ".join(names) if len(names) <= 2 else f"{names[0]} and {len(names) - 1} more"


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
