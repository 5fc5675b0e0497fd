"""The time of a collective on a machine: from measured times where there are some, else from formulas.

    seconds = CollectiveTimes("b200", links).seconds("all_gather", 8, bytes, parts)

Bytes are those of the whole value on one device: of the operand, and of the result of an all-gather.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import inf, log, prod
from operator import itemgetter
from typing import Final

from sdyopt.analysis.figures.machines import machine_data
from sdyopt.analysis.figures.mesh_layout import CORE, NETWORK, NODE, SLICES, AxisPart
from sdyopt.base.dataclasses import dataclass

ALL_GATHER: Final = "all_gather"
ALL_REDUCE: Final = "all_reduce"
ALL_TO_ALL: Final = "all_to_all"
PERMUTE: Final = "collective_permute"
# In which some devices only send, or only receive.
ONE_WAY_PERMUTE: Final = "one_way_permute"
REDUCE_SCATTER: Final = "reduce_scatter"
# Kinds that take as long as another.
SAME_AS: Final = {
    "collective_broadcast": ALL_GATHER,
    "collective_reduce": REDUCE_SCATTER,
    "cross-replica-sum": ALL_REDUCE,
}

# A series of measured times: bytes, microseconds, by increasing bytes.
_Rows = Sequence[Sequence[float]]


@dataclass(frozen=True, slots=True)
class Links:
    """What the links of a machine send: bytes per second of one device, and seconds before the first byte.

    `local` is that within a node or along one link of a torus in one direction, `core` that between the cores
    of a chip, `network` that between nodes or slices. `floors` are the seconds of a collective without bytes,
    `efficiency` its share of the bandwidth, by kind. `is_measured`: measured times are those of these links.
    `peers`: each device of a node has a link of its own to each other.
    """

    local: float | None = None
    local_latency: float = 0
    network: float | None = None
    network_latency: float = 0
    core: float | None = None
    cores: int = 1
    floors: dict[str, float] | None = None
    efficiency: dict[str, float] | None = None
    is_measured: bool = True
    peers: bool = False


class CollectiveTimes:
    """The times of collectives on one machine."""

    def __init__(self, machine: str, links: Links) -> None:
        self._machine = machine
        self._links = links
        self._series: dict[tuple[str, str], dict[int, _Rows]] = {}

    def seconds(self, kind: str, size: float, parts: Sequence[AxisPart]) -> float | None:
        """Seconds of one run of a collective along these parts of a machine; None if they are unknown."""
        kind = SAME_AS.get(kind, kind)
        local = [part for part in parts if part.dimension not in (NETWORK, SLICES)]
        nodes = prod(part.size for part in parts if part.dimension in (NETWORK, SLICES))
        devices = prod(part.size for part in local)
        if nodes == 1:
            return self._local_seconds(kind, devices, size, local)
        # Groups of whole nodes were measured as such.
        is_whole = any(part.dimension == NODE and part.size == part.whole for part in local)
        whole = self._measured(kind, devices * nodes, size, exact=True) if is_whole else None
        if whole is not None:
            return whole
        return self._seconds_between(_BY_FORMULA.get(kind, kind), size, local, devices, nodes)

    def _local_seconds(self, kind: str, devices: int, size: float, parts: Sequence[AxisPart]) -> float | None:
        if devices == 1:
            return 0.0
        by_formula = _BY_FORMULA.get(kind, kind)
        if parts and (parts[0].is_torus or parts[0].dimension == CORE):
            return self._torus_seconds(by_formula, size, parts)
        measured = self._measured(kind, devices, size)
        return self._formula(by_formula, devices, size) if measured is None else measured

    def _formula(self, kind: str, devices: int, size: float) -> float | None:
        links = self._links
        if links.local is None:
            return None
        rate = links.local * (devices - 1 if links.peers and kind != PERMUTE else 1)
        floor = (links.floors or {}).get(kind, links.local_latency * max(1, devices - 1))
        return floor + size * wire_share(kind, devices) / (rate * (links.efficiency or {}).get(kind, 1))

    def _seconds_between(
        self, kind: str, size: float, parts: Sequence[AxisPart], devices: int, nodes: int
    ) -> float | None:
        """Within nodes and between them. A part of the value goes through the network from each device."""
        links = self._links
        if links.network is None:
            return None
        if kind == PERMUTE:
            return links.network_latency + size / links.network
        within = self._local_seconds(kind, devices, size, parts)
        if within is None:
            return None
        share = 1 if kind == ALL_TO_ALL else 1 / devices
        between = links.network_latency + size * share * wire_share(kind, nodes) / links.network
        # The steps of an all-reduce overlap; an all-gather has all shards of a node before it sends them on.
        return max(within, between) if kind in (ALL_REDUCE, ALL_TO_ALL) else within + between

    def _torus_seconds(self, kind: str, size: float, parts: Sequence[AxisPart]) -> float | None:
        """Along dimensions of a torus at once: rings use both directions, lines one link."""
        links = self._links
        if links.local is None:
            return None
        torus = [part for part in parts if part.is_torus]
        chips = prod(part.size for part in torus)
        has_cores = len(torus) < len(parts)
        hops = sum(part.size // 2 if is_ring(part) else part.size - 1 for part in torus)
        seconds = 0.0
        if torus:
            # The cores of a chip share its links, unless they exchange what has arrived.
            sharers = 1 if has_cores else links.cores
            if kind == PERMUTE:
                seconds = size * sharers / links.local
            elif kind == ALL_TO_ALL:
                # What crosses the middle of each dimension.
                seconds = max(
                    size * sharers * part.size * part.stride / (8 if is_ring(part) else 4) / links.local
                    for part in torus
                )
            else:
                rate = sum(links.local * (2 if is_ring(part) else 1) / part.stride for part in torus)
                seconds = size * wire_share(kind, chips) * sharers / rate
            seconds /= (links.efficiency or {}).get(kind, 1)
        if has_cores and links.core is not None:
            seconds = max(seconds, size * wire_share(kind, links.cores) / links.core)
        return (links.floors or {}).get("", 0) + hops * links.local_latency + seconds

    def _measured(self, kind: str, devices: int, size: float, exact: bool = False) -> float | None:
        """Seconds by measured times of this machine, else of one like it; None if there are none."""
        if not self._links.is_measured:
            return None
        own = self._of(self._machine, kind)
        if exact:
            own = {devices: own[devices]} if devices in own else {}
        if (group := _nearest(own, kind, devices, size)) is not None:
            return self._of_group(self._machine, own, group, kind, devices, size)
        like = machine_data()["machines"][self._machine].get("like")
        if exact or like is None or self._links.local is None:
            return None
        # As long as on that machine for the bytes that its links send in the same time.
        series, size = self._of(like[0], kind), size * like[1]
        group = _nearest(series, kind, devices, size)
        return None if group is None else self._of_group(like[0], series, group, kind, devices, size)

    def _of_group(
        self, machine: str, series: dict[int, _Rows], group: int, kind: str, devices: int, size: float
    ) -> float:
        """Seconds for a size of groups, from a measured size."""
        least = min(rows[0][1] for rows in series.values())
        seconds = interpolated(series[group], size, least)
        if group == devices:
            return seconds
        reference = self._of(_REFERENCE, kind)
        if machine != _REFERENCE and group in reference and devices in reference:
            # As the time changes with the size of groups where all of them are measured.
            return seconds * interpolated(reference[devices], size) / interpolated(reference[group], size)
        return seconds * wire_share(kind, devices) / wire_share(kind, group)

    def _of(self, machine: str, kind: str) -> dict[int, _Rows]:
        """The measured series of a kind by size of groups."""
        key = machine, kind
        if key not in self._series:
            rows: dict[int, list[Sequence[float]]] = {}
            for table in machine_data()["measured"].get(machine, ()):
                if table["kind"] == kind and isinstance(table["group"], int):
                    rows.setdefault(table["group"], []).extend(table["rows"])
            self._series[key] = {
                group: smoothed(floats) for group, floats in sorted(rows.items()) if len(floats) >= _MIN_ROWS
            }
            if not self._series[key] and kind in _INSTEAD:
                self._series[key] = self._of(machine, _INSTEAD[kind])
        return self._series[key]


# The machine that groups of all sizes were measured on.
_REFERENCE: Final = "b200"
# The least number of measured times that make a series, and how far it extends beyond them.
_MIN_ROWS: Final = 2
_BELOW, _BEYOND = 4, 16
_INSTEAD: Final = {ALL_GATHER: REDUCE_SCATTER, ONE_WAY_PERMUTE: PERMUTE}
_BY_FORMULA: Final = {ONE_WAY_PERMUTE: PERMUTE}
# The devices of a pair exchange their values; those of larger groups send them along rings.
_PAIR: Final = 2


def _nearest(series: dict[int, _Rows], kind: str, devices: int, size: float) -> int | None:
    """The measured size of groups that is nearest to one, of those that were measured with such values."""
    groups = [
        group for group, rows in series.items() if rows[0][0] / _BELOW <= size <= rows[-1][0] * _BEYOND
    ] or [group for group, rows in series.items() if len(rows) > _BELOW]
    if kind == PERMUTE and devices > _PAIR:
        groups = [group for group in groups if group > _PAIR] or groups
    return min(groups, key=lambda group: (abs(log(group / devices)), group), default=None)


def is_ring(part: AxisPart) -> bool:
    """Whether a group along a dimension is closed, so that both directions reach all of it."""
    return part.wraps and part.size == part.whole


def wire_share(kind: str, devices: int) -> float:
    """The bytes that a device of a group sends for each byte of the value."""
    if kind in (PERMUTE, ONE_WAY_PERMUTE):
        return 1.0
    return (2 if kind == ALL_REDUCE else 1) * (devices - 1) / devices


def whole_bytes(kind: str, devices: int, wire_bytes: float) -> float:
    """The bytes of the value of which one device sends so many."""
    share = wire_share(SAME_AS.get(kind, kind), devices)
    return wire_bytes / share if share else 0.0


def smoothed(rows: Sequence[Sequence[float]]) -> _Rows:
    """Measured times that do not fall with the bytes: medians of neighbors, where they would."""
    blocks: list[list[Sequence[float]]] = []
    for row in sorted(rows, key=itemgetter(0)):
        blocks.append([row])
        while len(blocks) > 1 and _time(blocks[-2]) > _time(blocks[-1]):
            last = blocks.pop()
            blocks[-1] += last
    return [(row[0], _time(block)) for block in blocks for row in block]


def _time(block: list[Sequence[float]]) -> float:
    """The time with the least sum of relative errors: the median, in which short times count more."""
    times = sorted(row[1] for row in block)
    weights = list(accumulate(1 / time for time in times))
    return next(time for time, weight in zip(times, weights, strict=True) if 2 * weight >= weights[-1])


def interpolated(rows: _Rows, size: float, least: float = inf) -> float:
    """Seconds between measured times: linear in bytes, as a floor and a bandwidth are.

    Before the first of them, too, but no less than the `least` microseconds of other sizes of groups.
    """
    if size <= rows[0][0]:
        (low, before), (high, after) = rows[0], rows[1]
        slope = (after - before) / (high - low) if high > low else 0
        return max(before - slope * (low - size), min(least, before)) * 1e-6
    for (low, before), (high, after) in pairwise(rows):
        if size <= high and high > low:
            return (before + (after - before) * (size - low) / (high - low)) * 1e-6
    (low, before), (high, after) = rows[-2:]
    rate = max((after - before) / (high - low), after / high / 2) if high > low else after / high
    return (after + rate * (size - high)) * 1e-6
