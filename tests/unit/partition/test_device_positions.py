"""Which shard each device has, and which devices form a group, on meshes that fit on paper.

Devices in the row-major order of "x"=2, "y"=4:

          y=0  y=1  y=2  y=3
    x=0     0    1    2    3
    x=1     4    5    6    7
"""

from __future__ import annotations

import numpy as np
import pytest

from sdyopt.shardy.sharding.axis_lists import replica_groups, shard_indices
from tests.simulation.devices import Devices
from tests.unit.sharding.notation import read_axes, read_mesh

MESH = read_mesh('"x"=2, "y"=4')


def test_a_full_axis_counts_its_coordinates() -> None:
    assert shard_indices(read_axes('"x"'), MESH) == (0, 0, 0, 0, 1, 1, 1, 1)
    assert shard_indices(read_axes('"y"'), MESH) == (0, 1, 2, 3, 0, 1, 2, 3)


def test_the_first_axis_is_the_major_one() -> None:
    assert shard_indices(read_axes('"x", "y"'), MESH) == (0, 1, 2, 3, 4, 5, 6, 7)
    assert shard_indices(read_axes('"y", "x"'), MESH) == (0, 2, 4, 6, 1, 3, 5, 7)


def test_a_sub_axis_is_a_digit_of_the_coordinate() -> None:
    """y = 2 * (major half) + (minor half)."""
    assert shard_indices(read_axes('"y":(1)2'), MESH) == (0, 0, 1, 1, 0, 0, 1, 1)
    assert shard_indices(read_axes('"y":(2)2'), MESH) == (0, 1, 0, 1, 0, 1, 0, 1)


def test_no_axes_make_one_shard() -> None:
    assert shard_indices((), MESH) == (0,) * 8


def test_indices_are_by_device_id() -> None:
    """Device 1 is the first in the mesh, so it has the first shard."""
    mesh = read_mesh('"x"=2], device_ids=[1, 0')
    assert shard_indices(read_axes('"x"'), mesh) == (1, 0)


def test_groups_differ_along_the_axes_only() -> None:
    assert replica_groups(read_axes('"x"'), MESH) == [[0, 4], [1, 5], [2, 6], [3, 7]]
    assert replica_groups(read_axes('"y":(1)2'), MESH) == [[0, 2], [1, 3], [4, 6], [5, 7]]


def test_groups_are_ordered_by_their_shards() -> None:
    assert replica_groups(read_axes('"y", "x"'), MESH) == [[0, 4, 1, 5, 2, 6, 3, 7]]


@pytest.mark.parametrize("text", ['"x"', '"y":(2)3', '"z", "y":(1)2', '"y":(2)3, "x", "y":(1)2'])
def test_positions_and_groups_are_those_of_the_simulation(text: str) -> None:
    mesh, axes = read_mesh('"x"=2, "y"=6, "z"=3'), read_axes(text)
    devices = Devices(mesh)
    assert list(shard_indices(axes, mesh)) == list(devices.positions(axes))
    assert np.array_equal(np.array(replica_groups(axes, mesh)), devices.groups(axes))
