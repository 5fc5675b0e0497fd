"""Canonicalization of stablehlo.case: inlines a branch if the index is a constant in range."""

from __future__ import annotations

from sdyopt.mlir.ir.builtin_attributes import DenseElements, element_size
from sdyopt.mlir.ir.folding import constant_value
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import Value


def _fold_constant_case(op: Op, rewriter: Rewriter) -> bool:
    attribute = constant_value(op.operand_at(0).defining_op)
    if not isinstance(attribute, DenseElements):
        return False
    index = int.from_bytes(attribute.data[: element_size(attribute.type.element)], "little", signed=True)
    if not 0 <= index < len(op.regions):
        return False
    block = op.regions[index].blocks[0]
    terminator = block.last
    assert terminator is not None
    mapping: dict[Value, Value] = {}
    for inner in block.ops:
        if inner is not terminator:
            rewriter.insert(rewriter.clone(inner, mapping), before=op)
    rewriter.replace(op, [mapping.get(value, value) for value in terminator.operands])
    return True


FOLD_CONSTANT_CASE = Pattern(_fold_constant_case, name="mlir::stablehlo::FoldConstantCaseOp")
