"""The assembly of stablehlo.while: `(%iterArg = %0) : type attributes {…} cond { … } do { … }`."""

from __future__ import annotations

from sdyopt.mlir.asm.format.print_template import OpAsmPrinter
from sdyopt.mlir.asm.parser.op_parser import Argument, OpAsmParser, OperandName
from sdyopt.mlir.ir.operation import Op


def parse_while(op_parser: OpAsmParser) -> None:
    """Parses what follows the operation name. Both regions have the arguments `%iterArg`, ….

    Raises a DiagnosticError.
    """
    offset = op_parser.skip_trivia()
    names: list[OperandName] = []
    values: list[OperandName] = []
    op_parser.expect("(")
    while not op_parser.accept(")"):
        names.append(op_parser.operand())
        op_parser.expect("=")
        values.append(op_parser.operand())
        if op_parser.accept(")"):
            break
        op_parser.expect(",")
    types = []
    if values:
        op_parser.expect(":")
        types = op_parser.comma_list(op_parser.type)
    op_parser.operands = op_parser.resolve_all(values, types, offset)
    op_parser.result_types = types
    op_parser.attribute_dictionary_with_keyword()
    arguments = [
        Argument(name.name, name.offset, type, None, (op_parser.source, name.offset))
        for name, type in zip(names, types, strict=True)
    ]
    op_parser.expect("cond")
    op_parser.region(arguments)
    op_parser.expect("do")
    op_parser.region(arguments)


def print_while(op: Op, printer: OpAsmPrinter) -> None:
    """Prints what follows the operation name."""
    cond, body = op.regions
    pairs = zip(body.blocks[0].arguments, op.operands, strict=False)
    printer.write(f"({', '.join(f'{printer.name(a)} = {printer.name(v)}' for a, v in pairs)})")
    if op.operands:
        printer.write(f" : {printer.types(op.operand_types)}")
    printer.attribute_dictionary(op, with_keyword=True)
    printer.newline()
    printer.write("cond ")
    printer.region(cond)
    printer.write(" do ")
    printer.region(body)
