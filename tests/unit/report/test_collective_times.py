"""Times of collectives on machines: measured ones, formulas, and how meshes lie on machines."""

import json
from fractions import Fraction
from statistics import quantiles
from typing import Any

import pytest

from sdyopt.analysis.figures.collective_times import (
    CollectiveTimes,
    Links,
    _nearest,
    _Rows,
    interpolated,
    smoothed,
)
from sdyopt.analysis.figures.machines import machine_data
from sdyopt.analysis.figures.mesh_layout import NETWORK, NODE, AxisPart
from sdyopt.analysis.figures.topology import Topology, built_in_topology

MACHINES = ("b200", "gb200", "h100", "h200", "mi300", "tpu-v7x")


def mesh(**sizes: int) -> str:
    return f"<[{', '.join(f'{json.dumps(name)}={size}' for name, size in sizes.items())}]>"


def gigabytes(topology: Topology, *axes: str) -> float:
    bandwidth = topology.link(axes).bandwidth
    assert bandwidth is not None
    return float(bandwidth) / 1e9


# What jax.make_mesh, or mesh_utils.create_device_mesh, makes of the devices that libtpu lists.
@pytest.mark.parametrize(
    ("machine", "sizes", "laid"),
    [
        ("tpu-v5e:4x4", (4, 4), ["y (4)", "x (4)"]),
        ("tpu-v5e:4x4", (2, 8), ["y (2 of 4, 2 apart)", "y (2 of 4) and x (4)"]),
        ("tpu-v5e:4x4", (2, 2, 4), ["y (2 of 4, 2 apart)", "y (2 of 4)", "x (4)"]),
        ("tpu-v5e:2x4", (2, 4), ["y (2 of 4, 2 apart)", "x (2) and y (2 of 4)"]),
        ("tpu-v5e:4x8", (8, 4), ["y (8)", "x (4)"]),
        ("tpu-v5e:16x16", (16, 16), ["y (16, a ring)", "x (16, a ring)"]),
        ("tpu-v5e:16x16", (4, 64), ["y (4 of 16, 4 apart)", "y (4 of 16) and x (16, a ring)"]),
        ("tpu-v5e:16x16,slices=2", (2, 256), ["slices (2)", "y (16, a ring) and x (16, a ring)"]),
        ("tpu-v5p:2x2x4", (4, 4), ["z (4)", "y (2) and x (2)"]),
        ("tpu-v5p:2x2x4", (2, 8), ["y (2)", "z (4) and x (2)"]),
        ("tpu-v5p:4x4x4", (4, 16), ["z (4, a ring)", "y (4, a ring) and x (4, a ring)"]),
        ("tpu-v7x:2x2x2", (4, 4), ["y (2) and z (2)", "the cores of a chip (2) and x (2)"]),
        ("h100:4x8", (4, 8), ["the network (4)", "a node (8)"]),
        ("h100:4x8", (2, 16), ["the network (2)", "a node (8) and the network (2)"]),
        ("gb200:72", (72,), ["a node (72)"]),
    ],
)
def test_a_mesh_lies_on_a_machine_as_jax_lays_it(
    machine: str, sizes: tuple[int, ...], laid: list[str]
) -> None:
    names = "abc"[: len(sizes)]
    layout = built_in_topology(machine).on(mesh(**dict(zip(names, sizes, strict=True)))).layout
    assert layout is not None
    assert list(layout.texts.values()) == laid


def test_only_a_full_dimension_is_a_ring() -> None:
    # Two links of 50 GB/s, of which collectives use 90 %; a line has one that all bytes go through.
    assert gigabytes(built_in_topology("tpu-v5e:16x16").on(mesh(a=16, b=16)), "a") == pytest.approx(90)
    assert gigabytes(built_in_topology("tpu-v5e:8x8").on(mesh(a=8, b=8)), "a") == pytest.approx(45)


def test_dimensions_of_an_axis_are_used_at_once() -> None:
    topology = built_in_topology("tpu-v5e:16x16").on(mesh(a=256))
    assert gigabytes(topology, "a") == pytest.approx(180)
    assert gigabytes(built_in_topology("tpu-v5e:16x16").on(mesh(a=16, b=16)), "a", "b") == pytest.approx(180)


