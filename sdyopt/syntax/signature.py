"""Types behind an operation, in the words that the dialects of LLVM 19 have for wrong ones."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.ir.attribute import DictAttr
from sdyopt.ir.op_fields import MANY, ONE, OperandField, ResultField, ValueField
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.types import FunctionType, Type
from sdyopt.syntax.assembly import Piece, TypeOf
from sdyopt.syntax.statement import Statement
from sdyopt.syntax.template import Template

_WRONG_KIND = "invalid kind of type specified"


class TypeIn(TypeOf):
    """The type of a field, or the types of a group, each of which must be of a class."""

    def __init__(self, field: str, cls: type[Type], same: Sequence[str] = ()) -> None:
        super().__init__(field, same)
        self.cls = cls

    def parse(self, statement: Statement) -> None:
        field = statement.op_class.fields[self.field]
        assert isinstance(field, ValueField)
        if field.arity == MANY:
            types = statement.comma_list(lambda: self._one(statement))
        else:
            types = [self._one(statement)]
        for name in (self.field, *self.same):
            statement.types[name] = types

    def _one(self, statement: Statement) -> Type:
        offset = statement.skip()
        type = statement.type()
        if not isinstance(type, self.cls):
            raise statement.error(_WRONG_KIND, offset)
        return type


class ImpliedType(Piece):
    """The type of a field, which goes without saying."""

    def __init__(self, field: str, type: Type) -> None:
        self.field = field
        self.type = type

    def parse(self, statement: Statement) -> None:
        statement.types[self.field] = [self.type] * len(statement.operand_names[self.field])

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        pass


class Signature(Piece):
    """`(operand types) -> result types`, of all operands and results."""

    def parse(self, statement: Statement) -> None:
        offset = statement.skip()
        type = statement.type()
        if not isinstance(type, FunctionType):
            raise statement.error(_WRONG_KIND, offset)
        fields = statement.op_class.fields.values()
        operands = [f for f in fields if isinstance(f, OperandField)]
        names = [len(statement.operand_names.get(f.attribute_name, ())) for f in operands]
        if sum(names) != len(type.inputs):
            raise statement.error(
                f"{sum(names)} operands present, but expected {len(type.inputs)}", statement.offset
            )
        start = 0
        for field, count in zip(operands, names, strict=True):
            statement.types[field.attribute_name] = list(type.inputs[start : start + count])
            start += count
        results = [f for f in fields if isinstance(f, ResultField)]
        if len(results) == 1:
            statement.types[results[0].attribute_name] = list(type.results)
        else:
            assert all(f.arity == ONE for f in results)
            for one, found in zip(results, type.results, strict=False):
                statement.types[one.attribute_name] = [found]

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        out.functional_type(signature.operand_types, signature.result_types)
