"""Estimated times of collectives and products, from the speeds of devices and links in a TOML file.

    machine = "tpu-v5e:4x4"        # a well-known machine, whose figures other keys replace

    flops = "197 TFLOP/s"          # of one device
    memory_bandwidth = "819 GB/s"  # of one device

    memory = "16 GiB"              # of one device
    node = 8                       # devices that [link] connects; default: all

    [axes.data]                    # the links along a mesh axis
    bandwidth = "45 GB/s"          # that one device sends with
    latency = "1 us"               # of one step of a ring

    [link]                         # along other axes, between devices of a node
    [network]                      # along other axes, between nodes

Every key may be left out; the times that need it are then unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from sdyopt.analysis.figures.figures import (
    Collective,
    Product,
    Report,
    TimedCollective,
    TimedProduct,
    TimeEstimate,
    axis_sizes,
)
from sdyopt.analysis.figures.machines import (
    ASSUMED_MACHINE,
    Target,
    devices_of,
    machine_data,
    read_target,
    shape_for,
    target_text,
)
from sdyopt.analysis.figures.toml_file import TomlFile
from sdyopt.analysis.figures.totals import seconds_of_runs
from sdyopt.analysis.figures.units import (
    BYTES,
    BYTES_PER_SECOND,
    FLOPS_PER_SECOND,
    SECONDS,
    Dimension,
    parse_quantity,
    rate_text,
    seconds_text,
)
from sdyopt.base.dataclasses import dataclass, replace
from sdyopt.base.diagnostics.usage import UsageError

_DEVICE = {"flops": FLOPS_PER_SECOND, "memory_bandwidth": BYTES_PER_SECOND, "memory": BYTES}
_SHARED = ("link", "network")
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
    """FLOPs and bytes of memory traffic per second of one device, None if unknown, and the links by axis.

    Other axes have the `local` link within a node of devices, and the `network` between nodes. `name` is that
    of the machine or of the file.

    A well-known machine has a `target`. `compiler` is the one that programs for it are compiled with: "tpu",
    "gpu", "cpu", or "" if unknown. `kind` is such as "v5e", `shape` such as (4, 4), of one of the `slices`;
    that of a GPU is nodes and devices of a node. `on` chooses the shape if none is given.
    """

    flops: Fraction | None
    memory_bandwidth: Fraction | None
    links: dict[str, Link]
    memory: Fraction | None = None
    local: Link | None = None
    network: Link | None = None
    node: int | None = None
    name: str = ""
    target: Target | None = None
    compiler: str = ""
    kind: str = ""
    shape: tuple[int, ...] | None = None
    slices: int = 1

    @property
    def hbm_bytes(self) -> int | None:
        """The usable bytes of one device's memory."""
        return None if self.memory is None else int(self.memory)

    @property
    def devices(self) -> int | None:
        """The number of devices of a machine whose shape is known."""
        if self.target is None or self.shape is None:
            return None
        return devices_of(self.target.name, self.shape, self.slices)

    def on(self, mesh: str) -> Topology:
        """The topology with a link for each axis of a mesh, whose last axes are within a node."""
        links, size = dict(self.links), 1
        for name, axis_size in reversed(axis_sizes(mesh).items()):
            size *= axis_size
            is_local = self.node is None or size <= self.node
            link = self.local if is_local else self.network or self.local
            if link is not None:
                links.setdefault(name, link)
        # In the order of the mesh.
        ordered = {name: links[name] for name in axis_sizes(mesh) if name in links}
        shape, slices = self.shape, self.slices
        if self.target is not None and size:
            shape, slices = shape_for(self.target, size)
        return replace(self, links=ordered | links, shape=shape, slices=slices)

    def link(self, axes: Iterable[str]) -> Link:
        """The link of a ring along several axes: as slow as the slowest, and unknown if any is unknown."""
        links = [self.links.get(axis, Link()) for axis in axes]
        bandwidths = [link.bandwidth for link in links if link.bandwidth is not None]
        latencies = [link.latency for link in links if link.latency is not None]
        return Link(
            min(bandwidths) if links and len(bandwidths) == len(links) else None,
            max(latencies) if links and len(latencies) == len(links) else None,
        )


