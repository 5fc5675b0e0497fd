"""The sub-elements of attributes: the attributes and types nested in them."""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.interning import field_names
from sdyopt.ir.attribute import Attribute, DictAttr


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
