"""The figures of a report: plain data, without a reference to the program.

Figures are per device, except those that are called global. Bytes and FLOPs are exact; a figure that is None
is unknown. A total sums the known figures and counts the unknown ones.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from sdyopt.analysis.figures.source_locations import NO_LOCATION, SourceLocation
from sdyopt.base.dataclasses import dataclass, field

_AXIS_NAME = re.compile(r'"([^"]*)"')


@dataclass(frozen=True, slots=True)
class Times:
    """How often an operation runs: between `low` and `high` times, which differ in branches."""

    low: int
    high: int

    def __mul__(self, other: Times) -> Times:
        return Times(self.low * other.low, self.high * other.high)

    def __add__(self, other: Times) -> Times:
        return Times(self.low + other.low, self.high + other.high)


ONCE = Times(1, 1)
NEVER = Times(0, 0)


@dataclass(frozen=True, slots=True)
class Collective:
    """One collective. Some of sdy's, such as `sdy.all_slice`, send nothing.

    `axes` are the mesh axes as printed, `group` the same set in mesh order with adjacent sub-axes merged;
    both are words such as "groups of 4" where replica groups follow no axes. `wire_bytes` is what one device
    sends in one run by the ring model, on average over the devices. `times` is the number of runs; if it is
    unknown, `per_iteration` is that in one iteration of the loops whose trip count is unknown. `value` is the
    SSA name of the first result, `change` the shardings before and after the chain of sdy collectives
    that contains this collective.
    """

    number: int
    kind: str
    dialect: str
    axes: str
    group: str
    group_size: int | None
    local_operands: tuple[str, ...]
    local_results: tuple[str, ...]
    bytes_in: int | None
    bytes_out: int | None
    wire_bytes: Fraction | None
    times: Times | None
    location: SourceLocation
    value: str
    cause: str
    change: str = ""
    per_iteration: Times | None = None

    @property
    def axis_names(self) -> list[str]:
        """The mesh axes by name, without their sub-axes; none where replica groups follow no axes."""
        return _AXIS_NAME.findall(self.axes)


@dataclass(frozen=True, slots=True)
class Undecided:
    """Communication without a collective yet: a reshard, or a custom call that needs a replicated operand."""

    kind: str
    type: str
    sharding_before: str
    sharding_after: str
    location: SourceLocation
    value: str
    times: Times | None


@dataclass(frozen=True, slots=True)
class LiveValue:
    """A value that is live at the peak. Each of its shards is on `replicas` devices; None if unknown.

    If it were also sharded along `spare_axis`, it would have `spare_bytes` on a device; "" and None if there
    is no such axis.
    """

    value: str
    type: str
    sharding: str
    bytes: int
    replicas: int | None
    location: SourceLocation
    spare_axis: str = ""
    spare_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class MemoryPoint:
    """Live bytes at one operation of the entry function, those in its regions and callee included."""

    bytes: int
    location: SourceLocation


@dataclass(slots=True)
class Memory:
    """Bytes on one device. `peak` is an estimate of what arguments, results and temporaries take together.

    `replicated` are the bytes at the peak that this device would not need if the devices that have the same
    shard divided it among themselves. `unknown_values` is the number of values of unknown size, which no
    other figure includes.
    """

    arguments: int = 0
    results: int = 0
    constants: int = 0
    peak: int = 0
    peak_location: SourceLocation = NO_LOCATION
    live_at_peak: list[LiveValue] = field(default_factory=list)
    curve: Sequence[MemoryPoint] = ()
    unknown_values: int = 0
    replicated: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Product:
    """A dot_general, dot or convolution. `flops` are those of one run on one device.

    `global_flops` are those of one run of the global operation, `bytes` those of operands and result on one
    device, `collectives` the numbers of the collectives on its operands and of the reductions of its result.
    `spare_axes` are the mesh axes along which devices repeat the product, because no operand or result is
    sharded along them.
    """

    kind: str
    flops: int | None
    global_flops: int | None
    times: Times | None
    location: SourceLocation
    value: str
    bytes: int | None = None
    collectives: tuple[int, ...] = ()
    spare_axes: tuple[str, ...] = ()
    per_iteration: Times | None = None


@dataclass(frozen=True, slots=True)
class TimedCollective:
    """An estimate of the seconds of one run of a collective; None if unknown."""

    number: int
    seconds: Fraction | None


@dataclass(frozen=True, slots=True)
class TimedProduct:
    """An estimate of the seconds of one run of a product; None if unknown.

    `limit` says which takes longer, "compute" or "memory"; "" if unknown. `communication` is its share of the
    time of all runs of its collectives. If that is longer than all runs of the product, the product is
    communication-bound.
    """

    value: str
    seconds: Fraction | None
    limit: str
    communication: Fraction | None
    is_communication_bound: bool


@dataclass(frozen=True, slots=True)
class TimeEstimate:
    """Estimated times, in the order of the collectives and products of the report."""

    collectives: list[TimedCollective]
    products: list[TimedProduct]


@dataclass(slots=True)
class Report:
    """The figures of one module. `mesh` is the text of its largest named mesh, `devices` that mesh's size.

    `is_sharded` is False if there are several devices, but no shardings and no manual computations, such as
    after partitioning: how much work is repeated is then unknown. `time` is None unless a topology is given.
    `assumption` says which passes were assumed, where none are given. `unknown_loops` are the loops of
    unknown trip count.
    """

    devices: int = 1
    mesh: str = ""
    is_sharded: bool = True
    collectives: list[Collective] = field(default_factory=list)
    undecided: list[Undecided] = field(default_factory=list)
    memory: Memory = field(default_factory=Memory)
    products: list[Product] = field(default_factory=list)
    time: TimeEstimate | None = None
    assumption: str = ""
    unknown_loops: list[SourceLocation] = field(default_factory=list)
