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

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import permutations
from math import prod
from typing import Any

from sdyopt.analysis.figures.collective_times import ALL_GATHER, CollectiveTimes, Links, whole_bytes
from sdyopt.analysis.figures.figures import axis_sizes
from sdyopt.analysis.figures.located_files import TomlFile
from sdyopt.analysis.figures.machines import (
    ASSUMED_MACHINE,
    MachineTarget,
    devices_of,
    machine_data,
    read_target,
    shape_for,
    target_text,
)
from sdyopt.analysis.figures.mesh_layout import AxisPart, Layout, lay_out_on_nodes, lay_out_on_torus
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
from sdyopt.base.dataclasses import dataclass, field, replace
from sdyopt.base.diagnostics.ids import TOPOLOGY_ERROR
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.diagnostics.usage import UsageError
from sdyopt.shardy.notation.mesh_text import error_at_range

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
class Compute:
    """How fast a device computes: seconds that a kernel takes at least, and shares of its published speed.

    Products are of tiles of so many rows and columns, one of which is loaded in the time of `load` rows of
    the other operand. They take the seconds of `product` without any, and `narrow` FLOPs for each element
    that they write with 16 bits. `rates` are those of element types, where they are not that of bf16. What
    fits in the bytes of the `cache` is not read from memory. `vector` are the elements of a value that pass
    through the vector unit in a second; 0 if memory is the limit. `fused` is the share of their time that
    operations take which are fused into a product, `custom` that of its speed that a kernel such as one of
    attention has, `sustained` that of products in whole steps. A product over a dimension of at least `ring`
    elements of 16 bits hides the parts that its devices send around a ring.
    """

    kernel: Fraction
    product: Fraction
    cache: int
    tile: int
    load: int
    products: Fraction
    memory: Fraction
    vector: int
    narrow: int
    fused: Fraction
    custom: Fraction
    sustained: Fraction
    ring: int
    rates: dict[str, float]


