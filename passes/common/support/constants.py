"""Computations of constants: which operations they consist of, and copies of them."""

from __future__ import annotations

from collections.abc import Callable, Container

from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.dialects.func import CallOp
from sdyopt.mlir.dialects.sdy.ops import ConstantOp, ShardingGroupOp
from sdyopt.mlir.dialects.stablehlo.nullary import ConstantOp as StablehloConstantOp
from sdyopt.mlir.dialects.stablehlo.nullary import IotaOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp, ReshapeOp
from sdyopt.mlir.ir.attribute import DictAttr
from sdyopt.mlir.ir.interfaces import is_memory_effect_free
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.traits import CONSTANT_LIKE, PURE
from sdyopt.mlir.ir.types import DYNAMIC, RankedShapedType, Type
from sdyopt.mlir.ir.value import OpResult, Value

from .dialect_conversion import convert

# Operations without operands that compute constants.
SOURCES = (ConstantOp, IotaOp)
_NEEDS_STATIC_OPERANDS = (BroadcastInDimOp, ReshapeOp)


def convert_to_sdy_constants(root: Op, rewriter: Rewriter) -> None:
    """Converts stablehlo constants to sdy constants, which folding does not merge.

    As a dialect conversion, it also folds other operations where possible.
    """
    convert(root, None, rewriter, legal=(ConstantOp,))
    for op in root.nested(StablehloConstantOp):
        rewriter.change_op_class(op, op.signature.cached(_sdy_constant))


def _sdy_constant(signature: OpSignature) -> OpSignature:
    return OpSignature(ConstantOp, ConstantOp.name, signature.attributes, (), signature.result_types)


# --- Properties of operations ---------------------------------------------------------------------


def is_pure(op: Op) -> bool:
    """Whether an operation without regions has no memory effects and is speculatable."""
    return is_memory_effect_free(op) and op.signature.cached(_is_speculatable)


def _is_speculatable(signature: OpSignature) -> bool:
    """Whether the types rule out undefined behavior: dynamic sizes of operands could mismatch at run time."""
    if PURE in signature.op_class.traits or all(
        DYNAMIC not in _shape(type) for type in signature.operand_types
    ):
        return True
    if len(signature.operand_types) != 1 or issubclass(signature.op_class, _NEEDS_STATIC_OPERANDS):
        return False
    sizes = zip(_shape(signature.operand_types[0]), _shape(signature.result_types[0]), strict=False)
    return all(size != DYNAMIC or new == DYNAMIC for size, new in sizes)


def _shape(type: Type) -> tuple[int, ...]:
    return type.shape if isinstance(type, RankedShapedType) else ()


# --- Copies of computations -----------------------------------------------------------------------


def grouped_values(root: Op) -> set[Value]:
    """The values that are in sharding groups."""
    return {op.input for op in root.nested(ShardingGroupOp)}


@dataclass(frozen=True, slots=True)
class ComputationCopier:
    """Copies values with the operations that they are computed from: their backward slices.

    Values for which `is_shared` holds are not copied. A copy is inserted directly before its original. If the
    original is in `grouped_values`, the copy joins the sharding groups of the original. Every copy is passed
    to `after_copy`.
    """

    rewriter: Rewriter
    is_shared: Callable[[Value], bool]
    grouped_values: Container[Value]
    after_copy: Callable[[Op], None]

    def copy(self, value: Value) -> Value:
        """A copy of a value, or the value itself if it is shared."""
        if self.is_shared(value):
            return value
        assert isinstance(value, OpResult)
        copies: dict[Value, Value] = {}
        # The values on the path to the current one, each an operand of the operation before it.
        path = [value]
        while path:
            operand = self._uncopied_operand(path[-1].op, copies)
            if operand is not None:
                path.append(operand)
            else:
                self._copy_one(path.pop(), copies)
        return copies[value]

    def copy_unless_used_once(self, value: Value) -> Value:
        """A copy of a value; the value itself if the copy would be all that is left of the original."""
        ops = self._ops_used_once(value)
        if ops is None:
            return self.copy(value)
        for op in ops:
            # A copy would be the most recent use of a shared value.
            self.rewriter.refresh_uses(op)
        return value

    def _ops_used_once(self, value: Value) -> list[Op] | None:
        """The operations that `copy` would copy, in its order; None if a result has another use.

        Also None if there is a call, because `after_copy` may change its callee.
        """
        ops: list[Op] = []
        pending = [value]
        while pending:
            value = pending.pop()
            if self.is_shared(value):
                continue
            op = value.defining_op
            if op is None or isinstance(op, CallOp) or len(op.results) > 1 or not value.has_one_use:
                return None
            ops.append(op)
            pending += op.operands
        ops.reverse()
        return ops

    def _uncopied_operand(self, op: Op, copies: dict[Value, Value]) -> OpResult | None:
        """The first operand that must be copied before the operation."""
        for use in op.operand_uses:
            value = use.value
            if isinstance(value, OpResult) and value not in copies and not self.is_shared(value):
                return value
        return None

    def _copy_one(self, value: OpResult, copies: dict[Value, Value]) -> None:
        copy = self.rewriter.clone(value.op, copies)
        self.rewriter.insert(copy, before=value.op)
        self.after_copy(copy)
        if value in self.grouped_values:
            for user in list(value.users):
                if isinstance(user, ShardingGroupOp):
                    self.rewriter.insert(self.rewriter.clone(user, copies), before=value.op)


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

    As in the C++ passes, neither types nor dominance are checked: in a region with several blocks, the first
    constant may not dominate all uses. The verifier reports both.
    """
    for region in root.regions:
        if len(region.blocks) > 1:
            rewriter.expect_invalid()
        first_by_key: dict[_Key, Op] = {}
        for block in region.blocks:
            for op in block.ops:
                if op.regions:
                    merge_constants(op, is_candidate, rewriter)
                elif op.signature.cached(is_candidate):
                    first = first_by_key.setdefault(_key(op), op)
                    if first is not op:
                        if first.result_types != op.result_types:
                            rewriter.expect_invalid()
                        rewriter.replace(op, first)


def _key(op: Op) -> _Key:
    uses = op.operand_uses
    return (op.signature, uses[0].value, op.attributes) if uses else (op.signature.attributes, op.attributes)
