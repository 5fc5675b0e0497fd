"""Merging of equal constants, and of equal broadcasts of one scalar."""

from __future__ import annotations

from collections.abc import Callable

from sdyopt.mlir.dialects.sdy.ops import ConstantOp
from sdyopt.mlir.dialects.stablehlo.broadcast import BroadcastInDimOp
from sdyopt.mlir.ir.attribute import DictAttr
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.traits import CONSTANT_LIKE
from sdyopt.mlir.ir.types import RankedShapedType, Type
from sdyopt.mlir.ir.value import Value

# Equal for two broadcasts, or for two constants, that are merged.
_Key = tuple[OpSignature, Value, DictAttr] | tuple[DictAttr, DictAttr]


def is_constant(signature: OpSignature) -> bool:
    """Whether an operation is a constant."""
    return issubclass(signature.op_class, ConstantOp) or CONSTANT_LIKE in signature.op_class.traits


def is_constant_or_scalar_broadcast(signature: OpSignature) -> bool:
    """Whether an operation is a constant or a broadcast of a scalar."""
    return is_constant(signature) or (
        issubclass(signature.op_class, BroadcastInDimOp) and _is_scalar(signature.operand_types[0])
    )


def _is_scalar(type: Type) -> bool:
    return isinstance(type, RankedShapedType) and type.rank == 0


def merge_constants(root: Op, is_candidate: Callable[[OpSignature], bool], rewriter: Rewriter) -> None:
    """Replaces each candidate with the first equal one in its region.

    Constants are compared by attributes only, so `sdy.constant` and `stablehlo.constant` may be merged;
    broadcasts also by signature and operands. Discardable attributes count, shardings included.

    As in the C++ passes, dominance is not checked. It holds in a region with one block; in a region with
    several, the first constant may not dominate all uses, which the verifier reports.
    """
    for region in root.regions:
        first_by_key: dict[_Key, Op] = {}
        for block in region.blocks:
            for op in block.ops:
                if op.regions:
                    merge_constants(op, is_candidate, rewriter)
                elif op.signature.cached(is_candidate):
                    first = first_by_key.setdefault(_key(op), op)
                    if first is not op:
                        rewriter.replace(op, first)


def _key(op: Op) -> _Key:
    uses = op.operand_uses
    return (op.signature, uses[0].value, op.attributes) if uses else (op.signature.attributes, op.attributes)
