"""Device groups: membership, order and in-group indices."""

from __future__ import annotations

from itertools import product

from docs import device_groups

SHAPE = (2, 3, 4, 5)


def test_a_group_has_equal_indices_along_all_other_axes() -> None:
    assert device_groups.groups(SHAPE, (0, 1)) == [(k, m) for k in range(4) for m in range(5)]
    members = device_groups.devices_in_same_group(SHAPE, (1, 0, 2, 3), (0, 1))
    assert (1, 1, 2, 3) in members
    assert (1, 0, 2, 4) not in members


def test_the_first_listed_axis_is_major_most() -> None:
    for i, k in product(range(2), range(4)):
        for j in (0, 2):
            order = [
                device_groups.linear_index_in_group(SHAPE, device, (3, 1))
                for device in ((i, 1, k, 0), (i, j, k, j // 2))
            ]
            assert len(set(order)) == 2
        first = device_groups.linear_index_in_group(SHAPE, (i, 1, k, 0), (3, 1))
        assert first < device_groups.linear_index_in_group(SHAPE, (i, 0, k, 1), (3, 1))
        assert first < device_groups.linear_index_in_group(SHAPE, (i, 2, k, 0), (3, 1))


def test_an_in_group_index_identifies_a_device_of_each_group() -> None:
    for i, g, j in product(range(2), range(3), range(4)):
        assert device_groups.device_in_group((0, 2), (g,), (i, j)) == (i, g, j)


def test_devices_of_a_group_are_in_the_order_of_its_axes() -> None:
    assert device_groups.devices_of_group((2, 3, 2), (2, 0), (1,)) == [
        (0, 1, 0),
        (1, 1, 0),
        (0, 1, 1),
        (1, 1, 1),
    ]
    assert device_groups.devices_of_group((2, 3, 2), (0, 2), (1,)) == [
        (0, 1, 0),
        (0, 1, 1),
        (1, 1, 0),
        (1, 1, 1),
    ]


def test_without_axes_groups_are_single_devices() -> None:
    assert device_groups.devices_in_same_group((2, 3), (1, 2), ()) == [(1, 2)]
    assert device_groups.linear_index_in_group((2, 3), (1, 2), ()) == 0
    assert device_groups.group_size((2, 3), ()) == 1


def test_groups_partition_the_devices() -> None:
    shape = (2, 3, 2)
    for axes in ((), (0,), (2, 0), (1, 2, 0)):
        members = [
            d
            for group in device_groups.groups(shape, axes)
            for d in device_groups.devices_of_group(shape, axes, group)
        ]
        assert sorted(members) == device_groups.multi_indices(shape)


def test_linear_and_multi_indices_are_inverse() -> None:
    assert device_groups.linear_index((4, 5, 6), (2, 3, 1)) == 79
    assert device_groups.multi_index((4, 5, 6), 79) == (2, 3, 1)
