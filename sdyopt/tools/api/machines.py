"""The machine that times and memory are estimated for, as the interface takes it: a name, a file, a size."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from sdyopt.base.diagnostics.ids import TOPOLOGY_ERROR
from sdyopt.tools.api.errors import as_parse_error, as_value_error, path_text, require_text

if TYPE_CHECKING:  # imported only when they are used
    from sdyopt.analysis.figures.topology import Topology
    from sdyopt.analysis.flag import TextFile


def topology_of(name: str | PathLike[str]) -> Topology:
    """The topology of a machine or a file. Raises ParseError, and FileNotFoundError with the machines."""
    from sdyopt.analysis.figures.topology import read_topology

    with as_parse_error(TOPOLOGY_ERROR):
        return read_topology(*topology_file_of(name))


def topology_file_of(name: str | PathLike[str]) -> TextFile:
    """The text of a topology. Raises FileNotFoundError with the machines."""
    from sdyopt.analysis.figures.machines import MACHINES
    from sdyopt.analysis.report.entry import topology_text

    path = path_text("topology", name)
    try:
        with as_parse_error(TOPOLOGY_ERROR):
            return topology_text(path)
    except FileNotFoundError:
        machines = ", ".join(MACHINES)
        raise FileNotFoundError(f"no machine and no file {path!r}; the machines are {machines}") from None


def memory_of_device(size: str | None) -> int | None:
    """The bytes of a `device_memory`. Raises TypeError and ValueError."""
    from sdyopt.analysis.figures.machines import memory_size

    if size is None:
        return None
    require_text("device_memory", size, "such as '16GiB'")
    with as_value_error():
        return memory_size("device-memory", size)
