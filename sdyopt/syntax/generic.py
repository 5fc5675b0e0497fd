"""The generic form: `"name"(%operands)[^successors] <{properties}> ({regions}) {attributes} : type`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdyopt.ir.attribute import DictAttr
from sdyopt.ir.dialect import inherent_names
from sdyopt.ir.fields import AttrField
from sdyopt.ir.operation import UnregisteredOp
from sdyopt.ir.types import FunctionType
from sdyopt.syntax.spell import plain_attribute
from sdyopt.syntax.statement import OperandName, Statement

if TYPE_CHECKING:  # the parser reads generic statements, whose regions the parser reads
    from sdyopt.syntax.parse import Parser

# Where the properties of an operation that nobody knows are kept.
PROPERTIES = "properties"


def parse_generic(parser: Parser, name: str, offset: int, position: int) -> Statement:
    """Reads a generic statement behind its quoted name."""
    op_class = parser.dialects.op_class(name) or UnregisteredOp
    statement = Statement(parser, position, name, op_class, offset)
    statement.is_generic = True
    if not name:
        raise statement.error("empty operation name is invalid", offset)
    if op_class is UnregisteredOp:
        _check_unregistered(parser, statement)
    statement.expect("(", " to start operand list")
    names = statement.operand_list()
    statement.expect(")", " to end operand list")
    if statement.accept("["):
        statement.successors = statement.comma_list(lambda: parser.successor(statement))
        statement.expect("]")
    given = properties(statement)
    if statement.accept("("):
        statement.region()
        while statement.accept(","):
            statement.region()
        statement.expect(")", " to end region list")
    found = statement.attribute_dictionary()
    _signature(statement, names)
    settle_attributes(statement, given, found)
    return statement


def _check_unregistered(parser: Parser, statement: Statement) -> None:
    # An operation that a known dialect does not have is for the verifier to refuse.
    is_known = parser.dialects.find(statement.name.partition(".")[0]) is not None
    if not is_known and not parser.chunk.allow_unregistered:
        raise statement.error(
            "operation being parsed with an unregistered dialect. If this is intended, please use "
            "-allow-unregistered-dialect with the MLIR tool used"
        )


def properties(statement: Statement) -> DictAttr | None:
    """Reads `<{…}>`, if it is next."""
    if not statement.accept("<"):
        return None
    offset = statement.skip()
    found = statement.attribute()
    statement.expect(">")
    if statement.op_class is UnregisteredOp:
        statement.attributes[PROPERTIES] = found
        return None
    if not isinstance(found, DictAttr):
        raise statement.error("expected DictionaryAttr to set properties", offset)
    return found


def settle_attributes(statement: Statement, given: DictAttr | None, found: DictAttr) -> None:
    """Puts together the properties that were given, and the attributes found behind them.

    Properties must be of a class that the operation can hold, and go before attributes. Without
    properties, inherent attributes must be valid.
    """
    if given is None:
        statement.check_attributes(found, statement.offset)
        return
    inherent = inherent_names(statement.op_class)
    if not inherent:
        raise statement.error(
            f"invalid properties {plain_attribute(given)} for op {statement.name}: this operation has empty "
            "properties",
            statement.offset,
        )
    for field in statement.op_class.fields.values():
        if not isinstance(field, AttrField):
            continue
        value = given.get(field.name)
        if value is not None and not field.kind.holds(value):
            raise statement.error(
                f"invalid properties {plain_attribute(given)} for op {statement.name}: Invalid attribute "
                f"`{field.name}` in property conversion: {plain_attribute(value)}",
                statement.offset,
            )
        other = found.get(field.name)
        if other is not None and not field.kind.holds(other):
            del statement.attributes[field.name]
    statement.attributes.update(entry for entry in given.entries if entry[0] in inherent)


def _signature(statement: Statement, names: list[OperandName]) -> None:
    """Reads `: (operand types) -> result types` and resolves the operands."""
    statement.expect(":", " followed by operation type")
    end = statement.position
    statement.skip()
    type = statement.type()
    if not isinstance(type, FunctionType):
        raise statement.error("expected function type", end)
    if len(type.inputs) != len(names):
        s = "" if len(names) == 1 else "s"
        raise statement.error(
            f"expected {len(names)} operand type{s} but had {len(type.inputs)}", statement.position
        )
    statement.operands = [
        statement.resolve(name, operand_type) for name, operand_type in zip(names, type.inputs, strict=True)
    ]
    statement.result_types = list(type.results)
