"""How loops are written: `(%iterArg = %0) : type attributes {…} cond { … } do { … }`."""

from __future__ import annotations

from typing import Any

from sdyopt.syntax.print import Printer
from sdyopt.syntax.statement import Argument, OperandName, Statement


def parse_while(statement: Statement) -> None:
    """Reads a loop behind the operation's name. Both regions have the arguments named in front."""
    offset = statement.skip()
    names: list[OperandName] = []
    values: list[OperandName] = []
    statement.expect("(")
    while not statement.accept(")"):
        names.append(statement.operand())
        statement.expect("=")
        values.append(statement.operand())
        if statement.accept(")"):
            break
        statement.expect(",")
    types = []
    if values:
        statement.expect(":")
        types = statement.comma_list(statement.type)
    statement.operands = statement.resolve_all(values, types, offset)
    statement.result_types = types
    statement.attribute_dictionary_with_keyword()
    arguments = [
        Argument(name.name, name.offset, type, None, (statement.source, name.offset))
        for name, type in zip(names, types, strict=True)
    ]
    statement.expect("cond")
    statement.region(arguments)
    statement.expect("do")
    statement.region(arguments)


def print_while(op: Any, printer: Printer) -> None:
    """Writes what stands behind the name of a loop."""
    arguments = op.body.blocks[0].arguments
    pairs = zip(arguments, op.operands, strict=False)
    printer.write(f"({', '.join(f'{printer.name(a)} = {printer.name(v)}' for a, v in pairs)})")
    if op.operands:
        printer.write(f" : {printer.types(op.operand_types)}")
    printer.attribute_dictionary(op, with_keyword=True)
    printer.newline()
    printer.write("cond ")
    printer.region(op.cond)
    printer.write(" do ")
    printer.region(op.body)
