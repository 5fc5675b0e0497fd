"""Constants and folding: what an operation is known to give, and equal constants made one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from sdyopt.diagnostics.location import UnknownLoc
from sdyopt.ir.attribute import Attribute
from sdyopt.ir.block import Region
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.traits import COMMUTATIVE, CONSTANT_LIKE, ISOLATED
from sdyopt.ir.value import Value


def constant_value(op: Op | None) -> Attribute | None:
    """The value of a constant operation, None if it is not one."""
    if op is None or CONSTANT_LIKE not in op.traits:
        return None
    return op.signature.attributes.get("value")


def fold(op: Op, rewriter: Rewriter) -> Sequence[Value | Attribute] | None:
    """What the results of an operation can be replaced by.

    An empty list says that the operation was changed in place, None that nothing can be done.
    """
    if op.fold is not None:
        constants = [constant_value(use.value.defining_op) for use in op._operands]
        found = op.fold(constants)
        if found is not None:
            if not found:
                rewriter.changed_itself(op)
            return cast("Sequence[Value | Attribute]", found)
    if COMMUTATIVE in op.traits and _moves_constants_right(op):
        rewriter.changed_itself(op)
        return []
    return None


def materialize(op: Op, value: Attribute, result: Value) -> Op | None:
    """A detached constant in place of a result of `op`, made by the dialect of `op` if it can."""
    make = op.dialect.materialize_constant if op.dialect is not None else None
    return None if make is None else cast("Op | None", make(value, result.type, op.location))


def _moves_constants_right(op: Op) -> bool:
    """Puts constant operands of a commutative operation behind the others."""
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
    """Makes equal constants of an isolated region one, at the top of its first block."""

    def __init__(self, rewriter: Rewriter, region: Region) -> None:
        self._rewriter = rewriter
        self._region = region
        self._found: dict[tuple[Region, str, Attribute, Attribute], Op] = {}
        self._owned: set[Op] = set()

    def keep(self, op: Op, value: Attribute) -> bool:
        """Whether a constant stays: it is the first of its kind, and goes to the top.

        Otherwise it has been replaced by the first one.
        """
        region = _insertion_region(op)
        key = (region, op.dialect_name, value, op.results[0].type)
        first = self._found.get(key)
        if first is not None:
            self._rewriter.replace(op, first)
            first.location = UnknownLoc()
            return False
        block = region.blocks[0]
        is_elsewhere = op.parent is not block
        if is_elsewhere or (op.prev is not None and op.prev not in self._owned):
            assert block.first is not None
            self._rewriter.move(op, before=block.first)
            if is_elsewhere:
                op.location = UnknownLoc()
        self._found[key] = op
        self._owned.add(op)
        return True


def _insertion_region(op: Op) -> Region:
    """The outermost region around an operation that constants may move to."""
    region = op.parent_region
    assert region is not None
    while True:
        parent = region.parent
        if parent is None or not parent.name or ISOLATED in parent.traits or parent.parent_region is None:
            return region
        region = parent.parent_region
