"""Topology files: their rates, and errors in them."""

from fractions import Fraction

import pytest

from sdyopt.analysis.figures.machines import (
    NAMES,
    is_target,
    machine_data,
    read_target,
    slices_of,
    target_text,
)
from sdyopt.analysis.figures.topology import Link, built_in_topology, read_topology
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import FileLoc
from sdyopt.base.diagnostics.usage import UsageError

TEXT = """
flops = "197 TFLOP/s"
memory_bandwidth = 819_000_000_000

[axes.data]
bandwidth = "45 GB/s"
latency = "1 us"

[axes]
model.bandwidth = "1.5 GiB/s"
"""


def test_rates_are_read_with_their_units() -> None:
    topology = read_topology("tpu.toml", f"node = 8\n{TEXT}")
    assert topology.flops == 197 * 10**12
    assert topology.memory_bandwidth == 819 * 10**9
    assert topology.links == {
        "data": Link(Fraction(45 * 10**9), Fraction(1, 10**6)),
        "model": Link(Fraction(3 * 2**29), None),
    }


def test_every_key_may_be_left_out() -> None:
    topology = read_topology("tpu.toml", "")
    assert (topology.flops, topology.memory_bandwidth, topology.links) == (None, None, {})


@pytest.mark.parametrize(
    ("text", "position", "message", "help"),
    [
        ("flops = ", (1, 9), "invalid TOML: Invalid value", "write one key = value per line"),
        ("flop = 1", (1, 1), "unknown table or key 'flop'", "did you mean 'flops'?"),
        ('flops = "3 GB/s"', (1, 1), "'flops' is not a quantity", 'such as flops = "197 TFLOP/s"'),
        ("flops = 0", (1, 1), "'flops' is zero", "write a rate above zero"),
        ("node = 0", (1, 1), "'node' is not a number of devices", "write node = 8"),
        ("flops = -1", (1, 1), "'flops' is not a quantity", "write a number with a unit"),
        ("axes = 1", (1, 1), "'axes' must be a table", "write [axes.NAME]"),
        ("[axes]\n  x = 1", (2, 3), "axis 'x' must be a table", "write [axes.x]"),
        ("[axes.x]\nbandwith = 1", (2, 1), "unknown key 'bandwith' in [axes.x]", "did you mean 'bandwidth'?"),
        ('[axes."x"]\nlatency = "1 m"', (2, 1), "'latency' is not a quantity", 'such as latency = "1 us"'),
        ('axes.x.latency = "1 m"', (1, 1), "'latency' is not a quantity", 'such as latency = "1 us"'),
        ('[axes]\nx = {latency = "1 m"}', (2, 1), "'latency' is not a quantity", "write a number"),
    ],
)
def test_invalid_topologies_are_located_and_have_help(
    text: str, position: tuple[int, int], message: str, help: str
) -> None:
    with pytest.raises(DiagnosticError) as caught:
        read_topology("tpu.toml", text)
    diagnostic = caught.value.diagnostic
    assert diagnostic.location == FileLoc("tpu.toml", *position)
    assert diagnostic.message.startswith(message)
    assert help in diagnostic.help


@pytest.mark.parametrize(
    ("machine", "devices", "shape", "slices"),
    [
        ("tpu-v5e", 2, (1, 2), 1),
        ("tpu-v5e", 8, (2, 4), 1),
        ("tpu-v5e", 16, (4, 4), 1),
        ("tpu-v5e", 12, (4, 4), 1),
        ("tpu-v5e", 256, (16, 16), 1),
        ("tpu-v5e", 8192, (16, 16), 32),
        ("tpu-v5e,slices=2", 32, (4, 4), 2),
        ("tpu-v5e:4x4", 32, (4, 4), 2),
        ("tpu-v5p", 8, (2, 2, 2), 1),
        ("tpu-v5p", 256, (4, 8, 8), 1),
        ("tpu-v5p", 8192, (16, 16, 16), 2),
        # Two devices of JAX on a chip.
        ("tpu-v7x", 8, (2, 2, 1), 1),
        ("tpu-v7x", 512, (4, 8, 8), 1),
        ("h100", 4, (1, 4), 1),
        ("h100", 32, (4, 8), 1),
        ("h100:8", 32, (4, 8), 1),
        ("gb200", 144, (2, 72), 1),
        ("cpu", 8, (1, 8), 1),
    ],
)
def test_a_machine_without_a_shape_has_one_that_fits_the_mesh(
    machine: str, devices: int, shape: tuple[int, ...], slices: int
) -> None:
    topology = built_in_topology(machine).on(f'<["x"={devices}]>')
    assert (topology.shape, topology.slices) == (shape, slices)
    assert topology.devices is not None
    assert topology.devices >= devices


