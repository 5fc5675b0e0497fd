"""Named operations of linalg: matmul, fill, and elementwise ones."""

from __future__ import annotations

from typing import ClassVar

from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.dialects import arith
from sdyopt.mlir.dialects.arith.compare import make_constant
from sdyopt.mlir.dialects.linalg.structured import (
    INDEXING_MAPS,
    NamedOp,
    UnsupportedElementError,
    linalg,
    make_body,
)
from sdyopt.mlir.dialects.math import math
from sdyopt.mlir.ir.affine import AffineDim, AffineMapAttr
from sdyopt.mlir.ir.attribute import array, dictionary
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.builtin_attributes import FloatAttr
from sdyopt.mlir.ir.floats import encode_double
from sdyopt.mlir.ir.op_fields import AttrField
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import UNKNOWN, build
from sdyopt.mlir.ir.traits import ATTR_SIZED_OPERANDS, PURE
from sdyopt.mlir.ir.types import I1, FloatType, Type
from sdyopt.mlir.ir.value import Value


def _append(block: Block, name: str, values: list[Value], type: Type | None = None) -> Value:
    """Appends an operation of arith or math, without flags, and returns its result."""
    namespace, _, mnemonic = name.partition(".")
    op_class = (arith.DIALECT if namespace == "arith" else math).ops[mnemonic]
    defaults = {
        field.name: field.default for field in op_class.fields.values() if isinstance(field, AttrField)
    }
    flags = dictionary({name: value for name, value in defaults.items() if value is not None})
    types = tuple(value.type for value in values)
    op = build(OpSignature(op_class, op_class.name, flags, types, (type or types[0],)), values)
    block.append(op)
    return op.results[0]


def _multiply_and_add(block: Block, values: list[Value]) -> Value:
    lhs, rhs, accumulator = values
    kind = "f" if isinstance(lhs.type, FloatType) else "i"
    return _append(block, f"arith.add{kind}", [accumulator, _append(block, f"arith.mul{kind}", [lhs, rhs])])


def _indexing_map(*dims: int) -> AffineMapAttr:
    return AffineMapAttr(3, 0, tuple(AffineDim(dim) for dim in dims))


@linalg.op("matmul", ATTR_SIZED_OPERANDS, PURE)
class MatmulOp(NamedOp):
    """Adds the matrix product of the inputs to the init: `c[m, n] += a[m, k] * b[k, n]`."""

    body_arguments = 3

    @staticmethod
    def body_for(types: list[Type]) -> Region:
        return make_body(types, _multiply_and_add)

    @staticmethod
    def add_indexing_maps(op_parser: OpAsmParser) -> None:
        op_parser.dictionary_attributes[INDEXING_MAPS] = array(
            [_indexing_map(0, 2), _indexing_map(2, 1), _indexing_map(0, 1)]
        )


@linalg.op("fill", ATTR_SIZED_OPERANDS, PURE)
class FillOp(NamedOp):
    """Fills a tensor with a scalar."""

    body_arguments = 2

    @staticmethod
    def body_for(types: list[Type]) -> Region:
        return make_body(types, lambda block, arguments: arguments[0])


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
    def body_for(cls, types: list[Type]) -> Region:
        return make_body(types, cls._build)

    @classmethod
    def _build(cls, block: Block, arguments: list[Value]) -> Value:
        return _append(block, cls._element_op(arguments[0].type), arguments[:-1])

    @classmethod
    def _element_op(cls, type: Type) -> str:
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
    """A copy of a tensor."""

    body_arguments = 2

    @classmethod
    def _build(cls, block: Block, arguments: list[Value]) -> Value:
        return arguments[0]


@linalg.op("square", ATTR_SIZED_OPERANDS, PURE)
class SquareOp(ElementwiseOp):
    """The squares of the elements of a tensor."""

    body_arguments = 2
    float_op, integer_op, boolean_op, unsupported = "arith.mulf", "", "", _NOT_NUMERIC

    @classmethod
    def _build(cls, block: Block, arguments: list[Value]) -> Value:
        return _append(block, cls._element_op(arguments[0].type), [arguments[0], arguments[0]])


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
        return _append(block, name, [one.results[0], arguments[0]])


@linalg.op("select", ATTR_SIZED_OPERANDS, PURE)
class SelectOp(ElementwiseOp):
    """Elements of the second or third input, as the first input says."""

    body_arguments = 4

    @classmethod
    def _build(cls, block: Block, arguments: list[Value]) -> Value:
        return _append(block, "arith.select", arguments[:-1], arguments[1].type)
