"""The collectives of reports and of HLO in one form that can be compared, and their groups of devices."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from math import prod

from sdyopt.analysis.figures.figures import Report, RunTimes
from sdyopt.analysis.figures.source_locations import NO_LOCATION, SourceLocation
from sdyopt.analysis.hlo_comparison.hlo_graph import HloValue, Instruction
from sdyopt.base.dataclasses import dataclass, field


@dataclass(frozen=True, eq=False, slots=True)
class Loop:
    """A loop of HLO: the name stack and the line of its instruction, and how often it runs, if known."""

    name: str
    location: SourceLocation
    trips: int | None


@dataclass(frozen=True, eq=False, slots=True)
class HloSource:
    """An operand of a collective in HLO: its instruction, its value, and that of the result.

    `number` is that of the operand of `count`. `type` is the text of the type of the result. `loops` are
    around it, the innermost first. `produced_at` is where the operation is whose result it sends, `used_at`
    where those are that use its result.
    """

    computation: str
    op: Instruction
    number: int
    count: int
    operand: HloValue
    result: HloValue
    type: str
    loops: tuple[Loop, ...]
    produced_at: SourceLocation
    used_at: tuple[SourceLocation, ...]


_ELEMENT = re.compile(r"tensor<((?:\d+x)*+)(.*)>")
REDUCTIONS = ("all_reduce", "reduce_scatter")
_ROUNDS = {"all_reduce": 2}


@dataclass(frozen=True)
class CollectiveOperand:
    """An operand of a collective: the number of elements on one device, and the bits of an element.

    For an all-gather, the elements are those of the result. Permutes have no groups. `name` is `#3` in a
    report, and the name of the instruction in HLO. `is_sliced`: each device only uses a slice of
    the result. `sent` are the bytes that a device sends in one run, where they do not follow from the rest.
    `moved` is the name of the argument of the program that it moves. `per_iteration` is the number of runs in
    one iteration of loops whose trip count is unknown. `compiled` says what a machine's compiler makes of
    it. `hlo` says where in HLO it is, None of one of a report.
    """

    kind: str
    groups: Groups
    elements: int
    bits: int
    location: SourceLocation = NO_LOCATION
    name: str = ""
    times: RunTimes | None = None
    is_sliced: bool = False
    sent: Fraction | None = field(default=None, compare=False)
    moved: str = field(default="", compare=False)
    per_iteration: RunTimes | None = field(default=None, compare=False)
    compiled: str = field(default="", compare=False)
    hlo: HloSource | None = field(default=None, compare=False, repr=False)

    @property
    def source(self) -> HloSource:
        """Where one of HLO is in it."""
        assert self.hlo is not None
        return self.hlo

    @property
    def bytes(self) -> int:
        """The bytes of the elements."""
        return self.elements * self.bits // 8

    @property
    def group_size(self) -> int:
        """The number of devices in a group; 1 for a permute."""
        return size_of(self.groups)

    @property
    def wire_bytes(self) -> Fraction:
        """The bytes that a device sends along a ring; for a permute, on average over the devices."""
        if self.sent is not None:
            return self.sent
        if self.kind == "collective_permute":
            return Fraction(self.bytes)
        n = self.group_size
        return Fraction(_ROUNDS.get(self.kind, 1) * (n - 1) * self.bytes, n)

    @property
    def wire_bytes_of_runs(self) -> Fraction:
        """The same for all runs, as often as it may run; for one run if their number is unknown."""
        return self.wire_bytes * (1 if self.times is None else self.times.high)


def of_report(report: Report) -> Iterator[CollectiveOperand]:
    """The operands of those collectives of a report that communicate."""
    for collective in report.collectives:
        if not collective.wire_bytes:
            continue
        types = collective.local_results if collective.kind == "all_gather" else collective.local_operands
        groups: Groups = frozenset()
        if collective.kind != "collective_permute":
            groups = groups_of_axes(collective.axes, report.mesh)
        shapes = [shape for type in types if (shape := _ELEMENT.fullmatch(type)) is not None]
        sizes = [(prod(map(int, shape[1].split("x")[:-1])), bits_of(shape[2])) for shape in shapes]
        whole = sum(elements * bits for elements, bits in sizes)
        n = size_of(groups)
        ring = Fraction(_ROUNDS.get(collective.kind, 1) * (n - 1) * whole, 8 * n)
        # What is sent as 16-bit floats is not of the type of the program.
        is_half = bool(collective.compiled) and collective.wire_bytes * 2 == ring
        for elements, bits in sizes:
            yield CollectiveOperand(
                collective.kind,
                groups,
                elements,
                bits // 2 if is_half else bits,
                collective.location,
                f"#{collective.number}",
                collective.times,
                sent=collective.wire_bytes * elements * bits / whole if whole else None,
                moved=collective.moved,
                per_iteration=collective.per_iteration,
                compiled=collective.compiled,
            )


def bits_of(element: str) -> int:
    """The bits of an element of type `f32`, `complex<f32>` or `f8E4M3FN`; 8 for `i1` and `pred`."""
    if element in ("i1", "pred"):
        return 8
    if element.startswith("complex<"):
        return 2 * bits_of(element.removeprefix("complex<").removesuffix(">"))
    digits = re.search(r"\d{1,4}", element)
    return int(digits[0]) if digits is not None else 8


# Each group is a set of devices.
Groups = frozenset[frozenset[int]]

_IOTA = re.compile(r"\[([\d,]+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?")
_MESH = re.compile(
    r"mesh\[([^\]]*)\](?:, device_ids=\((?:(\[[\d,]+\])(T\([\d,]+\))?|([\d,]+))\))? ?\{([^}]*)\}"
)
_AXIS = re.compile(r"""['"]([^'"]+)['"](?::\((\d{1,18})\)(\d{1,18}))?""")
_SIZE = re.compile(r"""['"]([^'"]+)['"]=(\d{1,18})""")
_LIST = re.compile(r"\{((?:\{[\d,]*\},?)*)\}")
# Programs on more devices are not compared, because the lists of HLO text are as long as these.
MAX_DEVICES = 1 << 16
_MAX_SHOWN = 10**18


@lru_cache(maxsize=1 << 8)
def groups_of_hlo(text: str, devices: int) -> Groups:
    """The groups of `replica_groups=…`: as lists, as an iota with a transposition, or as axes of a mesh."""
    if (mesh := _MESH.match(text)) is not None:
        names, sizes = _names_and_sizes(mesh[1])
        if mesh[4]:
            ids = _numbers(mesh[4])
        elif mesh[2]:
            ids = _transposed(_numbers(mesh[2]), mesh[3])
        else:
            ids = list(range(_bounded(prod(sizes))))
        return _unique(_along(names, sizes, ids, _AXIS.findall(mesh[5])))
    if (iota := _IOTA.match(text)) is not None:
        ids = _transposed(_numbers(iota[2]), iota[3])
        size = max(_numbers(iota[1])[-1:], default=1) or 1
        return _grouped([ids[start : start + size] for start in range(0, len(ids), size)])
    listed = _LIST.match(text)
    rows = [] if listed is None else [_numbers(row) for row in re.findall(r"\{([\d,]+)\}", listed[1])]
    return _grouped(rows or [list(range(_bounded(devices)))])


@lru_cache(maxsize=1 << 8)
def groups_of_axes(axes: str, mesh: str) -> Groups:
    """The groups along `{"x", "y":(1)2}` in the mesh `<["x"=4, "y"=2], device_ids=[…]>`."""
    names, sizes = _names_and_sizes(mesh)
    return _unique(_along(names, sizes, _ids(mesh, sizes), _AXIS.findall(axes)))


def size_of(groups: Groups) -> int:
    """The number of devices in a group, the largest one; 1 if there are none."""
    return max(map(len, groups), default=1)


def in_all_slices(groups: Groups, per_slice: int, slices: int) -> Groups:
    """The same groups in each of several slices, whose devices are numbered one slice after the other."""
    if slices == 1:
        return groups
    _bounded(slices * max(per_slice, sum(map(len, groups))))
    return _unique(
        frozenset(
            frozenset(number * per_slice + device for device in group)
            for number in range(slices)
            for group in groups
        )
    )


def groups_across_slices(target: str, per_slice: int) -> Groups:
    """The groups of a transfer between slices: `{1,2}x{0:3}`, or `{{100000,200000},{100001,200001}}`."""
    slices, is_product, devices = target.partition("}x{")
    if not is_product:
        rows = [_numbers(row) for row in re.findall(r"\{([\d,]+)\}", target)]
        return _grouped([[_device(number, per_slice) for number in row] for row in rows])
    numbers = [_bounded(number) for number in _numbers(slices)]
    listed = list(islice(_ranges(devices), MAX_DEVICES + 1))
    _bounded(len(numbers) * len(listed))
    return _grouped([[(number - 1) * per_slice + device for number in numbers] for device in listed])


def slices_of(targets: Iterable[str]) -> int:
    """The number of slices that transfers between slices have as targets; 1 if there are none."""
    index = 1
    for target in dict.fromkeys(targets):
        slices, is_product, _ = target.partition("}x{")
        numbers = _numbers(slices) if is_product else [number // _PER_SLICE for number in _numbers(target)]
        index = max(index, *(_bounded(number) for number in numbers), 1)
    return index


# Device 3 of slice 2 is number 200003.
_PER_SLICE = 100_000


def _device(number: int, per_slice: int) -> int:
    slice, device = divmod(number, _PER_SLICE)
    return (slice - 1) * per_slice + device


def _ranges(text: str) -> Iterator[int]:
    """The numbers of `0:3,8`."""
    for first, last in re.findall(r"(\d{1,9})(?::(\d{1,9}))?", text):
        yield from range(int(first), _bounded(int(last or first)) + 1)


@lru_cache(maxsize=1 << 8)
def axes_of_groups(groups: Groups, mesh: str) -> str:
    """`{"x", "y"}`: the axes of a mesh along which groups are; "" if they are along none of its axes."""
    names, sizes = _names_and_sizes(mesh)
    ids = _ids(mesh, sizes)
    # The axes follow from one group: those along which the coordinates of its devices differ.
    group = next((group for group in groups if ids and ids[0] in group), frozenset())
    coordinates = [_coordinates(position, sizes) for position, device in enumerate(ids) if device in group]
    axes = []
    for name, size, values in zip(names, sizes, zip(*coordinates, strict=True), strict=False):
        used = sorted(set(values))
        if len(used) > 1:
            minor = used[1] - used[0]
            if size % (len(used) * minor):
                return ""
            before = size // (len(used) * minor)
            axes.append(f'"{name}"' if len(used) == size else f'"{name}":({before}){len(used)}')
    text = "{" + ", ".join(axes) + "}"
    return text if axes and _along(names, sizes, ids, _AXIS.findall(text)) == groups else ""


def _coordinates(position: int, sizes: Sequence[int]) -> list[int]:
    """The coordinates of a position in an array of these sizes, in row-major order."""
    result = []
    for size in reversed(sizes):
        position, coordinate = divmod(position, size)
        result.append(coordinate)
    return result[::-1]


def _ids(mesh: str, sizes: Sequence[int]) -> list[int]:
    """The devices of a mesh, by position."""
    _, _, ids = mesh.partition("device_ids=")
    return _numbers(ids) if ids else list(range(_bounded(prod(sizes))))


@lru_cache(maxsize=1 << 8)
def _unique(groups: Groups) -> Groups:
    """The first object of equal groups, so that comparing them takes no time."""
    return groups


def _names_and_sizes(mesh: str) -> tuple[list[str], list[int]]:
    pairs = _SIZE.findall(mesh)
    return [name for name, _ in pairs], [int(size) or 1 for _, size in pairs]


def _bounded(count: int) -> int:
    if count > MAX_DEVICES:
        many = f"{count} devices" if count < _MAX_SHOWN else "the devices"
        raise OverflowError(f"{many} are more than the {MAX_DEVICES} that are compared")
    return count


def _along(
    names: Sequence[str], sizes: Sequence[int], devices: Sequence[int], axes: Iterable[tuple[str, str, str]]
) -> Groups:
    """The groups of devices whose coordinates differ only along these axes and sub-axes."""
    groups: dict[tuple[int, ...], set[int]] = {}
    varying: dict[str, list[tuple[int, int]]] = {}
    for axis, before, part in axes:
        varying.setdefault(axis, []).append((int(before or 1) or 1, int(part or 0)))
    for position, device in enumerate(devices):
        rest, key = position, []
        for name, total in zip(reversed(names), reversed(sizes), strict=True):
            rest, coordinate = divmod(rest, total)
            fixed = coordinate
            for pre, length in varying.get(name, ()):
                size = length or total
                minor = max(total // (pre * size), 1)
                fixed -= coordinate // minor % size * minor
            key.append(fixed)
        groups.setdefault(tuple(key), set()).add(device)
    return frozenset(map(frozenset, groups.values()))


def _transposed(sizes: Sequence[int], permutation: str | None) -> list[int]:
    """The numbers 0, 1, … in an array of these sizes, in the order of its transposition, if that is one."""
    count = _bounded(prod(sizes))
    order = _numbers(permutation or "")
    if sorted(order) != list(range(len(sizes))):
        return list(range(count))
    strides = [prod(sizes[number + 1 :]) for number in range(len(sizes))]
    transposed = [0]
    for dim in order:
        transposed = [start + index * strides[dim] for start in transposed for index in range(sizes[dim])]
    return transposed


def _grouped(rows: Iterable[Sequence[int]]) -> Groups:
    return _unique(frozenset(frozenset(row) for row in rows))


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d{1,18}", text)]
