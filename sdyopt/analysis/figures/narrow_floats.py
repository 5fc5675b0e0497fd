"""Which 32-bit floats are needed with 16 bits: products of default precision round their operands to bf16, as
those of an algorithm such as BF16_BF16_F32 do.

A compiler converts such a value where it is computed, and so sends and stores half of its bytes, also if it
is looked up, padded, selected or carried by a loop before a product uses it.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.analysis.figures.execution_counts import is_passed_on
from sdyopt.analysis.figures.loop_invariants import BODIES, RELAYOUTS, only_user, owner_of
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.collectives import AllGatherOp, AllReduceOp, CollectiveOp, ReduceScatterOp
from sdyopt.mlir.dialects.stablehlo import collectives as stablehlo
from sdyopt.mlir.dialects.stablehlo.compare_select import AbsOp, ClampOp, ConvertOp, SelectOp
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp, DotOp
from sdyopt.mlir.dialects.stablehlo.control_flow import OptimizationBarrierOp, WhileOp
from sdyopt.mlir.dialects.stablehlo.convolution import ConvolutionOp
from sdyopt.mlir.dialects.stablehlo.elementwise import MaxOp, MinOp
from sdyopt.mlir.dialects.stablehlo.gather import DynamicGatherOp, GatherOp
from sdyopt.mlir.dialects.stablehlo.precision import DotAlgorithm, Precision
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp, applied_op
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp, ReverseOp
from sdyopt.mlir.dialects.stablehlo.slicing import (
    ConcatenateOp,
    DynamicSliceOp,
    DynamicUpdateSliceOp,
    PadOp,
    SliceOp,
)
from sdyopt.mlir.ir.attribute import ArrayAttr
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import TERMINATOR
from sdyopt.mlir.ir.types import BF16, FloatType, element_of
from sdyopt.mlir.ir.value import BlockArgument, OpOperand, Value

ALL_REDUCES = (AllReduceOp, stablehlo.AllReduceOp, stablehlo.CrossReplicaSumOp)
SUMS = (*ALL_REDUCES, ReduceScatterOp, stablehlo.ReduceScatterOp)
PRODUCTS = (DotGeneralOp, DotOp, ConvolutionOp)
# The bits of the floats that products of default precision use.
DEFAULT_WIDTH = 16
_MAX_MOVES = 100
# What moves the elements of each operand, drops some or their signs; and of the first operand only.
_MOVES_ALL = (
    *(*RELAYOUTS, AbsOp, BroadcastInDimOp, ClampOp, ConcatenateOp, MaxOp, MinOp, PadOp, ReverseOp),
    *(SliceOp, stablehlo.AllGatherOp, stablehlo.AllToAllOp, stablehlo.CollectivePermuteOp),
)
# What compilers narrow before it.
MOVES_NARROWED = frozenset((AllGatherOp, stablehlo.AllGatherOp, WhileOp))
_MOVES_FIRST = (CollectiveOp, DynamicGatherOp, DynamicSliceOp, DynamicUpdateSliceOp, GatherOp)


def is_for_products(value: Value) -> bool:
    """Whether only products of default precision or conversions use a value, wherever it is moved to.

    If it is moved more than a hundred times, the answer is no.
    """
    pending, visited = [value], {value}
    is_used = False
    while pending and len(visited) <= _MAX_MOVES:
        for use in pending.pop().uses:
            user = use.owner
            if (isinstance(user, PRODUCTS) and _rounds_operands(user)) or _narrows(user):
                is_used = True
                continue
            moved = _moved_to(use)
            if moved is None:
                return False
            pending += [target for target in moved if target not in visited]
            visited.update(moved)
    return is_used and not pending


def narrower_beside(op: Op) -> FloatType | None:
    """The narrower type that the result of a collective is converted to, or its operand is converted from.

    Between the two, it may be reshaped or transposed. The conversion to it is the only use of the result.
    None for a collective that sums up.
    """
    if len(op.results) != 1 or len(op.operands) != 1 or isinstance(op, SUMS):
        return None
    sent = element_of(op.results[0].type)
    for value in (_converted_after(op.results[0]), _converted_before(op.operand_at(0))):
        narrow = None if value is None else element_of(value.type)
        if isinstance(sent, FloatType) and isinstance(narrow, FloatType) and narrow.width < sent.width:
            return narrow
    return None


def _converted_after(value: Value) -> Value | None:
    while isinstance(user := only_user(value), RELAYOUTS):
        value = user.results[0]
        if isinstance(user, ConvertOp):
            return value
    return None


def _converted_before(value: Value) -> Value | None:
    while isinstance(op := value.defining_op, (*RELAYOUTS, SliceOp)):
        value = op.operand_at(0)
        if isinstance(op, ConvertOp):
            return value
    return None


def narrowed_by(op: Op) -> list[Value]:
    """The operands of a gather or of a loop that are narrowed before it: only products use the results."""
    return [
        use.value
        for use in op.operand_uses
        if isinstance(element := element_of(use.value.type), FloatType)
        and element.width > DEFAULT_WIDTH
        and not (isinstance(op, WhileOp) and not is_passed_on(op, use.index))
        and is_for_products(use.value if isinstance(op, WhileOp) else op.results[use.index])
    ]


def _moved_to(use: OpOperand) -> Sequence[Value] | None:
    """The values with the elements of an operand or their absolutes; None if something else uses them."""
    user, index = use.owner, use.index
    if TERMINATOR in user.traits:
        parent = user.parent_op
        if parent is None or parent.data_flow is None or index >= len(parent.results):
            return None
        return [parent.results[index], *parent.data_flow.other_targets(parent, parent.results[index])]
    if isinstance(user, BODIES):
        return [user.regions[0].blocks[0].arguments[index]]
    if isinstance(user, (WhileOp, OptimizationBarrierOp)):
        assert user.data_flow is not None
        return [user.results[index], *user.data_flow.other_targets(user, user.results[index])]
    if isinstance(user, ReduceOp):
        # Whether a reduction takes the largest or smallest element.
        return (
            user.results if len(user.results) == 1 and isinstance(applied_op(user), (MaxOp, MinOp)) else None
        )
    if isinstance(user, DynamicUpdateSliceOp) and index == 1:
        # An argument of the program stays as it is.
        updated = user.operand_at(0)
        while isinstance(owner_of(updated), BODIES) and isinstance(updated, BlockArgument):
            updated = owner_of(updated).operand_at(updated.index)
        return user.results if not isinstance(owner_of(updated), FuncOp) else None
    if isinstance(user, SelectOp):
        return user.results if index else None
    is_moved = isinstance(user, _MOVES_ALL) or (isinstance(user, _MOVES_FIRST) and not index)
    return user.results if is_moved and not isinstance(user, SUMS) else None


def _narrows(op: Op) -> bool:
    """Whether an operation converts to floats of no more bits than products of default precision use."""
    element = element_of(op.results[0].type) if isinstance(op, ConvertOp) else None
    return isinstance(element, FloatType) and element.width <= DEFAULT_WIDTH


def _rounds_operands(product: Op) -> bool:
    """Whether a product uses operands as bf16: one of default precision, or of an algorithm that says so."""
    algorithm = product.signature.attributes.get("algorithm")
    if isinstance(algorithm, DotAlgorithm):
        types = algorithm.lhs_precision_type, algorithm.rhs_precision_type
        return algorithm.num_primitive_operations == 1 and types == (BF16, BF16)
    config = product.signature.attributes.get("precision_config")
    parts = config.elements if isinstance(config, ArrayAttr) else ()
    return all(isinstance(part, Precision) and part.value == "DEFAULT" for part in parts)
