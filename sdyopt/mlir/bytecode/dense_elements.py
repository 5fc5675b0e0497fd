"""The data of dense elements in bytecode: booleans are packed, and bits above a width are zero."""

from __future__ import annotations

from sdyopt.mlir.ir.attribute import Type
from sdyopt.mlir.ir.builtin_attributes import (
    DenseElements,
    can_be_negative,
    dense,
    element_size,
    wrapped,
)
from sdyopt.mlir.ir.types import (
    I1,
    ComplexType,
    FloatType,
    IndexType,
    IntegerType,
    RankedShapedType,
    RankedTensor,
    VectorType,
)


def elements_type_problem(type: Type) -> str:
    """The problem of the type of elements; empty if there is none."""
    if not isinstance(type, RankedTensor | VectorType) or not type.has_static_shape:
        return "the type of elements is not a tensor or vector of a static shape"
    return ""


def dense_elements(type: Type, data: bytes) -> DenseElements | str:
    """The elements of encoded data, or what is wrong with it."""
    if problem := elements_type_problem(type):
        return problem
    assert isinstance(type, RankedShapedType)
    element = type.element.element if isinstance(type.element, ComplexType) else type.element
    if not isinstance(element, IntegerType | IndexType | FloatType):
        return "the elements are not numbers"
    count = type.num_elements
    if element is I1 and type.element is I1:
        data = _unpacked(data, count)
    size = element_size(type.element)
    if len(data) not in (size, size * count) or (count == 0 and data):
        return f"{count} elements have {size * count} bytes, or {size} if all are equal, not {len(data)}"
    if isinstance(element, IntegerType) and element.width % 8 and data:
        data = _wrapped(data, element)
    return DenseElements(type, b"") if count == 0 else dense(type, data)


def _unpacked(data: bytes, count: int) -> bytes:
    """The booleans that eight bits each are a byte of, as a byte each; a splat is one byte."""
    if len(data) == 1 and data[0] in (0, 0xFF):
        return bytes([data[0] & 1])
    if len(data) != (count + 7) // 8:
        return data
    bits = f"{int.from_bytes(data, 'little'):0{8 * len(data)}b}"[::-1][:count]
    return bits.encode().translate(_DIGITS)


_DIGITS = bytes.maketrans(b"01", b"\0\1")


def _packed(data: bytes) -> bytes:
    """Eight booleans to a byte."""
    text = data[::-1].translate(_BITS).decode()
    return int(text or "0", 2).to_bytes((len(data) + 7) // 8, "little")


_BITS = bytes.maketrans(b"\0\1", b"01")


def _wrapped(data: bytes, type: IntegerType) -> bytes:
    """The elements with the bits above their width as in the sign, if they have one."""
    size, is_signed = element_size(type), can_be_negative(type)
    if size == 1:
        return data.translate(
            bytes(wrapped(byte, type) & 0xFF if is_signed else wrapped(byte, type) for byte in range(256))
        )
    numbers = (int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size))
    return b"".join([wrapped(number, type).to_bytes(size, "little", signed=is_signed) for number in numbers])


def _unsigned(data: bytes, type: IntegerType) -> bytes:
    """The elements with zero bits above their width."""
    size, keep = element_size(type), (1 << type.width) - 1
    if size == 1:
        return data.translate(bytes(byte & keep for byte in range(256)))
    numbers = (int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size))
    return b"".join([(number & keep).to_bytes(size, "little") for number in numbers])


def dense_elements_data(elements: DenseElements) -> bytes:
    """The encoded elements: those of a splat once, and eight booleans to a byte."""
    data, element = elements.data, elements.type.element
    if element is I1:
        return (b"\xff" if data[0] else b"\0") if elements.is_splat else _packed(data)
    element = element.element if isinstance(element, ComplexType) else element
    if isinstance(element, IntegerType) and element.width % 8:
        data = _unsigned(data, element)
    return data
