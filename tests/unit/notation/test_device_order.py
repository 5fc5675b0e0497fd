"""Orders of devices by reshaping and transposing iota."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdyopt.shardy.notation.device_tiling import (
    DeviceOrder,
    Digit,
    canonical_order,
    digits_of,
    listed_order,
    order_of_digits,
)


def devices(order: DeviceOrder) -> list[int]:
    return [order.device_at(position) for position in range(order.size)]


def test_devices_of_a_transposed_iota() -> None:
    """[0, 1, 2] and [3, 4, 5] transposed."""
    order = canonical_order([2, 3], [1, 0])
    assert devices(order) == [0, 3, 1, 4, 2, 5]
    assert order.position_of(4) == 3


def test_devices_of_a_list() -> None:
    order = listed_order([5, 7, 6])
    assert devices(order) == [5, 7, 6]
    assert order.position_of(6) == 2
    assert order.position_of(0) is None


def test_a_device_beyond_the_last_one_has_no_position() -> None:
    assert canonical_order([4]).position_of(4) is None


@pytest.mark.parametrize(
    ("dims", "permutation", "canonical"),
    [
        ([4, 2], [0, 1], ((8,), (0,))),  # adjacent dimensions that stay adjacent are one
        ([2, 3, 4], [2, 0, 1], ((6, 4), (1, 0))),
        ([2, 1, 3], [2, 1, 0], ((2, 3), (1, 0))),  # dimensions of size 1 do not count
        ([1, 1], [1, 0], ((1,), (0,))),
    ],
)
def test_the_canonical_order_has_no_dimensions_that_can_be_merged_or_dropped(
    dims: list[int], permutation: list[int], canonical: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    order = canonical_order(dims, permutation)
    assert (order.dims, order.permutation) == canonical


def test_an_order_of_many_devices_is_not_listed() -> None:
    order = canonical_order([1 << 20, 1 << 40], [1, 0])
    assert order.device_at((1 << 60) - 1) == (1 << 60) - 1
    assert order.device_at(1) == 1 << 40
    assert order.position_of(1 << 40) == 1


@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=4).flatmap(
        lambda dims: st.tuples(st.just(dims), st.permutations(range(len(dims))))
    )
)
def test_positions_and_devices_are_inverse(case: tuple[list[int], list[int]]) -> None:
    order = canonical_order(*case)
    listed = devices(order)
    assert sorted(listed) == list(range(order.size))
    assert [order.position_of(device) for device in listed] == list(range(order.size))
    # The order is found again in the list.
    digits = digits_of(listed)
    assert digits is not None
    assert order_of_digits(digits) == order


@pytest.mark.parametrize("values", [[0, 1, 3, 2], [1, 0], [0, 2, 1, 3, 4, 6], [0, 1, 2, 3, 4, 6]])
def test_lists_that_no_digits_generate_have_none(values: list[int]) -> None:
    assert digits_of(values) is None


def test_digits_that_leave_out_devices() -> None:
    """One digit generates 0, 2, 4, which are not the devices from 0 on."""
    assert digits_of([0, 2, 4]) == [Digit(3, 2)]
    assert order_of_digits([Digit(3, 2)]) is None
