"""What stands inside an attribute: its fields, and the attributes inside those."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sdyopt.interning import field_names
from sdyopt.ir.attribute import Attribute, DictAttr


def nested_attributes(attribute: Attribute) -> Iterator[Attribute]:
    """The attribute itself and all inside it, each before what it contains, and each once.

    Parts may be shared so often that visiting every occurrence would never end.
    """
    seen: set[Attribute] = set()
    pending = [attribute]
    while pending:
        top = pending.pop()
        if top in seen:
            continue
        seen.add(top)
        yield top
        pending.extend(reversed(attributes_inside(top)))


def attributes_inside(attribute: Attribute) -> list[Attribute]:
    """The attributes directly inside, in order."""
    found: list[Attribute] = []
    if isinstance(attribute, DictAttr):
        return [value for _, value in attribute.entries]
    for name in field_names(type(attribute)):
        _collect(getattr(attribute, name), found)
    return found


def _collect(value: Any, found: list[Attribute]) -> None:
    if isinstance(value, Attribute):
        found.append(value)
    elif isinstance(value, tuple):
        for item in value:
            _collect(item, found)