def test_an_axis_of_a_mesh_has_the_time_of_its_part_of_the_machine() -> None:
    topology = built_in_topology("h100:4x8").on(mesh(a=4, b=8))
    assert topology.times is not None
    size, steps = 1 << 20, {"a": 3, "b": 7}
    for axis, count in steps.items():
        seconds = topology.times.seconds("all_gather", size, topology.parts_along([axis]))
        given = topology.seconds("all_gather", [axis], count + 1, Fraction(size * count, count + 1))
        assert given is not None and float(given) == pytest.approx(seconds)
        least = topology.times.seconds("all_gather", 1, topology.parts_along([axis]))
        latency = topology.link([axis]).latency
        assert least is not None and latency is not None
        assert float(latency) == pytest.approx(least / count)


def test_slices_are_linked_by_the_network() -> None:
    topology = built_in_topology("tpu-v5e:4x4,slices=2").on(mesh(data=2, model=16))
    assert gigabytes(topology, "data") == pytest.approx(3.125)


def test_cores_share_the_links_of_their_chip() -> None:
    # Two dimensions of one link each, 200 GB/s in all, for two groups of one core each.
    parts = [AxisPart("x", 2, 1, 2, False), AxisPart("y", 2, 1, 2, False)]
    times = built_in_topology("tpu-v7x:2x2x1").on(mesh(a=8)).times
    assert times is not None
    # Measured: 2252 us.
    assert times.seconds("all_gather", 268435456, parts) == pytest.approx(2252e-6, rel=0.01)
    # Half of the bytes from each of the two chips in a line, after one latency.
    alone = CollectiveTimes("", Links(local=1e9, local_latency=1e-3, is_measured=False))
    assert alone.seconds("all_gather", 1e6, parts[:1]) == pytest.approx(1e-3 + 5e5 / 1e9)
    links = Links(local=1e9, local_latency=1e-3, is_measured=False, floors={"": 2e-3}, efficiency={})
    assert CollectiveTimes("", links).seconds("all_gather", 1e6, parts[:1]) == pytest.approx(3e-3 + 5e-4)


def test_a_part_of_a_value_goes_through_the_network() -> None:
    times = built_in_topology("h100:4x8").on(mesh(a=4, b=8)).times
    assert times is not None
    node, network = AxisPart(NODE, 8, 1, 8, False), AxisPart(NETWORK, 4, 1, 4, False)
    size = 1 << 30
    within = times.seconds("all_reduce", size, [node])
    # An eighth, 2 · 3/4 of it at 47 GB/s; less than within the node, at the same time.
    assert times.seconds("all_reduce", size, [node, network]) == within
    alone = times.seconds("all_reduce", size, [network])
    assert alone == pytest.approx(size * 1.5 / 47e9, rel=0.01)


def test_measured_times_do_not_fall_with_the_bytes() -> None:
    rows = smoothed([(1, 90), (2, 30), (4, 34), (8, 20), (16, 40)])
    # The time that is the closest to all of them in relative terms.
    assert [time for _, time in rows] == [30, 30, 30, 30, 40]
    assert interpolated(rows, 12) == pytest.approx(35e-6)
    assert interpolated(rows, 1) == interpolated(rows, 0.1)


def test_times_below_measured_ones_fall_with_the_bytes_to_the_least_of_other_groups() -> None:
    rows = [(32, 80), (64, 140)]
    assert interpolated(rows, 16, least=20) == pytest.approx(50e-6)
    assert interpolated(rows, 1, least=30) == pytest.approx(30e-6)
    assert interpolated(rows, 16) == pytest.approx(80e-6)


def test_pairs_that_exchange_values_and_devices_that_only_send_have_times_of_their_own() -> None:
    times = built_in_topology("b200").on(mesh(a=8)).times
    assert times is not None
    ring, pair = ([AxisPart(NODE, size, 1, 8, False)] for size in (8, 2))
    size = 128 << 20
    # Measured: 861, 863 and 555 us.
    assert times.seconds("collective_permute", size, ring) == pytest.approx(861e-6, rel=0.05)
    assert times.seconds("collective_permute", size, pair) == pytest.approx(863e-6, rel=0.05)
    assert times.seconds("one_way_permute", size, pair) == pytest.approx(555e-6, rel=0.05)
    # Four devices are a ring, as eight are.
    four = [AxisPart(NODE, 4, 1, 8, False)]
    assert times.seconds("collective_permute", size, four) == times.seconds("collective_permute", size, ring)


def test_a_permute_in_which_some_devices_only_send_is_as_others_where_it_was_not_measured() -> None:
    one_way, ring = (
        built_in_topology("h100").on(mesh(a=8)).seconds(kind, ["a"], 8, Fraction(1 << 20), 1 << 20)
        for kind in ("one_way_permute", "collective_permute")
    )
    assert one_way == ring


