"""The generic form: `"name"(%operands)[^successors] <{properties}> ({regions}) {attributes} : type`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdyopt.diagnostics.diagnostic import DiagnosticError
from sdyopt.ir.attribute import Attribute, DictAttr
from sdyopt.ir.dialect import inherent_names
from sdyopt.ir.op_fields import AttrField
from sdyopt.ir.operation import UnregisteredOp
from sdyopt.ir.types import FunctionType
from sdyopt.syntax.spell import plain_attribute
from sdyopt.syntax.statement import OperandName, Statement

if TYPE_CHECKING:  # the parser reads generic statements, whose regions the parser reads
    from sdyopt.syntax.parse import Parser

# The inherent attribute that holds the properties of an operation that nobody knows.
PROPERTIES = "properties"


def parse_generic(parser: Parser, name: str, offset: int, position: int) -> Statement:
    """Reads a generic statement behind its quoted name."""
    op_class = parser.dialects.op_class(name) or UnregisteredOp
    statement = Statement(parser, position, name, op_class, offset)
    statement.is_generic = True
    if not name:
        raise statement.error("empty operation name is invalid", offset)
    if "\0" in name:
        raise statement.error("null character not allowed in operation name", offset)
    if op_class is UnregisteredOp:
        _check_unregistered(parser, statement)
    statement.expect("(", " to start operand list")
    names = statement.operand_list()
    statement.expect(")", " to end operand list")
    _successors(parser, statement)
    properties(statement)
    if statement.accept("("):
        statement.region()
        while statement.accept(","):
            statement.region()
        statement.expect(")", " to end region list")
    found = statement.attribute_dictionary()
    _signature(statement, names)
    if statement.properties is None:
        statement.check_attributes(found, offset)
    return statement


def _check_unregistered(parser: Parser, statement: Statement) -> None:
    # An operation that a known dialect does not have is for the verifier to refuse.
    is_known = parser.dialects.find(statement.name.partition(".")[0]) is not None
    if not is_known and not parser.chunk.allow_unregistered:
        raise statement.error(
            "operation being parsed with an unregistered dialect. If this is intended, please use "
            "-allow-unregistered-dialect with the MLIR tool used"
        )


def _successors(parser: Parser, statement: Statement) -> None:
    """Reads `[^bb1, ^bb2]`, if it is next."""
    if not statement.looking_at("["):
        return
    op_class = statement.op_class
    if not op_class.is_terminator and op_class is not UnregisteredOp:
        raise statement.error("successors in non-terminator")
    statement.expect("[")
    if statement.looking_at("]"):
        raise statement.misplaced("expected list element")
    statement.successors = statement.comma_list(lambda: parser.successor(statement))
    if not statement.accept("]"):
        raise statement.misplaced("expected ',' or ']'")


def properties(statement: Statement) -> bool:
    """Reads `<{…}>`, if it is next; says whether it was."""
    if not statement.accept("<"):
        return False
    statement.properties = statement.attribute()
    statement.expect(">", " to close properties")
    return True


def settle_properties(statement: Statement) -> None:
    """Takes over the properties that were given, once all of the statement has been read.

    They must be of a class that the operation can hold, and go before attributes.
    """
    given, op_class = statement.properties, statement.op_class
    assert given is not None
    if op_class is UnregisteredOp:
        statement.attributes[PROPERTIES] = given
        return
    inherent = inherent_names(op_class)
    if not inherent:
        raise _invalid_properties(statement, given, "this operation has empty properties")
    if not isinstance(given, DictAttr):
        raise _invalid_properties(statement, given, "expected DictionaryAttr to set properties")
    for field in op_class.fields.values():
        if not isinstance(field, AttrField):
            continue
        value = given.get(field.name)
        if value is not None and not field.kind.holds(value):
            problem = f"Invalid attribute `{field.name}` in property conversion: {plain_attribute(value)}"
            raise _invalid_properties(statement, given, problem)
    for name, value in given.entries:
        if name in inherent:
            statement.attributes[name] = value
            statement.written.pop(name, None)


def _invalid_properties(statement: Statement, given: Attribute, problem: str) -> DiagnosticError:
    return statement.error_at_operation(
        f"invalid properties {plain_attribute(given)} for op {statement.name}: {problem}"
    )


def _signature(statement: Statement, names: list[OperandName]) -> None:
    """Reads `: (operand types) -> result types` and resolves the operands."""
    statement.expect(":", " followed by operation type")
    offset = statement.skip()
    type = statement.type()
    if not isinstance(type, FunctionType):
        raise statement.fault_besides("expected function type", offset)
    if len(type.inputs) != len(names):
        # MLIR takes the byte behind its "s" where there is nothing to count in the plural.
        s = "\0" if len(names) == 1 else "s"
        raise statement.fault_besides(
            f"expected {len(names)} operand type{s} but had {len(type.inputs)}", offset
        )
    statement.operands = [
        statement.resolve(name, operand_type) for name, operand_type in zip(names, type.inputs, strict=True)
    ]
    statement.result_types = list(type.results)
