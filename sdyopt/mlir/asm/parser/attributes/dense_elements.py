"""Semantic actions of `dense<…>` and `sparse<…>`."""

from __future__ import annotations

import re
from binascii import unhexlify

from sdyopt.base.dataclasses import dataclass
from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.base.patterns import constant_pattern
from sdyopt.mlir.asm.lexical import FLOAT, unescape
from sdyopt.mlir.asm.parser.attributes.element_literals import (
    TOO_WIDE,
    ElementList,
    ElementParser,
    NumberList,
    are_too_wide,
    decode_numbers,
    float_bits,
    integer_value,
    pack_floats,
    pack_integers,
    parse_elements,
)
from sdyopt.mlir.asm.parser.attributes.semantic_actions import ActionContext, Parts, action
from sdyopt.mlir.ir.attribute import ArrayAttr, Attribute
from sdyopt.mlir.ir.builtin_attributes import (
    DenseElements,
    DenseStringElements,
    FloatAttr,
    IntegerAttr,
    SparseElements,
    dense,
    element_size,
    wrapped,
)
from sdyopt.mlir.ir.types import (
    I1,
    I64,
    ComplexType,
    FloatType,
    IndexType,
    IntegerType,
    RankedShapedType,
    RankedTensor,
    ShapedType,
    Type,
    tensor,
)

_WRONG_SHAPE = ErrorKind(
    "inferred shape of elements literal ([{inferred}]) does not match type ([{expected}])",
    help="the literal has the first shape, the type the second; make them equal",
)

_FLOATS = constant_pattern(f"(?:-?{FLOAT},)*")
# Without `-0`, which is out of range for MLIR.
_DECIMALS = constant_pattern(r"(?:(?!-0)-?\d{1,18},)*", re.ASCII)


@dataclass(frozen=True, slots=True)
class DenseLiteral:
    """`dense<elements>`; `number_list` has the elements if they are well-formed numbers.

    `offset` is that of `dense`, `text_offset` that of the elements.
    """

    text: str
    number_list: NumberList | None
    offset: int
    text_offset: int

    def attribute_of(self, context: ActionContext, type: Type | None) -> Attribute:
        if type is None:
            raise context.wrong_token_error("expected ':'", context.next_offset)
        shaped = static_shape(context, type, self.offset)
        attribute = dense_elements_from(self.text, self.number_list, shaped)
        if attribute is not None:
            return attribute
        elements = ElementList((), [], [], [])
        if self.text.strip():
            elements = parse_elements(context, self.text, self.text_offset)
        return elements_attribute(context, elements, shaped, self.offset)


@action("elements")
def _elements(context: ActionContext, parts: Parts, offsets: list[int]) -> tuple[str, NumberList | None]:
    """The text of the elements, and their values if they are well-formed numbers, otherwise None."""
    text = parts[0]
    if not text.strip() and not context.source.text.startswith(">", context.next_offset):
        raise context.error_at_next_token("expected element literal of primitive type")
    number_list = decode_numbers(text)
    if number_list is None and text.strip():
        parse_elements(context, text, offsets[0])
    return text, number_list


@action("dense")
def _dense(_context: ActionContext, parts: Parts, offsets: list[int]) -> DenseLiteral:
    text, number_list = parts[2]
    return DenseLiteral(text, number_list, offsets[0], offsets[2])


def elements_attribute(
    context: ActionContext, elements: ElementList, type: RankedShapedType, offset: int
) -> Attribute:
    """The attribute of a type with the parsed elements."""
    element = type.element
    is_number = isinstance(element, IntegerType | IndexType | FloatType | ComplexType)
    if elements.shape is None and elements.texts[0].startswith('"') and is_number:
        data = _decoded(elements.texts[0])
        if data is None:
            message = "expected string containing hex digits starting with `0x`"
            raise context.error(message, elements.offsets[0])
        if not _fits(data, type):
            message = "elements hex data size is invalid for provided type: "
            raise context.error_with_type(message, type, offset)
        return dense(type, data)
    if elements.shape and elements.shape != type.shape:
        inferred, expected = (", ".join(map(str, sizes)) for sizes in (elements.shape, type.shape))
        raise context.error(_WRONG_SHAPE(inferred=inferred, expected=expected), offset)
    if not elements.texts and type.num_elements:
        shown = context.attribute_printer.type(type)
        raise context.error(f"parsed zero elements, but type ('{shown}') expected at least 1", offset)
    if isinstance(element, ComplexType):
        _check_complex_count(context, elements, type, offset)
        element = element.element
    if isinstance(element, IntegerType | IndexType):
        if are_too_wide(len(elements.texts), element):
            raise context.error(TOO_WIDE, offset)
        return dense(type, pack_integers(_integers(context, elements, element), element))
    if isinstance(element, FloatType):
        return dense(type, _float_bytes(context, elements, element))
    for text in elements.texts:
        if not text.startswith('"'):
            raise context.error(f"expected string token, got {text}", offset)
    values = tuple(unescape(text[1:-1]) for text in elements.texts)
    return DenseStringElements(type, values[:1] if len(set(values)) == 1 else values)


