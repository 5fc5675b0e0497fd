"""The figures of a report: plain data, without a reference to the program.

Figures are per device, except those that are called global. Bytes and FLOPs are exact; a figure that is None
is unknown. A total sums the known figures and counts the unknown ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from sdyopt.analysis.figures.source_locations import NO_LOCATION, SourceLocation
from sdyopt.analysis.interface.pages.section import Section
from sdyopt.base.dataclasses import NamedTuple, dataclass, field
from sdyopt.base.patterns import constant_pattern

_AXIS_NAME = constant_pattern(r'"([^"]*)"')
_AXIS_SIZE = constant_pattern(r'"([^"]*)"=(\d+)')


# Loops in loops may have more runs than a float has room for; no program ends that has so many.
MAX_RUNS = 10**60


@dataclass(frozen=True, slots=True)
class RunTimes:
    """The number of runs of an operation, up to MAX_RUNS: from `low` to `high`, which differ in branches."""

    low: int
    high: int

    def __mul__(self, other: RunTimes) -> RunTimes:
        return RunTimes(min(self.low * other.low, MAX_RUNS), min(self.high * other.high, MAX_RUNS))

    def __add__(self, other: RunTimes) -> RunTimes:
        return RunTimes(min(self.low + other.low, MAX_RUNS), min(self.high + other.high, MAX_RUNS))


ONCE = RunTimes(1, 1)
NEVER = RunTimes(0, 0)


@dataclass(frozen=True, slots=True)
class Collective:
    """One collective. Some of sdy's, such as `sdy.all_slice`, send nothing.

    `axes` are the mesh axes as printed, `group` the same set in mesh order with adjacent sub-axes merged;
    both are words such as "groups of 4" where replica groups follow no axes. `wire_bytes` is what one device
    sends in one run by the ring model, on average over the devices. `times` is the number of runs; if it is
    unknown, `per_iteration` is that in one iteration of the loops whose trip count is unknown. `value` is the
    SSA name of the first result, `change` the shardings before and after the chain of sdy collectives
    that contains this collective. `moved` is the name of the argument of the program that it moves a part of,
    `updated` that of the argument that a gradient, which it computes, is combined with; both may be empty.
    `summed_over` are the names of the arguments over a dimension of which it sums up, such as those of
    products.
    `is_activation`: it reshards a value that is no argument and no result of the program, which XLA may do
    otherwise. `loop` is the line of the innermost loop around it. `is_hoisted`: XLA moves it out of a loop,
    as its operands do not change there; `times` and `loop` are those after that. `compiled` says what the
    compiler of the machine does otherwise than the partitioner; "" if nothing.
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
    times: RunTimes | None
    location: SourceLocation
    value: str
    cause: str
    change: str = ""
    moved: str = ""
    updated: str = ""
    is_activation: bool = False
    per_iteration: RunTimes | None = None
    loop: SourceLocation | None = None
    summed_over: Sequence[str] = ()
    is_hoisted: bool = False
    compiled: str = ""

    @property
    def axis_names(self) -> list[str]:
        """The mesh axes by name, without their sub-axes; none where replica groups follow no axes."""
        return axis_names(self.axes)


def axis_names(text: str) -> list[str]:
    """The names of the axes in a text, which are quoted."""
    return _AXIS_NAME.findall(text)


def axis_sizes(mesh: str) -> dict[str, int]:
    """The sizes of the axes in the text of a mesh, such as `<["x"=4, "y"=2]>`."""
    return {name: int(size) for name, size in _AXIS_SIZE.findall(mesh)}


@dataclass(frozen=True, slots=True)
class Undecided:
    """Communication without a collective yet: a reshard, or a custom call that needs a replicated operand."""

    kind: str
    type: str
    sharding_before: str
    sharding_after: str
    location: SourceLocation
    value: str
    times: RunTimes | None