@dataclass(frozen=True, slots=True)
class Topology:
    """FLOPs and bytes of memory traffic per second of one device, None if unknown, and the links by axis.

    Other axes have the `local` link within a node of devices, and the `network` between nodes. `name` is that
    of the machine or of the file.

    A well-known machine has a `target`. `compiler` is the one that programs for it are compiled with: "tpu",
    "gpu", "cpu", or "" if unknown. `kind` is such as "v5e", `shape` such as (4, 4), of one of the `slices`;
    that of a GPU is nodes and devices of a node. `on` chooses the shape if none is given, and adds the
    `layout` of the mesh and the `times` of collectives; `known` times and `meshes` are kept. The mesh is laid
    out as if its axes were in this `order`, if there is one. `is_given`: the speed of links is not that of
    the machine.
    """

    flops: Fraction | None
    memory_bandwidth: Fraction | None
    links: dict[str, Link]
    memory: Fraction | None = None
    local: Link | None = None
    network: Link | None = None
    node: int | None = None
    name: str = ""
    target: MachineTarget | None = None
    compiler: str = ""
    kind: str = ""
    shape: tuple[int, ...] | None = None
    slices: int = 1
    is_given: bool = False
    compute: Compute | None = None
    layout: Layout | None = None
    times: CollectiveTimes | None = None
    known: dict[tuple[object, ...], Fraction | None] = field(default_factory=dict)
    meshes: dict[str, Topology] = field(default_factory=dict)
    order: tuple[str, ...] = ()

    @property
    def kernel(self) -> Fraction | None:
        """The seconds of the smallest kernel of a machine."""
        return None if self.compute is None else self.compute.kernel

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
        if mesh not in self.meshes:
            sizes = axis_sizes(mesh)
            self.meshes[mesh] = self._linked(sizes) if self.target is None else self._laid_out(sizes)
        return self.meshes[mesh]

    def _linked(self, sizes: dict[str, int]) -> Topology:
        """The topology with the link of a node, or of the network, for each axis of a mesh without one."""
        links, size = dict(self.links), 1
        for name, axis_size in reversed(sizes.items()):
            size *= axis_size
            is_local = self.node is None or size <= self.node
            link = self.local if is_local else self.network or self.local
            if link is not None:
                links.setdefault(name, link)
        # In the order of the mesh.
        ordered = {name: links[name] for name in sizes if name in links}
        return replace(self, links=ordered | links, known={}, meshes={})

    def layouts(self, mesh: str) -> list[Topology]:
        """The topology with each way to lay a mesh on a machine, in the order of its axes first.

        They follow from the order of the axes in which devices are assigned to them.
        """
        sizes = axis_sizes(mesh)
        axes = [name for name, size in sizes.items() if size > 1]
        if self.target is None or len(axes) > _MAX_AXES:
            return [self.on(mesh)]
        topologies: dict[tuple[tuple[str, str], ...], Topology] = {}
        for order in permutations(axes):
            names = (*order, *(name for name in sizes if name not in order))
            topology = replace(self, order=names, meshes={}).on(mesh)
            assert topology.layout is not None
            topologies.setdefault(tuple(sorted(topology.layout.texts.items())), topology)
        return list(topologies.values())

    def _laid_out(self, sizes: dict[str, int]) -> Topology:
        """The topology of a machine with the parts of it that each axis of a mesh has."""
        assert self.target is not None
        sizes = {name: sizes[name] for name in self.order or sizes}
        data = machine_data()["machines"][self.target.name]
        try:
            shape, slices = shape_for(self.target, prod(sizes.values()))
        except UsageError as error:
            source = Source("--topology", self.name)
            problem = error_at_range(source, 0, len(self.name), error.message).help(error.help)
            problem.diagnostic.id, problem.diagnostic.source = TOPOLOGY_ERROR, source
            raise problem from None
        if "pod" in data:
            cores = data.get("devices_per_chip", 1)
            layout = lay_out_on_torus(sizes, data["kind"], shape, slices, cores, data["wrap"])
        else:
            layout = lay_out_on_nodes(sizes, self.node or shape[-1])
        times = CollectiveTimes(self.target.name, self._machine_links(data))
        return replace(self, shape=shape, slices=slices, layout=layout, times=times, known={}, meshes={})

    def _machine_links(self, data: dict[str, Any]) -> Links:
        local, network = self.local or Link(), self.network or Link()
        table = data.get("link", {})
        return Links(
            _float(local.bandwidth),
            _float(local.latency) or 0,
            _float(network.bandwidth),
            _float(network.latency) or 0,
            _float(_figure(data, "core", BYTES_PER_SECOND)),
            data.get("devices_per_chip", 1),
            {
                "": _float(_figure(table, "floor", SECONDS)) or 0,
                **{
                    kind: _float(parse_quantity(floor, SECONDS)) or 0
                    for kind, (floor, _) in data.get("floors", {}).items()
                },
            },
            {kind: value for kind, (value, _) in data.get("efficiency", {}).items()},
            is_measured=not self.is_given and "peers" not in data,
            peers=data.get("peers", False),
        )

    def parts_along(self, axes: Iterable[str], group_size: int | None = None) -> Sequence[AxisPart]:
        """What groups along these axes of the mesh lie on; nothing for a topology that is no machine."""
        return () if self.layout is None else self.layout.parts_along(axes, group_size)

    def seconds(
        self, kind: str, axes: Sequence[str], group_size: int, wire_bytes: Fraction, whole: int | None = None
    ) -> Fraction | None:
        """Seconds of one run of a collective of which one device sends so many bytes; None if unknown.

        `whole` are the bytes of its value if these do not follow from those that are sent.
        """
        if self.times is not None and not any(axis in self.links for axis in axes):
            key = kind, tuple(axes), group_size, wire_bytes, whole
            if key not in self.known:
                size = whole or whole_bytes(kind, group_size, float(wire_bytes))
                parts = self.parts_along(axes or self.layout_axes, group_size)
                result = self.times.seconds(kind, size, parts) if kind in _STEPS else None
                self.known[key] = None if result is None else Fraction(round(result * 10**12), 10**12)
            return self.known[key]
        link = self.link(axes)
        steps = _STEPS.get(kind)
        if link.bandwidth is None or link.latency is None or steps is None:
            return None
        return wire_bytes / link.bandwidth + steps(group_size) * link.latency

    @property
    def layout_axes(self) -> Sequence[str]:
        return () if self.layout is None else tuple(self.layout.parts)

    def link(self, axes: Iterable[str]) -> Link:
        """The link of a ring along several axes: as slow as the slowest, and unknown if any is unknown.

        That of a machine is what a device sends of a large value, and the seconds of a step of a small one.
        """
        axes = list(axes)
        if self.times is not None and axes and not any(axis in self.links for axis in axes):
            return self._machine_link(tuple(axes))
        links = [self.links[axis] if axis in self.links else self._machine_link((axis,)) for axis in axes]
        bandwidths = [link.bandwidth for link in links if link.bandwidth is not None]
        latencies = [link.latency for link in links if link.latency is not None]
        return Link(
            min(bandwidths) if links and len(bandwidths) == len(links) else None,
            max(latencies) if links and len(latencies) == len(links) else None,
        )

    def _machine_link(self, axes: tuple[str, ...]) -> Link:
        if self.times is None:
            return Link()
        parts = self.parts_along(axes)
        devices = prod(part.size for part in parts)
        small, large = (self.times.seconds(ALL_GATHER, size, parts) for size in (1, _LARGE))
        if devices == 1 or small is None or large is None:
            return Link()
        rate = _LARGE * (devices - 1) / devices / (large - small)
        return Link(Fraction(round(rate)), Fraction(round(small * 10**12), 10**12 * (devices - 1)))


