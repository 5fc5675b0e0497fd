"""A unit attribute, printed as its name if it is set."""

from __future__ import annotations

from sdyopt.asm.format.assembly_format import FormatElement
from sdyopt.asm.format.print_template import Template
from sdyopt.asm.parser.op_parser import OpAsmParser
from sdyopt.ir.attribute import UNIT, DictAttr
from sdyopt.ir.op_fields import AttrField
from sdyopt.ir.op_signature import OpSignature


class UnitKeyword(FormatElement):
    """The name of a unit attribute's field as a keyword, present if the attribute is set."""

    def __init__(self, field: str) -> None:
        self.field = field
        self.elides = (field,)

    def parse(self, op_parser: OpAsmParser) -> None:
        if op_parser.accept(self.field):
            field = op_parser.op_class.fields[self.field]
            assert isinstance(field, AttrField)
            op_parser.attributes[field.name] = UNIT

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        field = signature.op_class.fields[self.field]
        assert isinstance(field, AttrField)
        if signature[field]:
            out.literal(self.field)
