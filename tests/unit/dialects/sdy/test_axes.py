"""Axis references: the algebra on intervals, compared with what each reference selects of an axis."""

from itertools import product

import pytest

from sdyopt.dialects.sdy.axes import (
    AxisRef,
    SubAxis,
    difference,
    is_sorted,
    sorted_and_merged,
    with_axes,
)
from sdyopt.dialects.sdy.mesh import MeshAxis, mesh

MESH = mesh([MeshAxis("a", 16), MeshAxis("b", 8)])


def axis(name: str, pre_size: int | None = None, size: int = 0) -> AxisRef:
    return AxisRef(name) if pre_size is None else AxisRef(name, SubAxis(pre_size, size))


# Whole and sub-axes of "a", which is 2x2x2x2, and which of the four digits each is made of.
DIGITS = {
    axis("a", 2**start, 2 ** (end - start)): set(range(start, end))
    for start, end in product(range(4), range(1, 5))
    if start < end and (start, end) != (0, 4)
} | {axis("a"): set(range(4))}
PAIRS = list(product(DIGITS, DIGITS))


def test_parts_of_the_same_axis_are_one_object() -> None:
    assert axis("a", 2, 4) is axis("a", 2, 4)
    assert axis("a") is not axis("b")


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_questions_about_two_references(one: AxisRef, other: AxisRef) -> None:
    mine, theirs = DIGITS[one], DIGITS[other]
    assert one.contains(other) == (theirs <= mine)
    assert one.overlaps(other) == bool(mine & theirs)
    assert one.is_suffix_of(other, MESH) == (mine <= theirs and max(mine) == max(theirs))
    assert one.can_coexist(other)


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_prefix_without_overlap(one: AxisRef, other: AxisRef) -> None:
    mine, theirs = DIGITS[one], DIGITS[other]
    prefix = {digit for digit in mine if digit < min(theirs)} if mine & theirs else mine
    found = one.prefix_without(other)
    assert (set() if found is None else DIGITS[found]) == prefix


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_merging(one: AxisRef, other: AxisRef) -> None:
    if one.can_merge(other):
        assert DIGITS[one.merge(other, MESH)] == DIGITS[one] | DIGITS[other]
    else:
        assert axis("a") in (one, other) or max(DIGITS[one]) + 1 != min(DIGITS[other])


def test_axes_of_different_names_have_nothing_in_common() -> None:
    whole, part = axis("a"), axis("b", 1, 2)
    assert not whole.contains(part)
    assert not whole.overlaps(part)
    assert whole.can_coexist(part)
    assert whole.prefix_without(part) is whole
    assert not axis("a", 1, 2).can_merge(axis("b", 2, 2))


@pytest.mark.parametrize(
    ("one", "other"),
    [((1, 2), (1, 3)), ((1, 2), (3, 2)), ((1, 3), (2, 3)), ((2, 3), (3, 2))],
)
def test_parts_that_do_not_divide_each_other_cannot_coexist(
    one: tuple[int, int], other: tuple[int, int]
) -> None:
    assert not axis("a", *one).can_coexist(axis("a", *other))
    assert axis("a", *one).prefix_without(axis("a", *other)) is None


def test_order_is_that_of_the_mesh_and_then_of_the_axis() -> None:
    assert is_sorted([axis("a", 1, 2), axis("a"), axis("a", 2, 2), axis("b")], MESH)
    assert not is_sorted([axis("b"), axis("a")], MESH)
    assert not is_sorted([axis("a", 4, 2), axis("a", 2, 2)], MESH)
    # Axes that the mesh does not have are in any order.
    assert is_sorted([axis("a"), axis("w"), axis("v", 1, 2)], MESH)
    assert not is_sorted([axis("w", 2, 2), axis("w", 1, 2)], MESH)


def test_neighbours_in_a_list_are_merged() -> None:
    parts = [axis("a", 4, 4), axis("b", 2, 2), axis("a", 1, 2)]
    assert sorted_and_merged(parts, MESH) == (axis("a", 1, 2), axis("a", 4, 4), axis("b", 2, 2))
    parts.append(axis("a", 2, 2))
    assert sorted_and_merged(parts, MESH) == (axis("a"), axis("b", 2, 2))
    assert with_axes([axis("b")], [axis("a", 1, 2), axis("a", 2, 2)], MESH) == (axis("b"), axis("a", 1, 4))
    assert sorted_and_merged([], MESH) == ()


def test_sizes() -> None:
    assert axis("a").size(MESH) == 16
    assert axis("a", 2, 4).size(MESH) == 4
    assert axis("a", 2, 4).next_pre_size(MESH) == 8
    assert axis("b").next_pre_size(MESH) == 8


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_difference(first: AxisRef, second: AxisRef) -> None:
    left = difference([first], [second], MESH)
    assert set().union(*[DIGITS[rest] for rest in left]) == DIGITS[first] - DIGITS[second]
    suffix = first.suffix_without(second, MESH)
    assert suffix is None or suffix == first or suffix == left[-1]


def test_nothing_is_left_of_what_does_not_fit() -> None:
    six = mesh([MeshAxis("c", 6)])
    assert difference([axis("c", 1, 3)], [axis("c", 1, 2)], six) == ()