def test_a_machine_without_measured_times_is_like_another() -> None:
    # Links of two thirds of the bandwidth.
    a100, h100 = (built_in_topology(name).on(mesh(a=8)).times for name in ("a100", "h100"))
    assert a100 is not None and h100 is not None
    node = [AxisPart(NODE, 8, 1, 8, False)]
    assert a100.seconds("all_gather", 2e8, node) == h100.seconds("all_gather", 3e8, node)


def test_measured_times_hold_from_a_fourth_of_the_least_bytes_to_sixteen_times_the_most() -> None:
    series: dict[int, _Rows] = {2: [(64.0, 1.0), (128.0, 2.0)], 8: [(1.0, 1.0), (4096.0, 2.0)]}
    found = {size: _nearest(series, "all_gather", 2, size) for size in (15, 16, 2048, 2049)}
    assert found == {15: 8, 16: 2, 2048: 2, 2049: 8}


def errors(machine: str) -> list[float]:
    """Of each measured time that is in no table: reported / measured - 1."""
    found = []
    for table in machine_data()["measured"][machine]:
        parts = _parts(machine, table["group"])
        times = built_in_topology(machine).on(mesh(a=8)).times
        assert times is not None
        for size, microseconds in table["held"]:
            seconds = times.seconds(table["kind"], size, parts)
            assert seconds is not None
            found.append(seconds * 1e6 / microseconds - 1)
    return found


def _parts(machine: str, group: int | str) -> list[AxisPart]:
    if isinstance(group, str):
        # Groups of four chips of a plane.
        return [AxisPart("x", 2, 1, 2, False), AxisPart("y", 2, 1, 2, False)]
    node = machine_data()["machines"][machine]["node"]
    within = [AxisPart(NODE, min(group, node), 1, node, False)]
    return within if group <= node else [*within, AxisPart(NETWORK, group // node, 1, group // node, False)]


@pytest.mark.parametrize("machine", MACHINES)
def test_the_printed_error_is_that_of_times_that_nothing_was_fitted_to(machine: str) -> None:
    found = sorted(map(abs, errors(machine)))
    stated = machine_data()["machines"][machine]["error"]["collectives"]
    assert stated["rows"] == len(found)
    median, most = stated["median"], stated["nine_of_ten"]
    assert round(quantiles(found, n=2)[0], 2) == median
    assert round(quantiles(found, n=10)[8] if len(found) > 9 else found[-1], 2) == most


def test_times_without_measured_ones_are_those_of_links() -> None:
    """A millisecond a step and a gigabyte a second, unless a machine has floors and efficiencies."""
    node, torus = [AxisPart(NODE, 4, 1, 8, False)], [AxisPart("x", 4, 1, 8, False)]
    slow: dict[str, Any] = {"local": 1e9, "local_latency": 1e-3, "is_measured": False}
    plain = CollectiveTimes("", Links(**slow))
    assert plain.seconds("all_gather", 4e6, node) == pytest.approx(3e-3 + 3e6 / 1e9)
    assert plain.seconds("all_gather", 4e6, torus) == pytest.approx(3e-3 + 3e6 / 1e9)
    assert plain.seconds("all_gather", 4e6, []) == 0
    floors = {"all_gather": 5e-3, "": 2e-3}
    exact = CollectiveTimes("", Links(**slow, floors=floors, efficiency={"all_gather": 0.5}))
    assert exact.seconds("all_gather", 4e6, node) == pytest.approx(5e-3 + 3e6 / 5e8)
    assert exact.seconds("all_gather", 4e6, torus) == pytest.approx(2e-3 + 3e-3 + 3e6 / 5e8)
    assert exact.seconds("reduce_scatter", 4e6, node) == pytest.approx(3e-3 + 3e6 / 1e9)
    # A quarter of the value goes from each of four devices to the other node; the network has no latency.
    nodes = [AxisPart(NODE, 4, 1, 8, False), AxisPart(NETWORK, 2, 1, 2, False)]
    linked = CollectiveTimes("", Links(**slow, network=1e8))
    assert linked.seconds("all_gather", 8e6, nodes) == pytest.approx(3e-3 + 6e6 / 1e9 + 1e6 / 1e8)
    assert linked.seconds("collective_permute", 8e6, nodes) == pytest.approx(8e6 / 1e8)
