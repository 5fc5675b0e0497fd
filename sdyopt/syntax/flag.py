"""A unit attribute, written as its name where it is set."""

from __future__ import annotations

from sdyopt.ir.attribute import UNIT, DictAttr
from sdyopt.ir.op_fields import AttrField
from sdyopt.ir.op_signature import OpSignature
from sdyopt.syntax.assembly import Piece
from sdyopt.syntax.statement import Statement
from sdyopt.syntax.template import Template


class Flag(Piece):
    """A word that stands there or not."""

    def __init__(self, field: str) -> None:
        self.field = field
        self.elides = (field,)

    def parse(self, statement: Statement) -> None:
        if statement.accept(self.field):
            field = statement.op_class.fields[self.field]
            assert isinstance(field, AttrField)
            statement.attributes[field.name] = UNIT

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        if getattr(signature, self.field):
            out.literal(self.field)