def test_a_machine_says_what_compiles_for_it_and_what_memory_is_usable() -> None:
    topology = built_in_topology("tpu-v5e:4x4")
    assert (topology.compiler, topology.kind, topology.shape) == ("tpu", "v5e", (4, 4))
    assert topology.hbm_bytes == 63 * 2**28
    assert built_in_topology("tpu7x").kind == "v7x"
    assert [built_in_topology(name).compiler for name in ("h100", "cpu")] == ["gpu", "cpu"]


def test_every_figure_of_a_machine_has_a_source() -> None:
    data = machine_data()
    assert list(data["machines"]) == list(NAMES)
    for machine in data["machines"].values():
        figures = [machine, machine.get("link", {}), machine.get("network", {})]
        for key in ("flops", "memory_bandwidth", "memory", "bandwidth", "latency"):
            for table in figures:
                assert key not in table or table[key][1] in data["sources"]


@pytest.mark.parametrize(
    ("written", "machine"),
    [
        ("v5litepod-16", "tpu-v5e:4x4"),
        ("v5litepod-16,slices=2", "tpu-v5e:4x4,slices=2"),
        ("TPU v5 lite", "tpu-v5e"),
        ("tpu-v5-lite-podslice", "tpu-v5e"),
        ("v5e-8", "tpu-v5e:2x4"),
        ("v5e:4x4", "tpu-v5e:4x4"),
        ("TPU_v6e", "tpu-v6e"),
        ("v4-32", "tpu-v4:2x2x4"),
        ("v5p-64", "tpu-v5p:2x4x4"),
        ("trillium", "tpu-v6e"),
        ("ct5lp-hightpu-4t", "tpu-v5e"),
        ("h100x8", "h100:1x8"),
        ("16xH100", "h100:2x8"),
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("a3-ultragpu-8g", "h200"),
    ],
)
def test_machines_have_the_names_that_people_use(written: str, machine: str) -> None:
    target = read_target(written)
    assert is_target(written)
    assert target_text(target.name, target.shape, target.slices or 1) == machine


@pytest.mark.parametrize(
    ("written", "help"),
    [
        ("TPU v5", "did you mean 'tpu-v5e' or 'tpu-v5p'?"),
        ("tpu7x-16", "write its shape, such as tpu-v7x:2x2x4"),
        ("v5e-12", "write its shape, such as tpu-v5e:4x4"),
        ("h100x12", "write its shape, such as h100:2x8"),
        ("2x4", "name the machine, too, such as tpu-v5e:2x4"),
        ("a100-40gb", "write a100, which has 80 GB, and --device-memory=40GB for the other"),
    ],
)
def test_an_ambiguous_name_has_help(written: str, help: str) -> None:
    assert not is_target(written)
    with pytest.raises(UsageError) as error:
        read_target(written)
    assert error.value.help == help


@pytest.mark.parametrize(
    ("machine", "devices", "slices"),
    [("h100", 8, 1), ("tpu-v5e", 256, 1), ("tpu-v5e", 512, 2), ("made-up", 4, 1)],
)
def test_a_mesh_is_on_as_many_slices_as_it_fills(machine: str, devices: int, slices: int) -> None:
    assert slices_of(machine, devices) == slices