# What values are to a program.
ARGUMENT, COPY, RESULT, TEMPORARY = "argument", "copy", "result", "temporary"
# The same in the words of a training step, and in the plural. A saved activation is one that the backward
# pass uses; an intermediate value is of none of the passes, such as one of the optimizer's.
GATHERED, PART = "gathered argument", "part or copy of an argument"
SAVED, ACTIVATION, RECOMPUTED = "saved activation", "activation", "recomputed activation"
GRADIENT, INTERMEDIATE = "gradient", "intermediate value"
LIVE_KINDS = {
    ARGUMENT: "arguments",
    RESULT: "results",
    GATHERED: "gathered arguments",
    PART: "parts and copies of arguments",
    SAVED: "activations saved for the backward pass",
    ACTIVATION: "other activations",
    RECOMPUTED: "recomputed activations",
    GRADIENT: "gradients",
    INTERMEDIATE: "intermediate values",
}
_COPIES = {GATHERED: "gathered", PART: "part or copy of"}


@dataclass(frozen=True, slots=True)
class LiveValue:
    """A value that is live at the peak. Each of its shards is on `replicas` devices; None if unknown.

    `value` is its SSA name, `name` that of the argument of the program that it is, or is a part or a copy of,
    or of the result that it is. `role` is "argument", "copy" (of one, or of a part), "result" or "temporary".
    If it were also sharded along `spare_axis`, it would have `spare_bytes` on a device; "" and None if there
    is no such axis. `what` is the role in the words of a training step, as in `LIVE_KINDS`, and `gradient_of`
    the weight that a gradient updates.
    """

    value: str
    type: str
    sharding: str
    bytes: int
    replicas: int | None
    location: SourceLocation
    spare_axis: str = ""
    spare_bytes: int | None = None
    name: str = ""
    role: str = TEMPORARY
    what: str = ""
    gradient_of: str = ""

    @property
    def described(self) -> str:
        """The name, or what the value is: `saved activation (dot_general)`, `gathered params['w']`."""
        kind = self.what or self.role
        if self.name:
            return self.name if self.role != COPY else f"{_COPIES.get(kind, kind)} {self.name}"
        if self.role == ARGUMENT:
            return self.value
        if self.gradient_of:
            return f"{kind} of {self.gradient_of}"
        op = self.location.name_stack.rpartition("/")[2] if self.location.line else ""
        return f"{kind} ({op or self.value})"


@dataclass(frozen=True, slots=True)
class MemoryPoint:
    """Live bytes at one operation of the entry function, those in its regions and callee included."""

    bytes: int
    location: SourceLocation


@dataclass(frozen=True, slots=True)
class LiveGroup:
    """Values of a timeline with one role, type, sharding and line, whose names differ in indices only.

    `what` is the role as in `LiveValue`.

    From each point in `changes` on, so many values of so many bytes are live: (point, number, bytes).
    """

    name: str
    type: str
    sharding: str
    location: SourceLocation
    role: str
    what: str
    changes: Sequence[tuple[int, int, int]]


@dataclass(frozen=True, slots=True)
class Timeline:
    """The live bytes of a program in its order, with the operations in regions and callees.

    A loop has the points of one iteration. `points` are at most as many as were asked for, each the highest
    of several operations; `counts` is the number of values that are live at each, and `groups` has the
    largest of these values.
    """

    points: Sequence[MemoryPoint]
    counts: Sequence[int]
    groups: Sequence[LiveGroup]


NO_TIMELINE = Timeline((), (), ())


