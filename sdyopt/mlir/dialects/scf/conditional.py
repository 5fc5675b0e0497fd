"""The scf dialect object, scf.yield and scf.if."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import custom
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter
from sdyopt.mlir.asm.parser.op_parser import Argument, OpAsmParser, OperandName
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.arith.compare import make_constant
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr
from sdyopt.mlir.ir.constraints import ANY_TYPE, BOOLEAN_VALUE, ONE_BLOCK
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.folding import constant_value
from sdyopt.mlir.ir.interfaces import NO_REGION_ARGUMENTS, SINGLE_BLOCK, has_parent
from sdyopt.mlir.ir.op_fields import operand, operands, region, results
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.traits import NO_TERMINATOR, PURE, RECURSIVE_EFFECTS, TERMINATOR
from sdyopt.mlir.ir.types import Type
from sdyopt.mlir.ir.value import Value

scf = Dialect("scf", is_partial=True)
scf.materialize_constant = make_constant
scf.is_inlinable = True


# The operations whose regions end with scf.yield.
_YIELDING = ("scf.execute_region", "scf.for", "scf.if", "scf.index_switch", "scf.while")


@scf.op("yield", PURE, has_parent(*_YIELDING), TERMINATOR)
class YieldOp(Op):
    """Terminates a region of an operation of scf."""

    values = operands(ANY_TYPE)

    assembly = assembly("attr-dict ($values^ `:` type($values))?")


def parse_result_types(op_parser: OpAsmParser) -> list[Type]:
    """Parses types in parentheses, or a single type."""
    if op_parser.looking_at("("):
        return op_parser.comma_list(op_parser.type, "(", ")")
    return [op_parser.type()]


def print_result_types(op: Op, printer: OpAsmPrinter) -> None:
    """Prints ` -> type` or ` -> (types)`; nothing if there are no results."""
    if op.results:
        types = printer.types(op.result_types)
        printer.write(f" -> ({types})" if len(op.results) > 1 else f" -> {types}")


def parse_assignments(op_parser: OpAsmParser) -> tuple[list[OperandName], list[OperandName]]:
    """Parses `(%arg = %value, …)`: the names of arguments, and the values."""
    pairs = op_parser.comma_list(lambda: _parse_assignment(op_parser), "(", ")")
    return [name for name, _ in pairs], [value for _, value in pairs]


def _parse_assignment(op_parser: OpAsmParser) -> tuple[OperandName, OperandName]:
    name = op_parser.argument_name()
    op_parser.expect("=")
    return name, op_parser.operand()


def region_arguments(
    op_parser: OpAsmParser, names: Sequence[OperandName], types: Sequence[Type]
) -> list[Argument]:
    return [
        Argument(name.name, name.offset, type, None, (op_parser.source, name.offset))
        for name, type in zip(names, types, strict=True)
    ]


def assignments(arguments: Sequence[Value], values: Sequence[Value], printer: OpAsmPrinter) -> str:
    pairs = zip(arguments, values, strict=True)
    return f"({', '.join(f'{printer.name(argument)} = {printer.name(value)}' for argument, value in pairs)})"


BRANCH_POINT = "region branch point"


class Edge(NamedTuple):
    """Values that flow from the operation `point` to a region, or to the results of the parent."""

    source: str
    target: str
    point: Op
    given: Sequence[Type]
    needed: Sequence[Type]


def branch_error(source: str, target: str, got: int, needed: int) -> str:
    return (
        f"along control flow edge from {source} to {target}: region branch point has {got} operands, but "
        f"region successor needs {needed} inputs"
    )


def check_edges(op: Op, edges: Sequence[Edge]) -> None:
    """Raises unless along each edge as many values are given as are needed, of the same types."""
    for source, target, point, given, needed in edges:
        if len(given) != len(needed):
            error = op.op_error(branch_error(source, target, len(given), len(needed)))
            raise error.note(BRANCH_POINT, point.location)
        for index, (operand_type, input_type) in enumerate(zip(given, needed, strict=True)):
            if operand_type is not input_type:
                error = op.op_error(
                    f"along control flow edge from {source} to {target}: successor operand type #{index} "
                    f"'{plain_type(operand_type)}' should match successor input type #{index} "
                    f"'{plain_type(input_type)}'"
                )
                raise error.note(BRANCH_POINT, point.location)


def inline_region(region: Region, op: Op, rewriter: Rewriter) -> list[Value]:
    """Moves the only block of a region before an operation; returns the values that it yields."""
    terminator = region.blocks[0].last
    assert terminator is not None
    for inner in list(region.blocks[0].ops):
        if inner is not terminator:
            rewriter.move(inner, before=op)
    return terminator.operands


@scf.op("if", RECURSIVE_EFFECTS, NO_TERMINATOR, SINGLE_BLOCK, NO_REGION_ARGUMENTS)
class IfOp(Op):
    """Executes the region that the condition selects, and returns the values that the region yields."""

    condition = operand(BOOLEAN_VALUE)
    results_ = results(ANY_TYPE)
    then_region = region(ONE_BLOCK, name="thenRegion")
    else_region = region(name="elseRegion")

    def _print_if(self, printer: OpAsmPrinter) -> None:
        if self.results:
            printer.write(f" -> ({printer.types(self.result_types)})")
        printer.write(" ")
        printer.region(self.then_region, print_terminator=bool(self.results))
        if self.else_region.blocks:
            printer.write(" else ")
            printer.region(self.else_region, print_terminator=bool(self.results))

    @staticmethod
    def _parse_if(op_parser: OpAsmParser) -> None:
        op_parser.types["results_"] = parse_result_types(op_parser) if op_parser.accept("->") else []
        op_parser.ensure_terminator(op_parser.region(), YieldOp)
        if op_parser.accept("else"):
            op_parser.ensure_terminator(op_parser.region(), YieldOp)
        else:
            op_parser.regions.append(Region())

    assembly = assembly("$condition custom<branches> attr-dict", branches=custom(_parse_if, print=_print_if))

    def _fold_constant_condition(self, rewriter: Rewriter) -> bool:
        """Replaces the operation with the region that a constant selects."""
        condition = constant_value(self.condition.defining_op)
        if not isinstance(condition, IntegerAttr):
            return False
        chosen = self.then_region if condition.value else self.else_region
        rewriter.replace(self, inline_region(chosen, self, rewriter) if chosen.blocks else [])
        return True

    canonicalizations: ClassVar[tuple[Pattern, ...]] = (Pattern(_fold_constant_condition),)

    def verify_regions(self) -> None:
        if self.results and not self.else_region.blocks:
            raise self.op_error("must have an else block if defining values")
        ends = [block.last for branch in self.regions for block in branch.blocks]
        check_edges(
            self,
            [
                Edge(f"Operation {end.signature.name}", "parent", end, end.operand_types, self.result_types)
                for end in ends
                if isinstance(end, YieldOp)
            ],
        )
