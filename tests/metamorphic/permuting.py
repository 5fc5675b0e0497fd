"""Permutes independent operations, and compares programs up to the order of operations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from random import Random

from sdyopt.mlir.asm.printer.asm_printer import print_op
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.interfaces import is_memory_effect_free
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.traits import TERMINATOR
from sdyopt.mlir.ir.value import Value


def permute(module: Op, random: Random) -> None:
    """Gives the operations of each block in a function another order.

    Definitions stay before their uses, and operations with side effects in their order.
    """
    rewriter = Rewriter()
    blocks = [
        block for op in module.walk() if op is not module for region in op.regions for block in region.blocks
    ]
    for block in blocks:
        needs = _dependences(block)
        rest = list(needs)
        placed: set[Op] = set()
        while rest:
            op = random.choice([op for op in rest if needs[op] <= placed])
            rest.remove(op)
            placed.add(op)
            rewriter.move(op, at_end_of=block)


def _dependences(block: Block) -> dict[Op, set[Op]]:
    """The operations of a block, each with those that must stand before it, except what these imply."""
    dependences: dict[Op, set[Op]] = {}
    last_effect: Op | None = None
    for op in block.ops:
        before = {
            definition
            for each in op.walk()
            for value in each.operands
            if (definition := _definition_in(block, value)) is not None and definition is not op
        }
        if not _is_free_of_effects(op):
            before |= {last_effect} if last_effect is not None else set()
            last_effect = op
        dependences[op] = set(dependences) if TERMINATOR in op.traits else before
    return dependences


def _definition_in(block: Block, value: Value) -> Op | None:
    """The operation of a block that defines a value, or in which it is defined."""
    op = value.defining_op
    while op is not None and op.parent is not block:
        op = op.parent_op
    return op


def _is_free_of_effects(op: Op) -> bool:
    return all(is_memory_effect_free(each) or TERMINATOR in each.traits for each in op.walk())


class Numbering:
    """Numbers operations, so that two have the same number if they are equal up to the order in regions.

    Equal operations have the same name, attributes, types and regions, and operands with the same number.
    """

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def numbered(self, module: Op) -> list[tuple[int, Op]]:
        """All operations in a module with their numbers, nested ones first."""
        found: list[tuple[int, Op]] = []
        self._number(module, {}, 0, found)
        return found

    def _number(self, op: Op, values: dict[Value, Hashable], depth: int, found: list[tuple[int, Op]]) -> int:
        regions: list[Hashable] = []
        for region_number, region in enumerate(op.regions):
            for block_number, block in enumerate(region.blocks):
                for number, argument in enumerate(block.arguments):
                    values[argument] = (depth, region_number, block_number, number)
                inner = sorted(self._number(each, values, depth + 1, found) for each in block.ops)
                regions.append((region_number, tuple([each.type for each in block.arguments]), *inner))
        operands = tuple([values[operand] for operand in op.operands])
        attributes = (op.inherent_attributes(), op.attributes)
        key = (op.signature.name, operands, attributes, tuple(op.result_types), tuple(regions))
        result = self._numbers.setdefault(key, len(self._numbers))
        values.update((value, (result, number)) for number, value in enumerate(op.results))
        found.append((result, op))
        return result


def difference_up_to_order(expected: Op, actual: Op) -> str:
    """An operation of each module that the other lacks; empty if they are equal up to order."""
    numbering = Numbering()
    sides = numbering.numbered(expected), numbering.numbered(actual)
    counts = [Counter(number for number, _ in side) for side in sides]
    missing = [counts[0] - counts[1], counts[1] - counts[0]]
    if not any(missing):
        return ""
    expected_line, actual_line = (
        next((_first_line(op) for number, op in side if number in lacking), "nothing")
        for side, lacking in zip(sides, missing, strict=True)
    )
    return f"{expected_line}\n  is now\n{actual_line}"


def _first_line(op: Op) -> str:
    return print_op(op).partition("\n")[0]
