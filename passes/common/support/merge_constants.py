"""Of several operations that make the same constant, or spread the same scalar, keep the first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sdyopt.dialects.sdy.ops import ConstantOp
from sdyopt.dialects.stablehlo.broadcast import BroadcastInDimOp
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.traits import CONSTANT_LIKE
from sdyopt.ir.types import RankedShape


def is_constant(signature: OpSignature) -> bool:
    """Whether an operation is a constant by itself."""
    return issubclass(signature.op_class, ConstantOp) or CONSTANT_LIKE in signature.op_class.traits


def is_constant_or_expansion(signature: OpSignature) -> bool:
    """Whether an operation is a constant by itself, or repeats the one element of its operand."""
    return is_constant(signature) or (
        issubclass(signature.op_class, BroadcastInDimOp) and _is_scalar(signature.operand_types[0])
    )


def _is_scalar(type: object) -> bool:
    return isinstance(type, RankedShape) and type.rank == 0


def merge(root: Op, is_candidate: Callable[[OpSignature], bool], rewriter: Rewriter) -> None:
    """Replaces each candidate by the first one in its region that is the same, if there was one before.

    Constants are the same if their attributes are, whichever dialect they are of, and broadcasts if their
    types and operands are too. Discardable attributes count, shardings among them.
    """
    for region in root.regions:
        first: dict[Any, Op] = {}
        for block in region.blocks:
            for op in block.ops:
                if op.regions:
                    merge(op, is_candidate, rewriter)
                elif op.signature.cached(is_candidate):
                    known = first.setdefault(_what_it_makes(op), op)
                    if known is not op:
                        rewriter.replace(op, known)


def _what_it_makes(op: Op) -> Any:
    uses = op.operand_uses
    return (op.signature, uses[0].value, op.attributes) if uses else (op.signature.attributes, op.attributes)
