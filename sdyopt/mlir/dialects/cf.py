"""The subset of the cf dialect that programs of the mesh dialect use: br, cond_br, assert."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import custom
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.dialects.arith.compare import make_constant
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr
from sdyopt.mlir.ir.constraints import ANY_TYPE, BOOLEAN_VALUE, STRING_ATTR
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.folding import constant_value
from sdyopt.mlir.ir.op_fields import attr, operand, operands
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.traits import ATTR_SIZED_OPERANDS, PURE, TERMINATOR
from sdyopt.mlir.ir.value import Value

cf = DIALECT = Dialect("cf", is_partial=True)
cf.is_inlinable = True
cf.materialize_constant = make_constant


def _parse_successor(op_parser: OpAsmParser, field: str) -> None:
    """Parses `^block` or `^block(%a, %b : types)`."""
    op_parser.successors.append(op_parser.successor())
    op_parser.operand_names[field] = []
    if op_parser.accept("("):
        op_parser.operand_names[field] = op_parser.operand_list()
        op_parser.expect(":")
        op_parser.types[field] = op_parser.comma_list(op_parser.type)
        op_parser.expect(")")


def _print_successor(printer: OpAsmPrinter, block: Block, values: Sequence[Value]) -> None:
    printer.write(printer.label(block))
    if values:
        types = printer.types([value.type for value in values])
        printer.write(f"({printer.name_list(values)} : {types})")


def _check_successor(op: Op, number: int, values: Sequence[Value]) -> None:
    """Raises unless the values match the block arguments of a successor."""
    arguments = op.successors[number].arguments
    if len(arguments) != len(values):
        raise op.op_error(
            f"branch has {len(values)} operands for successor #{number}, but target block has "
            f"{len(arguments)}"
        )
    for index, (argument, value) in enumerate(zip(arguments, values, strict=True)):
        if argument.type is not value.type:
            raise op.op_error(f"type mismatch for bb argument #{index} of successor #{number}")


def _merge_block(op: BranchOp, rewriter: Rewriter) -> bool:
    """Merges a block into its only predecessor."""
    target, block = op.successors[0], op.parent
    if target is block or target.uses > 1:
        return False
    values = list(op.dest_operands)
    for argument, value in zip(target.arguments, values, strict=True):
        rewriter.replace_all_uses(argument, value)
    assert block is not None
    rewriter.erase(op)
    for inner in list(target.ops):
        rewriter.move(inner, at_end_of=block)
    rewriter.erase_block(target)
    return True


def _parse_branch(op_parser: OpAsmParser) -> None:
    _parse_successor(op_parser, "dest_operands")


def _print_branch(op: BranchOp, printer: OpAsmPrinter) -> None:
    printer.write(" ")
    _print_successor(printer, op.successors[0], op.dest_operands)


@cf.op("br", PURE, TERMINATOR)
class BranchOp(Op):
    """Branches to a block."""

    dest_operands = operands(ANY_TYPE)

    assembly = assembly("custom<branch> attr-dict", branch=custom(_parse_branch, print=_print_branch))
    successor_operands = ("dest_operands",)
    canonicalizations = (Pattern(_merge_block),)

    def verify_in_context(self) -> None:
        _check_successor(self, 0, self.dest_operands)


def _fold_constant_condition(op: ConditionalBranchOp, rewriter: Rewriter) -> bool:
    """Replaces a conditional branch on a constant with a branch."""
    condition = constant_value(op.condition.defining_op)
    if not isinstance(condition, IntegerAttr):
        return False
    target = op.successors[0 if condition.value else 1]
    values = op.true_dest_operands if condition.value else op.false_dest_operands
    rewriter.create(BranchOp, values, before=op, location=op.location, successors=[target])
    rewriter.erase(op)
    return True


def _parse_successors(op_parser: OpAsmParser) -> None:
    for field in ("true_dest_operands", "false_dest_operands"):
        op_parser.expect(",")
        _parse_successor(op_parser, field)


def _print_successors(op: ConditionalBranchOp, printer: OpAsmPrinter) -> None:
    for block, values in zip(op.successors, (op.true_dest_operands, op.false_dest_operands), strict=True):
        printer.write(", ")
        _print_successor(printer, block, values)


@cf.op("cond_br", PURE, TERMINATOR, ATTR_SIZED_OPERANDS)
class ConditionalBranchOp(Op):
    """Branches to one of two blocks."""

    condition = operand(BOOLEAN_VALUE)
    true_dest_operands = operands(ANY_TYPE)
    false_dest_operands = operands(ANY_TYPE)

    assembly = assembly(
        "$condition custom<successors> attr-dict",
        successors=custom(_parse_successors, print=_print_successors),
    )
    successor_operands = ("true_dest_operands", "false_dest_operands")
    canonicalizations = (Pattern(_fold_constant_condition),)

    def verify_in_context(self) -> None:
        _check_successor(self, 0, self.true_dest_operands)
        _check_successor(self, 1, self.false_dest_operands)


def _erase_if_true(op: AssertOp, rewriter: Rewriter) -> bool:
    """Erases an assertion whose condition is constant and true."""
    condition = constant_value(op.condition.defining_op)
    if not isinstance(condition, IntegerAttr) or not condition.value:
        return False
    rewriter.erase(op)
    return True


@cf.op("assert")
class AssertOp(Op):
    """Aborts the program with a message if the condition is false."""

    condition = operand(BOOLEAN_VALUE)
    msg = attr(STRING_ATTR)

    assembly = assembly("$condition `,` $msg attr-dict")
    canonicalizations = (Pattern(_erase_if_true),)
