"""Interning: equal values are one object, which is freed with its last reference."""

from __future__ import annotations

import pytest

from sdyopt.base.interning import Interned


class Axis(Interned):
    name: str
    part: Axis | None = None


def test_equal_values_are_one_object_however_they_are_built() -> None:
    axis = Axis("x")
    assert Axis("x", None) is axis
    assert Axis(name="x") is axis
    whole = Axis("y", axis)
    assert Axis("y", Axis("x")) is whole


def test_different_values_are_different_objects() -> None:
    assert Axis("x") is not Axis("y")


def test_a_value_is_freed_with_its_last_reference() -> None:
    before = len(Axis._instances)
    axis = Axis("only here")
    assert len(Axis._instances) == before + 1
    del axis
    assert len(Axis._instances) == before


def test_missing_and_unknown_fields_are_errors() -> None:
    with pytest.raises(TypeError, match="missing its field 'name'"):
        Axis()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="does not take"):
        Axis("x", other=1)  # type: ignore[call-arg]


def test_a_value_that_another_thread_builds_meanwhile_is_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other thread is simulated by a table that gets an equal value right after the look-up."""
    other = Axis("raced")

    class Raced(dict[tuple[object, ...], object]):
        def get(self, key: object, default: object = None) -> object:
            return default

    count, values, *functions = Axis._parts
    monkeypatch.setattr(Axis, "_parts", (count, Raced(values), *functions))
    assert Axis("raced") is other
