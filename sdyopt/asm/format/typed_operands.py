"""Format elements that parse the types of operands and results, with the error messages of LLVM 19."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.asm.format.assembly_format import FormatElement, TypeOf
from sdyopt.asm.format.print_template import Template
from sdyopt.asm.parser.op_parser import OpAsmParser
from sdyopt.ir.attribute import DictAttr
from sdyopt.ir.op_fields import ONE, VARIADIC, OperandField, ResultField, ValueField
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.types import FunctionType, Type

_WRONG_KIND = "invalid kind of type specified"


class TypeOfClass(TypeOf):
    """The type of a field, or its types if it is variadic; each must be an instance of `cls`."""

    def __init__(self, field: str, cls: type[Type], same: Sequence[str] = ()) -> None:
        super().__init__(field, same)
        self.cls = cls

    def parse(self, op_parser: OpAsmParser) -> None:
        field = op_parser.op_class.fields[self.field]
        assert isinstance(field, ValueField)
        if field.arity == VARIADIC:
            types = op_parser.comma_list(lambda: self._parse_type(op_parser))
        else:
            types = [self._parse_type(op_parser)]
        for name in (self.field, *self.same):
            op_parser.types[name] = types

    def _parse_type(self, op_parser: OpAsmParser) -> Type:
        offset = op_parser.skip_trivia()
        type = op_parser.type()
        if not isinstance(type, self.cls):
            raise op_parser.error(_WRONG_KIND, offset)
        return type


class ImpliedType(FormatElement):
    """The type of a field that always has this type, which is not printed."""

    def __init__(self, field: str, type: Type) -> None:
        self.field = field
        self.type = type

    def parse(self, op_parser: OpAsmParser) -> None:
        op_parser.types[self.field] = [self.type] * len(op_parser.operand_names[self.field])

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        pass


class OperandsAndResultsType(FormatElement):
    """`(operand types) -> result types`, of all operands and results."""

    def parse(self, op_parser: OpAsmParser) -> None:
        offset = op_parser.skip_trivia()
        type = op_parser.type()
        if not isinstance(type, FunctionType):
            raise op_parser.error(_WRONG_KIND, offset)
        fields = op_parser.op_class.fields.values()
        operands = [f for f in fields if isinstance(f, OperandField)]
        counts = [len(op_parser.operand_names.get(f.field_name, ())) for f in operands]
        if sum(counts) != len(type.inputs):
            raise op_parser.error(
                f"{sum(counts)} operands present, but expected {len(type.inputs)}", op_parser.offset
            )
        start = 0
        for field, count in zip(operands, counts, strict=True):
            op_parser.types[field.field_name] = list(type.inputs[start : start + count])
            start += count
        results = [f for f in fields if isinstance(f, ResultField)]
        if len(results) == 1:
            op_parser.types[results[0].field_name] = list(type.results)
        else:
            assert all(f.arity == ONE for f in results)
            for result, result_type in zip(results, type.results, strict=False):
                op_parser.types[result.field_name] = [result_type]

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        out.functional_type(signature.operand_types, signature.result_types)
