"""Rewrite patterns and the greedy rewrite driver.

The result depends on the order in which operations are visited, so this order is that of MLIR's greedy
driver. Each iteration fills a worklist (a stack) top-down or bottom-up and empties it; every edit pushes the
affected operations. Iterations are repeated until a fixed point is reached.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from enum import StrEnum
from typing import Any

from sdyopt.base.context import ContextPart
from sdyopt.base.dataclasses import dataclass, replace
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import Location
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.cse import (
    ConstantPool,
    constant_value,
    eliminate_common_subexpressions,
    fold,
    replace_with_folded,
)
from sdyopt.mlir.ir.interfaces import is_trivially_dead
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.region_simplify import erase_unreachable, simplify_region
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.traits import COMMUTATIVE, CONSTANT_LIKE
from sdyopt.mlir.ir.value import Value


@dataclass(frozen=True, eq=False)
class Pattern:
    """A rewrite pattern for operations of one class.

    `rewrite(op, rewriter)` returns whether it matched, and edits only then. Patterns with a higher `benefit`
    are tried first. `name` and `labels` are what the options that disable and enable patterns refer to.
    """

    rewrite: Callable[[Any, Rewriter], bool]
    name: str = ""
    labels: tuple[str, ...] = ()
    benefit: int = 1


class RegionSimplification(StrEnum):
    """The simplification of regions after each iteration; AGGRESSIVE also merges blocks."""

    DISABLED = "disabled"
    NORMAL = "normal"
    AGGRESSIVE = "aggressive"


@dataclass(frozen=True)
class GreedyOptions:
    """The configuration of the greedy driver. -1 means no limit; `max_rewrites` is per iteration."""

    top_down: bool = False
    max_iterations: int = 10
    max_rewrites: int = -1
    region_simplification: RegionSimplification = RegionSimplification.AGGRESSIVE
    folds: bool = True
    merges_constants: bool = True
    cse_between_iterations: bool = False


# The patterns of an operation class, highest benefit first.
PatternsOf = Callable[[type[Op]], Sequence[Pattern]]


def apply_greedily(
    root: Op, patterns_of: PatternsOf, options: GreedyOptions = GreedyOptions()
) -> tuple[bool, bool]:
    """Applies patterns and folds to the operations nested in `root`.

    Returns whether anything changed, and whether all regions reached a fixed point. Raises DiagnosticError if
    there is no end of rewrites.
    """
    changed, converged = False, True
    for number in range(len(root.regions)):
        driver = _Driver(root, number, patterns_of, options)
        converged &= driver.run()
        changed |= driver.changed
    return changed, converged


_ITERATION = "GreedyPatternRewriteIteration"

# Patterns that converge rewrite an operation a few times. With more than ten steps per operation of the
# program, and these, an iteration ends early; after so many such iterations in a row, that is an error.
_MORE_STEPS = 1000
_ENDLESS_ITERATIONS = 10


class _Driver:
    """The driver of one region. As the rewriter's listener, it adds affected operations to the worklist."""

    def __init__(self, root: Op, number: int, patterns_of: PatternsOf, options: GreedyOptions) -> None:
        self.changed = False
        self._root = root
        self._number = number
        self._region = root.regions[number]
        self._patterns_of = patterns_of
        self._patterns_by_class: dict[type[Op], Sequence[Pattern]] = {}
        self._options = options
        self._rewriter = Rewriter(self)
        # A stack without duplicates, whose top is the last key.
        self._worklist: dict[Op, None] = {}
        # The operations that were pushed since the last one was popped, and their blocks.
        self._since_pop: dict[Op, Block | None] = {}
        # No iteration folds and rewrites more often; the iterations in a row that do so as often.
        # Fewer iterations may make as many steps in all.
        most = options.max_iterations
        self._endless_iterations = _ENDLESS_ITERATIONS if most < 0 else min(most, _ENDLESS_ITERATIONS) or 1
        steps = _MORE_STEPS + 10 * sum(1 for _ in root.walk())
        self._most_steps = steps * _ENDLESS_ITERATIONS // self._endless_iterations
        self._endless = 0

    def run(self) -> bool:
        """Rewrites until a fixed point. Returns whether it was reached within `max_iterations`."""
        iteration = 0
        while True:
            iteration += 1
            if 0 <= self._options.max_iterations < iteration:
                return False
            self._worklist.clear()
            pool = ConstantPool(self._rewriter)
            self._fill_worklist(pool)
            changed = erase_unreachable(self._rewriter, self._region)
            with action(
                _ITERATION, f"{_ITERATION}({iteration}) (Region #{self._number} for op %s)", self._root
            ):
                changed |= self._rewrite_worklist()
            simplification = self._options.region_simplification
            if simplification is not RegionSimplification.DISABLED:
                merges_blocks = simplification is RegionSimplification.AGGRESSIVE
                changed |= simplify_region(self._rewriter, self._region, merges_blocks)
            if self._options.cse_between_iterations:
                changed |= eliminate_common_subexpressions(self._rewriter, self._region)
            self.changed |= changed or self._rewriter.changed
            if not changed:
                return True

    def _fill_worklist(self, pool: ConstantPool) -> None:
        """Pushes the operations that may be rewritten: most can neither be folded nor match a pattern."""
        merges = self._options.merges_constants
        is_inert: dict[type[Op], bool] = {}

        def add(op: Op) -> None:
            op_class = type(op)
            if op_class not in is_inert:
                is_inert[op_class] = self._is_inert(op_class)
            if is_inert[op_class] and not is_trivially_dead(op):
                return
            value = constant_value(op) if merges else None
            if value is None or pool.hoist_or_replace(op, value):
                self._push(op)

        for block in self._region.blocks:
            for op in block.ops:
                if not op.regions:
                    add(op)
                    continue
                for inner in list(op.walk() if self._options.top_down else op.walk_post_order()):
                    add(inner)
        if self._options.top_down:
            self._worklist = dict.fromkeys(reversed(self._worklist))

    def _is_inert(self, op_class: type[Op]) -> bool:
        """Whether operations of a class can only be erased."""
        if op_class.fold is not None or not op_class.traits.isdisjoint((COMMUTATIVE, CONSTANT_LIKE)):
            return False
        return not self._patterns(op_class)

    def _rewrite_worklist(self) -> bool:
        changed, rewrites, steps = False, 0, 0
        most, limit = self._most_steps, self._options.max_rewrites
        while self._worklist and (limit < 0 or rewrites < limit):
            if steps == most:
                self._endless += 1
                return True
            op, _ = self._worklist.popitem()
            self._since_pop.clear()
            if is_trivially_dead(op):
                self._rewriter.erase(op)
                changed = True
                continue
            # After the last step that an endless sequence may have, a match is an error.
            is_last = steps == most - 1 and self._endless == self._endless_iterations - 1
            name, location = op.signature.name, op.location if is_last else None
            match = self._match(op)
            if match is None:
                continue
            changed = True
            steps += 1
            rewrites += match is not _FOLD
            if location is not None:
                raise _endless_error(match, name, location, self._endless_iterations)
        self._endless = 0
        return changed

    def _match(self, op: Op) -> Pattern | None:
        """Folds an operation, or applies a pattern; returns the pattern, which is _FOLD for a fold."""
        if self._options.folds and CONSTANT_LIKE not in op.traits and self._fold(op):
            return _FOLD
        for pattern in self._patterns(type(op)):
            if pattern.rewrite(op, self._rewriter):
                return pattern
        return None

    def _patterns(self, op_class: type[Op]) -> Sequence[Pattern]:
        patterns = self._patterns_by_class.get(op_class)
        if patterns is None:
            patterns = self._patterns_of(op_class)
            if are_actions_counted():
                patterns = [replace(pattern, rewrite=_observed(pattern)) for pattern in patterns]
            self._patterns_by_class[op_class] = patterns
        return patterns

    def _fold(self, op: Op) -> bool:
        folded = fold(op, self._rewriter)
        if folded is None:
            return False
        if not folded:
            return True
        return replace_with_folded(op, folded, self._rewriter) is not None

    # --- The worklist ---------------------------------------------------------------------

    def _push(self, op: Op) -> None:
        """Pushes an operation and then its ancestors in the region; ignores an operation outside it."""
        if op.parent is not None and op.parent.parent is self._region:
            self._worklist.setdefault(op)
            self._since_pop[op] = op.parent
            return
        ancestors = []
        ancestor: Op | None = op
        while ancestor is not None:
            if ancestor in self._worklist and self._since_pop.get(ancestor) is ancestor.parent:
                # It was pushed here, with its own ancestors.
                break
            ancestors.append(ancestor)
            region = ancestor.parent_region
            if region is self._region:
                break
            ancestor = region.parent if region is not None else None
        if ancestor is not None:
            for pushed in ancestors:
                self._worklist.setdefault(pushed)
                self._since_pop[pushed] = pushed.parent

    def inserted(self, op: Op) -> None:
        self._push(op)

    def modified(self, op: Op) -> None:
        self._push(op)

    def replaced(self, op: Op, values: Sequence[Value]) -> None:
        pass

    def erased(self, op: Op) -> None:
        for use in op.operand_uses:
            definition = use.value.defining_op
            if definition is not None and not has_two_other_users(use.value, op):
                self._push(definition)
        self._worklist.pop(op, None)


