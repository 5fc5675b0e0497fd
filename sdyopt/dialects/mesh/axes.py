"""Lists of mesh axes: `[0, 2]`, as attribute `array<i16: 0, 2>`."""

from __future__ import annotations

from typing import Any

from sdyopt.ir.attribute import Attribute
from sdyopt.ir.constraints import AttrKind
from sdyopt.ir.elements_attributes import DenseArray
from sdyopt.ir.types import I16
from sdyopt.syntax.cursor import Cursor

Axes = tuple[int, ...]

AXES: AttrKind[Axes] = AttrKind(
    "i16 dense array attribute",
    lambda a: isinstance(a, DenseArray) and a.element is I16,
    lambda a: a.values,
)
NO_AXES = DenseArray(I16, ())


def axes_attribute(axes: Axes) -> DenseArray:
    """The attribute that lists these axes."""
    return DenseArray(I16, axes)


def read_axis(cursor: Cursor) -> int:
    """Takes the number of an axis."""
    return cursor.integer(16)


def open_list(cursor: Cursor) -> None:
    """Takes `[`."""
    if not cursor.accept("["):
        raise Cursor.error(cursor, "expected '['", cursor.skip())


def read_axes(cursor: Cursor) -> Axes:
    """Takes `[axis, …]`, possibly empty."""
    open_list(cursor)
    if cursor.accept("]"):
        return ()
    axes = cursor.comma_list(lambda: read_axis(cursor))
    cursor.expect("]")
    return tuple(axes)


def read_axes_attribute(cursor: Cursor) -> Attribute:
    """Takes `[axis, …]` as an attribute."""
    return axes_attribute(read_axes(cursor))


def axes_text(axes: Axes) -> str:
    """`[0, 2]`."""
    return f"[{', '.join(map(str, axes))}]"


def spell_axes(attribute: DenseArray, _speller: Any) -> str:
    """`[0, 2]`, of an attribute."""
    return axes_text(attribute.values)


def axes_problem(axes: Axes) -> str | None:
    """What is wrong with the axes of a sharding, all lists joined; None if nothing is."""
    seen: set[int] = set()
    for axis in axes:
        if axis < 0:
            return "mesh axis is expected to be non-negative"
        if axis in seen:
            return "mesh axis duplicated"
        seen.add(axis)
    return None
