"""The scf dialect object, scf.yield and scf.if."""

from __future__ import annotations

from typing import ClassVar

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import custom
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.arith.compare import make_constant
from sdyopt.mlir.ir.attribute import EMPTY_DICT
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr
from sdyopt.mlir.ir.constraints import ANY_TYPE, BOOLEAN_VALUE, ONE_BLOCK
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.folding import constant_value
from sdyopt.mlir.ir.interfaces import SINGLE_BLOCK
from sdyopt.mlir.ir.op_fields import operand, operands, region, results
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op, build
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


@scf.op("yield", PURE, TERMINATOR)
class YieldOp(Op):
    """Terminates a region of an operation of scf, perhaps of one that is not registered."""

    values = operands(ANY_TYPE)

    assembly = assembly("attr-dict ($values^ `:` type($values))?")

    def verify_in_context(self) -> None:
        parent = self.parent_op
        if parent is None or parent.signature.name not in _YIELDING:
            raise self.op_error(f"expects parent op to be one of '{', '.join(_YIELDING)}'")


def ensure_terminator(region: Region, op_parser: OpAsmParser) -> None:
    """Appends the yield that the syntax omits from a region without results."""
    block = region.blocks[0] if region.blocks else region.add_block()
    if block.last is None or not block.last.is_terminator:
        location = (op_parser.source, op_parser.offset)
        signature = OpSignature(YieldOp, YieldOp.name, EMPTY_DICT, (), ())
        block.append(build(signature, (), EMPTY_DICT, location))


def parse_result_types(op_parser: OpAsmParser) -> list[Type]:
    """Parses types in parentheses, or a single type."""
    if op_parser.looking_at("("):
        return op_parser.comma_list(op_parser.type, "(", ")")
    return [op_parser.type()]


def _parse_if(op_parser: OpAsmParser) -> None:
    op_parser.types["results_"] = parse_result_types(op_parser) if op_parser.accept("->") else []
    ensure_terminator(op_parser.region(), op_parser)
    if op_parser.accept("else"):
        ensure_terminator(op_parser.region(), op_parser)
    else:
        op_parser.regions.append(Region())


def _print_if(op: IfOp, printer: OpAsmPrinter) -> None:
    if op.results:
        printer.write(f" -> ({printer.types(op.result_types)})")
    printer.write(" ")
    printer.region(op.then_region, print_terminator=bool(op.results))
    if op.else_region.blocks:
        printer.write(" else ")
        printer.region(op.else_region, print_terminator=bool(op.results))


def _fold_constant_condition(op: IfOp, rewriter: Rewriter) -> bool:
    """Replaces the operation with the region that a constant selects."""
    condition = constant_value(op.condition.defining_op)
    if not isinstance(condition, IntegerAttr):
        return False
    chosen = op.then_region if condition.value else op.else_region
    values: list[Value] = []
    if chosen.blocks:
        terminator = chosen.blocks[0].last
        assert terminator is not None
        mapping: dict[Value, Value] = {}
        for inner in list(chosen.blocks[0].ops):
            if inner is not terminator:
                rewriter.insert(rewriter.clone(inner, mapping), before=op)
        values = [mapping.get(value, value) for value in terminator.operands]
    rewriter.replace(op, values)
    return True


@scf.op("if", RECURSIVE_EFFECTS, NO_TERMINATOR, SINGLE_BLOCK)
class IfOp(Op):
    """Executes the region that the condition selects, and returns the values that the region yields."""

    condition = operand(BOOLEAN_VALUE)
    results_ = results(ANY_TYPE)
    then_region = region(ONE_BLOCK)
    else_region = region()

    assembly = assembly("$condition custom<branches> attr-dict", branches=custom(_parse_if, print=_print_if))
    canonicalizations: ClassVar[tuple[Pattern, ...]] = (Pattern(_fold_constant_condition),)

    def verify_regions(self) -> None:
        if self.results and not self.else_region.blocks:
            raise self.op_error("must have an else block if defining values")
        for number, branch in enumerate(self.regions):
            last = branch.blocks[0].last if branch.blocks else None
            got = last.operand_types if last is not None else ()
            if branch.blocks and len(got) != len(self.results):
                raise self.op_error(
                    f" region control flow edge from Region #{number} to parent results: source has "
                    f"{len(got)} operands, but target successor needs {len(self.results)}"
                )
            for index, (source, target) in enumerate(zip(got, self.result_types, strict=False)):
                if source is not target:
                    raise self.op_error(_mismatch(number, index, source, target))


def _mismatch(region_number: int, index: int, source: Type, target: Type) -> str:
    return (
        f" along control flow edge from Region #{region_number} to parent results: source type #{index} "
        f"'{plain_type(source)}' should match input type #{index} '{plain_type(target)}'"
    )