def dense_elements_from(
    text: str, number_list: NumberList | None, type: RankedShapedType
) -> DenseElements | None:
    """The attribute of well-formed numbers or hexadecimal data that fit the type.

    None if the elements must be parsed one by one, to find the error or because they are unusual.
    """
    element = type.element
    is_complex = isinstance(element, ComplexType)
    if isinstance(element, ComplexType):
        element = element.element
    if not isinstance(element, IntegerType | IndexType | FloatType):
        return None
    if text.startswith('"'):
        data = _decoded(text.rstrip())
        return dense(type, data) if data is not None and _fits(data, type) else None
    if (
        number_list is None
        or number_list.is_complex is not is_complex
        or number_list.shape not in (None, type.shape)
    ):
        return None
    numbers = number_list.numbers
    joined = ",".join(numbers) + ","
    if isinstance(element, FloatType):
        return dense(type, pack_floats(numbers, element)) if _FLOATS.fullmatch(joined) else None
    if element is I1 and not joined.replace("true,", "").replace("false,", ""):
        return dense(type, bytes([number == "true" for number in numbers]))
    if not _DECIMALS.fullmatch(joined) or are_too_wide(len(numbers), element):
        return None
    values = list(map(int, numbers))
    if wrapped(low := min(values), element) != low or wrapped(high := max(values), element) != high:
        return None
    return dense(type, pack_integers(values, element))


def _decoded(literal: str) -> bytes | None:
    """The bytes of a hexadecimal string literal `"0x…"`; None for any other literal."""
    digits = literal[3:-1]
    if not literal.startswith('"0x'):
        return None
    try:
        return unhexlify(digits)
    except ValueError:
        return None


def _fits(data: bytes, type: RankedShapedType) -> bool:
    """Whether the bytes are those of all elements, or of a splat."""
    size = element_size(type.element)
    return len(data) == size * type.num_elements or len(data) == size


def _check_complex_count(
    context: ActionContext, elements: ElementList, type: RankedShapedType, offset: int
) -> None:
    count = len(elements.texts)
    if not elements.shape and type.num_elements and count != 2:
        shown, expected = context.attribute_printer.type(type.element), 2
    elif elements.shape and count != 2 * type.num_elements:
        shown, expected = context.attribute_printer.type(type), 2 * type.num_elements
    else:
        return
    message = f"parsed {count} elements, but type ('{shown}') expected {expected} elements"
    raise context.error(message, offset)


def _integers(context: ActionContext, elements: ElementList, type: IntegerType | IndexType) -> list[int]:
    values = []
    for text, offset, is_negative in zip(elements.texts, elements.offsets, elements.negative, strict=True):
        if is_negative and isinstance(type, IntegerType) and type.is_unsigned:
            message = "expected unsigned integer elements, but parsed negative value"
            raise context.error(message, offset)
        if text in ("true", "false"):
            if type is not I1:
                raise context.error("expected i1 type for 'true' or 'false' values", offset)
            values.append(int(text == "true"))
            continue
        if not text.isalnum():
            raise context.error("expected integer elements, but parsed floating-point", offset)
        value = integer_value(text, is_negative, type)
        if value is None:
            raise context.error("integer constant out of range for type", offset)
        values.append(value)
    return values


def _float_bytes(context: ActionContext, elements: ElementList, type: FloatType) -> bytes:
    size = element_size(type)
    mask = (1 << 8 * size) - 1
    packed = []
    for text, offset, is_negative in zip(elements.texts, elements.offsets, elements.negative, strict=True):
        if not text[0].isdigit():
            raise context.error("expected floating point literal", offset)
        bits = float_bits(context, text, is_negative, type, offset)
        packed.append((bits & mask).to_bytes(size, "little"))
    return b"".join(packed)


def static_shape(context: ActionContext, type: Type, offset: int) -> RankedShapedType:
    """`type`, which is that of an elements literal; raises an error if it has no static shape."""
    if not isinstance(type, ShapedType):
        raise context.error("elements literal must be a shaped type", offset)
    if not isinstance(type, RankedShapedType) or not type.has_static_shape:
        raise context.error("elements literal type must have static shape", offset)
    return type


# --- dense<type : attributes> --------------------------------------------------------------------


@action("dense_type")
def _dense_type(context: ActionContext, parts: Parts, offsets: list[int]) -> RankedShapedType:
    type = parts[0]
    if not isinstance(type, ShapedType):
        raise context.error("expected a shaped type for dense elements", offsets[0])
    if not isinstance(type, RankedShapedType) or not type.has_static_shape:
        raise context.error("dense elements type must have static shape", offsets[0])
    if not isinstance(type.element, IntegerType | IndexType | FloatType | ComplexType):
        message = "element type must implement DenseElementTypeInterface for type-first dense syntax"
        raise context.error(message, offsets[0])
    return type