# All orders of so many axes are looked at.
_MAX_AXES = 4
# A value whose time is that of its bytes.
_LARGE = 1 << 30


def speeds_text(topology: Topology) -> str:
    """`197 TFLOP/s, 819 GB/s of device memory, 90 GB/s sent and 1.00 us a step along data`."""
    device = [
        rate_text(topology.flops, "FLOP/s"),
        f"{rate_text(topology.memory_bandwidth, 'B/s')} of device memory",
    ]
    machine = []
    if topology.target is not None and topology.shape is not None:
        machine.append(target_text(topology.target.name, topology.shape, topology.slices))
        if machine[0] == topology.name:
            machine.clear()
    if topology.layout is not None:
        laid = topology.layout.texts
        sent = {axis: topology.link([axis]).bandwidth for axis in laid}
        links = [f"{axis} on {text}: {rate_text(sent[axis], 'B/s')}" for axis, text in laid.items()]
        return "; ".join([", ".join([*machine, *device]), *links])
    axes: dict[Link, list[str]] = {}
    for axis, link in topology.links.items():
        axes.setdefault(link, []).append(axis)
    links = [
        f"{rate_text(link.bandwidth, 'B/s')} sent and {seconds_text(link.latency)} a step along "
        f"{', '.join(names)}"
        for link, names in axes.items()
    ]
    return ", ".join([*device, *links])


def error_text(topology: Topology) -> str:
    """How far times of a machine are from measured ones, and if these are not independent; "" for a file."""
    if topology.target is None:
        return ""
    name = topology.target.name
    parts = [
        f"{what} on {name}: {_error_text(error)}"
        for what, error in machine_data()["machines"][name].get("error", {}).items()
    ]
    return f"error of {'; '.join(parts)}" if parts else f"times on {name} are not validated: formulas only"


def likely_error(topology: Topology) -> Fraction:
    """The share that 9 of 10 times of a machine are within, of those that are least known; 0 if none is."""
    if topology.target is None:
        return Fraction(0)
    errors = machine_data()["machines"][topology.target.name].get("error", {})
    return max((Fraction(str(error["nine_of_ten"])) for error in errors.values()), default=Fraction(0))


# Shares of fewer values say little.
_FEW = 10


def _error_text(error: dict[str, Any]) -> str:
    measured = f"{error['rows']} {error.get('of', 'measured times that nothing was fitted to')}"
    if error["rows"] < _FEW:
        return f"at most {round(error['nine_of_ten'] * 100)}% in {measured}"
    median, most = round(error["median"] * 100), round(error["nine_of_ten"] * 100)
    return f"median {median}%, 9 of 10 within {most}%, of {measured}"


