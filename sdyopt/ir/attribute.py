"""Attributes: the immutable, interned values that operations carry.

`Attribute` and `Type` are the bases of every dialect's attributes and types. Below them stand the
builtin attributes that only hold names and other attributes; numbers are in `numbers.py`, lists of
numbers in `elements.py`, affine maps in `affine.py`, the builtin types in `types.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import ClassVar

from sdyopt.diagnostics.location import Location
from sdyopt.interning import Interned, derive, derived


class Attribute(Interned):
    """Base of all attributes. Equal attributes are the same object, so `is` compares them."""

    dialect: ClassVar[str] = "builtin"
    # Where the attribute stands on an operation: raises DiagnosticError if it names a symbol that is
    # not there. Asked of discardable attributes; operations ask for their own.
    verify_symbols: ClassVar[Callable[..., None] | None] = None


class Type(Attribute):
    """Base of all types. Where a type stands as an attribute it is wrapped in `TypeAttr`."""


class UnitAttr(Attribute):
    """Says something by being there at all."""


class TypeAttr(Attribute):
    """A type standing where an attribute is wanted."""

    type: Type


class StringAttr(Attribute):
    """A string of bytes, held as UTF-8 text; bytes that are not UTF-8 are surrogate escapes."""

    value: str
    type: Type | None = None


class SymbolRef(Attribute):
    """`@root::@nested`: the name of an operation, looked up from where it is used."""

    root: str
    nested: tuple[str, ...] = ()

    @property
    def leaf(self) -> str:
        """The name of the operation itself, without the symbol tables that hold it."""
        return self.nested[-1] if self.nested else self.root


class ArrayAttr(Attribute):
    """`[a, b]`: a list of attributes of any kind."""

    elements: tuple[Attribute, ...] = ()

    def __iter__(self) -> Iterator[Attribute]:
        return iter(self.elements)

    def __len__(self) -> int:
        return len(self.elements)


class DictAttr(Attribute):
    """`{a = x, b = y}`: attributes by name, the names sorted and different from each other.

    Built with `dictionary(…)`, unless the entries are known to be sorted.
    """

    entries: tuple[tuple[str, Attribute], ...] = ()
    _table: dict[str, Attribute] = derived()

    def __post_init__(self) -> None:
        derive(self, _table=dict(self.entries))

    def get(self, name: str) -> Attribute | None:
        """The attribute called `name`, if there is one."""
        return self._table.get(name)

    def with_entry(self, name: str, value: Attribute) -> DictAttr:
        """This dictionary, with `name` now meaning `value`."""
        if self._table.get(name) is value:
            return self
        return dictionary({**self._table, name: value})

    def without(self, *names: str) -> DictAttr:
        """This dictionary, without the entries called `names`."""
        if self._table.keys().isdisjoint(names):
            return self
        return DictAttr(tuple(entry for entry in self.entries if entry[0] not in names))

    @property
    def names(self) -> Iterable[str]:
        """The names, in order."""
        return self._table.keys()

    def __contains__(self, name: object) -> bool:
        return name in self._table

    def __getitem__(self, name: str) -> Attribute:
        return self._table[name]

    def __iter__(self) -> Iterator[tuple[str, Attribute]]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


class DistinctAttr(Attribute):
    """`distinct[id]<attribute>`: equal only to what was written with the same id."""

    id: int
    attribute: Attribute


class OpaqueAttr(Attribute):
    """An attribute of a dialect nobody knows: `#namespace<body>`, kept as its text."""

    namespace: str
    body: str
    type: Type | None = None


class LocationAttr(Attribute):
    """A location standing where an attribute is wanted."""

    location: Location


def dictionary(entries: Mapping[str, Attribute] | Iterable[tuple[str, Attribute]]) -> DictAttr:
    """The dictionary with these entries, in whatever order they come."""
    pairs = entries.items() if isinstance(entries, Mapping) else entries
    return DictAttr(tuple(sorted(pairs, key=_name)))


def string(value: str) -> StringAttr:
    """The attribute `"value"`."""
    return StringAttr(value)


def array(elements: Iterable[Attribute]) -> ArrayAttr:
    """The attribute `[elements]`."""
    return ArrayAttr(tuple(elements))


def _name(entry: tuple[str, Attribute]) -> str:
    return entry[0]


UNIT = UnitAttr()
EMPTY_ARRAY = ArrayAttr()
EMPTY_DICT = DictAttr()
