"""Types and attributes, which print as MLIR does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Generic, TypeVar

from sdyopt.base import diagnostics
from sdyopt.base.diagnostics.ids import PARSE_ERROR
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.diagnostics.usage import nearest_or_all
from sdyopt.base.interning import Interned, field_names
from sdyopt.base.releases import followed_release
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.parser.parser_state import ParserState
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue
from sdyopt.mlir.ir import attribute as ir
from sdyopt.mlir.ir.builtin_attributes import DenseArray, FloatAttr, IntegerAttr
from sdyopt.mlir.ir.floats import float_value
from sdyopt.mlir.ir.op_builder import attribute_of, frozen
from sdyopt.mlir.ir.types import DYNAMIC, I1, FloatType, RankedShapedType, ShapedType, tensor
from sdyopt.mlir.registry import dialects_of_run
from sdyopt.tools.api.errors import Location, as_parse_error, require_text
from sdyopt.tools.api.program import discard, session
from sdyopt.tools.api.shardings import Sharding

I = TypeVar("I", bound=Interned)  # noqa: E741  the IR object


class View(Generic[I]):
    """A read-only view of `ir`, an interned object of the IR. Views of the same object are equal."""

    __slots__ = ("ir",)

    ir: I

    def __init__(self, ir: I) -> None:
        self.ir = ir

    def __eq__(self, other: object) -> bool:
        return isinstance(other, View) and self.ir is other.ir

    def __hash__(self) -> int:
        return hash(self.ir)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"


class Type(View[ir.Type]):
    """The type of a value. `str` is MLIR's text, such as `tensor<64x128xf32>`."""

    __slots__ = ()

    @property
    def shape(self) -> tuple[int | None, ...] | None:
        """The sizes of the dimensions, with None for each dynamic one; None for a type without a rank."""
        if not isinstance(self.ir, RankedShapedType):
            return None
        return tuple([None if size == DYNAMIC else size for size in self.ir.shape])

    @property
    def rank(self) -> int | None:
        """The number of dimensions; None for a type without a rank."""
        return self.ir.rank if isinstance(self.ir, RankedShapedType) else None

    @property
    def element_type(self) -> Type | None:
        """The element type of a tensor, vector or memref; None for any other type."""
        return Type(self.ir.element) if isinstance(self.ir, ShapedType) else None

    @classmethod
    def tensor(cls, shape: Sequence[int | None], element: Type | str) -> Type:
        """The type of tensors of this shape, with None for each dynamic size."""
        parsed = cls.parse(element) if isinstance(element, str) else element
        return cls(tensor(tuple([DYNAMIC if size is None else size for size in shape]), parsed.ir))

    @classmethod
    def parse(cls, text: str) -> Type:
        """The type of a text, such as `tensor<64x128xf32>`. Raises ParseError."""
        return cls(_parsed(text, lambda parser: parser.type()))

    def __str__(self) -> str:
        return AttributePrinter().type(self.ir)


class Attribute(View[ir.Attribute]):
    """An attribute. `str` is MLIR's text, such as `#sdy.sharding<@mesh, [{"x"}]>`."""

    __slots__ = ()

    @property
    def value(self) -> Any:
        """The value in Python; this attribute itself if it has none.

        Numbers, strings, types, arrays and dictionaries have one. A symbol reference is a string without `@`,
        a unit attribute is True.
        """
        convert = _VALUES.get(type(self.ir))
        return self if convert is None else convert(self.ir)

    @classmethod
    def parse(cls, text: str) -> Attribute:
        """The attribute of a text, such as `array<i64: 1, 2>`. Raises ParseError."""
        return cls(_parsed(text, lambda parser: parser.attribute()))

    @classmethod
    def of(cls, value: AttributeValue) -> Attribute:
        """The attribute with a value, as `value` returns it: text is a string, not parsed.

        Integers have the type `i64` and floats `f64`; others are parsed from text. Several shardings are
        those of several values. Raises TypeError for other values.
        """
        return cls(attribute_of(ir_value(value)))

    @property
    def fields(self) -> dict[str, Any]:
        """The fields by name, such as the dimension numbers of a `#stablehlo.dot`, as Python values.

        A field is also a member of this object: `attribute.lhs_batching_dimensions`.
        """
        return {name: _public(getattr(self.ir, name)) for name in field_names(type(self.ir))}

    def with_fields(self, **fields: AttributeValue) -> Attribute:
        """A copy with other values of some fields.

        Raises TypeError for a name that is not one of a field, ParseError if the new attribute is invalid.
        """
        try:
            new = self.ir.with_fields(**{name: frozen(ir_value(value)) for name, value in fields.items()})
        except TypeError:
            [unknown, *_] = fields.keys() - set(field_names(type(self.ir)))
            help = nearest_or_all(unknown, field_names(type(self.ir)))
            raise TypeError(f"{self} has no field {unknown!r}; {help or 'it has no fields'}") from None
        return Attribute.parse(str(Attribute(new)))

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *field_names(type(self.ir))]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in field_names(type(self.ir)):
            fields = [] if name.startswith("_") else field_names(type(self.ir))
            raise AttributeError(f"the attribute has no field {name!r}; {nearest_or_all(name, fields)}")
        return _public(getattr(self.ir, name))

    def __str__(self) -> str:
        return AttributePrinter().attribute(self.ir)


