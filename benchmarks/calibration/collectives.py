"""Compares estimated times of collectives with all measured ones of the machines' data:

    python -m benchmarks.calibration.collectives [--each]

Of each machine: all measured times; those of them that estimates interpolate, each estimated from the others;
and those that nothing was fitted to. --each lists what is more than 40 % off of those that are interpolated.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

from sdyopt.analysis.figures.collective_times import CollectiveTimes
from sdyopt.analysis.figures.machines import machine_data
from sdyopt.analysis.figures.mesh_layout import NETWORK, NODE, AxisPart
from sdyopt.analysis.figures.topology import built_in_topology

_NEAR = 0.4
# The machines whose times are counted together.
_TOGETHER = ("b200", "gb200", "h100")


def errors(machine: str, key: str) -> Iterator[float]:
    """Of the measured times that are `rows`, or that are `held` back: estimated / measured - 1."""
    for table in machine_data()["measured"][machine]:
        for row in table[key]:
            yield _error(machine, table, row)


def left_out(machine: str) -> Iterator[tuple[str, float]]:
    """Each time that estimates interpolate, and the error of the estimate without it."""
    for table in machine_data()["measured"][machine]:
        rows = table["rows"]
        try:
            for row in rows:
                table["rows"] = [other for other in rows if other is not row]
                name = f"{table['kind']} of {table['group']} devices, {row[0]} B: {row[1]} us"
                yield name, _error(machine, table, row)
        finally:
            table["rows"] = rows


def _error(machine: str, table: dict[str, Any], row: Sequence[float]) -> float:
    times = built_in_topology(machine).on('<["a"=8]>').times
    assert isinstance(times, CollectiveTimes)
    seconds = times.seconds(table["kind"], row[0], _parts(machine, table["group"]))
    assert seconds is not None
    return seconds * 1e6 / row[1] - 1


def _parts(machine: str, group: int | str) -> list[AxisPart]:
    """What a group lies on: a node or several, or the dimensions of a plane of a torus."""
    data = machine_data()["machines"][machine]
    if isinstance(group, str):
        sizes = zip("xy", map(int, group.split("x")[:2]), strict=True)
        return [AxisPart(name, size, 1, size, size % data["wrap"] == 0) for name, size in sizes]
    node = data["node"]
    within = [AxisPart(NODE, min(group, node), 1, node, False)]
    return within if group <= node else [*within, AxisPart(NETWORK, group // node, 1, group // node, False)]


def counts(found: Sequence[float]) -> str:
    """How many errors there are, their median, and how many are near."""
    if not found:
        return "none"
    near = sum(abs(error) <= _NEAR for error in found)
    shares = f"median {median(map(abs, found)):.1%}, within {_NEAR:.0%}: {near} = {near / len(found):.1%}"
    return f"{len(found)}, {shares}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration.collectives", description=__doc__)
    parser.add_argument("--each", action="store_true", help="list what is far off of the interpolated times")
    arguments = parser.parse_args()
    together: tuple[list[float], list[float], list[float]] = [], [], []
    for machine in machine_data()["measured"]:
        others = list(left_out(machine))
        kept_back = list(errors(machine, "held"))
        found = [*errors(machine, "rows"), *kept_back], [error for _, error in others], kept_back
        _print(machine, found)
        for name, error in others:
            if arguments.each and abs(error) > _NEAR:
                sys.stdout.write(f"  {error:+.0%} {name}\n")
        if machine in _TOGETHER:
            for all_errors, some in zip(together, found, strict=True):
                all_errors += some
    _print(", ".join(_TOGETHER), together)


def _print(name: str, found: Sequence[Sequence[float]]) -> None:
    all_errors, some, kept_back = map(counts, found)
    sys.stdout.write(f"{name}: all {all_errors}\n")
    sys.stdout.write(f"  each from the others {some}\n  nothing fitted to {kept_back}\n")


if __name__ == "__main__":
    main()
