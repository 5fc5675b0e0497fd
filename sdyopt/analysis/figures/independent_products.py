"""The products that a collective may run beside: those that do not need it, and that it does not need."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.operation import Op


def independent_products(collective: Op, products: Sequence[Op]) -> list[int]:
    """The numbers of the products in the block of a collective, and in its regions, that are independent."""
    block = collective.parent
    if not isinstance(block, Block):
        return []
    dependent = _reached(collective, _before) | _reached(collective, _after)
    result = []
    for number, item in enumerate(products):
        op = _in_block(item, block)
        if op is not None and op not in dependent:
            result.append(number)
    return result


def _reached(start: Op, neighbors: Callable[[Op], Iterator[Op]]) -> set[Op]:
    """The operations of a block that are reached, with the first."""
    reached, pending = {start}, [start]
    while pending:
        for op in neighbors(pending.pop()):
            if op not in reached:
                reached.add(op)
                pending.append(op)
    return reached


def _before(op: Op) -> Iterator[Op]:
    """The operations of the same block whose results an operation uses, also in its regions."""
    block = op.parent
    for inner in op.walk() if op.regions else (op,):
        for operand in inner.operands:
            if (definition := operand.defining_op) is not None and definition.parent is block:
                yield definition


def _after(op: Op) -> Iterator[Op]:
    """The operations of the same block that use results of an operation, also in their regions."""
    assert isinstance(op.parent, Block)
    for result in op.results:
        for user in result.users:
            if (outer := _in_block(user, op.parent)) is not None:
                yield outer


def _in_block(op: Op, block: Block) -> Op | None:
    """The operation of a block that is, or contains, another one."""
    if op.parent is block:
        return op
    return next((parent for parent in op.ancestors() if parent.parent is block), None)
