"""Which operations compute constants, and copies of what such an operation is computed from."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass

from sdyopt.dialects.sdy.ops import ConstantOp, ShardingGroupOp
from sdyopt.dialects.stablehlo.broadcast import BroadcastInDimOp
from sdyopt.dialects.stablehlo.nullary import ConstantOp as StablehloConstantOp
from sdyopt.dialects.stablehlo.nullary import IotaOp
from sdyopt.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.ir.effects import is_memory_effect_free
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.traits import PURE
from sdyopt.ir.types import DYNAMIC, RankedShape, Type
from sdyopt.ir.value import OpResult, Value

from .dialect_conversion import convert

# Operations that are constant whatever is around them.
SOURCES = (ConstantOp, IotaOp)
_NEEDS_STATIC_OPERANDS = (BroadcastInDimOp, ReshapeOp)


def protect_constants(root: Op, rewriter: Rewriter) -> None:
    """Puts constants of sdy, which nobody merges again, in place of those of stablehlo.

    This is a conversion, so all other operations are looked at, and folded if they can be.
    """
    convert(root, {}, rewriter, legal=(ConstantOp,))
    for op in root.walk():
        if isinstance(op, StablehloConstantOp):
            rewriter.change_op_class(op, op.signature.cached(_protected))


def _protected(signature: OpSignature) -> OpSignature:
    return OpSignature(ConstantOp, ConstantOp.name, signature.attributes, (), signature.result_types)


# --- What can be told from a form -----------------------------------------------------------------


def is_pure(op: Op) -> bool:
    """Whether an operation without regions may run at any time and any number of times.

    One that does not know the sizes of its operands could find them wrong.
    """
    return is_memory_effect_free(op) and op.signature.cached(_knows_its_sizes)


def _knows_its_sizes(signature: OpSignature) -> bool:
    if PURE in signature.op_class.traits or all(
        DYNAMIC not in _shape(type) for type in signature.operand_types
    ):
        return True
    if len(signature.operand_types) != 1 or issubclass(signature.op_class, _NEEDS_STATIC_OPERANDS):
        return False
    sizes = zip(_shape(signature.operand_types[0]), _shape(signature.result_types[0]), strict=False)
    return all(size != DYNAMIC or new == DYNAMIC for size, new in sizes)


def _shape(type: Type) -> tuple[int, ...]:
    return type.shape if isinstance(type, RankedShape) else ()


# --- Copies ---------------------------------------------------------------------------------------


def grouped_values(root: Op) -> set[Value]:
    """The values that are in sharding groups."""
    return {op.operand_at(0) for op in root.walk() if isinstance(op, ShardingGroupOp)}


@dataclass(frozen=True, slots=True)
class ComputationCopier:
    """Copies values, each by a copy of its operation from copies of all that this is made from.

    What `is_shared` is not copied. Each copy goes directly before its original; it is in the same sharding
    groups as this, which is one of `grouped` if it is in any, and `copied` is told of it.
    """

    rewriter: Rewriter
    is_shared: Callable[[Value], bool]
    grouped: Container[Value]
    copied: Callable[[Op], None]

    def copy(self, value: Value) -> Value:
        if self.is_shared(value):
            return value
        assert isinstance(value, OpResult)
        copies: dict[Value, Value] = {}
        # The values to be copied, each one needed by the one before it.
        path = [value]
        while path:
            needed = self._needed(path[-1].op, copies)
            if needed is not None:
                path.append(needed)
            else:
                self._copy_one(path.pop(), copies)
        return copies[value]

    def _needed(self, op: Op, copies: dict[Value, Value]) -> OpResult | None:
        """The first operand that has to be copied before the operation can be."""
        for use in op.operand_uses:
            value = use.value
            if isinstance(value, OpResult) and value not in copies and not self.is_shared(value):
                return value
        return None

    def _copy_one(self, value: OpResult, copies: dict[Value, Value]) -> None:
        copy = self.rewriter.clone(value.op, copies)
        self.rewriter.insert(copy, before=value.op)
        self.copied(copy)
        if value in self.grouped:
            for user in list(value.users):
                if isinstance(user, ShardingGroupOp):
                    self.rewriter.insert(self.rewriter.clone(user, copies), before=value.op)
