"""Named operations of linalg: fill, and elementwise ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import custom
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.arith.compare import make_constant
from sdyopt.mlir.dialects.linalg.contractions import TYPE_FN, TypeFn, parse_with_maps, print_with_maps
from sdyopt.mlir.dialects.linalg.layout import IndexOp, KeywordAttr, keyword_attribute
from sdyopt.mlir.dialects.linalg.structured import (
    MAPS,
    NamedOp,
    UnsupportedElementError,
    append,
    cast,
    check_numbers,
    combine,
    linalg,
    make_body,
)
from sdyopt.mlir.ir.affine import AffineDim, AffineMapAttr
from sdyopt.mlir.ir.attribute import Attribute, dictionary
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.builtin_attributes import FloatAttr, integer
from sdyopt.mlir.ir.floats import encode_double
from sdyopt.mlir.ir.op_fields import attr, optional_attr
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import UNKNOWN, build
from sdyopt.mlir.ir.traits import ATTR_SIZED_OPERANDS, PURE, of_class
from sdyopt.mlir.ir.types import (
    F64,
    I1,
    I32,
    I64,
    INDEX,
    ComplexType,
    FloatType,
    MemRefType,
    RankedTensor,
    Type,
    element_of,
)
from sdyopt.mlir.ir.value import Value


@linalg.op("fill", ATTR_SIZED_OPERANDS, PURE)
class FillOp(NamedOp):
    """Fills a tensor with a scalar."""

    body_arguments = 2

    @staticmethod
    def body_for(types: list[Type], attributes: dict[str, Attribute]) -> Region:
        return make_body(types, lambda block, arguments: arguments[0])

    @classmethod
    def maps_for(cls, signature: OpSignature) -> Sequence[AffineMapAttr]:
        identity = _identity(signature.operand_types[-1])
        return [AffineMapAttr(identity.num_dims, 0, ()), identity]

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        if isinstance(signature.operand_types[0], RankedTensor | MemRefType):
            raise signature.error("expected op with scalar input")
        NamedOp.verify_signature(signature)
        value, out = signature.operand_types
        if value is not element_of(out):
            raise signature.op_error(
                f"expected fill value type ('{plain_type(value)}') to match output element type "
                f"('{plain_type(element_of(out))}')"
            )


def _identity(type: Type) -> AffineMapAttr:
    """The map that selects each element of a tensor."""
    rank = len(type.shape) if isinstance(type, RankedTensor | MemRefType) else 0
    return AffineMapAttr(rank, 0, tuple([AffineDim(dimension) for dimension in range(rank)]))


def _random(block: Block, arguments: list[Value]) -> Value:
    """A number between two others, from a linear congruential generator with a seed."""
    low, high, seed, init = arguments

    def index(dimension: int) -> Value:
        dim = dictionary({"dim": integer(dimension, I64)})
        op = build(OpSignature(IndexOp, IndexOp.name, dim, (), (INDEX,)), ())
        block.append(op)
        return cast(block, op.results[0], I32)

    def constant(value: Attribute, type: Type) -> Value:
        op = make_constant(value, type, UNKNOWN)
        assert op is not None
        block.append(op)
        return op.results[0]

    def step(value: Value) -> Value:
        factor = cast(block, constant(integer(1103515245, I64), I64), I32)
        product = combine(block, "mul", value, factor)
        return combine(block, "add", product, cast(block, constant(integer(12345, I64), I64), I32))

    middle = cast(block, constant(integer(2147483647, I64), I64), F64)
    column = index(1)
    row = step(combine(block, "add", index(0), seed))
    number = cast(block, step(combine(block, "add", column, row)), F64)
    number = combine(block, "add", middle, number)
    width = combine(block, "sub", high, low)
    unit = constant(FloatAttr(encode_double(2.3283063999999999e-10, F64.format), F64), F64)
    number = combine(block, "mul", number, combine(block, "mul", width, unit))
    return cast(block, combine(block, "add", number, low), init.type)


@linalg.op("fill_rng_2d", ATTR_SIZED_OPERANDS, PURE)
class FillRng2DOp(NamedOp):
    """Fills a matrix with pseudo-random numbers."""

    body_arguments = 4

    @staticmethod
    def body_for(types: list[Type], attributes: dict[str, Attribute]) -> Region:
        return make_body(types, _random)


# --- elementwise operations -------------------------------------------------------------------


class ElementwiseOp(NamedOp):
    """Base of the elementwise operations: an input is a tensor of the output's shape, or a scalar."""

    # The operation of the body for elements that are floats, integers and booleans; "" if there is none.
    float_op: ClassVar[str]
    integer_op: ClassVar[str]
    boolean_op: ClassVar[str]
    # Why there is none.
    unsupported: ClassVar[str]

    @classmethod
    def maps_for(cls, signature: OpSignature) -> Sequence[AffineMapAttr]:
        identity = _identity(signature.operand_types[-1])
        scalar = AffineMapAttr(identity.num_dims, 0, ())
        is_shaped = [isinstance(type, RankedTensor | MemRefType) for type in signature.operand_types]
        return [identity if shaped else scalar for shaped in is_shaped]

    @classmethod
    def body_for(cls, types: list[Type], attributes: dict[str, Attribute]) -> Region:
        return make_body(types, cls._build)

    @classmethod
    def _build(cls, block: Block, arguments: list[Value]) -> Value:
        if len(arguments) == 3:
            check_numbers([value.type for value in arguments[:-1]])
        return append(block, cls._element_op(arguments[0].type), arguments[:-1])

    @classmethod
    def _element_op(cls, type: Type) -> str:
        if isinstance(type, ComplexType):
            raise UnsupportedElementError("unsupported complex elements")
        name = cls.boolean_op if type is I1 else cls.integer_op
        if isinstance(type, FloatType):
            name = cls.float_op
        if not name:
            raise UnsupportedElementError(cls.unsupported)
        return name


