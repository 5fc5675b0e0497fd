"""Facts: equal ones are one object, and live only as long as they are held."""

from __future__ import annotations

import pytest

from sdyopt import interning
from sdyopt.interning import Interned


class Axis(Interned):
    name: str
    part: Axis | None = None


def test_equal_facts_are_one_object_however_they_are_written() -> None:
    axis = Axis("x")
    assert Axis("x", None) is axis
    assert Axis(name="x") is axis
    whole = Axis("y", axis)
    assert Axis("y", Axis("x")) is whole


def test_different_facts_are_different_objects() -> None:
    assert Axis("x") is not Axis("y")


def test_a_fact_is_forgotten_with_its_last_holder() -> None:
    before = len(interning._living)
    axis = Axis("only here")
    assert len(interning._living) == before + 1
    del axis
    assert len(interning._living) == before


def test_missing_and_unknown_fields_are_refused() -> None:
    with pytest.raises(TypeError, match="missing its field 'name'"):
        Axis()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="does not take"):
        Axis("x", other=1)  # type: ignore[call-arg]
