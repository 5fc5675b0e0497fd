"""Spellings: one-line statements without their SSA names and trailing location, read once.

A program repeats itself: a training step of 36,000 operations has about a hundred spellings. The
first statement of a spelling is parsed properly and leaves a recipe; the others are built from it
with one regular expression and one look-up. A recipe is made only where the statement is all of
its line and each name in the line is one result or one operand, so the short way is exact.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from sdyopt.asm.lexical import SSA_ID
from sdyopt.ir.attribute import DictAttr
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.operation import Op, build
from sdyopt.ir.value import LazyLocation, Value

# What `split` of a line gives: literal, name, literal, name, …, literal.
NAMES = re.compile(rf"({SSA_ID}(?:#[0-9]+)?)")


@dataclass(slots=True)
class StatementTemplate:
    """What a spelling stands for.

    `groups` is the number of results that each name left of `=` stands for. `order` gives for each
    operand the position of its name among those right of `=`; None if that is the written order.
    `place` is how far behind the last name left of `=` the operation is said to stand. `complete`
    adds the regions that the text implies. `is_simple` says that there is one result, nothing implied,
    and operands are in the written order.
    """

    signature: OpSignature
    attributes: DictAttr
    groups: tuple[int, ...]
    order: tuple[int, ...] | None
    location_offset: int
    complete: Callable[[Op], None] | None
    is_simple: bool


def split_location(line: str) -> tuple[str, str]:
    """A line without its trailing `loc(…)`, and that location's text, empty if there is none."""
    if line.endswith(")"):
        at = line.rfind(" loc(")
        if at >= 0:
            return line[:at], line[at + 1 :]
    return line, ""


def template_of(
    op: Op,
    line: str,
    line_offset: int,
    groups: tuple[int, ...],
    operand_offsets: list[int],
    location_offset: int,
    complete: Callable[[Op], None] | None,
) -> StatementTemplate | None:
    """The recipe that a parsed statement leaves, if its line allows one.

    `line` is the statement without its location; `operand_offsets` are where the operands were read,
    `place` is where the operation is said to stand.
    """
    if (op.regions and complete is None) or op.successors or len(operand_offsets) != len(op.operand_uses):
        return None
    names = [match.span() for match in NAMES.finditer(line)]
    offsets = [start + line_offset for start, _ in names[len(groups) :]]
    if sorted(operand_offsets) != offsets:
        return None
    order = tuple(offsets.index(offset) for offset in operand_offsets)
    is_in_order = order == tuple(range(len(order)))
    behind = location_offset - line_offset - (names[len(groups) - 1][1] if groups else 0)
    is_simple = groups == (1,) and is_in_order and complete is None
    return StatementTemplate(
        op.signature, op.attributes, groups, None if is_in_order else order, behind, complete, is_simple
    )


def build_from_template(
    template: StatementTemplate, names: list[str], values: dict[str, Value], location: LazyLocation
) -> Op | None:
    """The operation of a recipe for these names.

    None if a name is unknown, has another type, or is taken: then the statement needs a proper look.
    """
    signature, groups = template.signature, template.groups
    if len(groups) == 1:
        if names[0] in values:
            return None
        names = names[1:]
    elif groups:
        count = len(groups)
        if not values.keys().isdisjoint(names[:count]):
            return None
        names = names[count:]
    if template.order is not None:
        names = [names[i] for i in template.order]
    try:
        operands = [values[name] for name in names]
    except KeyError:
        return None
    # Facts are compared by identity, so this compares lists of pointers.
    if tuple([operand.type for operand in operands]) != signature.operand_types:
        return None
    return build(signature, operands, template.attributes, location)


def build_simple(
    template: StatementTemplate, names: list[str], values: dict[str, Value], location: LazyLocation
) -> Op | None:
    """As `build_from_template`, for a usual recipe and a new name for its result, which is the first name."""
    signature = template.signature
    try:
        operands = [values[name] for name in names[1:]]
    except KeyError:
        return None
    if tuple([operand.type for operand in operands]) != signature.operand_types:
        return None
    return build(signature, operands, template.attributes, location)
