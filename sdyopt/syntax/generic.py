"""The generic form: `"name"(%operands)[^successors] <{properties}> ({regions}) {attributes} : type`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdyopt.ir.attribute import DictAttr
from sdyopt.ir.dialect import inherent_names
from sdyopt.ir.fields import AttrField
from sdyopt.ir.dialect import inherent_names
from sdyopt.ir.operation import UnregisteredOp
from sdyopt.ir.types import FunctionType
from sdyopt.syntax.spell import plain_attribute
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
    properties(statement)
    given = dict(statement.attributes)
    if statement.accept("("):
        statement.region()
        while statement.accept(","):
            statement.region()
        statement.expect(")", " to end region list")
    found = statement.attribute_dictionary()
    statement.attributes.update(given)  # what stands in both is a property
    _signature(statement, names)
    statement.check_attributes(found, offset)
    return statement


def _check_unregistered(parser: Parser, statement: Statement) -> None:
    if not parser.chunk.allow_unregistered:
        raise statement.error(
            "operation being parsed with an unregistered dialect. If this is intended, please use "
            "-allow-unregistered-dialect with the MLIR tool used"
        )


def properties(statement: Statement) -> bool:
    """Reads `<{…}>`, if it is next; says whether it was."""
    if not statement.accept("<"):
        return False
    offset = statement.skip()
    found = statement.attribute()
    statement.expect(">")
    if statement.op_class is UnregisteredOp:
        statement.attributes[PROPERTIES] = found
    elif isinstance(found, DictAttr):
        _check_are_held(statement, found)
        inherent = inherent_names(statement.op_class)
        statement.attributes.update(entry for entry in found.entries if entry[0] in inherent)
    else:
        raise statement.error("expected DictionaryAttr to set properties", offset)
    return True


def _check_are_held(statement: Statement, found: DictAttr) -> None:
    """Each inherent attribute is of a class that its operation can hold."""
    for field in statement.op_class.fields.values():
        if not isinstance(field, AttrField):
            continue
        value = found.get(field.name)
        if value is not None and not field.kind.holds(value):
            raise statement.error(
                f"invalid properties {plain_attribute(found)} for op {statement.name}: Invalid attribute "
                f"`{field.name}` in property conversion: {plain_attribute(value)}",
                statement.offset,
            )


def _overriding_attributes(statement: Statement) -> None:
    """Reads `{…}` behind properties: inherent attributes in it take the place of those."""
    found = statement.accept_dictionary()
    if found is None:
        return
    kinds = {f.name: f.kind for f in statement.op_class.fields.values() if isinstance(f, AttrField)}
    for name, value in found.entries:
        if name in kinds and not kinds[name].holds(value):
            statement.attributes.pop(name, None)
        else:
            statement.attributes[name] = value


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
