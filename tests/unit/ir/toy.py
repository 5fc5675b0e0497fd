"""A toy dialect for tests of the IR core."""

from __future__ import annotations

from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.op_fields import attr, operand, operands, region, result, results
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.symbols import SYMBOL_TABLE, SymbolTableOp
from sdyopt.mlir.ir.traits import (
    ANY_ATTR,
    ANY_TYPE,
    COMMUTATIVE,
    CONSTANT_LIKE,
    ISOLATED,
    NO_TERMINATOR,
    PURE,
    TERMINATOR,
    TypeConstraint,
)
from sdyopt.mlir.ir.types import I32, IntegerType, Type
from sdyopt.mlir.ir.value import Value

toy = Dialect("toy")

INTEGER = TypeConstraint[IntegerType]("integer", lambda type: isinstance(type, IntegerType))


@toy.op("constant", CONSTANT_LIKE, PURE)
class ConstantOp(Op):
    value = attr(ANY_ATTR)
    out = result(ANY_TYPE)


@toy.op("add", COMMUTATIVE, PURE)
class AddOp(Op):
    lhs = operand(INTEGER)
    rhs = operand(INTEGER)
    out = result(INTEGER)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        if signature[AddOp.lhs] is not signature[AddOp.rhs]:
            raise signature.op_error("requires equal operand types")


def _drop_double_negation(op: NegateOp, rewriter: Rewriter) -> bool:
    inner = op.input.defining_op
    if not isinstance(inner, NegateOp):
        return False
    rewriter.replace(op, [inner.input])
    return True


@toy.op("negate", PURE)
class NegateOp(Op):
    input = operand(ANY_TYPE)
    out = result(ANY_TYPE)
    canonicalizations = (Pattern(_drop_double_negation, "negate-twice", labels=("toy",)),)


@toy.op("use")
class UseOp(Op):
    """Has memory effects, so it is never dead."""

    inputs = operands(ANY_TYPE)


@toy.op("scope", ISOLATED, NO_TERMINATOR, SYMBOL_TABLE)
class ScopeOp(SymbolTableOp):
    body = region()


@toy.op("loop", NO_TERMINATOR)
class LoopOp(Op):
    body = region()


@toy.op("end", TERMINATOR)
class EndOp(Op):
    inputs = operands(ANY_TYPE)
    outs = results(ANY_TYPE)


def scope() -> tuple[Op, Block]:
    """A scope with one empty block."""
    body = Region()
    block = body.add_block()
    holder = Block()
    return Rewriter().create(ScopeOp, at_end_of=holder, regions=[body]), block


def constant(rewriter: Rewriter, block: Block, value: Attribute, type: Type = I32) -> Op:
    return rewriter.create(ConstantOp, result_types=[type], attributes={"value": value}, at_end_of=block)


def add(rewriter: Rewriter, block: Block, lhs: Value, rhs: Value) -> Op:
    return rewriter.create(AddOp, [lhs, rhs], [lhs.type], at_end_of=block)


def negate(rewriter: Rewriter, block: Block, value: Value) -> Op:
    return rewriter.create(NegateOp, [value], [value.type], at_end_of=block)


def use(rewriter: Rewriter, block: Block, *values: Value) -> Op:
    return rewriter.create(UseOp, values, at_end_of=block)
