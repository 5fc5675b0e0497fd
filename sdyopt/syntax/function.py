"""How functions are written: `private @name(%arg0: type {…}) -> (type {…}) attributes {…} { … }`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdyopt.ir.attribute import EMPTY_DICT, ArrayAttr, DictAttr, StringAttr, TypeAttr
from sdyopt.ir.block import Region
from sdyopt.ir.symbols import SYM_NAME, SYM_VISIBILITY
from sdyopt.ir.types import FunctionType, Type
from sdyopt.ir.value import Value
from sdyopt.syntax.names import symbol_text
from sdyopt.syntax.statement import Argument, Statement

if TYPE_CHECKING:  # the printer prints with assemblies, of which this is one
    from sdyopt.syntax.print import Printer

_VISIBILITIES = ("public", "private", "nested")
_WRITTEN_APART = (SYM_NAME, SYM_VISIBILITY, "function_type", "arg_attrs", "res_attrs")


def parse_function(statement: Statement) -> None:
    """Reads a function behind the operation's name."""
    for visibility in _VISIBILITIES:
        if statement.accept(visibility):
            statement.attributes[SYM_VISIBILITY] = StringAttr(visibility)
            break
    statement.attributes[SYM_NAME] = StringAttr(statement.symbol())
    inputs: list[Argument] = []
    statement.comma_list(lambda: inputs.append(_input(statement, inputs)), "(", ")")
    outputs = _outputs(statement) if statement.accept("->") else []
    type = FunctionType(tuple(i.type for i in inputs), tuple(type for type, _ in outputs))
    statement.attributes["function_type"] = TypeAttr(type)
    offset = statement.skip()
    statement.attribute_dictionary_with_keyword()
    _check_not_given(statement, offset)
    _set_dictionaries(statement, "arg_attrs", [i.attributes for i in inputs])
    _set_dictionaries(statement, "res_attrs", [attributes for _, attributes in outputs])
    statement.operands, statement.result_types = [], []
    body_offset = statement.skip()
    if statement.looking_at("{"):
        region = statement.region(inputs)
        if region.is_empty:
            raise statement.error("expected non-empty function body", body_offset)
    else:
        statement.regions.append(Region())
    for name in ("arg_attrs", "res_attrs"):
        if name in statement.attributes:
            statement.check_not_written(name)


def _input(statement: Statement, before: list[Argument]) -> Argument:
    """Reads `%name: type {…} loc(…)`, or `type {…}` where a function is only declared; all inputs alike."""
    if statement.looking_at_operand():
        argument = statement.argument()
        if before and not before[-1].name:
            raise statement.error("expected type instead of SSA identifier", argument.offset)
        return argument
    offset = statement.skip()
    if before and before[-1].name:
        raise statement.error("expected SSA identifier", offset)
    type, attributes = statement.type(), statement.accept_dictionary()
    location = statement.parser.trailing_location(statement)
    return Argument("", offset, type, attributes, location or (statement.source, offset))


def _outputs(statement: Statement) -> list[tuple[Type, DictAttr | None]]:
    if not statement.looking_at("("):
        return [(statement.type(), None)]
    return statement.comma_list(lambda: (statement.type(), statement.accept_dictionary()), "(", ")")


def _check_not_given(statement: Statement, offset: int) -> None:
    """What the signature says cannot be said again among the attributes."""
    for name in (SYM_VISIBILITY, SYM_NAME, "function_type"):
        if name in statement.written:
            raise statement.error(
                f"'{name}' is an inferred attribute and should not be specified in the explicit attribute "
                "dictionary",
                offset,
            )


def _set_dictionaries(statement: Statement, name: str, held: list[DictAttr | None]) -> None:
    if any(held):
        statement.attributes[name] = ArrayAttr(tuple(attributes or EMPTY_DICT for attributes in held))


def print_function(op, printer: Printer) -> None:  # type: ignore[no-untyped-def]
    """Writes what stands behind the name of a function operation."""
    visibility = op.signature.attributes.get(SYM_VISIBILITY)
    printer.write(f" {visibility.value} " if visibility is not None else " ")
    printer.write(symbol_text(op.sym_name))
    type = op.function_type
    printer.write("(")
    arguments: list[Value] = [] if op.is_declaration else list(op.entry.arguments)
    for index, attributes in enumerate(op.argument_attributes):
        if index:
            printer.write(", ")
        if arguments:
            printer.argument(arguments[index], attributes)
        else:
            printer.write(printer.type(type.inputs[index]))
            printer.dictionary(attributes)
    printer.write(")")
    if type.results:
        _print_outputs(type, op.result_attributes, printer)
    printer.attribute_dictionary(op, *_WRITTEN_APART, with_keyword=True)
    if not op.is_declaration:
        printer.write(" ")
        printer.region(op.body)


def _print_outputs(type: FunctionType, held: list[DictAttr], printer: Printer) -> None:
    printer.write(" -> ")
    is_bare = len(type.results) == 1 and not held[0] and not isinstance(type.results[0], FunctionType)
    if not is_bare:
        printer.write("(")
    for index, (result, attributes) in enumerate(zip(type.results, held, strict=True)):
        if index:
            printer.write(", ")
        printer.write(printer.type(result))
        printer.dictionary(attributes)
    if not is_bare:
        printer.write(")")
