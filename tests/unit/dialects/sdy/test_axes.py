"""Axis references: interval operations, compared with sets of the prime factors of an axis."""

from itertools import product

import pytest

from sdyopt.mlir.dialects.sdy.axes import (
    AxisRef,
    SubAxis,
    difference,
    is_sorted,
    sorted_and_merged,
    with_axes,
)
from sdyopt.mlir.dialects.sdy.mesh import MeshAxis, mesh

MESH = mesh([MeshAxis("a", 16), MeshAxis("b", 8)])


def axis(name: str, pre_size: int | None = None, size: int = 0) -> AxisRef:
    return AxisRef(name) if pre_size is None else AxisRef(name, SubAxis(pre_size, size))


# The full axis "a" of size 2x2x2x2 and its sub-axes -> the indices of their factors of size 2.
FACTORS = {
    axis("a", 2**start, 2 ** (end - start)): set(range(start, end))
    for start, end in product(range(4), range(1, 5))
    if start < end and (start, end) != (0, 4)
} | {axis("a"): set(range(4))}
PAIRS = list(product(FACTORS, FACTORS))


def test_axis_refs_are_interned() -> None:
    assert axis("a", 2, 4) is axis("a", 2, 4)
    assert axis("a") is not axis("b")


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_containment_and_overlap_are_those_of_the_factors(one: AxisRef, other: AxisRef) -> None:
    mine, theirs = FACTORS[one], FACTORS[other]
    assert one.contains(other) == (theirs <= mine)
    assert one.overlaps(other) == bool(mine & theirs)
    assert one.is_suffix_of(other, MESH) == (mine <= theirs and max(mine) == max(theirs))
    assert one.can_coexist(other)


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_prefix_without_overlap_has_the_factors_before_the_other_axis(one: AxisRef, other: AxisRef) -> None:
    mine, theirs = FACTORS[one], FACTORS[other]
    prefix = {factor for factor in mine if factor < min(theirs)} if mine & theirs else mine
    result = one.prefix_without_overlap(other)
    assert (set() if result is None else FACTORS[result]) == prefix


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_suffix_without_overlap_has_the_factors_after_the_other_axis(one: AxisRef, other: AxisRef) -> None:
    mine, theirs = FACTORS[one], FACTORS[other]
    suffix = {factor for factor in mine if factor > max(theirs)} if mine & theirs else mine
    result = one.suffix_without_overlap(other, MESH)
    assert (set() if result is None else FACTORS[result]) == suffix


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_merged_axes_have_the_factors_of_both(one: AxisRef, other: AxisRef) -> None:
    if one.can_merge(other):
        assert FACTORS[one.merge(other, MESH)] == FACTORS[one] | FACTORS[other]
    else:
        assert axis("a") in (one, other) or max(FACTORS[one]) + 1 != min(FACTORS[other])


def test_different_axes_do_not_overlap() -> None:
    full, sub_axis = axis("a"), axis("b", 1, 2)
    assert not full.contains(sub_axis)
    assert not full.overlaps(sub_axis)
    assert full.can_coexist(sub_axis)
    assert full.prefix_without_overlap(sub_axis) is full
    assert not axis("a", 1, 2).can_merge(axis("b", 2, 2))


def test_a_full_axis_and_sub_axes_of_other_axes_coexist_with_every_sub_axis() -> None:
    assert axis("a").can_coexist(axis("a", 1, 3))
    assert axis("a", 2, 3).can_coexist(axis("a"))
    assert axis("a", 1, 2).can_coexist(axis("b", 1, 3))


@pytest.mark.parametrize(
    ("one", "other"),
    [((1, 2), (1, 3)), ((1, 2), (3, 2)), ((1, 3), (2, 3)), ((2, 3), (3, 2))],
)
def test_sub_axes_that_do_not_divide_each_other_cannot_coexist(
    one: tuple[int, int], other: tuple[int, int]
) -> None:
    assert not axis("a", *one).can_coexist(axis("a", *other))
    assert axis("a", *one).prefix_without_overlap(axis("a", *other)) is None


def test_axes_are_sorted_in_mesh_order() -> None:
    assert is_sorted([axis("a", 1, 2), axis("a"), axis("a", 2, 2), axis("b")], MESH)
    assert not is_sorted([axis("b"), axis("a")], MESH)
    assert not is_sorted([axis("a", 4, 2), axis("a", 2, 2)], MESH)
    # Different axes that are not in the mesh are never in order.
    assert not is_sorted([axis("a"), axis("w"), axis("v", 1, 2)], MESH)
    assert not is_sorted([axis("w", 2, 2), axis("w", 1, 2)], MESH)


def test_consecutive_sub_axes_are_merged() -> None:
    parts = [axis("a", 4, 4), axis("b", 2, 2), axis("a", 1, 2)]
    assert sorted_and_merged(parts, MESH) == (axis("a", 1, 2), axis("a", 4, 4), axis("b", 2, 2))
    parts.append(axis("a", 2, 2))
    assert sorted_and_merged(parts, MESH) == (axis("a"), axis("b", 2, 2))
    assert with_axes([axis("b")], [axis("a", 1, 2), axis("a", 2, 2)], MESH) == (axis("b"), axis("a", 1, 4))
    assert sorted_and_merged([], MESH) == ()


def test_sizes_and_next_pre_sizes() -> None:
    assert axis("a").size(MESH) == 16
    assert axis("a", 2, 4).size(MESH) == 4
    assert axis("a", 2, 4).next_pre_size(MESH) == 8
    assert axis("b").next_pre_size(MESH) == 8


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_difference_has_the_factors_that_the_second_axis_lacks(first: AxisRef, second: AxisRef) -> None:
    left = difference([first], [second], MESH)
    assert set().union(*[FACTORS[rest] for rest in left]) == FACTORS[first] - FACTORS[second]
    suffix = first.suffix_without_overlap(second, MESH)
    assert suffix is None or suffix == first or suffix == left[-1]


def test_difference_of_sub_axes_that_cannot_coexist() -> None:
    six = mesh([MeshAxis("c", 6)])
    assert difference([axis("c", 1, 3)], [axis("c", 1, 2)], six) == ()