@dataclass(slots=True)
class Memory:
    """Bytes on one device. `peak` is an estimate of what arguments, results and temporaries take together.

    `replicated` are the bytes at the peak that this device would not need if the devices that have the same
    shard divided it among themselves. `kinds` are the bytes at the peak of each of `LIVE_KINDS`, the most
    first. `unknown_values` is the number of values of unknown size, which no
    other figure includes. If the compiler is unknown, the figures are of what those for TPU and GPU both do,
    and `by_compiler` has the peak with each.
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
    kinds: Mapping[str, int] = field(default_factory=dict)
    by_compiler: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProductKernel:
    """How a compiler for TPU computes a product.

    `is_narrow`: what it writes has elements of 16 bits or less. `is_returned`: the program returns it.
    `vector_elements` are those of tiles that the vector unit computes it of, 0 if another unit does.
    `argument_bytes` are those of operands that are `arguments` of the program; `reads_arguments`: all are.
    `features` are those of the input of a convolution with a window: 1 if it has one in each group, 0 if it
    has more in several groups, and for other products. `slices` are the operands that a loop takes of
    arguments of the program, `slice_bytes` their bytes.
    """

    is_narrow: bool = False
    is_returned: bool = False
    vector_elements: int = 0
    argument_bytes: int = 0
    arguments: int = 0
    reads_arguments: bool = False
    features: int = 0
    slices: int = 0
    slice_bytes: int = 0


NO_KERNEL = ProductKernel()


@dataclass(frozen=True, slots=True)
class Product:
    """A dot_general, dot or convolution. `flops` are those of one run on one device.

    `global_flops` are those of one run of the global operation, `bytes` those of operands and result on one
    device, `collectives` the numbers of the collectives on its operands and of the reductions of its result.
    `spare_axes` are the mesh axes along which devices repeat the product, because no operand or result is
    sharded along them. `sizes` are those of its batch, of the rows and the columns of its result and of what
    it contracts, `element` the type of its operands.
    """

    kind: str
    flops: int | None
    global_flops: int | None
    times: RunTimes | None
    location: SourceLocation
    value: str
    bytes: int | None = None
    collectives: tuple[int, ...] = ()
    spare_axes: tuple[str, ...] = ()
    per_iteration: RunTimes | None = None
    sizes: tuple[int, int, int, int] | None = None
    element: str = ""
    kernel: ProductKernel = NO_KERNEL


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


@dataclass(slots=True)
class Elementwise:
    """The bytes that elementwise operations read and write in all runs: each alone, and fused where possible.

    Of the `count` operations, `unknown` are of unknown size or number.
    """

    count: int = 0
    unknown: int = 0
    alone: int = 0
    fused: int = 0


class KernelSize(NamedTuple):
    """What one run of a kernel reads and writes.

    `elements` are those that vectors pass through one after another: of the largest value, or a third of all.
    `is_of_product`: a product takes in its operations, which are before it or after it. `outside` are the
    bytes of arguments and results of the program.
    """

    bytes: int
    elements: int
    is_of_product: bool
    outside: int = 0


@dataclass(slots=True)
class Kernels:
    """The runs of the kernels of all operations but products and collectives, by their size.

    `unsized` are runs of others: the parts of very long chains, and kernels of Pallas that state their cost.
    Those compute `custom_flops`, and read and write `custom_bytes`.
    """

    sizes: dict[KernelSize, int] = field(default_factory=dict)
    unsized: int = 0
    custom_flops: int = 0
    custom_bytes: int = 0

    def add(self, size: KernelSize, runs: int) -> None:
        """Counts further runs of a kernel."""
        self.sizes[size] = self.sizes.get(size, 0) + runs

    @property
    def count(self) -> int:
        """The runs of kernels that no product takes in."""
        return self.unsized + sum(runs for size, runs in self.sizes.items() if not size.is_of_product)

    @property
    def bytes(self) -> int:
        """What those read and write."""
        return sum(size.bytes * runs for size, runs in self.sizes.items() if not size.is_of_product)

    @property
    def product_bytes(self) -> int:
        """What kernels read and write that products take in."""
        return sum(size.bytes * runs for size, runs in self.sizes.items() if size.is_of_product)


class TimedKernel(NamedTuple):
    """The seconds of all runs of a kernel that is no product, and what its largest value is."""

    kind: str
    location: SourceLocation
    runs: int
    seconds: Fraction


@dataclass(frozen=True, slots=True)
class TimeEstimate:
    """Estimated times, in the order of the collectives and products of the report.

    `elementwise` are the least and the greatest seconds of elementwise operations: fused, and each alone.
    They are None if unknown. `error` says how far such times are from measured ones. In whole steps, products
    take up to `slower` times as long as alone.
    """

    collectives: list[TimedCollective]
    products: list[TimedProduct]
    elementwise: tuple[Fraction, Fraction] | None = None
    error: str = ""
    slower: Fraction = Fraction(1)


@dataclass(frozen=True, slots=True)
class Carried:
    """A donated argument whose sharding is not that of the result that takes its place.

    `bytes` are those of the result on one device, `wire_bytes` those that it sends at most when it reshards
    the result for the next step; None if they are unknown.
    """

    argument: str
    result: int
    sharding_before: str
    sharding_after: str
    bytes: int | None
    wire_bytes: int | None
    location: SourceLocation


@dataclass(frozen=True, slots=True)
class BoundaryValue:
    """An argument or a result of the program. Each of its shards is on `replicas` devices; None if unknown.

    `name` is that of JAX, else the SSA name or the number. `bytes` are those on one device. `is_donated`: an
    argument whose memory a result takes.
    """

    name: str
    type: str
    sharding: str
    bytes: int | None
    replicas: int | None
    is_donated: bool = False


@dataclass(frozen=True, slots=True)
class Boundary:
    """The arguments and the results of a program, in its order."""

    arguments: Sequence[BoundaryValue] = ()
    results: Sequence[BoundaryValue] = ()


@dataclass(frozen=True, slots=True)
class Compiled:
    """What the compiler of a machine made of a program: its figures, and a comparison with those estimated.

    `compiler` is its name with its version, `target` what it compiled for, such as `v5e:4x4`. `flops` are
    those of its products, None if they are unknown; the products of `figures` are those of the program.
    `sent` are the bytes that a device sends there for each collective of the report, by number, as far as
    they correspond. `sections` are the comparison as text, `data` the same for JSON.
    """

    compiler: str
    target: str
    figures: Report
    flops: int | None = None
    sent: Mapping[int, Fraction] = field(default_factory=dict)
    sections: Sequence[Section] = ()
    data: Mapping[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class Report:
    """The figures of one module. `mesh` is the text of its largest named mesh, `devices` that mesh's size.

    `is_sharded` is False if there are several devices, but no shardings and no manual computations, such as
    after partitioning: how much work is repeated is then unknown. `time` is None unless a topology is given.
    `assumption` says which passes were assumed, where none are given. `group_by` is how the collectives are
    grouped. `carried` is the carried state that changes its sharding from step to step. `device_memory` are
    the bytes of a device, if they are given. `unknown_loops` are the loops of unknown trip count. `topology`
    is the name of the topology that times are estimated for, `speeds` what it says in words. `boundary` has
    the arguments and results. `compiler` is that of the topology, a name of `base/compilers.py`; without one,
    the figures are of what those for TPU and GPU both do, and `by_compiler` has the collectives of each.
    `independent` are the numbers of the products that a collective of a number may run beside, and
    `timed_kernels` has the other kernels, if the compiler is known.
    `compiled` are the figures of a machine's compiler, if it was asked.
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
    group_by: str = "auto"
    carried: list[Carried] = field(default_factory=list)
    elementwise: Elementwise | None = None
    kernels: Kernels | None = None
    device_memory: int | None = None
    topology: str = ""
    boundary: Callable[[], Boundary] = field(default=Boundary, repr=False, compare=False)
    speeds: str = ""
    compiled: Compiled | None = None
    independent: Callable[[int], Sequence[int]] = field(default=lambda _: (), repr=False, compare=False)
    timeline: Callable[[int], Timeline] = field(default=lambda _: NO_TIMELINE, repr=False, compare=False)
    compiler: str = ""
    timed_kernels: Callable[[], list[TimedKernel]] = field(default=list, repr=False, compare=False)
    by_compiler: Callable[[], Mapping[str, list[Collective]]] = field(default=dict, repr=False, compare=False)

    @property
    def best_known(self) -> Report:
        """The figures of the machine's compiler if it was asked, else these estimates."""
        return self if self.compiled is None else self.compiled.figures
