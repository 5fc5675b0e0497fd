"""The tensor dialect object and the type constraints of its operations."""

from __future__ import annotations

from sdyopt.mlir.dialects.arith.constant import make_constant
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr
from sdyopt.mlir.ir.constraints import TypeConstraint
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.folding import constant_value
from sdyopt.mlir.ir.types import INDEX, RankedTensor, Type, UnrankedTensor
from sdyopt.mlir.ir.value import Value

tensor_dialect = Dialect("tensor")
tensor_dialect.is_inlinable = True
tensor_dialect.materialize_constant = make_constant

ANY_TENSOR = TypeConstraint[Type](
    "tensor of any type values", lambda type: isinstance(type, RankedTensor | UnrankedTensor)
)
RANKED = TypeConstraint[RankedTensor](
    "ranked tensor of any type values", lambda type: isinstance(type, RankedTensor)
)
INDEX_VALUE = TypeConstraint[Type]("index", lambda type: type is INDEX)


def constant_index(value: Value) -> int | None:
    """The number of a constant integer; None for any other value."""
    constant = constant_value(value.defining_op)
    return constant.value if isinstance(constant, IntegerAttr) else None
