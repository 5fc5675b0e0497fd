"""Remedies: what a user may write to save something, each tried on the program.

remedy = remedy_of([Change(argument, sharding, mesh)], names)
found = Remedies(trials).best([remedy], Measure.WIRE)
found.help                         # shard the input w as P('x'), and below: tried: sends …
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple

from sdyopt.analysis.figures.execution_counts import functions_in
from sdyopt.analysis.figures.source_locations import Phase, source_location
from sdyopt.analysis.figures.user_lines import UserLines, operation_text
from sdyopt.analysis.trials.annotation_edits import Change, is_input
from sdyopt.analysis.trials.effect import Effect, Measure, best_of
from sdyopt.analysis.trials.originals import Gradients
from sdyopt.analysis.trials.trials import Edit, Passes, Trials
from sdyopt.base.dataclasses import dataclass, replace
from sdyopt.base.diagnostics.text import counted
from sdyopt.mlir.asm.printer.ssa_names import SsaNames
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.value_shardings import owning_op
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.symbols import symbol_name
from sdyopt.mlir.ir.value import BlockArgument, Value
from sdyopt.mlir.pipeline.option import OptionValue
from sdyopt.mlir.value_names import result_text
from sdyopt.shardy.record import FunctionResult, Subject

# Texts for JAX name at most this many of the values of a remedy.
_SHOWN_IN_JAX = 2


@dataclass(frozen=True)
class Remedy:
    """An annotation for a program of JAX, and the edit of a copy that does it.

    `sdy` are its changes in Shardy's words. `subjects` are changed. A remedy may be passes that run before
    partitioning.
    """

    text: str
    sdy: tuple[str, ...]
    edit: Edit | None
    subjects: frozenset[object] = frozenset()
    passes: Passes | None = None
    changes: tuple[Change, ...] = ()


class Tried(NamedTuple):
    """A remedy that was tried, and its effect. `is_first`: on the program without another one."""

    remedy: Remedy
    effect: Effect
    is_first: bool = True

    @property
    def help(self) -> str:
        """The annotation, its effect, what the effect depends on, and Shardy's words, each in a line."""
        after = "" if self.is_first else " with the changes above"
        cost = ", at a cost" if self.effect.is_worse else ""
        lines = [f"{self.remedy.text}{cost}", f"tried{after}: {self.effect.figures_text}"]
        if not self.effect.holds:
            lines.append(f"risk: {self.effect.risk}")
        if self.remedy.sdy:
            first, *others = self.remedy.sdy
            lines.append(f"in sdy: {first}{f'; {len(others)} more' if others else ''}")
        return "\n  ".join(lines)


class ValueNames:
    """Names values of a program as it is printed, and arguments as JAX names them.

    `in_source` are the names of values that the program was read with.
    """

    def __init__(self, module: Op, in_source: Mapping[Value, str] = MappingProxyType({})) -> None:
        self._names = {**SsaNames(module).names, **in_source}
        self._lines = UserLines.of_module(module)
        self._gradients = Gradients(module)
        self._has_one_function = len(functions_in(module)) == 1

    def sdy(self, subject: Subject) -> str:
        """`%5`, or `%5 of @f` if there are several functions."""
        if isinstance(subject, FunctionResult):
            return ""
        op = owning_op(subject)
        function = op if isinstance(op, FuncOp) else op.parent_of_type(FuncOp)
        name = self._names[subject]
        if self._has_one_function or function is None:
            return name
        return f"{name} of @{symbol_name(function)}"

    def jax(self, subject: Subject) -> str:
        """`params['w']` for an argument with a name, `the dot_general at model.py:12` for a value of JAX."""
        if isinstance(subject, FunctionResult):
            return ""
        location = source_location(subject.location)
        if is_input(subject):
            return location.name_stack or self._names[subject]
        gradient = "in the backward pass of " if location.phase is Phase.BACKWARD else ""
        if not location.line:
            return self._names[subject]
        if not location.name_stack:
            return f"{self._names[subject]} ({gradient}{location.file_text})"
        weight = self._gradients.value(subject) if gradient else None
        if isinstance(weight, BlockArgument) and is_input(weight) and weight is not subject:
            return f"the gradient of {self.jax(weight)}"
        name = operation_text(owning_op(subject))
        line = self._lines.chosen(location).file_text
        return f"the {name} {gradient}{line}" if gradient else f"the {name} at {line}"

    def statements(self, changes: Sequence[Change]) -> str:
        """`moe.py:46`: where JAX programs write the constraints; "" if one of them is none of JAX.

        A statement constrains the gradient, too.
        """
        found: dict[str, None] = {}
        for change in changes:
            location = source_location(change.replaced.location) if change.replaced is not None else None
            if location is None or not location.line or not location.name_stack:
                return ""
            found[self._lines.chosen(location).file_text] = None
        first, *others = found
        if len(others) > 1:
            return f"{first} and {len(others)} other lines"
        return " and ".join(found)