def built_in_topology(name: str) -> Topology:
    """The topology of a machine with its shape. Raises UsageError."""
    return _of_machine(read_target(name), name)


def _of_machine(target: MachineTarget, name: str) -> Topology:
    data = machine_data()["machines"][target.name]
    device = {key: _figure(data, key, dimension) for key, dimension in _DEVICE.items()}
    links = {}
    for table in _SHARED:
        if (result := data.get(table)) is not None:
            latency = _figure(result, "hop" if "hop" in result else "latency", SECONDS)
            links[table] = Link(_figure(result, "bandwidth", BYTES_PER_SECOND), latency)
    return Topology(
        device["flops"],
        device["memory_bandwidth"],
        {},
        device["memory"],
        local=links.get("link"),
        network=links.get("network"),
        node=data.get("node"),
        name=name,
        target=target,
        compiler=data["compiler"],
        kind=data["kind"],
        shape=target.shape,
        slices=target.slices or 1,
        compute=_compute(data["compute"]) if "compute" in data else None,
    )


def _compute(table: dict[str, Any]) -> Compute:
    return Compute(
        _figure(table, "kernel", SECONDS) or Fraction(0),
        _figure(table, "product", SECONDS) or Fraction(0),
        int(_figure(table, "cache", BYTES) or 0),
        table["tile"][0],
        table.get("load", table["tile"])[0],
        Fraction(str(table["products"][0])),
        Fraction(str(table["memory"][0])),
        table["vector"][0] if "vector" in table else 0,
        table["narrow"][0] if "narrow" in table else 0,
        Fraction(str(table["fused"][0])),
        Fraction(str(table["custom"][0])),
        Fraction(str(table["sustained"][0])),
        table["ring"][0] if "ring" in table else 0,
        {element: rate for element, (rate, _) in table.get("rates", {}).items()},
    )


def _float(figure: Fraction | None) -> float | None:
    return None if figure is None else float(figure)


def _figure(table: dict[str, Any], key: str, dimension: Dimension) -> Fraction | None:
    return parse_quantity(table[key][0], dimension) if key in table else None


def assumed_topology() -> Topology:
    """The speeds by which changes are compared where no machine is given; figures are of no compiler then.

    Rings of two links and steps of a microsecond, however the mesh lies on a machine: a change should pay
    wherever the program runs.
    """
    machine = built_in_topology(ASSUMED_MACHINE)
    assert machine.local is not None
    assert machine.local.bandwidth is not None
    ring = Link(2 * machine.local.bandwidth * _USED, machine.local.latency)
    return replace(machine, compiler="", target=None, local=ring, network=None, compute=None)


# The share of their bandwidth that links are used with.
_USED = Fraction(9, 10)


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
        is_given=bool(shared),
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
    quantities: dict[str, Fraction | None] = dict.fromkeys(dimensions)
    for key, dimension in dimensions.items():
        if key in values:
            quantities[key] = file.quantity(values[key], dimension, table, key)
            if not quantities[key] and dimension in _RATES:
                error = file.error(f"'{key}' is zero", table, key)
                raise error.help(f"write a rate above zero, such as {key} = {dimension.example}")
    return quantities


# The number of ring steps of a collective with groups of n devices, by kind; a permute is one step.
_STEPS: dict[str, Callable[[int], int]] = {
    "all_gather": lambda n: n - 1,
    "all_reduce": lambda n: 2 * (n - 1),
    "all_to_all": lambda n: n - 1,
    "collective_broadcast": lambda n: n - 1,
    "collective_permute": lambda n: 1,
    "one_way_permute": lambda n: 1,
    "collective_reduce": lambda n: n - 1,
    "cross-replica-sum": lambda n: 2 * (n - 1),
    "reduce_scatter": lambda n: n - 1,
}


def ring_steps(kind: str, group_size: int) -> int:
    """The number of ring steps of a collective; 0 if its kind is unknown."""
    steps = _STEPS.get(kind)
    return 0 if steps is None else steps(group_size)