@action("dense_by_type")
def _dense_by_type(context: ActionContext, parts: Parts, offsets: list[int]) -> Attribute:
    type, attribute = parts[2], parts[4]
    element = type.element
    is_list = isinstance(attribute, ArrayAttr) and not (isinstance(element, ComplexType) and not type.shape)
    if is_list and not type.shape:
        raise context.error("expected single element for scalar type, got list", offsets[0])
    leaves = [attribute]
    for size in type.shape if is_list else ():
        for array in leaves:
            length = len(array) if isinstance(array, ArrayAttr) else 0
            if length != size:
                raise context.error_at_next_token(f"expected {size} elements in dimension, got {length}")
        leaves = [inner for array in leaves if isinstance(array, ArrayAttr) for inner in array]
    part = element.element if isinstance(element, ComplexType) else element
    if isinstance(part, IntegerType | IndexType) and are_too_wide(len(leaves), part):
        raise context.error(TOO_WIDE, offsets[0])
    chunks = [part for leaf in leaves for part in _element_bytes(context, leaf, element)]
    return dense(type, b"".join(chunks))


def _element_bytes(context: ActionContext, leaf: Attribute, element: Type) -> list[bytes]:
    if isinstance(element, ComplexType) and isinstance(leaf, ArrayAttr) and len(leaf) == 2:
        return [data for part in leaf for data in _element_bytes(context, part, element.element)]
    if isinstance(leaf, IntegerAttr) and leaf.type is element:
        return [pack_integers([leaf.value], leaf.type)]
    if isinstance(leaf, FloatAttr) and leaf.type is element:
        return [leaf.bits.to_bytes(element_size(element), "little")]
    raise context.error_at_next_token("incompatible attribute for element type")


@dataclass(frozen=True, slots=True)
class SparseLiteral:
    """`sparse<indices, values>`; `offset` is that of `sparse`, `text_offset` that of the indices."""

    indices: ElementList
    values: ElementList
    offset: int
    text_offset: int

    def attribute_of(self, context: ActionContext, type: Type | None) -> Attribute:
        if type is None:
            raise context.wrong_token_error("expected ':'", context.next_offset)
        return self._attribute_of(context, static_shape(context, type, self.offset))

    def _attribute_of(self, context: ActionContext, type: RankedShapedType) -> SparseElements:
        values = self.values
        indices = self.indices if self.indices.texts else ElementList((0, type.rank))
        indices_type = tensor(indices.shape or (1, type.rank), I64)
        values_type = tensor(values.shape or (indices_type.shape[0],), type.element)
        index_elements = elements_attribute(context, indices, indices_type, self.text_offset)
        value_elements = elements_attribute(context, values, values_type, self.text_offset)
        assert isinstance(index_elements, DenseElements)
        assert isinstance(value_elements, DenseElements | DenseStringElements)
        self._check_shapes(context, indices_type, values_type, type)
        self._check_indices(context, index_elements, type)
        return SparseElements(type, index_elements, value_elements)

    def _check_shapes(
        self, context: ActionContext, indices: RankedTensor, values: RankedTensor, type: RankedShapedType
    ) -> None:
        is_vector = indices.rank == 1 and type.rank == 1
        is_matrix = indices.rank == 2 and indices.shape[1] == type.rank
        if (is_vector or is_matrix) and values.rank == 1 and values.shape[0] == indices.shape[0]:
            return
        shapes = [", ".join(map(str, shaped.shape)) for shaped in (type, indices, values)]
        raise context.error(
            f"expected shape ([{shapes[0]}]); inferred shape of indices literal ([{shapes[1]}]); "
            f"inferred shape of values literal ([{shapes[2]}])",
            self.offset,
        )

    def _check_indices(self, context: ActionContext, indices: DenseElements, type: RankedShapedType) -> None:
        numbers = memoryview(indices.expanded).cast("q").tolist()
        for row in range(indices.type.shape[0]):
            index = numbers[row * type.rank : (row + 1) * type.rank]
            if any(not 0 <= number < size for number, size in zip(index, type.shape, strict=False)):
                shown = ", ".join(map(str, index))
                message = f"sparse index #{row} is not contained within the value shape"
                raise context.error_with_type(
                    f"{message}, with index=[{shown}], and type=", type, self.offset
                )


@action("sparse_elements")
def _sparse_elements(
    context: ActionContext, parts: Parts, offsets: list[int]
) -> tuple[ElementList, ElementList]:
    if not parts[0].strip():
        return ElementList((0,)), ElementList((0,))
    element_parser = ElementParser(context, parts[0], offsets[0])
    indices = element_parser.elements()
    element_parser.expect(",", "expected ','")
    values = element_parser.elements()
    element_parser.expect_end("expected '>'")
    return indices, values


@action("sparse")
def _sparse(_context: ActionContext, parts: Parts, offsets: list[int]) -> SparseLiteral:
    indices, values = parts[2]
    return SparseLiteral(indices, values, offsets[0], offsets[2])
