"""tosa.matmul: batched matrix multiplication."""

from __future__ import annotations

from sdyopt.mlir.asm.format.assembly_format import AttrDict, Operand, assembly
from sdyopt.mlir.asm.format.directives import OperandsAndResultsType
from sdyopt.mlir.dialects.tosa.dialect import TENSOR_3D, tosa
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.constraints import of_class
from sdyopt.mlir.ir.op_fields import operand, optional_attr, result
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import PURE


@tosa.op("matmul", PURE)
class MatMulOp(Op):
    """The batched matrix product: `c[n, h, w]` is the sum over `k` of `a[n, h, k] * b[n, k, w]`."""

    __slots__ = ()

    a = operand(TENSOR_3D)
    b = operand(TENSOR_3D)
    quantization_info = optional_attr(of_class(Attribute, "Attribute for MatMulOp quantization information."))
    c = result(TENSOR_3D)

    assembly = assembly(Operand("a"), ",", Operand("b"), AttrDict(), ":", OperandsAndResultsType())
