"""arith.select."""

from __future__ import annotations

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import custom
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.arith.bitwise import XOrIOp
from sdyopt.mlir.dialects.arith.compare import CmpIOp
from sdyopt.mlir.dialects.arith.dialect import BOOL_LIKE, arith
from sdyopt.mlir.dialects.arith.folding import Constants, FoldResult, splat_of, with_element
from sdyopt.mlir.ir.constraints import ANY_TYPE
from sdyopt.mlir.ir.folding import constant_value
from sdyopt.mlir.ir.op_fields import operand, result
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.shape_traits import ELEMENTWISE, NOT_THE_SAME, are_compatible_shapes
from sdyopt.mlir.ir.traits import PURE, Trait
from sdyopt.mlir.ir.types import I1, RankedTensor, ShapedType, UnrankedTensor, VectorType

_MAPPABLE = (RankedTensor, UnrankedTensor, VectorType)


def _check_condition(signature: OpSignature) -> None:
    condition, type, *_ = signature.operand_types
    if condition is not I1 and not are_compatible_shapes([condition, type]):
        raise signature.op_error("failed to verify that condition is signless i1 or has matching shape")


def _check_values(signature: OpSignature) -> None:
    _, true_type, false_type = signature.operand_types
    if true_type is not false_type or true_type is not signature.result_types[0]:
        raise signature.op_error(NOT_THE_SAME(names="true_value, false_value, result", what="type"))


_MATCHING_CONDITION = Trait("condition-has-shape-of-values", _check_condition)
_SAME_TYPES = Trait("values-have-type-of-result", _check_values)


@arith.op("select", PURE, _SAME_TYPES, _MATCHING_CONDITION, ELEMENTWISE)
class SelectOp(Op):
    """One of two values, or elements of these."""

    condition = operand(BOOL_LIKE)
    true_value = operand(ANY_TYPE)
    false_value = operand(ANY_TYPE)
    out = result(ANY_TYPE)

    def _print_types(self, printer: OpAsmPrinter) -> None:
        condition = self.condition.type
        prefix = f"{printer.type(condition)}, " if isinstance(condition, ShapedType) else ""
        printer.write(f" : {prefix}{printer.type(self.out.type)}")

    @staticmethod
    def _parse_types(op_parser: OpAsmParser) -> None:
        op_parser.expect(":")
        first = op_parser.type()
        is_scalar = not op_parser.accept(",")
        type = first if is_scalar else op_parser.type()
        op_parser.types["condition"] = [I1 if is_scalar else first]
        for name in ("true_value", "false_value", "out"):
            op_parser.types[name] = [type]

    assembly = assembly(
        "$condition `,` $true_value `,` $false_value attr-dict custom<types>",
        types=custom(_parse_types, print=_print_types),
    )

    def _negate(self, rewriter: Rewriter) -> bool:
        """`select(c, false, true)` becomes `xori(c, true)`."""
        if self.out.type is not I1:
            return False
        values = [splat_of(constant_value(value.defining_op)) for value in self.operands[1:]]
        if values != [0, 1]:
            return False
        operands = [self.condition, self.false_value]
        rewriter.replace(self, rewriter.create(XOrIOp, operands, [I1], before=self, location=self.location))
        return True

    canonicalizations = (Pattern(_negate),)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        condition, type = signature.operand_types[0], signature.result_types[0]
        if condition is I1:
            return
        if not isinstance(type, _MAPPABLE):
            raise signature.op_error(
                f"expected condition to be a signless i1, but got '{plain_type(condition)}'"
            )
        expected = with_element(type, I1)
        if condition is not expected:
            raise signature.op_error(
                "expected condition type to have the same shape as the result type, expected "
                f"'{plain_type(expected)}', but got '{plain_type(condition)}'"
            )

    def fold(self, constants: Constants) -> FoldResult:
        if self.true_value is self.false_value:
            return [self.true_value]
        condition = splat_of(constants[0])
        if condition is not None:
            return [self.true_value if condition else self.false_value]
        if self.out.type is I1 and splat_of(constants[1]) == 1 and splat_of(constants[2]) == 0:
            return [self.condition]
        # `select(a == b, a, b)` is b, and `select(a != b, a, b)` is a.
        compare = self.condition.defining_op
        if isinstance(compare, CmpIOp) and compare.keyword in ("eq", "ne"):
            values = {self.true_value, self.false_value}
            if values == {compare.lhs, compare.rhs}:
                return [self.false_value if compare.keyword == "eq" else self.true_value]
        return None
