"""The builtin types, and opaque types of unregistered dialects."""

from __future__ import annotations

from enum import Enum
from math import prod

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
