"""The assembly format of functions: `private @name(%arg0: type {…}) -> (type {…}) attributes {…} { … }`."""

from __future__ import annotations

from sdyopt.mlir.asm.format.directives import symbol_text
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter
from sdyopt.mlir.asm.parser.op_parser import Argument, OpAsmParser
from sdyopt.mlir.ir.attribute import EMPTY_DICT, ArrayAttr, DictAttr, StringAttr, TypeAttr
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.symbols import SYM_NAME, SYM_VISIBILITY
from sdyopt.mlir.ir.types import FunctionType, Type
from sdyopt.mlir.ir.value import Value

_VISIBILITIES = ("public", "private", "nested")
_ELIDED = (SYM_NAME, SYM_VISIBILITY, "function_type", "arg_attrs", "res_attrs")


def parse_function(op_parser: OpAsmParser) -> None:
    """Parses what follows the name of a function operation; raises DiagnosticError."""
    for visibility in _VISIBILITIES:
        if op_parser.accept(visibility):
            op_parser.attributes[SYM_VISIBILITY] = StringAttr(visibility)
            break
    op_parser.attributes[SYM_NAME] = StringAttr(op_parser.symbol())
    inputs: list[Argument] = []
    op_parser.comma_list(lambda: inputs.append(_input(op_parser, inputs)), "(", ")")
    results = _results(op_parser) if op_parser.accept("->") else []
    type = FunctionType(tuple(i.type for i in inputs), tuple(type for type, _ in results))
    op_parser.attributes["function_type"] = TypeAttr(type)
    offset = op_parser.skip_trivia()
    op_parser.attribute_dictionary_with_keyword()
    _check_not_explicit(op_parser, offset)
    _set_dictionaries(op_parser, "arg_attrs", [i.attributes for i in inputs])
    _set_dictionaries(op_parser, "res_attrs", [attributes for _, attributes in results])
    op_parser.operands, op_parser.result_types = [], []
    body_offset = op_parser.skip_trivia()
    if op_parser.looking_at("{"):
        region = op_parser.region(inputs)
        if region.is_empty:
            raise op_parser.error("expected non-empty function body", body_offset)
    else:
        op_parser.regions.append(Region())
    for name in ("arg_attrs", "res_attrs"):
        if name in op_parser.attributes:
            op_parser.check_not_in_dictionary(name)


def _input(op_parser: OpAsmParser, previous: list[Argument]) -> Argument:
    """Parses `%name: type {…} loc(…)`, or `type {…}` in a declaration; the inputs must not mix the two."""
    if op_parser.looking_at_operand():
        argument = op_parser.argument()
        if previous and not previous[-1].name:
            raise op_parser.error("expected type instead of SSA identifier", argument.offset)
        return argument
    offset = op_parser.skip_trivia()
    if previous and previous[-1].name:
        raise op_parser.error("expected SSA identifier", offset)
    type, attributes = op_parser.type(), op_parser.accept_dictionary()
    return Argument("", offset, type, attributes, op_parser.location_or_offset(offset))


def _results(op_parser: OpAsmParser) -> list[tuple[Type, DictAttr | None]]:
    if not op_parser.looking_at("("):
        return [(op_parser.type(), None)]
    return op_parser.comma_list(lambda: (op_parser.type(), op_parser.accept_dictionary()), "(", ")")


def _check_not_explicit(op_parser: OpAsmParser, offset: int) -> None:
    """Rejects the visibility, name and type in `attributes {…}`, because the format parses them elsewhere."""
    for name in (SYM_VISIBILITY, SYM_NAME, "function_type"):
        if name in op_parser.dictionary_attributes:
            raise op_parser.error(
                f"'{name}' is an inferred attribute and should not be specified in the explicit attribute "
                "dictionary",
                offset,
            )


def _set_dictionaries(op_parser: OpAsmParser, name: str, dictionaries: list[DictAttr | None]) -> None:
    if any(dictionaries):
        op_parser.attributes[name] = ArrayAttr(tuple(attributes or EMPTY_DICT for attributes in dictionaries))


def print_function(op, printer: OpAsmPrinter) -> None:  # type: ignore[no-untyped-def]
    """Prints what follows the name of a function operation."""
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
        _print_results(type, op.result_attributes, printer)
    printer.attribute_dictionary(op, *_ELIDED, with_keyword=True)
    if not op.is_declaration:
        printer.write(" ")
        printer.region(op.body)


def _print_results(type: FunctionType, dictionaries: list[DictAttr], printer: OpAsmPrinter) -> None:
    printer.write(" -> ")
    is_bare = len(type.results) == 1 and not dictionaries[0] and not isinstance(type.results[0], FunctionType)
    if not is_bare:
        printer.write("(")
    for index, (result, attributes) in enumerate(zip(type.results, dictionaries, strict=True)):
        if index:
            printer.write(", ")
        printer.write(printer.type(result))
        printer.dictionary(attributes)
    if not is_bare:
        printer.write(")")
