"""The subset of the math dialect that programs of the mesh dialect use: absf."""

from __future__ import annotations

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.dialects.arith.compare import make_constant
from sdyopt.mlir.dialects.arith.dialect import FAST_MATH, FLOAT_LIKE, NO_FAST_MATH
from sdyopt.mlir.dialects.arith.folding import Constants, FoldResult, fold_floats
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.op_fields import attr, operand, result
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import ELEMENTWISE, SAME_TYPE
from sdyopt.mlir.ir.traits import PURE

math = DIALECT = Dialect("math", is_partial=True)
math.is_inlinable = True
math.materialize_constant = make_constant


@math.op("absf", PURE, SAME_TYPE, ELEMENTWISE)
class AbsFOp(Op):
    """The absolute value of a number."""

    operand = operand(FLOAT_LIKE)
    fastmath = attr(FAST_MATH, default=NO_FAST_MATH)
    out = result(FLOAT_LIKE)

    assembly = assembly("$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($out, $operand)")

    def fold(self, constants: Constants) -> FoldResult:
        value = fold_floats(constants, abs)
        return None if value is None else [value]
