"""Attributes: interned immutable values that annotate operations.

`Attribute` and `Type` are the base classes of every dialect's attributes and types. The builtin attributes
are below, except for numbers, elements, dense arrays and strided layouts (`builtin_attributes.py`), and
affine maps and sets (`affine.py`). The builtin types are in `types.py`. The sub-elements of an attribute are
the attributes and types nested in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from operator import itemgetter
from typing import ClassVar

from sdyopt.base.diagnostics.location import Location
from sdyopt.base.interning import Interned, derived_field, field_names


class Attribute(Interned):
    """Base class of all attributes. Equal attributes are the same object, so `is` compares them."""

    dialect: ClassVar[str] = "builtin"
    # (attribute, op) -> raises DiagnosticError if a symbol that the attribute refers to is missing. Called
    # for discardable attributes; operations check their inherent attributes themselves.
    verify_symbols: ClassVar[Callable[..., None] | None] = None
    # (attribute) -> the symbol references nested in it; None to search its fields for them.
    symbol_references: ClassVar[Callable[..., Iterable[SymbolRef]] | None] = None


class Type(Attribute):
    """Base class of all types. A type that is used as an attribute is wrapped in a `TypeAttr`."""


class UnitAttr(Attribute):
    """`unit`: an attribute whose presence is its value."""


class TypeAttr(Attribute):
    """A type as an attribute."""

    type: Type


class StringAttr(Attribute):
    """`"…"` or `"…" : type`: a byte string, decoded as UTF-8; invalid bytes are surrogate escapes."""

    value: str
    type: Type | None = None


class SymbolRef(Attribute):
    """`@root::@nested`: a symbol reference, resolved from the operation with the attribute."""

    root: str
    nested: tuple[str, ...] = ()


class ArrayAttr(Attribute):
    """`[a, b]`: a list of attributes of any kind."""

    elements: tuple[Attribute, ...] = ()

    def __iter__(self) -> Iterator[Attribute]:
        return iter(self.elements)

    def __len__(self) -> int:
        return len(self.elements)


class DictAttr(Attribute):
    """`{a = x, b = y}`: attributes by name, sorted by name without duplicates.

    Use `dictionary(…)` to build one, unless the entries are already sorted.
    """

    entries: tuple[tuple[str, Attribute], ...] = ()
    _table: dict[str, Attribute] = derived_field()
    # (name) -> the attribute of that name; None if there is none. Passes call it more often than any other
    # method, so it is that of the table.
    get: Callable[[str], Attribute | None] = derived_field()

    def __post_init__(self) -> None:
        table = dict(self.entries)
        _set_table(self, table)
        _set_get(self, table.get)

    def with_entry(self, name: str, value: Attribute) -> DictAttr:
        """A copy in which `name` has the value `value`."""
        return self if self._table.get(name) is value else _with_entry(self, name, value)

    def without(self, *names: str) -> DictAttr:
        """A copy without the entries named `names`."""
        return self if self._table.keys().isdisjoint(names) else _without(self, names)

    @property
    def names(self) -> Iterable[str]:
        """The names, sorted."""
        return self._table.keys()

    def __contains__(self, name: object) -> bool:
        return name in self._table

    def __getitem__(self, name: str) -> Attribute:
        return self._table[name]

    def __iter__(self) -> Iterator[tuple[str, Attribute]]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


# As `set_derived`, which is slower: programs have many dictionaries.
_set_table, _set_get = vars(DictAttr)["_table"].__set__, vars(DictAttr)["get"].__set__


class DistinctAttr(Attribute):
    """`distinct[id]<attribute>`: not equal to a distinct attribute with another ID."""

    id: int
    attribute: Attribute


class OpaqueAttr(Attribute):
    """`#namespace<body>`: an attribute of an unregistered dialect, stored as text."""

    namespace: str
    body: str
    type: Type | None = None


class LocationAttr(Attribute):
    """`loc(…)`: a location as an attribute."""

    location: Location


def dictionary(entries: Mapping[str, Attribute] | Iterable[tuple[str, Attribute]]) -> DictAttr:
    """The dictionary with these entries, which need not be sorted; no name may occur twice."""
    pairs = entries.items() if isinstance(entries, Mapping) else entries
    return DictAttr(tuple(sorted(pairs, key=itemgetter(0))))


def string(value: str) -> StringAttr:
    """The attribute `"value"`."""
    return StringAttr(value)


def array(elements: Iterable[Attribute]) -> ArrayAttr:
    """The attribute `[elements]`."""
    return ArrayAttr(tuple(elements))


@lru_cache(maxsize=4096)
def _with_entry(attributes: DictAttr, name: str, value: Attribute) -> DictAttr:
    entries = [entry for entry in attributes.entries if entry[0] != name]
    entries.append((name, value))
    entries.sort(key=itemgetter(0))
    return DictAttr(tuple(entries))


@lru_cache(maxsize=4096)
def _without(attributes: DictAttr, names: tuple[str, ...]) -> DictAttr:
    return DictAttr(tuple(entry for entry in attributes.entries if entry[0] not in names))


UNIT = UnitAttr()
EMPTY_ARRAY = ArrayAttr()
EMPTY_DICT = DictAttr()


def nested_attributes(attribute: Attribute) -> Iterator[Attribute]:
    """The attribute itself and all nested ones in pre-order, each once.

    Visiting every occurrence could take exponential time, because sub-elements may be shared.
    """
    visited: set[Attribute] = set()
    pending = [attribute]
    while pending:
        current = pending.pop()
        if current in visited:
            continue
        visited.add(current)
        yield current
        pending.extend(reversed(immediate_sub_elements(current)))


def immediate_sub_elements(attribute: Attribute) -> list[Attribute]:
    """The attributes and types directly nested in an attribute, in the order of its fields."""
    sub_elements: list[Attribute] = []
    if isinstance(attribute, DictAttr):
        return [value for _, value in attribute.entries]
    for name in field_names(type(attribute)):
        _collect(getattr(attribute, name), sub_elements)
    return sub_elements


def _collect(value: object, sub_elements: list[Attribute]) -> None:
    if isinstance(value, Attribute):
        sub_elements.append(value)
    elif isinstance(value, tuple):
        for item in value:
            _collect(item, sub_elements)
