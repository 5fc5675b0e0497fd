"""Prints types, attributes and locations as MLIR does.

An `AttributePrinter` caches their texts. It prints nested ones with a worklist, so that deep nesting does
not exhaust Python's stack.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import (
    CallSite,
    FileLoc,
    FileRange,
    FusedLoc,
    Location,
    NameLoc,
    UnknownLoc,
)
from sdyopt.base.interning import Interned
from sdyopt.mlir.asm.lexical import escape, is_bare_id
from sdyopt.mlir.asm.printer.builtin_printer import (
    PRINT_FUNCTIONS,
    Parts,
    comma_separated,
    dense_array_text,
    dense_string_text,
    dense_text,
    dialect_symbol,
    map_text,
    prints,
    set_text,
    short_text,
)
from sdyopt.mlir.ir.affine import AffineMapAttr, IntegerSetAttr
from sdyopt.mlir.ir.attribute import (
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
from sdyopt.mlir.ir.builtin_attributes import (
    DenseArray,
    DenseElements,
    DenseResource,
    DenseStringElements,
    FloatAttr,
    IntegerAttr,
    SparseElements,
    StridedLayout,
)
from sdyopt.mlir.ir.dialect import PRINTERS
from sdyopt.mlir.ir.floats import float_text
from sdyopt.mlir.ir.types import (
    DYNAMIC,
    I1,
    FunctionType,
)

# By default, dense elements attributes with more elements than this, unless splats, are printed in
# hexadecimal.
HEX_LARGER_THAN = 100
# The maximum number of characters and of parts of a text: attributes that share sub-elements can be
# exponentially larger as text.
MAX_TEXT = 1 << 28
MAX_PARTS = 1 << 22
# In a diagnostic.
_MAX_SHOWN = 1 << 20
# Of one location, and of all that are printed in full: without aliases, each operation repeats its own.
MAX_LOCATION_TEXT, MAX_LOCATION_TEXTS = 1 << 20, 1 << 28
_FEW_PARTS = 100


class TooLongError(DiagnosticError):
    """An attribute whose text exceeds the limits. It has no location until an operation is printed."""


class AttributePrinter:
    """Prints types, attributes and locations, those in `aliases` by their alias.

    Elements attributes other than splats with more than `elide_larger_than` elements are elided; None elides
    none. `is_pretty` prints locations as `--mlir-pretty-debuginfo` does.
    """

    # The most characters of an attribute.
    most_text = MAX_TEXT

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
        # Whether an attribute that gets an alias has been printed in full.
        self.lacks_alias = False
        self._texts: dict[Interned, str] = dict(aliases or {})
        self._distinct: dict[DistinctAttr, int] = {}
        self._location_texts: dict[Location, str] = {}
        self._location_size = 0

    def type(self, type: Type) -> str:
        """The text of a type."""
        return self._texts.get(type) or self._text(type)

    def attribute(self, attribute: Attribute) -> str:
        """The text of an attribute, with its type."""
        return self._texts.get(attribute) or self._text(attribute)

    def element(self, attribute: Attribute) -> str:
        """The text of an attribute in an array, without the types `i64` and `f64`."""
        short = short_text(attribute)
        return self.attribute(attribute) if short is None else short

    def function_type(self, inputs: Sequence[Type], results: Sequence[Type]) -> str:
        """`(inputs) -> results`."""
        if len(results) == 1 and len(inputs) < _FEW_PARTS and not isinstance(results[0], FunctionType):
            # As below, without a type.
            text = f"({', '.join([self.type(type) for type in inputs])}) -> {self.type(results[0])}"
            if len(text) <= self.most_text:
                return text
        return self.type(FunctionType(tuple(inputs), tuple(results)))

    def location(self, location: Location) -> str:
        """`loc(…)`, or the pretty text of a location if `is_pretty`."""
        text = self._texts.get(location) or self._location_text(location)
        return text if self.is_pretty else f"loc({text})"

    def body(self, element: Attribute | Location) -> str:
        """The text of an attribute or location itself, even if it has an alias."""
        if isinstance(element, Location):
            return self._location_text(element)
        return self._joined(self._parts(element))

    def distinct_number(self, attribute: DistinctAttr) -> int:
        """The ID of a distinct attribute, numbered in the order of printing."""
        return self._distinct.setdefault(attribute, len(self._distinct))

    def _location_text(self, location: Location) -> str:
        text = self._location_texts.get(location)
        if text is None:
            text = self._joined(self._parts(location), MAX_LOCATION_TEXT, "location")
            self._location_texts[location] = text
        self._location_size += len(text)
        if self._location_size > MAX_LOCATION_TEXTS:
            raise TooLongError.at(UnknownLoc(), "locations are too long to print")
        return text

    def _text(self, element: Interned) -> str:
        text = self._texts[element] = self._joined(self._parts(element))
        return text

    def _joined(self, parts: Parts, limit: int | None = None, what: str = "attribute") -> str:
        """The text of the parts. Raises TooLongError above so many characters, by default MAX_TEXT."""
        texts, limit = self._texts, self.most_text if limit is None else limit
        # Fast path: all texts are known, and few.
        known = [part if isinstance(part, str) else texts.get(part, "") for part in parts]
        if "" not in known and len(known) < _FEW_PARTS:
            joined = "".join(known)
            if len(joined) <= limit:
                return joined
        pending = parts[::-1]
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
            if size > limit or len(output) > MAX_PARTS:
                return self._cut_off(output, what)
        return "".join(output)

    def _cut_off(self, texts: Sequence[str], what: str) -> str:
        """What is printed of a text that is longer than the limit, and begins like this."""
        raise TooLongError.at(UnknownLoc(), f"{what} is too long to print")

    def _parts(self, element: Interned) -> Parts:
        print = PRINT_FUNCTIONS.get(type(element))
        if print is not None:
            return print(self, element)
        assert isinstance(element, Attribute)
        body = PRINTERS[type(element)](element, self)
        return [dialect_symbol("!" if isinstance(element, Type) else "#", element.dialect, body)]

    def is_elided(self, num_elements: int) -> bool:
        return self.elide_larger_than is not None and num_elements > self.elide_larger_than

    def file_name(self, file: str) -> str:
        return file if self.is_pretty else f'"{escape(file)}"'


class DiagnosticAttributePrinter(AttributePrinter):
    """Prints the beginning of what is too long for a diagnostic, and `…`."""

    most_text = _MAX_SHOWN

    def _cut_off(self, texts: Sequence[str], what: str) -> str:
        return f"{''.join(texts)[:_MAX_SHOWN]}…"


def plain_type(type: Type) -> str:
    """The text of a type, for diagnostics."""
    return DiagnosticAttributePrinter().type(type)


def plain_attribute(attribute: Attribute) -> str:
    """The text of an attribute, for diagnostics."""
    return DiagnosticAttributePrinter().attribute(attribute)


@lru_cache(maxsize=4096)
def name_text(name: str) -> str:
    """A name as a key: itself if it is a bare identifier, otherwise a string literal."""
    return name if is_bare_id(name) else f'"{escape(name)}"'


# --- Attributes ----------------------------------------------------------------------------------


@prints(UnitAttr)
def _unit(_attribute_printer: AttributePrinter, _attribute: UnitAttr) -> Parts:
    return ["unit"]


@prints(TypeAttr)
def _type_attribute(_attribute_printer: AttributePrinter, attribute: TypeAttr) -> Parts:
    return [attribute.type]


@prints(IntegerAttr)
def _integer(_attribute_printer: AttributePrinter, attribute: IntegerAttr) -> Parts:
    if attribute.type is I1:
        return ["true" if attribute.value else "false"]
    return [f"{attribute.value} : ", attribute.type]


@prints(FloatAttr)
def _float(_attribute_printer: AttributePrinter, attribute: FloatAttr) -> Parts:
    return [f"{float_text(attribute.bits, attribute.type.format)} : ", attribute.type]


@prints(StringAttr)
def _string(_attribute_printer: AttributePrinter, attribute: StringAttr) -> Parts:
    text = f'"{escape(attribute.value)}"'
    return [text] if attribute.type is None else [f"{text} : ", attribute.type]


@prints(SymbolRef)
def _symbol(_attribute_printer: AttributePrinter, attribute: SymbolRef) -> Parts:
    return ["::".join("@" + name_text(name) for name in (attribute.root, *attribute.nested))]


@prints(ArrayAttr)
def _array(_attribute_printer: AttributePrinter, attribute: ArrayAttr) -> Parts:
    return ["[", *comma_separated([short_text(element) or element for element in attribute]), "]"]


@prints(DictAttr)
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


@prints(DistinctAttr)
def _distinct(attribute_printer: AttributePrinter, attribute: DistinctAttr) -> Parts:
    attribute_printer.lacks_alias = True
    inner: Parts = [] if attribute.attribute is UNIT else [attribute.attribute]
    return [f"distinct[{attribute_printer.distinct_number(attribute)}]<", *inner, ">"]


@prints(OpaqueAttr)
def _opaque(_attribute_printer: AttributePrinter, attribute: OpaqueAttr) -> Parts:
    text = dialect_symbol("#", attribute.namespace, attribute.body)
    return [text] if attribute.type is None else [f"{text} : ", attribute.type]


@prints(LocationAttr)
def _location_attribute(attribute_printer: AttributePrinter, attribute: LocationAttr) -> Parts:
    attribute_printer.lacks_alias = True
    return ["loc(", attribute.location, ")"]


@prints(StridedLayout)
def _strided(_attribute_printer: AttributePrinter, layout: StridedLayout) -> Parts:
    strides = ", ".join(map(_stride, layout.strides))
    offset = f", offset: {_stride(layout.offset)}" if layout.offset else ""
    return [f"strided<[{strides}]{offset}>"]


def _stride(stride: int) -> str:
    return "?" if stride == DYNAMIC else str(stride)


@prints(AffineMapAttr)
def _affine_map(attribute_printer: AttributePrinter, attribute: AffineMapAttr) -> Parts:
    attribute_printer.lacks_alias = True
    return [map_text(attribute)]


@prints(IntegerSetAttr)
def _affine_set(attribute_printer: AttributePrinter, attribute: IntegerSetAttr) -> Parts:
    attribute_printer.lacks_alias = True
    return [set_text(attribute)]


@prints(DenseElements, DenseStringElements)
def _dense(attribute_printer: AttributePrinter, attribute: DenseElements | DenseStringElements) -> Parts:
    if not attribute.is_splat and attribute_printer.is_elided(attribute.type.num_elements):
        return ["dense_resource<__elided__> : ", attribute.type]
    return [f"dense<{_elements(attribute_printer, attribute)}> : ", attribute.type]


@prints(SparseElements)
def _sparse(attribute_printer: AttributePrinter, attribute: SparseElements) -> Parts:
    if attribute_printer.is_elided(attribute.type.num_elements):
        return ["dense_resource<__elided__> : ", attribute.type]
    if not attribute.indices.type.num_elements:
        return ["sparse<> : ", attribute.type]
    indices = dense_text(attribute.indices, -1)
    return [f"sparse<{indices}, {_elements(attribute_printer, attribute.values)}> : ", attribute.type]


@prints(DenseResource)
def _dense_resource(_attribute_printer: AttributePrinter, attribute: DenseResource) -> Parts:
    return [f"dense_resource<{name_text(attribute.key)}> : ", attribute.type]


@prints(DenseArray)
def _dense_array(_attribute_printer: AttributePrinter, attribute: DenseArray) -> Parts:
    numbers = f": {dense_array_text(attribute)}" if attribute.values else ""
    return ["array<", attribute.element, f"{numbers}>"]


def _elements(attribute_printer: AttributePrinter, attribute: DenseElements | DenseStringElements) -> str:
    if isinstance(attribute, DenseStringElements):
        return dense_string_text(attribute)
    return dense_text(attribute, attribute_printer.hex_larger_than)


# --- Locations -----------------------------------------------------------------------------------


@prints(UnknownLoc)
def _unknown(attribute_printer: AttributePrinter, _location: UnknownLoc) -> Parts:
    return ["[unknown]" if attribute_printer.is_pretty else "unknown"]


@prints(FileLoc)
def _file(attribute_printer: AttributePrinter, location: FileLoc) -> Parts:
    return [f"{attribute_printer.file_name(location.file)}:{location.line}:{location.column}"]


@prints(FileRange)
def _file_range(attribute_printer: AttributePrinter, location: FileRange) -> Parts:
    start = f"{attribute_printer.file_name(location.file)}:{location.line}:{location.column}"
    line = "" if location.line == location.end_line else location.end_line
    return [f"{start} to {line}:{location.end_column}"]


@prints(NameLoc)
def _name(_attribute_printer: AttributePrinter, location: NameLoc) -> Parts:
    name = f'"{escape(location.name)}"'
    return [name] if isinstance(location.child, UnknownLoc) else [f"{name}(", location.child, ")"]


@prints(CallSite)
def _call_site(attribute_printer: AttributePrinter, location: CallSite) -> Parts:
    if not attribute_printer.is_pretty:
        return ["callsite(", location.callee, " at ", location.caller, ")"]
    is_short = isinstance(location.callee, NameLoc) and isinstance(location.caller, FileLoc)
    return [location.callee, " at " if is_short else "\n at ", location.caller]


@prints(FusedLoc)
def _fused(attribute_printer: AttributePrinter, location: FusedLoc) -> Parts:
    metadata: Parts = [] if location.metadata is None else ["<", location.metadata, ">"]
    return [
        "" if attribute_printer.is_pretty else "fused",
        *metadata,
        "[",
        *comma_separated(location.locations),
        "]",
    ]
