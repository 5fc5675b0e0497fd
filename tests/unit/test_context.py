"""Contexts: values of parts within `with` blocks, and in other threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from sdyopt.base.context import Context, ContextPart, current

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
