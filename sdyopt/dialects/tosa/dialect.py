"""The namespace `tosa`, its sets of types, and the check that shapes can be broadcast."""

from __future__ import annotations

from sdyopt.dialects.quant.types import QuantizedType
from sdyopt.ir.constraints import TypeConstraint
from sdyopt.ir.dialect import Dialect
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.traits import Trait
from sdyopt.ir.types import (
    DYNAMIC,
    I1,
    FloatType,
    IntegerType,
    RankedTensor,
    Type,
    UnrankedTensor,
)

tosa = Dialect("tosa")
tosa.is_inlinable = True


def _is_number(type: Type) -> bool:
    return isinstance(type, IntegerType | FloatType | QuantizedType)


def _is_tensor(type: Type) -> bool:
    return isinstance(type, RankedTensor | UnrankedTensor)


NUMBERS = TypeConstraint[Type](
    "tensor of number values",
    lambda type: isinstance(type, RankedTensor | UnrankedTensor) and _is_number(type.element),
)
BOOLEANS = TypeConstraint[Type](
    "tensor of 1-bit signless integer values",
    lambda type: isinstance(type, RankedTensor | UnrankedTensor) and type.element is I1,
)
MATRICES = TypeConstraint[RankedTensor](
    "3-d tensor", lambda type: isinstance(type, RankedTensor) and type.rank == 3 and _is_number(type.element)
)


def _broadcast(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape that both can be stretched to, ones to any size; None if there is none."""
    rank = max(len(one), len(other))
    sizes = zip((1,) * (rank - len(one)) + one, (1,) * (rank - len(other)) + other, strict=True)
    shape = []
    for a, b in sizes:
        if DYNAMIC in (a, b):
            known = b if a == DYNAMIC else a
            shape.append(known if known > 1 else DYNAMIC)
        elif a == b or 1 in (a, b):
            shape.append(b if a == 1 else a)
        else:
            return None
    return tuple(shape)


def _is_stretched_to(result: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    if len(result) != len(shape):
        return False
    return all(got == wanted or DYNAMIC in (got, wanted) for got, wanted in zip(result, shape, strict=True))


def _check_broadcast(signature: OpSignature) -> None:
    ranked = [type for type in signature.operand_types if isinstance(type, RankedTensor)]
    if len(ranked) != len(signature.operand_types) or not ranked:
        return
    shape: tuple[int, ...] | None = ranked[0].shape
    for type in ranked[1:]:
        shape = None if shape is None else _broadcast(shape, type.shape)
    if shape is None:
        raise signature.op_error("operands don't have broadcast-compatible shapes")
    for result in signature.result_types:
        if isinstance(result, RankedTensor) and not _is_stretched_to(result.shape, shape):
            raise signature.op_error(
                f"result type '{_text(result.shape)}' not broadcast compatible with broadcasted operands's "
                f"shapes '{_text(shape)}'"
            )


def _text(shape: tuple[int, ...]) -> str:
    return "x".join("?" if size == DYNAMIC else str(size) for size in shape)


BROADCASTABLE = Trait("results-broadcastable-shape", _check_broadcast)