_NOT_NUMERIC = "unsupported non numeric type"
_ELEMENTWISE: tuple[tuple[str, int, tuple[str, str, str], str], ...] = (
    *((name, 1, (f"math.{name}", "", ""), _NOT_NUMERIC) for name in ["exp", "log", "ceil", "floor", "round"]),
    *((name, 1, (f"math.{name}", "", ""), _NOT_NUMERIC) for name in ["sqrt", "rsqrt", "tanh", "erf"]),
    ("abs", 1, ("math.absf", "", ""), _NOT_NUMERIC),
    ("negf", 1, ("arith.negf", "", ""), _NOT_NUMERIC),
    ("add", 2, ("arith.addf", "arith.addi", "arith.ori"), ""),
    ("sub", 2, ("arith.subf", "arith.subi", ""), "unsupported operation: sub with bools"),
    ("mul", 2, ("arith.mulf", "arith.muli", "arith.andi"), ""),
    ("div", 2, ("arith.divf", "arith.divsi", ""), "unsupported operation: div with bools"),
    ("div_unsigned", 2, ("", "arith.divui", ""), "unsupported operation: unsigned div not on uint"),
    ("max", 2, ("arith.maximumf", "arith.maxsi", "arith.maxsi"), ""),
    ("min", 2, ("arith.minimumf", "arith.minsi", "arith.minsi"), ""),
    ("powf", 2, ("math.powf", "math.powf", "math.powf"), ""),
)
for _name, _inputs, (_float_op, _integer_op, _boolean_op), _unsupported in _ELEMENTWISE:
    _members = {
        "__module__": __name__,
        "__doc__": f"The elementwise operation {_name}.",
        "body_arguments": _inputs + 1,
        "float_op": _float_op,
        "integer_op": _integer_op,
        "boolean_op": _boolean_op,
        "unsupported": _unsupported,
    }
    linalg.op(_name, ATTR_SIZED_OPERANDS, PURE)(type(f"{_name.capitalize()}Op", (ElementwiseOp,), _members))


@linalg.op("copy", ATTR_SIZED_OPERANDS, PURE)
class CopyOp(ElementwiseOp):
    """A copy of a tensor, perhaps with elements of another type."""

    cast = optional_attr(TYPE_FN)

    body_arguments = 2

    @classmethod
    def body_for(cls, types: list[Type], attributes: dict[str, Attribute]) -> Region:
        is_unsigned = attributes.get("cast") is TypeFn("cast_unsigned")
        return make_body(types, lambda block, values: cast(block, values[0], values[1].type, is_unsigned))


@linalg.op("square", ATTR_SIZED_OPERANDS, PURE)
class SquareOp(ElementwiseOp):
    """The squares of the elements of a tensor."""

    body_arguments = 2
    float_op, integer_op, boolean_op, unsupported = "arith.mulf", "", "", _NOT_NUMERIC

    @classmethod
    def _build(cls, block: Block, arguments: list[Value]) -> Value:
        return append(block, cls._element_op(arguments[0].type), [arguments[0], arguments[0]])


