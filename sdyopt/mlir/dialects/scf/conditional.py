"""The scf dialect object, scf.yield, scf.if, scf.index_switch and scf.execute_region."""

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
from sdyopt.mlir.ir.attribute import UNIT
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import DenseArray, IntegerAttr
from sdyopt.mlir.ir.cse import constant_value
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.interfaces import NO_REGION_ARGUMENTS, SINGLE_BLOCK, has_parent
from sdyopt.mlir.ir.op_fields import attr, operand, operands, optional_attr, region, regions, results
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.traits import (
    ANY_TYPE,
    BOOLEAN_VALUE,
    I64_ARRAY,
    INDEX_VALUE,
    NO_TERMINATOR,
    ONE_BLOCK,
    PURE,
    RECURSIVE_EFFECTS,
    TERMINATOR,
    UNIT_ATTR,
)
from sdyopt.mlir.ir.types import I64, Type
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


@scf.op("execute_region", RECURSIVE_EFFECTS)
class ExecuteRegionOp(Op):
    """Runs its region, of any number of blocks, once."""

    no_inline = optional_attr(UNIT_ATTR)
    results_ = results(ANY_TYPE)
    body = region(name="region")

    def _print_execute(self, printer: OpAsmPrinter) -> None:
        print_result_types(self, printer)
        printer.write(" no_inline " if self.no_inline else " ")
        printer.region(self.body)
        printer.attribute_dictionary(self, "no_inline")

    @staticmethod
    def _parse_execute(op_parser: OpAsmParser) -> None:
        op_parser.result_types = parse_result_types(op_parser) if op_parser.accept("->") else []
        if op_parser.accept("no_inline"):
            op_parser.attributes["no_inline"] = UNIT
        op_parser.region()
        op_parser.attribute_dictionary()

    assembly = assembly("custom<body>", body=custom(_parse_execute, print=_print_execute))

    def _inline_single_block(self, rewriter: Rewriter) -> bool:
        """Replaces the operation with its only block."""
        if self.no_inline or len(self.body.blocks) != 1:
            return False
        if not isinstance(self.body.blocks[0].last, YieldOp):
            return False
        rewriter.replace(self, inline_region(self.body, self, rewriter))
        return True

    canonicalizations = (Pattern(_inline_single_block),)

    def verify_in_context(self) -> None:
        if not self.body.blocks or self.body.is_empty:
            raise self.op_error("region needs to have at least one block")
        if self.body.blocks[0].arguments:
            raise self.op_error("region cannot have any arguments")

    def verify_regions(self) -> None:
        ends = [block.last for block in self.body.blocks if isinstance(block.last, YieldOp)]
        check_edges(
            self,
            [
                Edge("Operation scf.yield", "parent", end, end.operand_types, self.result_types)
                for end in ends
                if end is not None
            ],
        )


@scf.op("index_switch", RECURSIVE_EFFECTS, SINGLE_BLOCK, NO_TERMINATOR)
class IndexSwitchOp(Op):
    """Runs the region of the case with the value of the argument, or that of the default."""

    argument = operand(INDEX_VALUE)
    cases = attr(I64_ARRAY)
    results_ = results(ANY_TYPE)
    default_region = region(ONE_BLOCK, name="defaultRegion")
    case_regions = regions(ONE_BLOCK, name="caseRegions")

    def _print_cases(self, printer: OpAsmPrinter) -> None:
        printer.write(" ")
        for value, case in zip(self.cases, self.case_regions, strict=True):
            printer.newline()
            printer.write(f"case {value} ")
            printer.region(case)
        printer.newline()
        printer.write("default ")
        last = self.default_region.blocks[0].last
        printer.region(self.default_region, print_terminator=last is None or bool(last.operands))

    @staticmethod
    def _parse_cases(op_parser: OpAsmParser) -> None:
        values: list[int] = []
        while op_parser.accept("case"):
            values.append(op_parser.integer())
            op_parser.region()
        op_parser.attributes["cases"] = DenseArray(I64, tuple(values))
        op_parser.expect("default")
        op_parser.ensure_terminator(op_parser.region(), YieldOp)
        # The region of the default is the first.
        op_parser.regions.insert(0, op_parser.regions.pop())

    assembly = assembly(
        "$argument attr-dict (`->` type($results_)^)? custom<cases>($cases)",
        cases=custom(_parse_cases, print=_print_cases),
    )

    def _fold_constant_argument(self, rewriter: Rewriter) -> bool:
        """Replaces the operation with the region that a constant selects."""
        constant = constant_value(self.argument.defining_op)
        if not isinstance(constant, IntegerAttr):
            return False
        cases = dict(zip(self.cases, self.case_regions, strict=True))
        rewriter.replace(self, inline_region(cases.get(constant.value, self.default_region), self, rewriter))
        return True

    canonicalizations = (Pattern(_fold_constant_argument),)

    def verify_in_context(self) -> None:
        if len(self.cases) != len(self.case_regions):
            raise self.op_error(
                f"has {len(self.case_regions)} case regions but {len(self.cases)} case values"
            )
        for index, value in enumerate(self.cases):
            if value in self.cases[:index]:
                raise self.op_error(f"has duplicate case value: {value}")
        self._check_region(self.default_region, "default region")
        for index, case in enumerate(self.case_regions):
            self._check_region(case, f"case region #{index}")

    def _check_region(self, region: Region, name: str) -> None:
        last = region.blocks[0].last
        if not isinstance(last, YieldOp):
            name = "none" if last is None else last.signature.name
            raise self.op_error(f"expected region to end with scf.yield, but got {name}")
        if len(last.operands) != len(self.results):
            raise self.op_error(
                f"expected each region to return {len(self.results)} values, but {name} returns "
                f"{len(last.operands)}"
            ).note("see yield operation here", last.location)
        for index, (value, result) in enumerate(zip(last.operand_types, self.result_types, strict=True)):
            if value is not result:
                raise self.op_error(
                    f"expected result #{index} of each region to be '{plain_type(result)}'"
                ).note(f"{name} returns '{plain_type(value)}' here", last.location)