def _endless_error(match: Pattern, name: str, location: Location, iterations: int) -> DiagnosticError:
    what = "fold" if match is _FOLD else f"pattern '{_name_of(match)}'"
    return DiagnosticError.at(
        location, f"{what} still matches '{name}' after {iterations} iteration{'s' * (iterations > 1)}"
    ).help("it must not match, again and again, what it or another pattern has made")


# Stands for `fold` of an operation.
_FOLD = Pattern(lambda op, rewriter: False, "fold")


def _name_of(pattern: Pattern) -> str:
    return pattern.name or getattr(pattern.rewrite, "__qualname__", "")


def _observed(pattern: Pattern) -> Callable[[Any, Rewriter], bool]:
    """The rewrite of a pattern, which runs as an action."""
    name = _name_of(pattern)

    def rewrite(op: Op, rewriter: Rewriter) -> bool:
        limit = _LIMIT.value
        if limit is not None and not limit(APPLY_PATTERN):
            return False
        with action(APPLY_PATTERN, f"`apply-pattern pattern: {name} (%s)", op):
            return pattern.rewrite(op, rewriter)

    return rewrite


def has_two_other_users(value: Value, op: Op) -> bool:
    """Whether a value has two or more users besides `op`: then MLIR does not revisit its definition."""
    other = None
    for user in value.users:
        if user is op or user is other:
            continue
        if other is not None:
            return True
        other = user
    return False


# (tag of the action, its description, operation) -> the context manager in which the action runs.
Observer = Callable[[str, str, Op], AbstractContextManager[None]]

_OBSERVER = ContextPart[Observer | None](None)


def observing_actions(observer: Observer) -> AbstractContextManager[None]:
    """Calls an observer, instead of any outer one, for each action in the `with` block."""
    return _OBSERVER.set_to(observer)


# The tag of an attempt to apply a pattern.
APPLY_PATTERN = "apply-pattern"
# (tag of an action) -> whether it runs.
Limit = Callable[[str], bool]

_LIMIT = ContextPart[Limit | None](None)


def limiting_actions(limit: Limit) -> AbstractContextManager[None]:
    """Runs only the attempts to apply patterns in the `with` block that a function admits."""
    return _LIMIT.set_to(limit)


def are_actions_counted() -> bool:
    """Whether there is an observer of actions, or a limit for them."""
    return _OBSERVER.value is not None or _LIMIT.value is not None


def action(tag: str, description: str, op: Op) -> AbstractContextManager[None]:
    """The context manager in which to run an action. `%s` in the description stands for the operation."""
    observer = _OBSERVER.value
    return nullcontext() if observer is None else observer(tag, description, op)
