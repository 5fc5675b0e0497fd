"""Topology files: their rates, and errors in them."""

from fractions import Fraction

import pytest

from sdyopt.analysis.figures.topology import Link, read_topology
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import FileLoc

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
    topology = read_topology("tpu.toml", TEXT)
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