def speeds_text(topology: Topology) -> str:
    """`197 TFLOP/s, 819 GB/s of device memory, 90 GB/s sent and 1.00 us a step along data`."""
    device = [
        rate_text(topology.flops, "FLOP/s"),
        f"{rate_text(topology.memory_bandwidth, 'B/s')} of device memory",
    ]
    axes: dict[Link, list[str]] = {}
    for axis, link in topology.links.items():
        axes.setdefault(link, []).append(axis)
    links = [
        f"{rate_text(link.bandwidth, 'B/s')} sent and {seconds_text(link.latency)} a step along "
        f"{', '.join(names)}"
        for link, names in axes.items()
    ]
    machine = []
    if topology.target is not None and topology.shape is not None:
        machine.append(target_text(topology.target.name, topology.shape, topology.slices))
        if machine[0] == topology.name:
            machine.clear()
    return ", ".join([*machine, *device, *links])


def built_in_topology(name: str) -> Topology:
    """The topology of a machine with its shape. Raises UsageError."""
    return _of_machine(read_target(name), name)


def _of_machine(target: Target, name: str) -> Topology:
    data = machine_data()["machines"][target.name]
    device = {key: _figure(data, key, dimension) for key, dimension in _DEVICE.items()}
    links = {
        table: Link(**{key: _figure(data[table], key, dimension) for key, dimension in _LINK.items()})
        for table in _SHARED
        if table in data
    }
    return Topology(
        **device,
        links={},
        local=links.get("link"),
        network=links.get("network"),
        node=data.get("node"),
        name=name,
        target=target,
        compiler=data["compiler"],
        kind=data["kind"],
        shape=target.shape,
        slices=target.slices or 1,
    )


def _figure(table: dict[str, Any], key: str, dimension: Dimension) -> Fraction | None:
    return parse_quantity(table[key][0], dimension) if key in table else None


def assumed_topology() -> Topology:
    """The speeds by which changes are compared where no machine is given; figures are of no compiler then."""
    return replace(built_in_topology(ASSUMED_MACHINE), compiler="")


def read_topology(name: str, text: str) -> Topology:
    """The topology of a file. Raises DiagnosticError, located in the file, for any other text."""
    if text == f'machine = "{name}"\n':
        return built_in_topology(name)
    file = TomlFile(name, text)
    file.check_keys(list(file.values), ("machine", *_DEVICE, "node", "axes", *_SHARED), "")
    machine = _machine(file, name)
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
    shared: dict[str, Link] = {}
    for table in _SHARED:
        if (values := file.values.get(table)) is not None:
            if not isinstance(values, dict):
                raise file.error(f"'{table}' must be a table", "", table).help(f"write [{table}]")
            file.check_keys(list(values), tuple(_LINK), table)
            shared[table] = Link(**_quantities(file, values, _LINK, table))
    node = file.values.get("node")
    if node is not None and (type(node) is not int or node < 1):
        raise file.error("'node' is not a number of devices", "", "node").help("write node = 8")
    device = _quantities(file, file.values, _DEVICE, "")
    return replace(
        machine,
        links=links,
        local=_with(machine.local, shared.get("link")),
        network=_with(machine.network, shared.get("network")),
        node=node or machine.node,
        **{key: figure for key, figure in device.items() if figure is not None},
    )


def _machine(file: TomlFile, name: str) -> Topology:
    """The topology of the machine that a file names; one without figures if it names none."""
    if (machine := file.values.get("machine")) is None:
        return Topology(None, None, {}, name=name)
    if not isinstance(machine, str):
        error = file.error("'machine' is not the name of a machine", "", "machine")
        raise error.help('write machine = "tpu-v5e:4x4"')
    try:
        return _of_machine(read_target(machine), name)
    except UsageError as error:
        raise file.error(error.message, "", "machine").help(error.help) from None


