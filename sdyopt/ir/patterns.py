"""Rewrite patterns, and the driver that applies them greedily in MLIR's order.

The order in which operations are visited decides which of several possible results comes out, so
it is the reference's: a stack of operations, filled top-down or bottom-up, to which every edit adds
what it touched. Rounds follow until nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sdyopt.ir.attribute import Attribute
from sdyopt.ir.block import Region
from sdyopt.ir.cse import eliminate_common_subexpressions
from sdyopt.ir.effects import is_trivially_dead
from sdyopt.ir.folding import ConstantPool, constant_value, fold, materialize
from sdyopt.ir.operation import Op
from sdyopt.ir.region_simplify import erase_unreachable, simplify_region
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.traits import CONSTANT_LIKE
from sdyopt.ir.value import Value


@dataclass(frozen=True, eq=False)
class Pattern:
    """A rewrite of operations of one class.

    `rewrite(op, rewriter)` says whether it changed anything, and edits only then. Patterns with more
    `benefit` are tried first; `labels` and `name` are what passes enable and disable them by.
    """

    rewrite: Callable[[Any, Rewriter], bool]
    name: str = ""
    labels: tuple[str, ...] = ()
    benefit: int = 1


class RegionSimplification(StrEnum):
    DISABLED = "disabled"
    NORMAL = "normal"
    AGGRESSIVE = "aggressive"


@dataclass(frozen=True)
class GreedyOptions:
    """How patterns are applied. A maximum of -1 is none."""

    top_down: bool = False
    max_iterations: int = 10
    max_rewrites: int = -1
    region_simplification: RegionSimplification = RegionSimplification.AGGRESSIVE
    folds: bool = True
    merges_constants: bool = True
    merges_equal: bool = False


# The patterns of an operation class, those of most benefit first.
PatternsOf = Callable[[type[Op]], Sequence[Pattern]]


def apply_greedily(
    root: Op, patterns_of: PatternsOf, options: GreedyOptions = GreedyOptions()
) -> tuple[bool, bool]:
    """Applies patterns and folds to what is inside `root`: (changed, reached a fixed point)."""
    changed, converged = False, True
    for region in root.regions:
        driver = _Driver(region, patterns_of, options)
        converged &= driver.run()
        changed |= driver.changed
    return changed, converged


class _Driver:
    """Works on one region. Listens to its own rewriter for what to visit again."""

    def __init__(self, region: Region, patterns_of: PatternsOf, options: GreedyOptions) -> None:
        self.changed = False
        self._region = region
        self._patterns_of = patterns_of
        self._known: dict[type[Op], Sequence[Pattern]] = {}
        self._options = options
        self._rewriter = Rewriter(self)
        # A stack without duplicates: a dict keeps the order and finds members.
        self._stack: dict[Op, None] = {}

    def run(self) -> bool:
        """Whether a fixed point was reached within the allowed number of rounds."""
        iteration = 0
        while True:
            iteration += 1
            if 0 <= self._options.max_iterations < iteration:
                return False
            self._stack.clear()
            pool = ConstantPool(self._rewriter, self._region)
            self._fill(pool)
            goes_on = erase_unreachable(self._rewriter, self._region)
            goes_on |= self._work()
            simplification = self._options.region_simplification
            if simplification is not RegionSimplification.DISABLED:
                merges_blocks = simplification is RegionSimplification.AGGRESSIVE
                goes_on |= simplify_region(self._rewriter, self._region, merges_blocks)
            if self._options.merges_equal:
                goes_on |= eliminate_common_subexpressions(self._rewriter, self._region)
            self.changed |= goes_on or self._rewriter.changed
            if not goes_on:
                return True

    def _fill(self, pool: ConstantPool) -> None:
        merges = self._options.merges_constants

        def add(op: Op) -> None:
            value = constant_value(op) if merges else None
            if value is None or pool.keep(op, value):
                self._push(op)

        for block in self._region.blocks:
            for op in block.ops:
                if not op.regions:
                    add(op)
                    continue
                for inner in list(op.walk() if self._options.top_down else op.walk_post_order()):
                    add(inner)
        if self._options.top_down:
            self._stack = dict.fromkeys(reversed(self._stack))

    def _work(self) -> bool:
        changed, rewrites = False, 0
        limit = self._options.max_rewrites
        while self._stack and (limit < 0 or rewrites < limit):
            op, _ = self._stack.popitem()
            if is_trivially_dead(op):
                self._rewriter.erase(op)
                changed = True
            elif self._options.folds and CONSTANT_LIKE not in op.traits and self._fold(op):
                changed = True
            elif (patterns := self._patterns(type(op))) and any(
                pattern.rewrite(op, self._rewriter) for pattern in patterns
            ):
                changed = True
                rewrites += 1
        return changed

    def _patterns(self, op_class: type[Op]) -> Sequence[Pattern]:
        found = self._known.get(op_class)
        if found is None:
            found = self._known[op_class] = self._patterns_of(op_class)
        return found

    def _fold(self, op: Op) -> bool:
        found = fold(op, self._rewriter)
        if found is None:
            return False
        if not found:
            return True
        made: list[Op] = []
        values: list[Value] = []
        for value, result in zip(found, op.results, strict=True):
            if isinstance(value, Attribute):
                constant = materialize(op, value, result)
                if constant is None:
                    for extra in made:
                        self._rewriter.erase(extra)
                    return False
                self._rewriter.insert(constant, before=op)
                made.append(constant)
                value = constant.results[0]
            values.append(value)
        self._rewriter.replace(op, values)
        return True

    # --- The stack ------------------------------------------------------------------------

    def _push(self, op: Op) -> None:
        """Adds an operation and then those around it, as far as they are in the region."""
        if op.parent is not None and op.parent.parent is self._region:
            self._stack.setdefault(op)
            return
        around = []
        here: Op | None = op
        while here is not None:
            around.append(here)
            region = here.parent_region
            if region is self._region:
                for one in around:
                    self._stack.setdefault(one)
                return
            here = region.parent if region is not None else None

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
        self._stack.pop(op, None)


def has_two_other_users(value: Value, op: Op) -> bool:
    """Whether a value will have more than one user when `op` is gone: then MLIR does not look at it again."""
    other = None
    for user in value.users:
        if user is op or user is other:
            continue
        if other is not None:
            return True
        other = user
    return False
