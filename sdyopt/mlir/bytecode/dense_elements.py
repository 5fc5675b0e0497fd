"""The data of dense elements, affine maps and integer sets in bytecode."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.bytecode.encodings import EntryReader, EntryWriter
from sdyopt.mlir.ir.affine import (
    MAX_DEPTH,
    AffineBinary,
    AffineConstant,
    AffineDim,
    AffineExpr,
    AffineMapAttr,
    AffineSymbol,
    IntegerSetAttr,
    add,
    ceil_divide,
    floor_divide,
    modulo,
    multiply,
)
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


_OPERATORS = {3: add, 4: multiply, 5: modulo, 6: floor_divide, 7: ceil_divide}


def _read_expression(reader: EntryReader, depth: int = 0) -> AffineExpr:
    start = reader.position
    kind = reader.varint()
    if depth > MAX_DEPTH:
        reader.fail(f"an affine expression is nested deeper than {MAX_DEPTH}", start)
    if kind in (0, 1):
        position = reader.varint()
        if position > _MAX_POSITION:
            reader.fail(f"an affine expression has the dimension or symbol {position}", start)
        return AffineSymbol(position) if kind else AffineDim(position)
    if kind == 2:
        return AffineConstant(reader.signed())
    if kind not in _OPERATORS:
        reader.fail(f"there are no affine expressions of the kind {kind}", start)
    lhs = _read_expression(reader, depth + 1)
    return _OPERATORS[kind](lhs, _read_expression(reader, depth + 1))


_MAX_POSITION = 1 << 16
_IDENTITY, _PERMUTATION, _PROJECTED_PERMUTATION, _GENERAL = range(4)


def _read_expressions(reader: EntryReader) -> tuple[AffineExpr, ...]:
    return tuple([_read_expression(reader) for _ in range(reader.count())])


def read_affine_map(reader: EntryReader) -> AffineMapAttr:
    """Reads an affine map: one of three short forms, or its expressions."""
    start = reader.position
    dimensions, kind = divmod(reader.varint(), 4)
    if dimensions > _MAX_POSITION:
        reader.fail(f"an affine map of {dimensions} dimensions", start)
    if kind == _IDENTITY:
        return AffineMapAttr(dimensions, 0, tuple(map(AffineDim, range(dimensions))))
    if kind in (_PERMUTATION, _PROJECTED_PERMUTATION):
        count = dimensions if kind == _PERMUTATION else reader.count()
        if count > reader.remaining:
            reader.fail("unexpected end")
        positions = [reader.varint() for _ in range(count)]
        if any(position >= dimensions for position in positions):
            reader.fail(f"an affine map has more than its {dimensions} dimensions", start)
        return AffineMapAttr(dimensions, 0, tuple(map(AffineDim, positions)))
    symbols = reader.varint()
    expressions = _read_expressions(reader)
    _check_positions(reader, start, expressions, dimensions, symbols)
    return AffineMapAttr(dimensions, symbols, expressions)


def read_integer_set(reader: EntryReader) -> IntegerSetAttr:
    """Reads an integer set: its expressions, and which are equal to zero."""
    start = reader.position
    dimensions, symbols = reader.varint(), reader.varint()
    if dimensions > _MAX_POSITION or symbols > _MAX_POSITION:
        reader.fail(f"an integer set of {dimensions} dimensions and {symbols} symbols", start)
    expressions = _read_expressions(reader)
    _check_positions(reader, start, expressions, dimensions, symbols)
    flags = [bool(reader.byte()) for _ in expressions]
    return IntegerSetAttr(dimensions, symbols, tuple(zip(expressions, flags, strict=True)))


def _check_positions(
    reader: EntryReader, start: int, expressions: Sequence[AffineExpr], dimensions: int, symbols: int
) -> None:
    if symbols > _MAX_POSITION:
        reader.fail(f"an affine map of {symbols} symbols", start)
    pending = list(expressions)
    visited = set()
    while pending:
        expression = pending.pop()
        if expression in visited:
            continue
        visited.add(expression)
        if isinstance(expression, AffineBinary):
            pending += (expression.lhs, expression.rhs)
        elif isinstance(expression, AffineDim | AffineSymbol):
            count = dimensions if isinstance(expression, AffineDim) else symbols
            if expression.position >= count:
                reader.fail("an affine expression has a dimension or symbol that its map has not", start)


def _write_expressions(writer: EntryWriter, expressions: Sequence[AffineExpr]) -> None:
    pending = list(reversed(expressions))
    while pending:
        expression = pending.pop()
        if isinstance(expression, AffineBinary):
            writer.varint(_KINDS[expression.operator.value])
            pending += (expression.rhs, expression.lhs)
        elif isinstance(expression, AffineConstant):
            writer.varint(2)
            writer.signed(expression.value)
        else:
            assert isinstance(expression, AffineDim | AffineSymbol)
            writer.varint(int(isinstance(expression, AffineSymbol)))
            writer.varint(expression.position)


_KINDS = {"+": 3, "*": 4, "mod": 5, "floordiv": 6, "ceildiv": 7}


def write_affine_map(writer: EntryWriter, attribute: AffineMapAttr) -> None:
    """Writes an affine map, in the shortest form that it has."""
    count, results = attribute.num_dims, attribute.results
    positions = [result.position for result in results if isinstance(result, AffineDim)]
    is_projection = not attribute.num_symbols and len(set(positions)) == len(positions) == len(results)
    if is_projection and positions == list(range(count)):
        writer.varint(count << 2 | _IDENTITY)
        return
    if not is_projection:
        writer.varint(count << 2 | _GENERAL)
        writer.varint(attribute.num_symbols)
        writer.varint(len(results))
        _write_expressions(writer, results)
        return
    is_permutation = len(positions) == count
    writer.varint(count << 2 | (_PERMUTATION if is_permutation else _PROJECTED_PERMUTATION))
    if not is_permutation:
        writer.varint(len(positions))
    for position in positions:
        writer.varint(position)


def write_integer_set(writer: EntryWriter, attribute: IntegerSetAttr) -> None:
    """Writes an integer set: its expressions, and which are equal to zero."""
    writer.varint(attribute.num_dims)
    writer.varint(attribute.num_symbols)
    writer.varint(len(attribute.constraints))
    _write_expressions(writer, [expression for expression, _ in attribute.constraints])
    for _, is_equality in attribute.constraints:
        writer.byte(int(is_equality))
