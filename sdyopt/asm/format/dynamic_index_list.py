"""`[%i, 2, %j]`: a list of static and dynamic indices.

The static indices are in an attribute, with `DYNAMIC` in place of each dynamic one, which is an operand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sdyopt.asm.format.assembly_format import FormatElement
from sdyopt.asm.format.print_template import Template
from sdyopt.asm.parser.op_parser import OpAsmParser, OperandName
from sdyopt.ir.attribute import DictAttr
from sdyopt.ir.elements_attributes import DenseArray
from sdyopt.ir.op_fields import AttrField, OperandField
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.types import DYNAMIC, I64, Type


class DynamicIndexList(FormatElement):
    """A list of the static indices in the attribute `numbers` and the dynamic ones in an operand group.

    `type` is the type of all operands in the group; None if another element parses and prints their types. If
    `is_attached`, no space is printed before the list.
    """

    def __init__(
        self, operands: str, numbers: str, type: Type | None = None, is_attached: bool = False
    ) -> None:
        self.operands = operands
        self.is_attached = is_attached
        self.numbers = numbers
        self.type = type
        self.elides = (numbers,)  # the attribute has the name of its field

    def parse(self, op_parser: OpAsmParser) -> None:
        names: list[OperandName] = []

        def parse_index() -> int:
            name = op_parser.accept_operand()
            if name is None:
                return self._static_index(op_parser)
            names.append(name)
            return DYNAMIC

        numbers = op_parser.comma_list(parse_index, "[", "]")
        field = op_parser.op_class.fields[self.numbers]
        assert isinstance(field, AttrField)
        op_parser.attributes[field.name] = DenseArray(I64, tuple(numbers))
        op_parser.operand_names[self.operands] = names
        if self.type is not None:
            op_parser.types[self.operands] = [self.type] * len(names)

    def _static_index(self, op_parser: OpAsmParser) -> int:
        offset = op_parser.skip_trivia()
        value = op_parser.accept_integer()
        if value is None:
            raise op_parser.error("expected SSA value or integer", offset)
        return value

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        field, group = signature.op_class.fields[self.numbers], signature.op_class.fields[self.operands]
        assert isinstance(field, AttrField) and isinstance(group, OperandField)
        numbers = _numbers(signature, field)
        start, count = group.range_of(signature)
        operands = iter(range(start, start + count))
        if self.is_attached:
            out.text("[")
        else:
            out.word("[")
        for position, number in enumerate(numbers):
            if position:
                out.text(", ")
            index = next(operands, None) if number == DYNAMIC else None
            if index is None:
                out.text(str(number))
            else:
                out.parts.append(index)
        out.text("]")


def has_operand_per_dynamic_index(signature: OpSignature, operands: str, numbers: str) -> bool:
    """Whether there are as many operands as dynamic indices."""
    field, group = signature.op_class.fields[numbers], signature.op_class.fields[operands]
    assert isinstance(field, AttrField) and isinstance(group, OperandField)
    return group.range_of(signature)[1] == _numbers(signature, field).count(DYNAMIC)


def _numbers(signature: OpSignature, field: AttrField[Any]) -> Sequence[int]:
    attribute = signature.attributes.get(field.name) or field.default
    return attribute.values if isinstance(attribute, DenseArray) else ()