def remedy_of(changes: Sequence[Change], names: ValueNames) -> Remedy:
    """The remedy of several changes to be made together."""
    first = changes[0]
    text = first.text(names.jax(first.named))
    if lines := names.statements(changes):
        text = first.text_at(lines)
    elif others := changes[1:]:
        is_inside = not first.is_boundary and first.replaced is None
        if is_inside and len(others) == 1:
            # JAX constrains the gradient by itself.
            text = f"{text}, which constrains its gradient, too"
        else:
            # Those of other layers have the same name.
            like = list(dict.fromkeys(_subject_text(each, names) for each in changes))[1:]
            more = len(like) - _SHOWN_IN_JAX
            listed = ", ".join(like[:_SHOWN_IN_JAX]) + (f" and {more} more" if more > 0 else "")
            text = f"{text}, and {listed} likewise" if like else text
    shown = tuple([each.sdy(names.sdy(each.named)) for each in changes])

    def edit(copies: Mapping[Op, Op], rewriter: Rewriter) -> None:
        for change in changes:
            change.edit(copies, rewriter)

    return Remedy(text, shown, edit, frozenset(each.subject for each in changes), changes=tuple(changes))


def _subject_text(change: Change, names: ValueNames) -> str:
    subject = change.subject
    if isinstance(subject, FunctionResult):
        return result_text(*subject)
    return names.jax(change.named)


def joined(remedies: Sequence[Remedy]) -> Remedy:
    """Several remedies in one, such as one for each operation of a line."""
    different = list({(each.text, each.sdy): each for each in remedies}.values())
    first, more = different[0], len(different) - 1
    if not more:
        return first
    edits = [each.edit for each in different if each.edit is not None]
    return replace(
        first,
        text=f"{first.text}, and the {counted(more, 'other')} on this line likewise",
        sdy=tuple([each for remedy in different for each in remedy.sdy]),
        edit=_all(edits),
        subjects=frozenset().union(*[each.subjects for each in different]),
        changes=tuple([change for each in different for change in each.changes]),
    )


class Remedies:
    """Tries remedies on one program, each after those that were accepted before."""

    def __init__(self, trials: Trials) -> None:
        self._trials = trials
        self._accepted: list[Remedy] = []
        self._current = trials.with_collectives.figures
        self._tried: dict[tuple[int, str, tuple[str, ...]], Effect | None] = {}
        self.remaining = trials.total

    def best(
        self,
        remedies: Iterable[Remedy],
        measure: Measure,
        least: Fraction,
        only_better: bool = False,
        share: Fraction = Fraction(0),
        only_certain: bool = False,
    ) -> Tried | None:
        """The remedy that saves most, and at least `least` and this share of the figure.

        One that makes no figure worse comes first, then one that holds and saves half as much or more. None
        if there is none, or if no trials are left. `only_better`: none that makes a figure worse.
        `only_certain`: none that may lose more than it saves.
        """
        least = max(least, share * self._current.measured(measure), Fraction(1))
        effects = [(each, effect) for each in remedies if (effect := self.effect(each)) is not None]
        found = [
            (each, effect)
            for each, effect in effects
            if effect.saved(measure) >= least
            and effect.is_worth_it
            and not (only_certain and effect.is_too_uncertain)
        ]
        better = [(each, effect) for each, effect in found if not effect.is_worse]
        if better or only_better:
            found = better
        if not found:
            return None
        remedy, effect = best_of(found, measure)
        return Tried(remedy, effect, not self._accepted)

    def effect(self, remedy: Remedy) -> Effect | None:
        """The change of a remedy, after the accepted ones; None if it cannot be tried."""
        key = len(self._accepted), remedy.text, remedy.sdy
        if key not in self._tried:
            if not self.remaining or any(remedy.subjects & each.subjects for each in self._accepted):
                return None
            self.remaining -= 1
            edits = [each.edit for each in (*self._accepted, remedy) if each.edit is not None]
            passes: dict[str, Mapping[str, OptionValue]] = {}
            for each in (*self._accepted, remedy):
                passes.update(each.passes or {})
            after = self._trials.changed(_all(edits), passes)
            self._tried[key] = None if after is None else Effect(self._current, after.figures)
        return self._tried[key]

    def accept(self, tried: Tried) -> None:
        """Lets other remedies be tried after this one."""
        self._accepted.append(tried.remedy)
        self._current = tried.effect.after


def _all(edits: Sequence[Edit]) -> Callable[[Mapping[Op, Op], Rewriter], None]:
    def edit(copies: Mapping[Op, Op], rewriter: Rewriter) -> None:
        for each in edits:
            each(copies, rewriter)

    return edit
