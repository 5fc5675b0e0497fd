"""The builtin types, and opaque types of unregistered dialects."""

from __future__ import annotations

from enum import Enum
from functools import cache
from itertools import islice
from math import prod
from typing import Any, NoReturn, cast

from sdyopt.base.interning import field_names
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.attribute import Type as Type
from sdyopt.mlir.ir.floats import FLOAT_FORMATS, FloatFormat

DYNAMIC = -(1 << 63)
"""The size of a dynamic dimension, written `?`."""

INDEX_WIDTH = 64
MAX_INTEGER_WIDTH = (1 << 24) - 1


class Signedness(Enum):
    """The signedness of an integer type; the value is the prefix of `i` in its name."""

    SIGNLESS = ""
    SIGNED = "s"
    UNSIGNED = "u"


class IntegerType(Type):
    """`i32`, `si8`, `ui4`: an integer of `width` bits."""

    width: int
    signedness: Signedness = Signedness.SIGNLESS

    @property
    def is_signless(self) -> bool:
        return self.signedness is Signedness.SIGNLESS

    @property
    def is_unsigned(self) -> bool:
        return self.signedness is Signedness.UNSIGNED


class IndexType(Type):
    """`index`: an integer of target-dependent width; 64 bits in attributes."""


class FloatType(Type):
    """`f32`, `bf16`, `f8E4M3FN`: a floating point number."""

    name: str

    @property
    def format(self) -> FloatFormat:
        return FLOAT_FORMATS[self.name]

    @property
    def width(self) -> int:
        return FLOAT_FORMATS[self.name].width


class ComplexType(Type):
    """`complex<f32>`: a real and an imaginary part."""

    element: Type


class NoneType(Type):
    """`none`: the type with a single value."""


class TupleType(Type):
    """`tuple<i32, f32>`."""

    types: tuple[Type, ...] = ()


class FunctionType(Type):
    """`(i32, f32) -> f32`."""

    inputs: tuple[Type, ...] = ()
    results: tuple[Type, ...] = ()


class OpaqueType(Type):
    """`!namespace<body>`: a type of an unregistered dialect, stored as text."""

    namespace: str
    body: str


class ShapedType(Type):
    """Base class of tensors, vectors and memrefs."""

    @property
    def element(self) -> Type:
        raise NotImplementedError


class RankedShapedType(ShapedType):
    """Base class of the shaped types with a rank."""

    @property
    def shape(self) -> tuple[int, ...]:
        raise NotImplementedError

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def has_static_shape(self) -> bool:
        return DYNAMIC not in self.shape

    @property
    def num_elements(self) -> int:
        """The number of elements. The shape must be static."""
        assert self.has_static_shape
        return prod(self.shape)


class RankedTensor(RankedShapedType):
    """`tensor<4x?xf32, encoding>`."""

    shape: tuple[int, ...]
    element: Type
    encoding: Attribute | None = None


class HoleInspected(Exception):
    """The shape, element type or encoding of a hole, or the value of a number or size, has been read."""


class Hole(RankedTensor):
    """Any tensor type: its shape and element type cannot be read, and it is equal only to itself."""

    __slots__ = ()


def _inspected(hole: object, *arguments: object) -> NoReturn:
    raise HoleInspected


for _name in field_names(RankedTensor):
    setattr(Hole, _name, property(_inspected))

# All holes, with their numbers.
hole_numbers: dict[Type, int] = {}


def first_holes(count: int) -> list[Type]:
    """The holes with the numbers from 0 on."""
    while len(hole_numbers) < count:
        hole_numbers[object.__new__(cast(Any, Hole))] = len(hole_numbers)
    return list(islice(hole_numbers, count))


class SizeHole:
    """The static size of a dimension, which is not 0 or 1. It can only be compared with other sizes."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, SizeHole):
            return self is other
        # A comparison with an integer of any other type is one with a boolean.
        if type(other) is int and (other == DYNAMIC or 0 <= other <= 1):
            return False
        raise HoleInspected

    __hash__ = object.__hash__


@cache
def size_hole(number: int) -> int:
    """The size hole with a number."""
    return cast(int, SizeHole())


class NumberHole:
    """Any integer in the text of a statement: it can be passed on and printed, but its value cannot be read.

    It is hashed by its identity, because it is part of interned attributes.
    """

    __slots__ = ("number", "text")

    def __init__(self, number: int, text: str) -> None:
        self.number = number
        self.text = text

    def __str__(self) -> str:
        return self.text

    __hash__ = object.__hash__


_READERS = ("lt", "le", "gt", "ge", "bool", "index", "int", "float", "abs", "neg", "invert")
_OPERATORS = (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "divmod",
    "pow",
    "lshift",
    "rshift",
    "and",
    "or",
)
_METHODS = [f"__{_name}__" for _name in (*_READERS, *_OPERATORS)] + [f"__r{_name}__" for _name in _OPERATORS]
for _name in _METHODS:
    setattr(SizeHole, _name, _inspected)
for _name in (*_METHODS, "__eq__", "__ne__"):
    setattr(NumberHole, _name, _inspected)


class UnrankedTensor(ShapedType):
    """`tensor<*xf32>`."""

    element: Type


class VectorType(RankedShapedType):
    """`vector<4x[8]xf32>`; `scalable`: per dimension, whether it is scalable (in brackets)."""

    shape: tuple[int, ...]
    element: Type
    scalable: tuple[bool, ...]


class MemRefType(RankedShapedType):
    """`memref<4x?xf32, layout, space>`; `layout` is None for the identity layout."""

    shape: tuple[int, ...]
    element: Type
    layout: Attribute | None = None
    memory_space: Attribute | None = None


class UnrankedMemRef(ShapedType):
    """`memref<*xf32, space>`."""

    element: Type
    memory_space: Attribute | None = None


def tensor(shape: tuple[int, ...], element: Type) -> RankedTensor:
    """The tensor type of this shape without an encoding."""
    return RankedTensor(shape, element, None)


def vector(shape: tuple[int, ...], element: Type) -> VectorType:
    """The vector type of this shape with no scalable dimensions."""
    return VectorType(shape, element, (False,) * len(shape))


def element_of(type: Type) -> Type:
    """The element type of a shaped type; any other type itself (`getElementTypeOrSelf`)."""
    return type.element if isinstance(type, ShapedType) else type


I1 = IntegerType(1, Signedness.SIGNLESS)
I8 = IntegerType(8, Signedness.SIGNLESS)
I16 = IntegerType(16, Signedness.SIGNLESS)
I32 = IntegerType(32, Signedness.SIGNLESS)
I64 = IntegerType(64, Signedness.SIGNLESS)
UI8 = IntegerType(8, Signedness.UNSIGNED)
UI32 = IntegerType(32, Signedness.UNSIGNED)
INDEX = IndexType()
BF16 = FloatType("bf16")
F16 = FloatType("f16")
F32 = FloatType("f32")
F64 = FloatType("f64")
NONE = NoneType()
