"""The chlo dialect object, and the type constraints and assembly directives that its operations share."""

from __future__ import annotations

from sdyopt.base.diagnostics.error_kind import ErrorKind
from sdyopt.mlir.asm.format.format_elements import TypeOf, directive
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.dialects.stablehlo.types import (
    COMPLEX,
    FLOAT,
    INT,
    PRED,
    any_of,
    shaped_of,
)
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.types import RankedTensor, UnrankedTensor

chlo = Dialect("chlo")
chlo.unknown_attribute = ErrorKind("unknown chlo attribute")
chlo.is_inlinable = True


_TENSORS = (RankedTensor, UnrankedTensor)

ANY_PRED_TENSOR = shaped_of("tensor", _TENSORS, PRED)
ANY_FLOAT_TENSOR = shaped_of("tensor", _TENSORS, FLOAT)
ANY_COMPLEX_TENSOR = shaped_of("tensor", _TENSORS, COMPLEX)
ANY_FLOAT_OR_COMPLEX_TENSOR = shaped_of("tensor", _TENSORS, any_of(FLOAT, COMPLEX))
ANY_PRED_OR_INT_TENSOR = shaped_of("tensor", _TENSORS, any_of(PRED, INT))


@directive("AnyTensorType")
class AnyTensorTypeOf(TypeOf):
    """The type of a field, which must be a ranked or unranked tensor."""

    def parse(self, op_parser: OpAsmParser) -> None:
        offset = op_parser.skip_trivia()
        super().parse(op_parser)
        (type,) = op_parser.types[self.field]
        if not isinstance(type, RankedTensor | UnrankedTensor):
            raise op_parser.error("invalid kind of type specified", offset)
