"""The arith dialect object and the type constraints of its operations."""

from __future__ import annotations

from collections.abc import Callable

from sdyopt.mlir.ir.constraints import TypeConstraint
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.types import (
    I1,
    FloatType,
    IndexType,
    IntegerType,
    MemRefType,
    ShapedType,
    Type,
    UnrankedMemRef,
)

arith = Dialect("arith")
arith.is_inlinable = True


def _like(description: str, accepts: Callable[[Type], bool]) -> TypeConstraint[Type]:
    """Scalars that `accepts` accepts, and tensors and vectors of them."""

    def is_like(type: Type) -> bool:
        if isinstance(type, MemRefType | UnrankedMemRef):
            return False
        return accepts(type.element if isinstance(type, ShapedType) else type)

    return TypeConstraint[Type](f"{description}-like", is_like)


INTEGER_LIKE = _like(
    "signless-integer",
    lambda type: isinstance(type, IndexType) or (isinstance(type, IntegerType) and type.is_signless),
)
FLOAT_LIKE = _like("floating-point", lambda type: isinstance(type, FloatType))
BOOL_LIKE = _like("bool", lambda type: type is I1)
