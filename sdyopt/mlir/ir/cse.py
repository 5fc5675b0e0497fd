"""Common subexpression elimination (CSE)."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from sdyopt.base.diagnostics.location import UnknownLoc
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.dominance import Dominance, DominatorTree, has_ssa_dominance
from sdyopt.mlir.ir.interfaces import is_memory_effect_free, would_be_dead
from sdyopt.mlir.ir.operation import Op, UnregisteredOp
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.traits import COMMUTATIVE, ISOLATED
from sdyopt.mlir.ir.value import Value

Key = Hashable


def eliminate_common_subexpressions(rewriter: Rewriter, region: Region) -> bool:
    """Merges equal operations in a region and erases dead ones. Returns whether any were erased."""
    cse = CseDriver(rewriter)
    cse.visit_region(region)
    return cse.finish()


class CseDriver:
    """Merges equal operations. Dead and merged operations are collected, and erased by `finish`.

    `merged` counts the operations whose results were replaced with those of an equal operation, `removed`
    the operations that were dead before. Operations for which `pure` returns a key, which stands for the
    signature of an operation, count as free of memory effects. With `only_pure`, others are left alone.
    """

    def __init__(
        self,
        rewriter: Rewriter,
        pure: Callable[[Op], Key | None] | None = None,
        only_pure: bool = False,
    ) -> None:
        self.merged = 0
        self.removed = 0
        self._to_erase: list[Op] = []
        # The available operations by key: those that dominate the current one or, in a graph region, precede
        # it. Insertion order is scope order: leaving a block pops its entries.
        self._available: dict[Key, Op] = {}
        self._keys_with_regions: dict[Op, Key] = {}
        self._known_effects: dict[Op, bool] = {}
        self._rewriter = rewriter
        self._pure = pure
        self._only_pure = only_pure
        self._dominance = Dominance()

    def visit_region(self, region: Region) -> None:
        """Merges equal operations in a region."""
        if len(region.blocks) == 1:
            self._visit_block(region.blocks[0], {}, has_ssa_dominance(region))
        elif region.blocks and has_ssa_dominance(region):
            self._visit_block(region.blocks[0], self._dominance.tree(region), True)

    def finish(self) -> bool:
        """Erases the collected operations. Returns whether there were any."""
        for op in self._to_erase:
            self._rewriter.erase(op)
        return bool(self._to_erase)

    def _visit_block(self, block: Block, tree: DominatorTree, has_ssa_dominance: bool) -> None:
        """Merges equal operations in a block and in those that it dominates."""
        mark = len(self._available)
        visited: set[Op] | None = None if has_ssa_dominance else set()
        op = block.first
        while op is not None:
            if op.regions:
                self._visit_regions(op)
            self._visit_op(op, visited)
            if visited is not None:
                visited.add(op)
            op = op.next
        for dominated in tree.get(block, ()):
            self._visit_block(dominated, tree, True)
        while len(self._available) > mark:
            self._available.popitem()

    def _visit_regions(self, op: Op) -> None:
        """Merges equal operations in the regions of an operation, which may be isolated from above."""
        outer = self._available
        if ISOLATED in op.traits or isinstance(op, UnregisteredOp):
            self._available = {}
        for region in op.regions:
            self.visit_region(region)
        self._available = outer

    def _visit_op(self, op: Op, visited: set[Op] | None) -> None:
        """Merges an operation with an equal one that is available.

        In a graph region, uses by `visited` operations are not replaced; elsewhere it is None.
        """
        if op.is_terminator:
            return
        signature = None if self._pure is None else self._pure(op)
        is_pure = signature is not None
        if self._only_pure and not is_pure:
            return
        is_used = False
        for result in op.results:
            is_used = is_used or result.first_use is not None
        if not is_used and (is_pure or would_be_dead(op, self._known_effects)):
            self._to_erase.append(op)
            self.removed += 1
            return
        if not (is_pure or is_memory_effect_free(op, self._known_effects)):
            return
        if op.regions and any(len(region.blocks) > 1 for region in op.regions):
            return
        operands = [use.value for use in op._operands]
        if len(operands) > 1 and COMMUTATIVE in op.traits:
            operands.sort(key=id)
        key = signature if is_pure else op.signature, op.attributes, *operands
        first = self._available.setdefault(key, op)
        if first is not op and op.regions:
            first = self._equal_with_regions(op, key, first)
        if first is op:
            return
        for old, new in zip(op.results, first.results, strict=True):
            self._replace_uses(old, new, visited)
        if isinstance(first.location, UnknownLoc):
            self._rewriter.set_location(first, op.location)
        self.merged += 1
        if not any(result.has_uses for result in op.results):
            self._to_erase.append(op)

    def _equal_with_regions(self, op: Op, key: Key, first: Op) -> Op:
        """The first available operation that is equal, if `first` is as far as the regions of both.

        What is in regions is compared only then, because nested regions would be compared once for each
        operation around them.
        """
        keys = self._keys_with_regions
        for compared in (first, op):
            if compared not in keys:
                keys[compared] = (key, _regions_key(compared, {}))
        return first if keys[op] == keys[first] else self._available.setdefault(keys[op], op)

    def _replace_uses(self, old: Value, new: Value, visited: set[Op] | None) -> None:
        if visited is None:
            self._rewriter.replace_all_uses(old, new)
            return
        # Not in visited users: their keys in `_available` contain their operands.
        for use in list(old.uses):
            if use.owner not in visited:
                self._rewriter.set_operand(use, new)


def _key(op: Op, value_ids: dict[Value, int]) -> Key:
    """A key that is equal for equal operations inside of regions.

    `value_ids` numbers the values that are defined in the regions for which a key is computed.
    """
    values = [use.value for use in op._operands]
    operands: list[Key] = [value_ids.get(value, value) for value in values] if value_ids else [*values]
    if len(values) > 1 and COMMUTATIVE in op.traits and value_ids.keys().isdisjoint(values):
        operands.sort(key=id)
    regions = _regions_key(op, value_ids)
    for result in op.results:
        value_ids[result] = len(value_ids)
    return op.signature, op.attributes, tuple(operands), regions


def _regions_key(op: Op, value_ids: dict[Value, int]) -> Key:
    return tuple([_region_key(region, value_ids) for region in op.regions])


def _region_key(region: Region, value_ids: dict[Value, int]) -> Key:
    parts: list[Key] = []
    for block in region.blocks:
        for argument in block.arguments:
            value_ids[argument] = len(value_ids)
            parts.append(argument.type)
        parts += [_key(op, value_ids) for op in block.ops]
    return tuple(parts)
