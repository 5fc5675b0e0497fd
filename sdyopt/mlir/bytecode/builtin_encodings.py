"""The encodings of builtin attributes, types and locations."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from operator import itemgetter

from sdyopt.base.diagnostics.location import (
    CallSite,
    FileLoc,
    FileRange,
    FusedLoc,
    Location,
    NameLoc,
    UnknownLoc,
)
from sdyopt.base.releases import Behavior
from sdyopt.mlir.bytecode.dense_elements import (
    dense_elements,
    dense_elements_data,
    elements_type_problem,
    read_affine_map,
    read_integer_set,
    write_affine_map,
    write_integer_set,
)
from sdyopt.mlir.bytecode.encodings import (
    ATTRIBUTE,
    BLOB,
    BOOL,
    LOCATION,
    SIGNED,
    SIGNED_LIST,
    STRING,
    TYPE,
    VARINT,
    Codec,
    DialectEncodings,
    EntryReader,
    EntryWriter,
    attribute_of,
    listed,
    paired,
    type_of,
)
from sdyopt.mlir.ir.affine import (
    AffineDim,
    AffineMapAttr,
    IntegerSetAttr,
)
from sdyopt.mlir.ir.attribute import (
    ArrayAttr,
    Attribute,
    DictAttr,
    DistinctAttr,
    LocationAttr,
    StringAttr,
    SymbolRef,
    Type,
    TypeAttr,
    UnitAttr,
)
from sdyopt.mlir.ir.builtin_attributes import (
    DenseArray,
    DenseElements,
    DenseResource,
    DenseStringElements,
    FloatAttr,
    IntegerAttr,
    SparseElements,
    StridedLayout,
    can_be_negative,
    integer,
    integer_width,
)
from sdyopt.mlir.ir.types import (
    DYNAMIC,
    MAX_INTEGER_WIDTH,
    NONE,
    ComplexType,
    FloatType,
    FunctionType,
    IndexType,
    IntegerType,
    MemRefType,
    NoneType,
    RankedShapedType,
    RankedTensor,
    ShapedType,
    Signedness,
    TupleType,
    UnrankedMemRef,
    UnrankedTensor,
    VectorType,
)

builtin = DialectEncodings("builtin")

_WORD = (1 << 64) - 1

# --- Strings, symbols, containers -----------------------------------------------------------------


def _read_name(reader: EntryReader) -> str:
    # Not `reader.attribute()`: each call limits how deep dictionaries can be nested.
    name = reader.table.attribute(reader.varint(), reader)
    if type(name) is not StringAttr:
        reader.fail(f"expected StringAttr, found {type(name).__name__}")
    return name.value


NAME = Codec(_read_name, lambda writer, value: writer.attribute(StringAttr(value)))
"""A text that is encoded as a string attribute."""


def _read_dictionary(reader: EntryReader) -> DictAttr:
    # Programs have many dictionaries, so this calls few functions.
    start, attribute_at, varint = reader.position, reader.table.attribute, reader.varint
    entries = [(_read_name(reader), attribute_at(varint(), reader)) for _ in range(reader.count())]
    if len(entries) > 1:
        entries.sort(key=_name_of)
        for (name, _), (following, _) in pairwise(entries):
            if name == following:
                reader.fail(f"the dictionary has two entries named '{name}'", start)
    return DictAttr(tuple(entries))


_name_of = itemgetter(0)
_ENTRIES = listed(paired(NAME, ATTRIBUTE))
_DICTIONARY = Codec(_read_dictionary, lambda writer, value: _ENTRIES.write(writer, value.entries))


def _is_flat(reference: SymbolRef) -> bool:
    return not reference.nested


def _symbol(root: str, nested: Sequence[SymbolRef]) -> SymbolRef | str:
    if not all(map(_is_flat, nested)):
        return "a nested symbol reference with nested references"
    return SymbolRef(root, tuple(reference.root for reference in nested))


def _symbol_parts(reference: SymbolRef) -> tuple[str, list[SymbolRef]]:
    return reference.root, [SymbolRef(name) for name in reference.nested]


builtin.attribute(0, ArrayAttr, listed(ATTRIBUTE))
builtin.add(1, DictAttr, _DICTIONARY)
builtin.attribute(2, StringAttr, STRING, applies=lambda string: string.type is None)
builtin.attribute(
    3, StringAttr, STRING, TYPE, make=lambda text, type: StringAttr(text, None if type is NONE else type)
)
builtin.attribute(4, SymbolRef, NAME, applies=_is_flat)
builtin.attribute(5, SymbolRef, NAME, listed(attribute_of(SymbolRef)), make=_symbol, take=_symbol_parts)
builtin.attribute(6, TypeAttr, TYPE)
builtin.attribute(7, UnitAttr)

# --- Numbers --------------------------------------------------------------------------------------


def read_bits(reader: EntryReader, width: int) -> int:
    """The bits of a number whose width is known."""
    if width <= 8:
        return reader.byte()
    if width <= 64:
        return reader.signed() & _WORD
    value, shift = 0, 0
    for _ in range(reader.count()):
        value |= (reader.signed() & _WORD) << shift
        shift += 64
    return value & ((1 << width) - 1)


def write_bits(writer: EntryWriter, value: int, width: int) -> None:
    """Writes the bits of a number whose width is known."""
    value &= (1 << width) - 1
    if width <= 8:
        writer.byte(value)
    elif width <= 64:
        writer.signed(_as_signed(value))
    else:
        count = max(1, (value.bit_length() + 63) // 64)
        writer.varint(count)
        for _ in range(count):
            writer.signed(_as_signed(value & _WORD))
            value >>= 64


DOUBLE = Codec(lambda reader: read_bits(reader, 64), lambda writer, value: write_bits(writer, value, 64))


def _as_signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word


def _read_integer(reader: EntryReader) -> IntegerAttr:
    start = reader.position
    type = reader.type()
    if not isinstance(type, IntegerType | IndexType):
        reader.fail("the type of an integer attribute is neither integer nor index", start)
    return integer(read_bits(reader, integer_width(type)), type)


def _write_integer(writer: EntryWriter, attribute: IntegerAttr) -> None:
    writer.type(attribute.type)
    write_bits(writer, attribute.value, integer_width(attribute.type))


def _read_float(reader: EntryReader) -> FloatAttr:
    type = type_of(FloatType).read(reader)
    return FloatAttr(read_bits(reader, type.width) & ((1 << type.width) - 1), type)


def _write_float(writer: EntryWriter, attribute: FloatAttr) -> None:
    writer.type(attribute.type)
    write_bits(writer, attribute.bits, attribute.type.width)


builtin.add(8, IntegerAttr, Codec(_read_integer, _write_integer))
builtin.add(9, FloatAttr, Codec(_read_float, _write_float))

# --- Locations ------------------------------------------------------------------------------------


def _file_location(file: str, line: int, column: int) -> LocationAttr:
    return LocationAttr(FileLoc(file, line, column))


def _file_range(file: str, numbers: Sequence[int]) -> LocationAttr | str:
    if len(numbers) > 4:
        return "a file location has at most four numbers"
    line, column, *end = (*numbers, 0, 0)[: max(2, len(numbers))]
    if not end:
        return LocationAttr(FileLoc(file, line, column))
    end_line, end_column = (line, end[0]) if len(end) == 1 else end
    return LocationAttr(FileRange(file, line, column, end_line, end_column))


def _range_parts(location: FileRange) -> tuple[str, list[int]]:
    start = [location.line, location.column]
    end = [location.end_column]
    if location.end_line != location.line:
        end.insert(0, location.end_line)
    return location.file, start + end


def _fused(locations: tuple[Location, ...], metadata: Attribute | None = None) -> LocationAttr:
    return LocationAttr(FusedLoc(locations, metadata))


builtin.attribute(
    10, CallSite, LOCATION, LOCATION, make=lambda callee, caller: LocationAttr(CallSite(callee, caller))
)
builtin.attribute(11, FileLoc, NAME, VARINT, VARINT, make=_file_location)
builtin.attribute(
    12, FusedLoc, listed(LOCATION), make=_fused, applies=lambda location: location.metadata is None
)
builtin.attribute(13, FusedLoc, listed(LOCATION), ATTRIBUTE, make=_fused)
builtin.attribute(14, NameLoc, NAME, LOCATION, make=lambda name, child: LocationAttr(NameLoc(name, child)))
builtin.attribute(15, UnknownLoc, make=lambda: LocationAttr(UnknownLoc()))
builtin.attribute(22, FileRange, NAME, listed(VARINT), make=_file_range, take=_range_parts)

# --- Elements -------------------------------------------------------------------------------------

RESOURCE = Codec(
    lambda reader: reader.table.resource(reader.varint(), reader),
    lambda writer, value: writer.resource(value),
)


def _dense_array(element: Type, size: int, data: bytes) -> DenseArray | str:
    if not isinstance(element, IntegerType | FloatType) or element.width not in (1, 8, 16, 32, 64):
        return "the elements of a dense array are integers or floats of 1, 8, 16, 32 or 64 bits"
    width = max(1, element.width // 8)
    if len(data) != size * width:
        return f"a dense array of {size} elements has {size * width} bytes, not {len(data)}"
    is_signed = isinstance(element, IntegerType) and can_be_negative(element)
    values = [
        int.from_bytes(data[at : at + width], "little", signed=is_signed) for at in range(0, len(data), width)
    ]
    return DenseArray(element, tuple(value & 1 for value in values) if element.width == 1 else tuple(values))


def _dense_array_parts(array: DenseArray) -> tuple[Type, int, bytes]:
    width = max(1, array.element.width // 8)
    mask = (1 << 8 * width) - 1
    data = b"".join([(value & mask).to_bytes(width, "little") for value in array.values])
    return array.element, len(array.values), data


def _resource(type: Type, key: str) -> DenseResource | str:
    return DenseResource(type, key) if isinstance(type, ShapedType) else "the type of elements has no shape"


def _read_strings(reader: EntryReader) -> DenseStringElements:
    start = reader.position
    type = reader.type()
    if problem := elements_type_problem(type):
        reader.fail(problem, start)
    assert isinstance(type, RankedShapedType)
    count = 1 if reader.varint() else type.num_elements
    if count > reader.remaining:
        reader.fail(f"{count} strings are expected, and {reader.remaining} bytes are left")
    values = tuple([reader.string() for _ in range(count)])
    if len(set(values)) == 1:
        values = values[:1]
    return DenseStringElements(type, values)


def _write_strings(writer: EntryWriter, elements: DenseStringElements) -> None:
    writer.type(elements.type)
    is_splat = elements.is_splat
    writer.varint(int(is_splat))
    for value in elements.values:
        writer.string(value)


def _sparse(type: Type, indices: DenseElements, values: Attribute) -> SparseElements | str:
    if problem := elements_type_problem(type):
        return problem
    assert isinstance(type, RankedShapedType)
    if not isinstance(values, DenseElements | DenseStringElements):
        return "the values of sparse elements are not dense"
    return SparseElements(type, indices, values)


def _read_distinct(reader: EntryReader) -> DistinctAttr:
    return DistinctAttr(reader.table.next_distinct_id(), reader.attribute())


builtin.attribute(16, DenseResource, TYPE, RESOURCE, make=_resource)
builtin.attribute(17, DenseArray, TYPE, VARINT, BLOB, make=_dense_array, take=_dense_array_parts)
builtin.attribute(
    18,
    DenseElements,
    TYPE,
    BLOB,
    make=dense_elements,
    take=lambda elements: (elements.type, dense_elements_data(elements)),
)
builtin.add(19, DenseStringElements, Codec(_read_strings, _write_strings))
builtin.attribute(20, SparseElements, TYPE, attribute_of(DenseElements), ATTRIBUTE, make=_sparse)
builtin.add(21, DistinctAttr, Codec(_read_distinct, lambda writer, value: writer.attribute(value.attribute)))

# --- Affine maps and layouts ----------------------------------------------------------------------


def _has_affine_encodings(attribute: Attribute) -> bool:
    """Whether the followed release reads the encodings of these; else they are written as text."""
    return Behavior.AFFINE_MAPS_IN_BYTECODE.active


builtin.add(23, AffineMapAttr, Codec(read_affine_map, write_affine_map), applies=_has_affine_encodings)
builtin.add(24, IntegerSetAttr, Codec(read_integer_set, write_integer_set), applies=_has_affine_encodings)
builtin.attribute(
    25,
    StridedLayout,
    SIGNED,
    SIGNED_LIST,
    make=lambda offset, strides: StridedLayout(strides, offset),
    take=lambda layout: (layout.offset, layout.strides),
    applies=_has_affine_encodings,
)

# --- Types ----------------------------------------------------------------------------------------

_SIGNEDNESS = tuple(Signedness)


def _integer_type(width_and_signedness: int) -> IntegerType | str:
    width, signedness = width_and_signedness >> 2, width_and_signedness & 3
    if signedness == len(_SIGNEDNESS) or width > MAX_INTEGER_WIDTH:
        return f"there is no integer type of {width} bits with the signedness {signedness}"
    return IntegerType(width, _SIGNEDNESS[signedness])


def _check_shape(shape: Sequence[int]) -> str:
    return "a negative size" if any(size < 0 and size != DYNAMIC for size in shape) else ""


def _tensor(shape: tuple[int, ...], element: Type, encoding: Attribute | None = None) -> RankedTensor | str:
    return _check_shape(shape) or RankedTensor(shape, element, encoding)


def _vector(
    shape: tuple[int, ...], element: Type, scalable: tuple[bool, ...] | None = None
) -> VectorType | str:
    if any(size <= 0 for size in shape):
        return "the sizes of a vector are positive"
    flags = (False,) * len(shape) if scalable is None else scalable
    return (
        "the rank is not that of the flags" if len(flags) != len(shape) else VectorType(shape, element, flags)
    )


def _memref(
    shape: tuple[int, ...], element: Type, layout: Attribute, memory_space: Attribute | None = None
) -> MemRefType | str:
    is_identity = isinstance(layout, AffineMapAttr) and layout.is_identity
    return _check_shape(shape) or MemRefType(shape, element, None if is_identity else layout, memory_space)


def _layout(type: MemRefType) -> Attribute:
    if type.layout is not None:
        return type.layout
    rank = len(type.shape)
    return AffineMapAttr(rank, 0, tuple(AffineDim(position) for position in range(rank)))


def _has_memory_space(type: MemRefType | UnrankedMemRef) -> bool:
    return type.memory_space is not None


builtin.type(
    0,
    IntegerType,
    VARINT,
    make=_integer_type,
    take=lambda type: (type.width << 2 | _SIGNEDNESS.index(type.signedness),),
)
builtin.type(1, IndexType)
builtin.type(2, FunctionType, listed(TYPE), listed(TYPE))
_FLOATS = ("bf16", "f16", "f32", "f64", "f80", "f128")
_LATER_FLOATS = (
    *("tf32", "f8E5M2", "f8E4M3", "f8E4M3FN", "f8E5M2FNUZ", "f8E4M3FNUZ", "f8E4M3B11FNUZ", "f8E3M4"),
    *("f4E2M1FN", "f6E2M3FN", "f6E3M2FN", "f8E8M0FNU"),
)


def _add_float(code: int, name: str) -> None:
    builtin.type(
        code,
        FloatType,
        make=lambda: FloatType(name),
        take=lambda type: (),
        applies=lambda type: type.name == name,
    )


for _code, _name in (*enumerate(_FLOATS, 3), *enumerate(_LATER_FLOATS, 21)):
    _add_float(_code, _name)
builtin.type(9, ComplexType, TYPE)
builtin.type(
    11,
    MemRefType,
    ATTRIBUTE,
    SIGNED_LIST,
    TYPE,
    ATTRIBUTE,
    make=lambda space, shape, element, layout: _memref(shape, element, layout, space),
    take=lambda type: (type.memory_space, type.shape, type.element, _layout(type)),
    applies=_has_memory_space,
)
builtin.type(
    10,
    MemRefType,
    SIGNED_LIST,
    TYPE,
    ATTRIBUTE,
    make=_memref,
    take=lambda type: (type.shape, type.element, _layout(type)),
)
builtin.type(12, NoneType)
builtin.type(13, RankedTensor, SIGNED_LIST, TYPE, make=_tensor, applies=lambda type: type.encoding is None)
builtin.type(
    14,
    RankedTensor,
    ATTRIBUTE,
    SIGNED_LIST,
    TYPE,
    make=lambda encoding, shape, element: _tensor(shape, element, encoding),
    take=lambda type: (type.encoding, type.shape, type.element),
)
builtin.type(15, TupleType, listed(TYPE))
builtin.type(
    17,
    UnrankedMemRef,
    ATTRIBUTE,
    TYPE,
    make=lambda space, element: UnrankedMemRef(element, space),
    take=lambda type: (type.memory_space, type.element),
    applies=_has_memory_space,
)
builtin.type(16, UnrankedMemRef, TYPE)
builtin.type(18, UnrankedTensor, TYPE)
builtin.type(
    20,
    VectorType,
    listed(BOOL),
    SIGNED_LIST,
    TYPE,
    make=lambda scalable, shape, element: _vector(shape, element, scalable),
    take=lambda type: (type.scalable, type.shape, type.element),
    applies=lambda type: any(type.scalable),
)
builtin.type(19, VectorType, SIGNED_LIST, TYPE, make=_vector, applies=lambda type: not any(type.scalable))
