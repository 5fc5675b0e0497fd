"""The machine that times and memory are estimated for, as the interface takes it: a name, a file, a size."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from sdyopt.base.diagnostics.ids import TOPOLOGY_ERROR
from sdyopt.base.diagnostics.usage import UsageError
from sdyopt.tools.api.errors import as_parse_error, as_value_error, path_text, require_text

if TYPE_CHECKING:  # imported only when they are used
    from sdyopt.analysis.figures.topology import Topology
    from sdyopt.analysis.interface.flag import TextFile


def topology_of(name: str | PathLike[str]) -> Topology:
    """The topology of a machine or a file. Raises ParseError, ValueError and FileNotFoundError."""
    from sdyopt.analysis.figures.topology import read_topology

    with as_parse_error(TOPOLOGY_ERROR):
        return read_topology(*topology_file_of(name))


def topology_file_of(name: str | PathLike[str]) -> TextFile:
    """The text of a topology. Raises ValueError for a wrong shape, FileNotFoundError for a wrong name."""
    from sdyopt.analysis.figures.machines import NAMES, is_target, machine_text
    from sdyopt.analysis.report.entry import topology_text

    path = path_text("topology", name)
    if is_target(path):
        with as_value_error():
            machine_text(path)
    try:
        with as_parse_error(TOPOLOGY_ERROR):
            return topology_text(path)
    except (FileNotFoundError, UsageError):
        machines = ", ".join(NAMES)
        raise FileNotFoundError(f"no machine and no file {path!r}; the machines are {machines}") from None


def memory_of_device(size: str | None) -> int | None:
    """The bytes of a `device_memory`. Raises TypeError and ValueError."""
    from sdyopt.analysis.figures.machines import memory_size

    if size is None:
        return None
    require_text("device_memory", size, "such as '16GiB'")
    with as_value_error():
        return memory_size("device-memory", size)
