"""Replacing operations in patterns, and the attributes of what replaces them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sdyopt.mlir.dialects.sdy.mesh import SHARDING, SHARDING_RULE
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue
from sdyopt.mlir.dialects.sdy.sharding_edits import set_sharding
from sdyopt.mlir.ir.attribute import Attribute, DictAttr, dictionary
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import Type
from sdyopt.mlir.ir.value import Value

_FRONTEND_ATTRIBUTES = "mhlo.frontend_attributes"
# Identifies one operation, so that it does not move to another one that has its own.
_METADATA_PAYLOAD = "xla_metadata_payload"


def replace_with_value(op: Op, value: Value, rewriter: Rewriter, keeps_attributes: bool = True) -> bool:
    """Replaces the only result by a value of the same type. Returns False if the types differ.

    The operation that defines the value gets the discardable attributes.
    """
    if value.type is not op.results[0].type:
        return False
    if keeps_attributes:
        _merge_attributes(op, value, rewriter)
    rewriter.replace(op, [value])
    return True


def replace_with_new(
    op: Op,
    op_class: type[Op],
    operands: Sequence[Value],
    rewriter: Rewriter,
    attributes: Mapping[str, Attribute | None] | None = None,
    *,
    types: Sequence[Type] | None = None,
    keeps_attributes: bool = True,
) -> bool:
    """Replaces an operation by one with these inherent attributes, and with its discardable ones."""
    given = {name: value for name, value in (attributes or {}).items() if value is not None}
    if keeps_attributes:
        given |= dict(op.attributes.entries)
        if tuple([value.type for value in operands]) != op.signature.operand_types:
            given.pop(SHARDING_RULE, None)
    types = op.signature.result_types if types is None else types
    new = rewriter.create(op_class, operands, types, given, before=op, location=op.lazy_location)
    rewriter.replace(op, new)
    return True


def new_value(
    op: Op,
    op_class: type[Op],
    operands: Sequence[Value],
    type: Type,
    rewriter: Rewriter,
    attributes: Mapping[str, Attribute] | None = None,
) -> Value:
    """The only result of a new operation before another one, with its location."""
    new = rewriter.create(op_class, operands, [type], attributes, before=op, location=op.lazy_location)
    return new.results[0]


def inherent(op: Op, *names: str) -> dict[str, Attribute | None]:
    """The inherent attributes with these names; None where there is none."""
    return {name: op.signature.attributes.get(name) for name in names}


def is_iota(dimensions: Sequence[int]) -> bool:
    """Whether dimensions are 0, 1 and so on."""
    return tuple(dimensions) == tuple(range(len(dimensions)))


def _merge_attributes(op: Op, value: Value, rewriter: Rewriter) -> None:
    """Adds the discardable attributes of an operation to the one that defines a value."""
    target = value.defining_op
    if target is None or not op.attributes:
        return
    merged = dict(target.attributes.entries)
    for name, attribute in op.attributes.entries:
        if name == SHARDING_RULE:
            continue  # is of the operands, which differ
        if name == SHARDING and isinstance(attribute, ShardingPerValue):
            continue  # is set below, of one value
        if name == _FRONTEND_ATTRIBUTES:
            attribute = _united(merged.get(name), attribute)
        merged[name] = attribute
    rewriter.set_attributes(target, dictionary(merged))
    shardings = op.attributes.get(SHARDING)
    if isinstance(shardings, ShardingPerValue) and len(shardings):
        set_sharding(value, shardings.shardings[0], rewriter)


def _united(kept: Attribute | None, added: Attribute) -> Attribute:
    if not isinstance(kept, DictAttr) or not isinstance(added, DictAttr):
        return added
    entries = dict(kept.entries) | dict(added.entries)
    if _METADATA_PAYLOAD in kept:
        entries[_METADATA_PAYLOAD] = kept[_METADATA_PAYLOAD]
    return dictionary(entries)
