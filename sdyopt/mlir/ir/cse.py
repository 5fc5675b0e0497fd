"""Operations whose result is known: constant folding, equal constants, and common subexpressions (CSE)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import cast

from sdyopt.base.diagnostics.location import UnknownLoc
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.dominance import Dominance, DominatorTree, has_ssa_dominance
from sdyopt.mlir.ir.interfaces import is_memory_effect_free, would_be_dead
from sdyopt.mlir.ir.operation import Op, UnregisteredOp
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.traits import COMMUTATIVE, CONSTANT_LIKE, ISOLATED
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


def constant_value(op: Op | None) -> Attribute | None:
    """The value of a constant operation; None for other operations."""
    if op is None or CONSTANT_LIKE not in op.traits:
        return None
    attributes = op.signature.attributes
    value = attributes.get("value")
    return attributes.get("shape") if value is None else value  # `shape` is that of shape.const_shape


def fold(op: Op, rewriter: Rewriter) -> Sequence[Value | Attribute] | None:
    """Folds an operation, perhaps in place.

    Returns the value or constant attribute of each result; an empty list if the operation was folded in
    place; None if it does not fold.
    """
    if op.fold is not None:
        constants = [constant_value(use.value.defining_op) for use in op._operands]
        folded = outcome_of_fold(op, constants)
        if folded is not None:
            if not folded:
                rewriter.visit_again(op)
            return folded
    if COMMUTATIVE in op.traits and _move_constants_right(op):
        rewriter.visit_again(op)
        return []
    return None


def outcome_of_fold(op: Op, constants: Sequence[Attribute | None]) -> Sequence[Value | Attribute] | None:
    """What `fold` of an operation returns. Raises DiagnosticError if it is neither values nor attributes."""
    assert op.fold is not None
    folded = op.fold(constants)
    if folded is None or (
        isinstance(folded, Sequence)
        and len(folded) in (0, len(op.results))
        and all(isinstance(value, Value | Attribute) for value in folded)
    ):
        return folded
    message = f"is folded to {folded!r:.100}, not to a value or an attribute for each result"
    raise op.op_error(message).help("fold returns a list of these, [] if it changed the operation, or None")


def materialize(op: Op, value: Attribute, result: Value) -> Op | None:
    """A detached constant operation for a result of `op`; None if the dialect of `op` cannot create one."""
    make = op.dialect.materialize_constant if op.dialect is not None else None
    return None if make is None else cast("Op | None", make(value, result.type, op.location))


def _move_constants_right(op: Op) -> bool:
    """Moves constant operands of a commutative operation to the right; returns whether any moved."""
    values = op.operands
    if not any(constant_value(value.defining_op) is not None for value in values[:-1]):
        return False
    ordered = sorted(values, key=lambda value: constant_value(value.defining_op) is not None)
    if all(a is b for a, b in zip(values, ordered, strict=True)):
        return False
    for use, value in zip(op._operands, ordered, strict=True):
        if use.value is not value:
            use.unlink()
            use.link(value)
    op.signature = op.signature.with_types(
        tuple([value.type for value in ordered]), op.signature.result_types
    )
    return True


class ConstantPool:
    """Merges equal constants, and hoists them to the start of the outermost possible region."""

    def __init__(self, rewriter: Rewriter) -> None:
        self._rewriter = rewriter
        self._constants: dict[tuple[Region, str, Attribute, Attribute], Op] = {}
        self._hoisted: set[Op] = set()

    def hoist_or_replace(self, op: Op, value: Attribute) -> bool:
        """Hoists a constant, or replaces it with an equal one of an earlier call.

        Returns whether `op` still exists.
        """
        region = insertion_region(op.parent_region)
        key = (region, op.dialect_name, value, op.results[0].type)
        first = self._constants.get(key)
        if first is not None:
            self._rewriter.replace(op, first)
            first.location = UnknownLoc()
            return False
        block = region.blocks[0]
        is_in_other_block = op.parent is not block
        if is_in_other_block or (op.prev is not None and op.prev not in self._hoisted):
            assert block.first is not None
            self._rewriter.move(op, before=block.first)
            if is_in_other_block:
                op.location = UnknownLoc()
        self._constants[key] = op
        self._hoisted.add(op)
        return True


def insertion_region(region: Region | None) -> Region:
    """The outermost region into which a constant in a region may be hoisted.

    It is not hoisted out of an operation that is isolated from above or unregistered.
    """
    assert region is not None
    while True:
        parent = region.parent
        if parent is None or not parent.name or ISOLATED in parent.traits or parent.parent_region is None:
            return region
        region = parent.parent_region


def replace_with_folded(op: Op, folded: Sequence[Value | Attribute], rewriter: Rewriter) -> list[Op] | None:
    """Replaces the results of an operation with what `fold` returned, and erases it.

    Returns the constants that it creates before the operation; None, without a change, if one is impossible.
    """
    constants: list[Op] = []
    values: list[Value] = []
    for value, result in zip(folded, op.results, strict=True):
        if isinstance(value, Attribute):
            constant = materialize(op, value, result)
            if constant is None:
                for unused in constants:
                    rewriter.erase(unused)
                return None
            rewriter.insert(constant, before=op)
            constants.append(constant)
            value = constant.results[0]
        values.append(value)
    rewriter.replace(op, values)
    return constants
