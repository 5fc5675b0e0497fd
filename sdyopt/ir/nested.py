"""What stands inside an attribute: its fields, and the attributes inside those."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from typing import Any

from sdyopt.ir.attribute import Attribute, DictAttr


def nested_attributes(attribute: Attribute) -> Iterator[Attribute]:
    """The attribute itself and all inside it, each before what it contains."""
    yield attribute
    if isinstance(attribute, DictAttr):
        for _, value in attribute.entries:
            yield from nested_attributes(value)
        return
    for name in _field_names(type(attribute)):
        yield from _nested_in(getattr(attribute, name))


def _nested_in(value: Any) -> Iterator[Attribute]:
    if isinstance(value, Attribute):
        yield from nested_attributes(value)
    elif isinstance(value, tuple):
        for item in value:
            yield from _nested_in(item)


@cache
def _field_names(attribute_class: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(attribute_class) if field.init)
