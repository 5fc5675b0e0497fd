"""`[%i, 2, %j]`: a list of numbers, some of which are only known when the program runs.

The numbers are an attribute, in which the unknown ones are `DYNAMIC`; those are operands, in order.
"""

from __future__ import annotations

from sdyopt.ir.attribute import DictAttr
from sdyopt.ir.elements_attributes import DenseArray
from sdyopt.ir.op_fields import AttrField, OperandField
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.types import DYNAMIC, I64, Type
from sdyopt.syntax.assembly import Piece
from sdyopt.syntax.statement import OperandName, Statement
from sdyopt.syntax.template import Template


class MixedList(Piece):
    """The list made of an attribute and a group of operands.

    With a `type`, the operands have it and it is not written. An attached list has no blank before it.
    """

    def __init__(
        self, operands: str, numbers: str, type: Type | None = None, is_attached: bool = False
    ) -> None:
        self.operands = operands
        self.is_attached = is_attached
        self.numbers = numbers
        self.type = type
        self.elides = (numbers,)  # which is the name of the attribute, too

    def parse(self, statement: Statement) -> None:
        names: list[OperandName] = []

        def one() -> int:
            name = statement.accept_operand()
            if name is None:
                return self._number(statement)
            names.append(name)
            return DYNAMIC

        numbers = statement.comma_list(one, "[", "]")
        field = statement.op_class.fields[self.numbers]
        assert isinstance(field, AttrField)
        statement.attributes[field.name] = DenseArray(I64, tuple(numbers))
        statement.operand_names[self.operands] = names
        if self.type is not None:
            statement.types[self.operands] = [self.type] * len(names)

    def _number(self, statement: Statement) -> int:
        offset = statement.skip()
        value = statement.accept_integer()
        if value is None:
            raise statement.error("expected SSA value or integer", offset)
        return value

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        field, group = signature.op_class.fields[self.numbers], signature.op_class.fields[self.operands]
        assert isinstance(field, AttrField) and isinstance(group, OperandField)
        held = signature.attributes.get(field.name) or field.default
        numbers = held.values if isinstance(held, DenseArray) else ()
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


def is_matched(signature: OpSignature, operands: str, numbers: str) -> bool:
    """Whether there are as many operands as unknown numbers."""
    field, group = signature.op_class.fields[numbers], signature.op_class.fields[operands]
    assert isinstance(field, AttrField) and isinstance(group, OperandField)
    held = signature.attributes.get(field.name) or field.default
    numbers_held = held.values if isinstance(held, DenseArray) else ()
    return group.range_of(signature)[1] == numbers_held.count(DYNAMIC)