# What an attribute is made of.
AttributeValue = (
    Attribute
    | Type
    | Sharding
    | bool
    | int
    | float
    | str
    | Sequence["AttributeValue"]
    | Mapping[str, "AttributeValue"]
)


def ir_value(value: AttributeValue) -> Any:
    """A value with objects of the IR in place of their views."""
    match value:
        case Attribute() | Type() | Sharding():
            return value.ir
        case str():
            return value
        case Mapping():
            return {name: ir_value(item) for name, item in value.items()}
        case Sequence():
            shardings = tuple([item.ir for item in value if isinstance(item, Sharding)])
            if shardings and len(shardings) == len(value):
                return ShardingPerValue(shardings)
            return [ir_value(item) for item in value]
    return value


def _public(value: object) -> Any:
    """The value of a field of an attribute in the IR, with views in place of its objects."""
    match value:
        case ir.Type():
            return Type(value)
        case ir.Attribute():
            return Attribute(value).value
        case tuple():
            return tuple([_public(item) for item in value])
    return value


@lru_cache(maxsize=4096)
def ir_location(location: Location) -> diagnostics.Location:
    """A location in the IR. Raises ParseError if its text is not one."""

    def read(parser: AsmParser) -> diagnostics.Location:
        location = parser.accept_location()
        if location is None:
            raise parser.error("expected a location, such as loc(unknown)")
        return location

    return _parsed(location.text, read)


P = TypeVar("P")


def _parsed(text: str, read: Callable[[AsmParser], P]) -> P:
    """The content of a text. Raises ParseError."""
    require_text("what is parsed", text)
    source = Source("<string>", text)
    dialects = dialects_of_run()
    with session(discard, followed_release().name, dialects):
        parser = AsmParser(source, ParserState(source, dialects, True).attribute_parser)
        with as_parse_error(PARSE_ERROR, source):
            content = read(parser)
            if not parser.at_end:
                raise parser.error("expected the end of the text")
    return content


def _dense_array(attribute: DenseArray) -> tuple[int | float | bool, ...]:
    element = attribute.element
    if isinstance(element, FloatType):
        return tuple([float_value(bits, element.format) for bits in attribute.values])
    return tuple([bool(value) for value in attribute.values] if element is I1 else attribute.values)


_VALUES: dict[type[ir.Attribute], Callable[[Any], Any]] = {
    ir.ArrayAttr: lambda attribute: tuple([Attribute(element).value for element in attribute]),
    ir.DictAttr: lambda attribute: {name: Attribute(value).value for name, value in attribute},
    ir.StringAttr: lambda attribute: attribute.value,
    ir.SymbolRef: lambda attribute: "::".join((attribute.root, *attribute.nested)),
    ir.TypeAttr: lambda attribute: Type(attribute.type),
    ir.UnitAttr: lambda attribute: True,
    DenseArray: _dense_array,
    FloatAttr: lambda attribute: attribute.value,
    IntegerAttr: lambda attribute: bool(attribute.value) if attribute.type is I1 else attribute.value,
}
