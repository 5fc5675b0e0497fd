"""The type constraints of chlo operations: tensors, ranked or unranked."""

from sdyopt.mlir.dialects.stablehlo.types import (
    COMPLEX,
    FLOAT,
    INT,
    PRED,
    any_of,
    shaped_of,
)
from sdyopt.mlir.ir.types import RankedTensor, UnrankedTensor

_TENSORS = (RankedTensor, UnrankedTensor)

ANY_PRED_TENSOR = shaped_of("tensor", _TENSORS, PRED)
ANY_FLOAT_TENSOR = shaped_of("tensor", _TENSORS, FLOAT)
ANY_COMPLEX_TENSOR = shaped_of("tensor", _TENSORS, COMPLEX)
ANY_FLOAT_OR_COMPLEX_TENSOR = shaped_of("tensor", _TENSORS, any_of(FLOAT, COMPLEX))
ANY_PRED_OR_INT_TENSOR = shaped_of("tensor", _TENSORS, any_of(PRED, INT))
