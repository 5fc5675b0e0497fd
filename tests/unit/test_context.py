"""Contexts: values of parts within `with` blocks, and in other threads."""

from __future__ import annotations

from collections.abc import Hashable
from concurrent.futures import ThreadPoolExecutor

import pytest

from sdyopt.base.context import Context, ContextPart, current, keeping, kept_by

NAME = ContextPart("unnamed")
NUMBER = ContextPart(0)


def test_a_part_has_its_initial_value_outside_of_blocks() -> None:
    assert (NAME.value, NUMBER.value) == ("unnamed", 0)


def test_blocks_nest_and_change_one_part_each() -> None:
    with NAME.set_to("a"), NUMBER.set_to(1):
        with NAME.set_to("b"):
            assert (NAME.value, NUMBER.value) == ("b", 1)
        assert (NAME.value, NUMBER.value) == ("a", 1)
    assert (NAME.value, NUMBER.value) == ("unnamed", 0)


def test_an_exception_ends_a_block() -> None:
    with pytest.raises(ValueError, match="x"), NAME.set_to("a"):
        raise ValueError("x")
    assert NAME.value == "unnamed"


def test_a_context_does_not_change() -> None:
    context = Context()
    derived = context.having(NAME, "a")
    assert (context[NAME], derived[NAME], derived[NUMBER]) == ("unnamed", "a", 0)
    with derived.active():
        assert current() is derived


def test_a_thread_starts_without_the_context_and_can_be_given_it() -> None:
    with NAME.set_to("a"), ThreadPoolExecutor(1) as pool:
        context = current()
        assert pool.submit(lambda: NAME.value).result() == "unnamed"
        assert pool.submit(lambda: context.run(lambda: NAME.value)).result() == "a"
        assert pool.submit(lambda: NAME.value).result() == "unnamed"


def test_what_is_kept_is_of_a_key_that_is_computed_if_something_is_kept() -> None:
    """The meshes of a program are such a key, which takes long to compute for each of many functions."""
    keys = iter("ab")
    assert kept_by(lambda: next(keys)) == {}
    kept: dict[Hashable, dict[object, object]] = {}
    with keeping(kept):
        kept_by(lambda: next(keys))["first"] = 1
        assert kept_by(lambda: next(keys)) == {}
        assert kept_by(lambda: "a") == {"first": 1}
    assert kept == {"a": {"first": 1}, "b": {}}
