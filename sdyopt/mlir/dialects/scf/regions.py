"""scf.execute_region and scf.index_switch, and their canonicalizations."""

from __future__ import annotations

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import custom
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.scf.conditional import (
    Edge,
    YieldOp,
    check_edges,
    inline_region,
    parse_result_types,
    print_result_types,
    scf,
)
from sdyopt.mlir.ir.attribute import UNIT
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import DenseArray, IntegerAttr
from sdyopt.mlir.ir.constraints import ANY_TYPE, I64_ARRAY, INDEX_VALUE, ONE_BLOCK, UNIT_ATTR
from sdyopt.mlir.ir.folding import constant_value
from sdyopt.mlir.ir.interfaces import SINGLE_BLOCK
from sdyopt.mlir.ir.op_fields import attr, operand, optional_attr, region, regions, results
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.traits import NO_TERMINATOR, RECURSIVE_EFFECTS
from sdyopt.mlir.ir.types import I64


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
