"""Prints types, attributes and locations as MLIR does.

An `AttributePrinter` caches their texts. It prints nested ones with a worklist, so that deep nesting does
not exhaust Python's stack.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from sdyopt.asm.lexical import is_bare_id
from sdyopt.asm.printer.affine_printer import map_text, set_text
from sdyopt.asm.printer.elements_printer import dense_array_text, dense_string_text, dense_text
from sdyopt.asm.strings import escape
from sdyopt.diagnostics.diagnostic import DiagnosticError
from sdyopt.diagnostics.location import (
    CallSite,
    FileLoc,
    FileRange,
    FusedLoc,
    Location,
    NameLoc,
    OpaqueLoc,
    UnknownLoc,
)
from sdyopt.interning import Interned
from sdyopt.ir.affine import AffineMapAttr, IntegerSetAttr
from sdyopt.ir.attribute import (
    UNIT,
    ArrayAttr,
    Attribute,
    DictAttr,
    DistinctAttr,
    LocationAttr,
    OpaqueAttr,
    StringAttr,
    SymbolRef,
    Type,
    TypeAttr,
    UnitAttr,
)
from sdyopt.ir.dialect import PRINTERS
from sdyopt.ir.elements_attributes import (
    DenseArray,
    DenseElements,
    DenseResource,
    DenseStringElements,
    SparseElements,
    StridedLayout,
)
from sdyopt.ir.floats import float_text
from sdyopt.ir.numeric_attributes import FloatAttr, IntegerAttr
from sdyopt.ir.types import (
    DYNAMIC,
    F64,
    I1,
    I64,
    ComplexType,
    FloatType,
    FunctionType,
    IndexType,
    IntegerType,
    MemRefType,
    NoneType,
    OpaqueType,
    RankedTensor,
    TupleType,
    UnrankedMemRef,
    UnrankedTensor,
    VectorType,
)

# By default, lists with more elements than this are printed in hexadecimal.
HEX_LARGER_THAN = 100
# The maximum number of characters and of parts of a text: attributes that share sub-elements can be
# exponentially larger as text.
MAX_TEXT = 1 << 28
MAX_PARTS = 1 << 22

_PRETTY_SYMBOL = re.compile(r"[A-Za-z][\w.]*(?:<[\s\S]*>)?", re.ASCII)

# The text of an attribute, with attributes, types and locations nested in it.
Parts = list[str | Interned]
PrintFunction = Callable[["AttributePrinter", Any], Parts]
F = TypeVar("F", bound=PrintFunction)
_print_functions: dict[type[Interned], PrintFunction] = {}


class AttributePrinter:
    """Prints types, attributes and locations, those in `aliases` by their alias."""

    def __init__(
        self,
        elide_larger_than: int | None = None,
        hex_larger_than: int | None = None,
        aliases: Mapping[Interned, str] | None = None,
        is_pretty: bool = False,
    ) -> None:
        self.elide_larger_than = elide_larger_than
        self.hex_larger_than = HEX_LARGER_THAN if hex_larger_than is None else hex_larger_than
        self.is_pretty = is_pretty
        # Whether an attribute that should have an alias has been printed in full.
        self.lacks_alias = False
        self._texts: dict[Interned, str] = dict(aliases or {})
        self._distinct: dict[DistinctAttr, int] = {}

    def type(self, type: Type) -> str:
        """The text of a type."""
        return self._texts.get(type) or self._text(type)

    def attribute(self, attribute: Attribute) -> str:
        """The text of an attribute, with its type."""
        return self._texts.get(attribute) or self._text(attribute)

    def element(self, attribute: Attribute) -> str:
        """The text of an attribute in an array, without the types `i64` and `f64`."""
        short = _short_text(attribute)
        return self.attribute(attribute) if short is None else short

    def function_type(self, inputs: Sequence[Type], results: Sequence[Type]) -> str:
        """`(inputs) -> results`."""
        return self.type(FunctionType(tuple(inputs), tuple(results)))

    def location(self, location: Location) -> str:
        """`loc(…)`, or the pretty text of a location if `is_pretty`."""
        text = self._texts.get(location) or self._text(location)
        return text if self.is_pretty else f"loc({text})"

    def body(self, element: Attribute | Location) -> str:
        """The text of an attribute or location itself, even if it has an alias."""
        return self._joined(self._parts(element))

    def distinct_number(self, attribute: DistinctAttr) -> int:
        """The ID of a distinct attribute, numbered in the order of printing."""
        return self._distinct.setdefault(attribute, len(self._distinct))

    def _text(self, element: Interned) -> str:
        text = self._texts[element] = self._joined(self._parts(element))
        return text

    def _joined(self, parts: Parts) -> str:
        """The text of the parts."""
        texts, pending = self._texts, parts[::-1]
        output: list[str] = []
        size = 0
        while pending:
            part = pending.pop()
            text = part if isinstance(part, str) else texts.get(part)
            if text is None:
                assert not isinstance(part, str)
                inner = self._parts(part)
                if len(inner) != 1 or not isinstance(inner[0], str):
                    pending.extend(reversed(inner))
                    continue
                text = texts[part] = inner[0]
            output.append(text)
            size += len(text)
            if size > MAX_TEXT or len(output) > MAX_PARTS:
                raise DiagnosticError.at(UnknownLoc(), "attribute is too long to print")
        return "".join(output)

    def _parts(self, element: Interned) -> Parts:
        print = _print_functions.get(type(element))
        if print is not None:
            return print(self, element)
        assert isinstance(element, Attribute)
        body = PRINTERS[type(element)](element, self)
        return [_dialect_symbol("!" if isinstance(element, Type) else "#", element.dialect, body)]


def plain_type(type: Type) -> str:
    """The text of a type, for diagnostics."""
    return AttributePrinter().type(type)


def plain_attribute(attribute: Attribute) -> str:
    """The text of an attribute, for diagnostics."""
    return AttributePrinter().attribute(attribute)


def _prints(*classes: type[Interned]) -> Callable[[F], F]:
    """Decorator: the function that prints these classes of attributes, types or locations."""

    def register(function: F) -> F:
        for cls in classes:
            assert cls not in _print_functions
            _print_functions[cls] = function
        return function

    return register


def name_text(name: str) -> str:
    """A name as a key: itself if it is a bare identifier, otherwise a string literal."""
    return name if is_bare_id(name) else f'"{escape(name)}"'


def _dialect_symbol(prefix: str, namespace: str, body: str) -> str:
    if _PRETTY_SYMBOL.fullmatch(body):
        return f"{prefix}{namespace}.{body}"
    return f"{prefix}{namespace}<{body}>"


def _comma_separated(elements: Sequence[Interned | str]) -> Parts:
    """The elements, comma-separated."""
    parts: Parts = []
    for element in elements:
        parts += (", ", element)
    return parts[1:]


# --- Types ---------------------------------------------------------------------------------------


@_prints(IntegerType)
def _integer_type(_attribute_printer: AttributePrinter, type: IntegerType) -> Parts:
    return [f"{type.signedness.value}i{type.width}"]


@_prints(FloatType)
def _float_type(_attribute_printer: AttributePrinter, type: FloatType) -> Parts:
    return [type.name]


@_prints(IndexType)
def _index_type(_attribute_printer: AttributePrinter, _type: IndexType) -> Parts:
    return ["index"]


@_prints(NoneType)
def _none_type(_attribute_printer: AttributePrinter, _type: NoneType) -> Parts:
    return ["none"]


@_prints(ComplexType)
def _complex_type(_attribute_printer: AttributePrinter, type: ComplexType) -> Parts:
    return ["complex<", type.element, ">"]


@_prints(TupleType)
def _tuple_type(_attribute_printer: AttributePrinter, type: TupleType) -> Parts:
    return ["tuple<", *_comma_separated(type.types), ">"]


@_prints(FunctionType)
def _function_type(_attribute_printer: AttributePrinter, type: FunctionType) -> Parts:
    parts = ["(", *_comma_separated(type.inputs), ") -> "]
    if len(type.results) == 1 and not isinstance(type.results[0], FunctionType):
        return [*parts, type.results[0]]
    return [*parts, "(", *_comma_separated(type.results), ")"]


@_prints(RankedTensor)
def _ranked_tensor(_attribute_printer: AttributePrinter, type: RankedTensor) -> Parts:
    encoding: Parts = [] if type.encoding is None else [", ", type.encoding]
    return [f"tensor<{_dimensions(type.shape)}", type.element, *encoding, ">"]


@_prints(UnrankedTensor)
def _unranked_tensor(_attribute_printer: AttributePrinter, type: UnrankedTensor) -> Parts:
    return ["tensor<*x", type.element, ">"]


@_prints(VectorType)
def _vector_type(_attribute_printer: AttributePrinter, type: VectorType) -> Parts:
    sizes = zip(type.shape, type.scalable, strict=True)
    dimensions = "".join(f"[{size}]x" if is_scalable else f"{size}x" for size, is_scalable in sizes)
    return [f"vector<{dimensions}", type.element, ">"]


@_prints(MemRefType)
def _memref_type(_attribute_printer: AttributePrinter, type: MemRefType) -> Parts:
    layout: Parts = [] if type.layout is None else [", ", type.layout]
    return [
        f"memref<{_dimensions(type.shape)}",
        type.element,
        *layout,
        *_memory_space(type.memory_space),
        ">",
    ]


@_prints(UnrankedMemRef)
def _unranked_memref(_attribute_printer: AttributePrinter, type: UnrankedMemRef) -> Parts:
    return ["memref<*x", type.element, *_memory_space(type.memory_space), ">"]


@_prints(OpaqueType)
def _opaque_type(_attribute_printer: AttributePrinter, type: OpaqueType) -> Parts:
    return [_dialect_symbol("!", type.namespace, type.body)]


def _dimensions(shape: tuple[int, ...]) -> str:
    return "".join(["?x" if size == DYNAMIC else f"{size}x" for size in shape])


def _memory_space(space: Attribute | None) -> Parts:
    if space is None:
        return []
    return [", ", _short_text(space) or space]


# --- Attributes ----------------------------------------------------------------------------------


def _short_text(attribute: Attribute) -> str | None:
    """The text of an `i64` or `f64` attribute without its type; None if the type is needed.

    A float that is printed as hexadecimal bits needs it, because it would be parsed as an integer.
    """
    if isinstance(attribute, IntegerAttr) and attribute.type is I64:
        return str(attribute.value)
    if isinstance(attribute, FloatAttr) and attribute.type is F64:
        text = float_text(attribute.bits, F64.format)
        return None if text.startswith("0x") else text
    return None


@_prints(UnitAttr)
def _unit(_attribute_printer: AttributePrinter, _attribute: UnitAttr) -> Parts:
    return ["unit"]


@_prints(TypeAttr)
def _type_attribute(_attribute_printer: AttributePrinter, attribute: TypeAttr) -> Parts:
    return [attribute.type]


@_prints(IntegerAttr)
def _integer(_attribute_printer: AttributePrinter, attribute: IntegerAttr) -> Parts:
    if attribute.type is I1:
        return ["true" if attribute.value else "false"]
    return [f"{attribute.value} : ", attribute.type]


@_prints(FloatAttr)
def _float(_attribute_printer: AttributePrinter, attribute: FloatAttr) -> Parts:
    return [f"{float_text(attribute.bits, attribute.type.format)} : ", attribute.type]


@_prints(StringAttr)
def _string(_attribute_printer: AttributePrinter, attribute: StringAttr) -> Parts:
    text = f'"{escape(attribute.value)}"'
    return [text] if attribute.type is None else [f"{text} : ", attribute.type]


@_prints(SymbolRef)
def _symbol(_attribute_printer: AttributePrinter, attribute: SymbolRef) -> Parts:
    return ["::".join("@" + name_text(name) for name in (attribute.root, *attribute.nested))]


@_prints(ArrayAttr)
def _array(_attribute_printer: AttributePrinter, attribute: ArrayAttr) -> Parts:
    return ["[", *_comma_separated([_short_text(element) or element for element in attribute]), "]"]


@_prints(DictAttr)
def _dictionary(_attribute_printer: AttributePrinter, attribute: DictAttr) -> Parts:
    parts: Parts = []
    separator = "{"
    for name, value in attribute:
        if value is UNIT:
            parts.append(separator + name_text(name))
        else:
            parts += (f"{separator}{name_text(name)} = ", value)
        separator = ", "
    return [*parts, "}"] if parts else ["{}"]


@_prints(DistinctAttr)
def _distinct(attribute_printer: AttributePrinter, attribute: DistinctAttr) -> Parts:
    attribute_printer.lacks_alias = True
    inner: Parts = [] if attribute.attribute is UNIT else [attribute.attribute]
    return [f"distinct[{attribute_printer.distinct_number(attribute)}]<", *inner, ">"]


@_prints(OpaqueAttr)
def _opaque(_attribute_printer: AttributePrinter, attribute: OpaqueAttr) -> Parts:
    text = _dialect_symbol("#", attribute.namespace, attribute.body)
    return [text] if attribute.type is None else [f"{text} : ", attribute.type]


@_prints(LocationAttr)
def _location_attribute(attribute_printer: AttributePrinter, attribute: LocationAttr) -> Parts:
    attribute_printer.lacks_alias = True
    return ["loc(", attribute.location, ")"]


@_prints(StridedLayout)
def _strided(_attribute_printer: AttributePrinter, layout: StridedLayout) -> Parts:
    strides = ", ".join(map(_stride, layout.strides))
    offset = f", offset: {_stride(layout.offset)}" if layout.offset else ""
    return [f"strided<[{strides}]{offset}>"]


def _stride(stride: int) -> str:
    return "?" if stride == DYNAMIC else str(stride)


@_prints(AffineMapAttr)
def _affine_map(attribute_printer: AttributePrinter, attribute: AffineMapAttr) -> Parts:
    attribute_printer.lacks_alias = True
    return [map_text(attribute)]


@_prints(IntegerSetAttr)
def _affine_set(attribute_printer: AttributePrinter, attribute: IntegerSetAttr) -> Parts:
    attribute_printer.lacks_alias = True
    return [set_text(attribute)]


@_prints(DenseElements, DenseStringElements)
def _dense(attribute_printer: AttributePrinter, attribute: DenseElements | DenseStringElements) -> Parts:
    if not attribute.is_splat and _is_elided(attribute_printer, attribute.type.num_elements):
        return ["dense_resource<__elided__> : ", attribute.type]
    return [f"dense<{_elements(attribute_printer, attribute)}> : ", attribute.type]


@_prints(SparseElements)
def _sparse(attribute_printer: AttributePrinter, attribute: SparseElements) -> Parts:
    if _is_elided(attribute_printer, attribute.type.num_elements):
        return ["dense_resource<__elided__> : ", attribute.type]
    if not attribute.indices.type.num_elements:
        return ["sparse<> : ", attribute.type]
    indices = dense_text(attribute.indices, -1)
    return [f"sparse<{indices}, {_elements(attribute_printer, attribute.values)}> : ", attribute.type]


@_prints(DenseResource)
def _dense_resource(_attribute_printer: AttributePrinter, attribute: DenseResource) -> Parts:
    return [f"dense_resource<{name_text(attribute.key)}> : ", attribute.type]


@_prints(DenseArray)
def _dense_array(_attribute_printer: AttributePrinter, attribute: DenseArray) -> Parts:
    numbers = f": {dense_array_text(attribute)}" if attribute.values else ""
    return ["array<", attribute.element, f"{numbers}>"]


def _elements(attribute_printer: AttributePrinter, attribute: DenseElements | DenseStringElements) -> str:
    if isinstance(attribute, DenseStringElements):
        return dense_string_text(attribute)
    return dense_text(attribute, attribute_printer.hex_larger_than)


def _is_elided(attribute_printer: AttributePrinter, num_elements: int) -> bool:
    return (
        attribute_printer.elide_larger_than is not None and num_elements > attribute_printer.elide_larger_than
    )


# --- Locations -----------------------------------------------------------------------------------


@_prints(UnknownLoc)
def _unknown(attribute_printer: AttributePrinter, _location: UnknownLoc) -> Parts:
    return ["[unknown]" if attribute_printer.is_pretty else "unknown"]


@_prints(FileLoc)
def _file(attribute_printer: AttributePrinter, location: FileLoc) -> Parts:
    return [f"{_file_name(attribute_printer, location.file)}:{location.line}:{location.column}"]


@_prints(FileRange)
def _file_range(attribute_printer: AttributePrinter, location: FileRange) -> Parts:
    start = f"{_file_name(attribute_printer, location.file)}:{location.line}:{location.column}"
    line = "" if location.line == location.end_line else location.end_line
    return [f"{start} to {line}:{location.end_column}"]


@_prints(NameLoc)
def _name(_attribute_printer: AttributePrinter, location: NameLoc) -> Parts:
    name = f'"{escape(location.name)}"'
    return [name] if isinstance(location.child, UnknownLoc) else [f"{name}(", location.child, ")"]


@_prints(CallSite)
def _call_site(attribute_printer: AttributePrinter, location: CallSite) -> Parts:
    if not attribute_printer.is_pretty:
        return ["callsite(", location.callee, " at ", location.caller, ")"]
    is_short = isinstance(location.callee, NameLoc) and isinstance(location.caller, FileLoc)
    return [location.callee, " at " if is_short else "\n at ", location.caller]


@_prints(FusedLoc)
def _fused(attribute_printer: AttributePrinter, location: FusedLoc) -> Parts:
    metadata: Parts = [] if location.metadata is None else ["<", location.metadata, ">"]
    return [
        "" if attribute_printer.is_pretty else "fused",
        *metadata,
        "[",
        *_comma_separated(location.locations),
        "]",
    ]


@_prints(OpaqueLoc)
def _opaque_location(_attribute_printer: AttributePrinter, location: OpaqueLoc) -> Parts:
    return [location.fallback]


def _file_name(attribute_printer: AttributePrinter, file: str) -> str:
    return file if attribute_printer.is_pretty else f'"{escape(file)}"'
