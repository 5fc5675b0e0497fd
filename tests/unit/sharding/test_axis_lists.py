"""Prefixes and overlaps of axis lists, compared with lists of binary digits."""

from itertools import product

import pytest

from sdyopt.mlir.dialects.sdy.axes import AxisRef, SubAxis
from sdyopt.shardy.sharding.axis_lists import (
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
    """The binary digits of the axes in a list: two for "a" of size 4, one for "b" of size 2."""
    whole = {"a": [("a", 0), ("a", 1)], "b": [("b", 0)]}
    result: list[tuple[str, int]] = []
    for axis in axes:
        part = {None: slice(0, 2), 1: slice(0, 1), 2: slice(1, 2)}[
            None if axis.sub_axis is None else axis.sub_axis.pre_size
        ]
        result += whole[axis.name][part]
    return result


@pytest.mark.parametrize(("first", "second"), list(product(LISTS, LISTS)))
def test_prefixes_are_those_of_the_digits(first: Axes, second: Axes) -> None:
    first_digits, second_digits = digits(first), digits(second)
    assert is_prefix(first, second) == (second_digits[: len(first_digits)] == first_digits)
    assert is_strict_prefix(first, second) == (
        second_digits[: len(first_digits)] == first_digits and first != second
    )


@pytest.mark.parametrize(("first", "second"), list(product(LISTS, LISTS)))
def test_the_common_prefix_is_the_longest_prefix_of_both(first: Axes, second: Axes) -> None:
    common = common_prefix(first, second)
    assert common == common_prefix(second, first)
    assert is_prefix(common, first)
    assert is_prefix(common, second)
    assert all(
        len(digits(other)) <= len(digits(common))
        for other in LISTS
        if is_prefix(other, first) and is_prefix(other, second)
    )


def test_prefix_of_an_axis_without_others() -> None:
    assert prefix_without(A, [B, A_MINOR]) is A_MAJOR
    assert prefix_without(A, [A_MINOR, A_MAJOR]) is None
    assert prefix_without(A, []) is A


def test_the_major_sub_axis_starts_where_its_axis_does() -> None:
    assert major_sub_axis(A, 2) is A_MAJOR
    assert major_sub_axis(AxisRef("a", SubAxis(2, 4)), 2) is A_MINOR


def test_prefix_of_a_list_without_overlap() -> None:
    assert prefix_without_overlap((B, A), [A_MINOR]) == (B, A_MAJOR)
    assert prefix_without_overlap((A, B), [A_MINOR]) == (A_MAJOR,)
    assert prefix_without_overlap((A, B), [A_MAJOR]) == ()
    assert prefix_without_overlap((A, B), []) == (A, B)


def test_lists_overlap_if_any_of_their_axes_do() -> None:
    assert overlap((B, A_MAJOR), [A])
    assert not overlap((B, A_MAJOR), [A_MINOR])
    assert not overlap((), [A])


def test_splitting_an_axis_gives_a_major_and_a_minor_sub_axis() -> None:
    assert split_axis(A, 2, 4) == (A_MAJOR, A_MINOR)
