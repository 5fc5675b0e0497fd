"""test-single-fold: fold every operation once, from the last to the first.

    %c = arith.constant 2 : i32
    %0 = arith.addi %c, %c : i32
    %1 = arith.addi %0, %c : i32
becomes
    %c2_i32 = arith.constant 2 : i32
    %c4_i32 = arith.constant 4 : i32
    %0 = arith.addi %c4_i32, %c2_i32 : i32

Constants move to the start of their function, equal ones are merged, and unused ones erased. Other operations
without uses stay.
Tests of mlir-opt use this pass to see what single folds do.
"""

from __future__ import annotations

from sdyopt.base.diagnostics.location import UnknownLoc
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.cse import constant_value, fold, insertion_region, replace_with_folded
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register

# Region of the constant, dialect, value and type.
_Key = tuple[Region, str, Attribute, Attribute]


@register("test-single-fold")
class TestSingleFold(Pass):
    anchor = None

    def run(self, op: Op) -> bool:
        rewriter = Rewriter()
        constants: dict[_Key, Op] = {}
        for nested in reversed(list(op.walk())):
            if nested is op:
                continue
            if constant_value(nested) is not None:
                _merge(nested, constants, rewriter)
                continue
            folded = fold(nested, rewriter)
            if folded:
                for constant in replace_with_folded(nested, folded, rewriter) or ():
                    _merge(constant, constants, rewriter)
        return rewriter.changed


def _merge(op: Op, constants: dict[_Key, Op], rewriter: Rewriter) -> None:
    """Moves a constant to the start of its function. Replaces it with an equal one; erases it if unused."""
    if not any(True for _ in op.results[0].uses):
        rewriter.erase(op)
        return
    region, value = insertion_region(op.parent_region), constant_value(op)
    assert value is not None
    key = (region, op.dialect_name, value, op.results[0].type)
    if (first := constants.setdefault(key, op)) is not op:
        rewriter.replace(op, first)
        first.location = UnknownLoc()
    elif (start := region.blocks[0].first) is not op:
        assert start is not None
        rewriter.move(op, before=start)
