"""The generic form: `"name"(%operands)[^successors] <{properties}> ({regions}) {attributes} : type`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdyopt.ir.attribute import DictAttr
from sdyopt.ir.operation import UnregisteredOp
from sdyopt.ir.types import FunctionType
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
    _properties(statement)
    if statement.accept("("):
        statement.region()
        while statement.accept(","):
            statement.region()
        statement.expect(")", " to end region list")
    statement.attribute_dictionary()
    _signature(statement, names)
    return statement


def _check_unregistered(parser: Parser, statement: Statement) -> None:
    if not parser.chunk.allow_unregistered:
        raise statement.error(
            "operation being parsed with an unregistered dialect. If this is intended, please use "
            "-allow-unregistered-dialect with the MLIR tool used"
        )


def _properties(statement: Statement) -> None:
    if not statement.accept("<"):
        return
    offset = statement.skip()
    found = statement.attribute()
    statement.expect(">")
    if statement.op_class is UnregisteredOp:
        statement.attributes[PROPERTIES] = found
    elif isinstance(found, DictAttr):
        statement.attributes.update(found.entries)
    else:
        raise statement.error("expected DictionaryAttr to set properties", offset)


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
