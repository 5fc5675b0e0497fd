"""Built-in topologies of well-known machines, as text of topology files. docs/reports.md has the sources."""

from __future__ import annotations

from sdyopt.analysis.figures.units import BYTES, parse_quantity
from sdyopt.analysis.flag import TextFile
from sdyopt.analysis.interface import Request
from sdyopt.base.diagnostics.usage import UsageError

# Bandwidths are those that a device sends with: on a torus, both directions of one dimension.
_TPU = """flops = "{flops} TFLOP/s"
memory_bandwidth = "{memory_bandwidth} GB/s"
memory = "{memory} GiB"

[link]
bandwidth = "{link} GB/s"
latency = "1 us"
"""

_GPU = """flops = "{flops} TFLOP/s"
memory_bandwidth = "{memory_bandwidth} GB/s"
memory = "{memory} GB"
node = 8

[link]
bandwidth = "{link} GB/s"
latency = "1 us"

[network]
bandwidth = "{network} GB/s"
latency = "5 us"
"""

# Name -> text.
MACHINES = {
    "tpu-v4": _TPU.format(flops=275, memory_bandwidth=1200, memory=32, link=90),
    "tpu-v5e": _TPU.format(flops=197, memory_bandwidth=819, memory=16, link=90),
    "tpu-v5p": _TPU.format(flops=459, memory_bandwidth=2765, memory=95, link=180),
    "tpu-v6e": _TPU.format(flops=918, memory_bandwidth=1638, memory=32, link=180),
    "a100": _GPU.format(flops=312, memory_bandwidth=2039, memory=80, link=300, network=25),
    "h100": _GPU.format(flops=989, memory_bandwidth=3350, memory=80, link=450, network=50),
    "b200": _GPU.format(flops=2250, memory_bandwidth=8000, memory=180, link=900, network=50),
}
# The topology for changes of a program, where none is given.
ASSUMED_MACHINE = "tpu-v5e"


def topology_file(request: Request) -> TextFile | None:
    """The topology that --topology names: a machine or a file. Raises FileProblem."""
    name: str | None = request["topology"]
    if name is None:
        return None
    text = MACHINES.get(name)
    return request.read_text(name) if text is None else TextFile(name, text)


def memory_size(flag: str, size: str | None) -> int | None:
    """The bytes of a size of memory that is the value of a flag; None for none. Raises UsageError."""
    if not size:
        return None
    found = parse_quantity(int(size) if size.isascii() and size.isdecimal() else size, BYTES)
    if not found:
        raise UsageError(f"for the --{flag} option: '{size}' is not a size of memory", "such as 16GiB")
    return int(found)
