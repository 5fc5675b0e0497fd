"""Templates of one-line statements, keyed by their text without SSA names and trailing location.

A training step of 36,000 operations has about a hundred distinct statements. The first one is parsed in full
and stored as a template; equal ones are built from it with one regular expression and one lookup. There is a
template only for a statement that is alone on its line and has no successors or written regions, and in which
each SSA name is one result group or one operand, so that the template and the full parser build the same
operation. A constant is also built from the template of one with another value.
"""

from __future__ import annotations

from collections.abc import Callable

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.patterns import constant_pattern
from sdyopt.mlir.asm.lexical import SSA_ID
from sdyopt.mlir.ir.attribute import DictAttr
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.op_signature import EQUALLY_VALID, OpSignature
from sdyopt.mlir.ir.operation import Op, build, build_at_offset
from sdyopt.mlir.ir.value import LazyLocation, Value

# Splits a line into text, name, text, name, …, text.
NAMES = constant_pattern(rf"({SSA_ID}(?:#[0-9]+)?)")

# Elements of a tensor type.
_CONSTANT = constant_pattern(r'dense<[^<>"/\n]*> : tensor<[^<>"/\n]*>')

# A longer line, such as that of a big constant, has no template: few are equal, and each would be stored.
MAX_TEMPLATE_LENGTH = 50_000


def key_of(parts: list[str]) -> str:
    """The common text of statements that differ only in names. `parts` are a line that `NAMES` has split.

    A line break stands for each name: no text has one, while a lone `%` may be in a text.
    """
    return "\n".join(parts[::2])


class StatementTemplate:
    """What statements of equal form have in common, except for their signature, names and location.

    - `groups`: the number of results of each name before `=`.
    - `order`: for each operand the index of its name among those after `=`; None if they are in order.
    - `location_offset`: the offset of the operation's location, counted from the end of the last name before
      `=` or, without one, from the start of the statement.
    - `add_implied_regions`: adds the regions that the assembly implies; None if there are none.
    - `is_simple`: whether there is one result, no implied region, and the operands are in order, so that
      `build_at_offset` can build the operation.
    """

    __slots__ = (
        "add_implied_regions",
        "attributes",
        "groups",
        "is_simple",
        "location_offset",
        "order",
    )

    def __init__(
        self,
        attributes: DictAttr,
        groups: tuple[int, ...],
        order: tuple[int, ...] | None,
        location_offset: int,
        add_implied_regions: Callable[[Op], None] | None,
        is_simple: bool,
    ) -> None:
        self.attributes = attributes
        self.groups = groups
        self.order = order
        self.location_offset = location_offset
        self.add_implied_regions = add_implied_regions
        self.is_simple = is_simple


# A statement without its names and location.
Statement = tuple[StatementTemplate, OpSignature]


def split_location(line: str) -> tuple[str, str]:
    """A line without its trailing `loc(…)`, and the text of that location, empty if there is none."""
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
    add_implied_regions: Callable[[Op], None] | None,
) -> Statement | None:
    """The template of a parsed statement, None if there can be none.

    `line` is the statement without its location. All offsets are from the start of the source.
    """
    if (
        (op.regions and add_implied_regions is None)
        or op.successors
        or len(operand_offsets) != len(op.operand_uses)
    ):
        return None
    names = [match.span() for match in NAMES.finditer(line)]
    offsets = [start + line_offset for start, _ in names[len(groups) :]]
    if sorted(operand_offsets) != offsets:
        return None
    positions = {offset: position for position, offset in enumerate(offsets)}
    order = tuple(positions[offset] for offset in operand_offsets)
    is_in_order = order == tuple(range(len(order)))
    relative_offset = location_offset - line_offset - (names[len(groups) - 1][1] if groups else 0)
    is_simple = groups == (1,) and is_in_order and add_implied_regions is None and op.set_up is None
    template = StatementTemplate(
        op.attributes,
        groups,
        None if is_in_order else order,
        relative_offset,
        add_implied_regions,
        is_simple,
    )
    return template, op.signature


class ConstantText(NamedTuple):
    """The text of a constant: its literal with the type, and a key that constants share."""

    key: str
    literal: str


def split_value(key: str) -> ConstantText | None:
    """Splits the key of a statement that ends with an elements literal; None for others."""
    start = key.rfind("dense<")
    if start < 0 or _CONSTANT.fullmatch(key, start) is None:
        return None
    # No program has a NUL character.
    return ConstantText(f"{key[:start]}\0", key[start:])


def is_constant(signature: OpSignature, literal: DenseElements | None) -> bool:
    """Whether this literal is the value of the statement, and nothing but the result type depends on it."""
    assembly = signature.op_class.assembly
    return (
        literal is not None
        and assembly is not None
        and assembly.is_constant
        and signature.attributes.entries == (("value", literal),)
        and signature.result_types == (literal.type,)
    )


def with_value(signature: OpSignature, value: DenseElements) -> OpSignature:
    """The signature of the same constant with another value, which may have another type."""
    attributes, types = DictAttr((("value", value),)), (value.type,)
    other = OpSignature(signature.op_class, signature.name, attributes, (), types)
    is_first = EQUALLY_VALID not in signature.cache and other is not signature
    if is_first and types == signature.result_types:
        other.cache[EQUALLY_VALID] = signature
    return other


def build_from_template(
    statement: Statement, names: list[str], values: dict[str, Value], location: LazyLocation
) -> Op | None:
    """The operation of a template with these names.

    None if the statement must be parsed in full: an operand is undefined or of another type, or a result
    is already defined.
    """
    template, signature = statement
    groups = template.groups
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
    # Types are interned, so this compares tuples of pointers.
    if tuple([operand.type for operand in operands]) != signature.operand_types:
        return None
    return build(signature, operands, template.attributes, location)


def build_simple(
    statement: Statement,
    names: list[str],
    values: dict[str, Value],
    source: Source,
    offset: int,
    block: Block,
) -> Op | None:
    """As `build_from_template`, for a simple template, whose operands have these names.

    The operation is appended to `block`.
    """
    template, signature = statement
    operands = []
    # An explicit `strict` would take time. There are as many names as types.
    for name, type in zip(names, signature.operand_types):  # noqa: B905
        value = values.get(name)
        if value is None or value.type is not type:
            return None
        operands.append(value)
    return build_at_offset(signature, operands, template.attributes, source, offset, block)
