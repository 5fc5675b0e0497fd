"""Format elements, type constraints and attribute constraints that sdy's operations share."""

from __future__ import annotations

from typing import Any

from sdyopt.mlir.asm.format.attribute_format import parse_nested
from sdyopt.mlir.asm.format.format_elements import Attr, Custom, TypeOf, declare_syntax, directive
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter, Template
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, TensorSharding, sharding_text
from sdyopt.mlir.ir.attribute import Attribute, DictAttr
from sdyopt.mlir.ir.op_fields import AttrField, ValueField
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import TypeConstraint, of_class
from sdyopt.mlir.ir.types import RankedTensor, ShapedType

# --- Types --------------------------------------------------------------------------------------

ANY_SHAPED = TypeConstraint[ShapedType](
    "shaped of any non-token type values", lambda type: isinstance(type, ShapedType)
)
ANY_RANKED_TENSOR = TypeConstraint[RankedTensor](
    "ranked tensor of any non-token type values", lambda type: isinstance(type, RankedTensor)
)
ANY_STATIC_TENSOR = TypeConstraint[RankedTensor](
    "statically shaped tensor of any non-token type values",
    lambda type: isinstance(type, RankedTensor) and type.has_static_shape,
)

# The text after "invalid kind of type specified" in parse errors, by the expected kind of type.
_EXPECTED: dict[TypeConstraint[Any], str] = {
    ANY_SHAPED: "",
    ANY_RANKED_TENSOR: ": expected builtin.tensor, but found '{}'",
}


@directive("ConstrainedType")
class ConstrainedTypeOf(TypeOf):
    """The type of a field, for which a type of the wrong kind is a parse error."""

    def parse(self, op_parser: OpAsmParser) -> None:
        start = op_parser.skip_trivia()
        super().parse(op_parser)
        (type,) = op_parser.types[self.field]
        field = op_parser.op_class.fields[self.field]
        assert isinstance(field, ValueField)
        if not field.constraint.accepts(type):
            expected = _EXPECTED[field.constraint].format(op_parser.type_text(type))
            raise op_parser.error("invalid kind of type specified" + expected, start)


# --- Attributes ---------------------------------------------------------------------------------


SHARDING_ATTR = of_class(TensorSharding, "Tensor sharding")
SHARDINGS_ATTR = of_class(ShardingPerValue, "Tensor sharding per operand/result of an op")


@directive("Named")
class NamedAttr(Attr):
    """`field=value`, or nothing if the field is optional and not set."""

    def parse(self, op_parser: OpAsmParser) -> None:
        field = op_parser.op_class.fields[self.field]
        assert isinstance(field, AttrField)
        if field.is_optional and not op_parser.looking_at(self.field):
            return
        op_parser.expect(self.field)
        op_parser.expect("=")
        super().parse(op_parser)

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        if signature.attributes.get(self.field) is not None:
            out.word(f"{self.field}=")
            out.literal("")
            super().write(out, signature, attributes)


def _parse_shardings(op_parser: OpAsmParser) -> Attribute:
    shardings = op_parser.comma_list(lambda: parse_nested(op_parser, TensorSharding), "[", "]")
    return ShardingPerValue(tuple(shardings))


# `[<@mesh, [{"x"}]>, …]`
declare_syntax(
    SHARDINGS_ATTR,
    _parse_shardings,
    lambda shardings, attribute_printer: f"[{', '.join(map(sharding_text, shardings))}]",
)


# --- Regions ------------------------------------------------------------------------------------


@directive("Body")
def body_with_arguments() -> Custom:
    """`(%arg0: type, …) { … }`: the single region, whose single block has no label."""

    def parse(op_parser: OpAsmParser) -> None:
        arguments = op_parser.comma_list(op_parser.argument, "(", ")", " in argument list")
        op_parser.region(arguments)

    def print(op: Op, printer: OpAsmPrinter) -> None:
        region = op.regions[0]
        printer.write(" (")
        for index, argument in enumerate(region.blocks[0].arguments):
            if index:
                printer.write(", ")
            printer.argument(argument)
        printer.write(") ")
        printer.region(region)

    return Custom(parse, print=print)
