"""sdy-constant-splitter: split constants for each use; older version of -sdy-constant-or-scalar-splitter.

    %c = stablehlo.constant dense<1.0> : tensor<8xf32>
    %0 = stablehlo.add %a, %c : tensor<8xf32>
    %1 = stablehlo.multiply %b, %c : tensor<8xf32>
becomes
    %c = sdy.constant dense<1.0> : tensor<8xf32>
    %d = sdy.constant dense<1.0> : tensor<8xf32>
    %0 = stablehlo.add %a, %c : tensor<8xf32>
    %1 = stablehlo.multiply %b, %d : tensor<8xf32>

Superseded by `sdy-constant-or-scalar-splitter`. This pass works on one function at a time. Reshapes, calls
and named computations are not constant. Scalar constants are copied like all others. A broadcast is copied
only if its operand is constant.

Constants become `sdy.constant` by a dialect conversion. It also replaces operations that fold to an existing
value, such as a transpose that keeps the order of dimensions by its operand; folds to constants are not
applied.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.ops import ShardingGroupOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp
from sdyopt.mlir.dialects.stablehlo.slicing import SliceOp
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import FUNCTION, Pass
from sdyopt.mlir.registry import register
from sdyopt.shardy.sharding.op_sharding_rule_builder import is_elementwise

from ..common.support.constants import (
    SOURCES,
    ComputationCopier,
    convert_to_sdy_constants,
    grouped_values,
    is_pure,
)


@register("sdy-constant-splitter")
class ConstantSplitter(Pass):
    anchor = FUNCTION

    def run(self, function: FuncOp) -> bool:
        rewriter = Rewriter()
        convert_to_sdy_constants(function, rewriter)
        copier = ComputationCopier(rewriter, _is_shared, grouped_values(function), _do_nothing)
        constants: dict[Op, None] = {}
        for op in function.walk_post_order():
            if isinstance(op, ShardingGroupOp):
                continue
            if _is_constant(op, constants):
                constants[op] = None
                continue
            for use in op.operand_uses:
                if use.value.defining_op in constants:
                    rewriter.set_operand(use, copier.copy(use.value))
        # Other users are left only in blocks that precede the block of the constant.
        for op in constants:
            for use in list(op.result.uses):
                if use.owner not in constants and not isinstance(use.owner, ShardingGroupOp):
                    rewriter.set_operand(use, copier.copy(use.value))
        # Only constants and sharding groups use constants now. Users are erased before definitions.
        for op in reversed(constants):
            for user in list(op.result.users):
                rewriter.erase(user)
            rewriter.erase(op)
        return rewriter.changed


def _is_constant(op: Op, constants: dict[Op, None]) -> bool:
    """Whether an operation is constant, given the constants before it."""
    if isinstance(op, SOURCES):
        return True
    return (
        op.signature.cached(_may_preserve_constants)
        and is_pure(op)
        and all(value.defining_op in constants for value in op.operands)
    )


def _may_preserve_constants(signature: OpSignature) -> bool:
    return issubclass(signature.op_class, (BroadcastInDimOp, SliceOp)) or is_elementwise(signature)


def _is_shared(value: Value) -> bool:
    """All values are copied, scalars too."""
    return False


def _do_nothing(copy: Op) -> None:
    pass