def _with(link: Link | None, replaced: Link | None) -> Link | None:
    """A link whose figures are those of another link, where that has any."""
    if link is None or replaced is None:
        return replaced or link
    return Link(
        replaced.bandwidth or link.bandwidth, link.latency if replaced.latency is None else replaced.latency
    )


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


# An estimate of the time of one run of a program on a topology, from the figures of its report.
#
# A collective takes its wire bytes divided by the bandwidth along its axes, plus a latency for each step of
# the ring. A product takes the time of its FLOPs, or that of reading its operands and writing its result if
# that is longer. An elementwise operation takes the time of its bytes: between those of a single pass over
# each fused chain, and those of each operation alone. Other operations take no time. A time that depends on
# an unknown figure, or on a speed that the topology does not have, is unknown.


# The number of ring steps of a collective with groups of n devices, by kind; a permute is one step.
_STEPS: dict[str, Callable[[int], int]] = {
    "all_gather": lambda n: n - 1,
    "all_reduce": lambda n: 2 * (n - 1),
    "all_to_all": lambda n: n - 1,
    "collective_broadcast": lambda n: n - 1,
    "collective_permute": lambda n: 1,
    "collective_reduce": lambda n: n - 1,
    "cross-replica-sum": lambda n: 2 * (n - 1),
    "reduce_scatter": lambda n: n - 1,
}


def ring_steps(kind: str, group_size: int) -> int:
    """The number of ring steps of a collective; 0 if its kind is unknown."""
    steps = _STEPS.get(kind)
    return 0 if steps is None else steps(group_size)


def time_estimate(report: Report, topology: Topology) -> TimeEstimate:
    """The time of each collective and of each product, in their order."""
    topology = topology.on(report.mesh)
    collectives = [
        TimedCollective(each.number, _seconds_of_collective(each, topology)) for each in report.collectives
    ]
    runs = {
        each.number: seconds_of_runs(timed.seconds, each.times)
        for each, timed in zip(report.collectives, collectives, strict=True)
    }
    # The time of a collective that several products need is divided equally among them.
    sharers = Counter(number for product in report.products for number in product.collectives)
    return TimeEstimate(
        collectives,
        [
            _timed_product(
                product, topology, [(runs[number], sharers[number]) for number in product.collectives]
            )
            for product in report.products
        ],
        _seconds_of_elementwise(report, topology),
    )


def _seconds_of_elementwise(report: Report, topology: Topology) -> tuple[Fraction, Fraction] | None:
    if report.elementwise is None or topology.memory_bandwidth is None:
        return None
    found, rate = report.elementwise, topology.memory_bandwidth
    return Fraction(found.fused) / rate, Fraction(found.alone) / rate


def _seconds_of_collective(each: Collective, topology: Topology) -> Fraction | None:
    """Seconds of one run."""
    if each.wire_bytes is None:
        return None
    if not each.wire_bytes:
        return Fraction(0)
    link = topology.link(each.axis_names)
    steps = _STEPS.get(each.kind)
    if link.bandwidth is None or link.latency is None or steps is None or each.group_size is None:
        return None
    return each.wire_bytes / link.bandwidth + steps(each.group_size) * link.latency


def _timed_product(
    product: Product, topology: Topology, collectives: list[tuple[Fraction | None, int]]
) -> TimedProduct:
    compute = _quotient(product.flops, topology.flops)
    memory = _quotient(product.bytes, topology.memory_bandwidth)
    seconds = None if compute is None or memory is None else max(compute, memory)
    known = sum((each / sharers for each, sharers in collectives if each is not None), Fraction(0))
    total = seconds_of_runs(seconds, product.times)
    return TimedProduct(
        product.value,
        seconds,
        "" if compute is None or memory is None else "compute" if compute >= memory else "memory",
        known if all(each is not None for each, _ in collectives) else None,
        total is not None and known > total,
    )


def _quotient(size: int | None, rate: Fraction | None) -> Fraction | None:
    return None if size is None or rate is None else size / rate