@linalg.op("reciprocal", ATTR_SIZED_OPERANDS, PURE)
class ReciprocalOp(ElementwiseOp):
    """The reciprocals of the elements of a tensor."""

    body_arguments = 2
    float_op, integer_op, boolean_op, unsupported = "arith.divf", "", "", _NOT_NUMERIC

    @classmethod
    def _build(cls, block: Block, arguments: list[Value]) -> Value:
        element = arguments[0].type
        name = cls._element_op(element)
        assert isinstance(element, FloatType)
        one = make_constant(FloatAttr(encode_double(1.0, element.format), element), element, UNKNOWN)
        assert one is not None
        block.append(one)
        return append(block, name, [one.results[0], arguments[0]])


@linalg.op("select", ATTR_SIZED_OPERANDS, PURE)
class SelectOp(ElementwiseOp):
    """Elements of the second or third input, as the first input says."""

    body_arguments = 4

    @classmethod
    def _build(cls, block: Block, arguments: list[Value]) -> Value:
        return append(block, "arith.select", arguments[:-1], arguments[1].type)


_KINDS: dict[str, type[ElementwiseOp]] = {
    mnemonic: op_class
    for mnemonic, op_class in linalg.ops.items()
    if issubclass(op_class, ElementwiseOp) and op_class is not CopyOp
}
# The names of the kinds that differ from those of the operations.
_KINDS["max_signed"], _KINDS["min_signed"] = _KINDS.pop("max"), _KINDS.pop("min")
_KIND_NAMES = (
    *("exp", "log", "abs", "ceil", "floor", "negf", "reciprocal", "round", "sqrt", "rsqrt", "square", "tanh"),
    *("erf", "add", "sub", "mul", "div", "div_unsigned", "max_signed", "min_signed", "max_unsigned"),
    *("min_unsigned", "powf", "select"),
)


@keyword_attribute("elementwise_kind", "::mlir::linalg::ElementwiseKind", *_KIND_NAMES)
class ElementwiseKind(KeywordAttr):
    """`#linalg.elementwise_kind<add>`: the function of linalg.elementwise."""


@linalg.op("elementwise", ATTR_SIZED_OPERANDS, PURE)
class ElementwiseKindOp(NamedOp):
    """The elementwise operation of a kind, with indexing maps that may permute or repeat dimensions."""

    kind = attr(of_class(ElementwiseKind, "allowed 32-bit signless integer cases"))
    indexing_maps = optional_attr(MAPS)

    printed_first = ("kind", "indexing_maps")
    failed_to_parse = "unable to parse elemwise op"

    def maps_by_default(self) -> list[AffineMapAttr]:
        return [_identity(self.outputs[0].type)] * len(self.operands)

    @classmethod
    def maps_for(cls, signature: OpSignature) -> Sequence[AffineMapAttr]:
        identity = _identity(signature.operand_types[-1])
        return super().maps_for(signature) or [identity] * len(signature.operand_types)

    @classmethod
    def loops_for(cls, signature: OpSignature, maps: Sequence[AffineMapAttr]) -> int:
        return _identity(signature.operand_types[-1]).num_dims

    assembly = assembly("custom<format>", format=custom(parse_with_maps, print=print_with_maps))

    @classmethod
    def takes_maps(cls, op_parser: OpAsmParser) -> bool:
        op_parser.expect("kind")
        op_parser.expect("=")
        offset = op_parser.skip_trivia()
        kind = op_parser.attributes["kind"] = op_parser.attribute()
        if not isinstance(kind, ElementwiseKind):
            raise op_parser.error("expected ElementwiseKind attribute", offset)
        return op_parser.accept("indexing_maps")

    @classmethod
    def arguments_for(cls, attributes: Mapping[str, Attribute]) -> int:
        kind = attributes.get("kind")
        assert isinstance(kind, ElementwiseKind)
        return _KINDS[kind.kind].body_arguments if kind.kind in _KINDS else 3

    @classmethod
    def body_for(cls, types: list[Type], attributes: dict[str, Attribute]) -> Region:
        kind = attributes["kind"]
        assert isinstance(kind, ElementwiseKind)
        if kind.kind in _KINDS:
            return _KINDS[kind.kind].body_for(types, {})
        return make_body(types, lambda block, values: combine(block, kind.kind, values[0], values[1]))
