"""Constant folding, and merging of equal constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from sdyopt.base.diagnostics.location import UnknownLoc
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.traits import COMMUTATIVE, CONSTANT_LIKE, ISOLATED
from sdyopt.mlir.ir.value import Value


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
