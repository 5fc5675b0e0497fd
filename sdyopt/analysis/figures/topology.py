"""Topologies: the speeds of devices and of the links between them, from a TOML file.

    flops = "197 TFLOP/s"          # of one device
    memory_bandwidth = "819 GB/s"  # of one device

    [axes.data]                    # the links along a mesh axis
    bandwidth = "45 GB/s"          # that one device sends with
    latency = "1 us"               # of one step of a ring

Every key may be left out; the times that need it are then unknown.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from sdyopt.analysis.figures.quantities import BYTES_PER_SECOND, FLOPS_PER_SECOND, SECONDS, Dimension
from sdyopt.analysis.figures.toml_file import TomlFile
from sdyopt.base.dataclasses import dataclass

_DEVICE = {"flops": FLOPS_PER_SECOND, "memory_bandwidth": BYTES_PER_SECOND}
_LINK = {"bandwidth": BYTES_PER_SECOND, "latency": SECONDS}
# Rates are divisors, so they must not be zero.
_RATES = (BYTES_PER_SECOND, FLOPS_PER_SECOND)


@dataclass(frozen=True, slots=True)
class Link:
    """Bytes per second that one device sends along an axis, and the seconds of a step; None if unknown."""

    bandwidth: Fraction | None = None
    latency: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Topology:
    """FLOPs and bytes of memory traffic per second of one device, None if unknown, and the links by axis."""

    flops: Fraction | None
    memory_bandwidth: Fraction | None
    links: dict[str, Link]

    def link(self, axes: Iterable[str]) -> Link:
        """The link of a ring along several axes: as slow as the slowest, and unknown if any is unknown."""
        links = [self.links.get(axis, Link()) for axis in axes]
        bandwidths = [link.bandwidth for link in links if link.bandwidth is not None]
        latencies = [link.latency for link in links if link.latency is not None]
        return Link(
            min(bandwidths) if links and len(bandwidths) == len(links) else None,
            max(latencies) if links and len(latencies) == len(links) else None,
        )


def read_topology(name: str, text: str) -> Topology:
    """The topology of a file. Raises DiagnosticError, located in the file, for any other text."""
    file = TomlFile(name, text)
    file.check_keys(list(file.values), (*_DEVICE, "axes"), "")
    axes = file.values.get("axes", {})
    if not isinstance(axes, dict):
        error = file.error("'axes' must be a table", "", "axes")
        raise error.help("write [axes.NAME] for each axis of the mesh")
    links = {}
    for axis, values in axes.items():
        if not isinstance(values, dict):
            error = file.error(f"axis '{axis}' must be a table", "axes", axis)
            raise error.help(f"write [axes.{axis}] and below it bandwidth = {BYTES_PER_SECOND.example}")
        table = f"axes.{axis}"
        file.check_keys(list(values), tuple(_LINK), table)
        links[axis] = Link(**_quantities(file, values, _LINK, table))
    return Topology(**_quantities(file, file.values, _DEVICE, ""), links=links)


def _quantities(
    file: TomlFile, values: dict[str, Any], dimensions: dict[str, Dimension], table: str
) -> dict[str, Fraction | None]:
    """The quantities of these keys; None for a key that the table does not have."""
    found: dict[str, Fraction | None] = dict.fromkeys(dimensions)
    for key, dimension in dimensions.items():
        if key in values:
            found[key] = file.quantity(values[key], dimension, table, key)
            if not found[key] and dimension in _RATES:
                error = file.error(f"'{key}' is zero", table, key)
                raise error.help(f"write a rate above zero, such as {key} = {dimension.example}")
    return found
