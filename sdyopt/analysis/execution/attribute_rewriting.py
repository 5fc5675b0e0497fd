"""Rebuilding of attributes and types, with some of their sub-elements replaced."""

from __future__ import annotations

from collections.abc import Callable

from sdyopt.base.interning import field_names
from sdyopt.mlir.ir.attribute import Attribute, DictAttr


class AttributeRewriter:
    """Rebuilds attributes. `replace` returns a replacement, or None to rebuild the parts."""

    def __init__(self, replace: Callable[[Attribute], Attribute | None]) -> None:
        self._replace = replace
        self._done: dict[Attribute, Attribute] = {}

    def rewrite(self, attribute: Attribute) -> Attribute:
        """The attribute with its sub-elements replaced; itself if there is nothing to replace."""
        found = self._done.get(attribute)
        if found is None:
            found = self._done[attribute] = self._replace(attribute) or self._rebuilt(attribute)
        return found

    def _rebuilt(self, attribute: Attribute) -> Attribute:
        if isinstance(attribute, DictAttr):
            entries = tuple([(name, self.rewrite(value)) for name, value in attribute.entries])
            return attribute if entries == attribute.entries else DictAttr(entries)
        fields = {name: getattr(attribute, name) for name in field_names(type(attribute))}
        rebuilt = {name: self._rebuilt_field(value) for name, value in fields.items()}
        is_same = all(rebuilt[name] is value for name, value in fields.items())
        return attribute if is_same else type(attribute)(**rebuilt)

    def _rebuilt_field(self, value: object) -> object:
        if isinstance(value, Attribute):
            return self.rewrite(value)
        if isinstance(value, tuple):
            items = tuple([self._rebuilt_field(item) for item in value])
            return value if all(new is old for new, old in zip(items, value, strict=True)) else items
        return value
