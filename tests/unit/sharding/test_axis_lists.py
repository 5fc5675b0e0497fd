"""Beginnings of lists of axes, compared with what they do to a list of devices."""

from itertools import product

import pytest

from sdyopt.dialects.sdy.axes import AxisRef, SubAxis
from sdyopt.sharding.axis_lists import (
    Axes,
    common_prefix,
    is_prefix,
    is_strict_prefix,
    major_sub_axis,
    overlap,
    prefix_without,
    prefix_without_overlap,
    split_axis,
)

A, B = AxisRef("a"), AxisRef("b")
A_MAJOR, A_MINOR = AxisRef("a", SubAxis(1, 2)), AxisRef("a", SubAxis(2, 2))
LISTS: list[Axes] = [(), (A,), (B,), (A, B), (A_MAJOR,), (A_MINOR,), (B, A_MAJOR), (B, A), (A_MAJOR, B)]


def digits(axes: Axes) -> list[tuple[str, int]]:
    """A list as the binary digits that it uses, "a" having two of them and "b" one."""
    whole = {"a": [("a", 0), ("a", 1)], "b": [("b", 0)]}
    found: list[tuple[str, int]] = []
    for axis in axes:
        part = {None: slice(0, 2), 1: slice(0, 1), 2: slice(1, 2)}[
            None if axis.sub_axis is None else axis.sub_axis.pre_size
        ]
        found += whole[axis.name][part]
    return found


@pytest.mark.parametrize(("first", "second"), list(product(LISTS, LISTS)))
def test_beginnings(first: Axes, second: Axes) -> None:
    mine, theirs = digits(first), digits(second)
    assert is_prefix(first, second) == (theirs[: len(mine)] == mine)
    assert is_strict_prefix(first, second) == (theirs[: len(mine)] == mine and first != second)


@pytest.mark.parametrize(("first", "second"), list(product(LISTS, LISTS)))
def test_common_beginning_is_one_of_both_and_the_longest(first: Axes, second: Axes) -> None:
    common = common_prefix(first, second)
    assert common == common_prefix(second, first)
    assert is_prefix(common, first)
    assert is_prefix(common, second)
    assert all(
        len(digits(other)) <= len(digits(common))
        for other in LISTS
        if is_prefix(other, first) and is_prefix(other, second)
    )


def test_prefix_beside_several_axes() -> None:
    assert prefix_without(A, [B, A_MINOR]) is A_MAJOR
    assert prefix_without(A, [A_MINOR, A_MAJOR]) is None
    assert prefix_without(A, []) is A


def test_major_part() -> None:
    assert major_sub_axis(A, 2) is A_MAJOR
    assert major_sub_axis(AxisRef("a", SubAxis(2, 4)), 2) is A_MINOR


def test_what_comes_before_an_overlap() -> None:
    assert prefix_without_overlap((B, A), [A_MINOR]) == (B, A_MAJOR)
    assert prefix_without_overlap((A, B), [A_MINOR]) == (A_MAJOR,)
    assert prefix_without_overlap((A, B), [A_MAJOR]) == ()
    assert prefix_without_overlap((A, B), []) == (A, B)


def test_overlap() -> None:
    assert overlap((B, A_MAJOR), [A])
    assert not overlap((B, A_MAJOR), [A_MINOR])
    assert not overlap((), [A])


def test_cut() -> None:
    assert split_axis(A, 2, 4) == (A_MAJOR, A_MINOR)
