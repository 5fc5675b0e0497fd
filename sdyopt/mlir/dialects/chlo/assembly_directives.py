"""Assembly directives that chlo operations share."""

from __future__ import annotations

from sdyopt.mlir.asm.format.assembly_format import TypeOf
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.ir.types import RankedTensor, UnrankedTensor


class AnyTensorTypeOf(TypeOf):
    """The type of a field, which must be a ranked or unranked tensor."""

    def parse(self, op_parser: OpAsmParser) -> None:
        offset = op_parser.skip_trivia()
        super().parse(op_parser)
        (type,) = op_parser.types[self.field]
        if not isinstance(type, RankedTensor | UnrankedTensor):
            raise op_parser.error("invalid kind of type specified", offset)
