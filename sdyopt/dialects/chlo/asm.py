"""Pieces of assembly that chlo's operations share."""

from __future__ import annotations

from sdyopt.ir.attribute import DictAttr
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.types import RankedTensor, UnrankedTensor
from sdyopt.syntax.assembly import Piece, TypeOf
from sdyopt.syntax.statement import Statement
from sdyopt.syntax.template import Template


class AnyTensorTypeOf(TypeOf):
    """The type of a field, which must be a tensor, ranked or not."""

    def parse(self, statement: Statement) -> None:
        offset = statement.skip()
        super().parse(statement)
        (type,) = statement.types[self.field]
        if not isinstance(type, RankedTensor | UnrankedTensor):
            raise statement.error("invalid kind of type specified", offset)


class ResultTypes(Piece):
    """The types of all results, whatever they are."""

    def parse(self, statement: Statement) -> None:
        statement.result_types = statement.comma_list(statement.type)

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        out.types(signature.result_types)
