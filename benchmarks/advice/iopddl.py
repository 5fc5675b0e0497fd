"""Solves instances of the IOPDDL contest: python -m benchmarks.advice.iopddl FILE.json.gz…

An instance is a graph: each node has strategies with a cost and a usage of memory during an interval, each
edge a cost for each pair of strategies, and the usage has a limit at any time. This is the problem of a
compiler that chooses a sharding for each operation; https://github.com/google/iopddl has the files.

Nodes whose strategy follows from that of a neighbour are merged. Then messages are passed along the edges, as
in sequential tree-reweighted message passing. Times at which the usage is above the limit have a price, which
rises until the strategies fit, and falls then. What nearly fits is repaired, and single nodes are changed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import accumulate
from operator import add
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

from benchmarks.advice.table import Row, Rows, write_table

# The costs of the best known solution, and of that of XLA's solver.
KNOWN = {
    "A": (6_549_000_000, 13_210_000_000),
    "B": (532_843, 990_205),
    "G": (217_039, 1_264_777),
    "P": (651_800_000_000, 651_800_000_000),
}
_HEADER = ("instance", "nodes", "merged", "cost", "best known", "XLA's", "cost / best known", "s")
# What costs as much is not possible.
_INFINITE = 10**17
# After so many sweeps, prices change by these factors; the first price is this share of cost / limit.
_SWEEPS, _RISE, _FALL, _FIRST = 6, 1.25, 0.93, 0.01
# What is above the limit by less than this share is repaired, in at most so many steps.
_NEAR, _MAX_REPAIRS = Fraction(5, 100), 60

# A row for each strategy of a node, with the costs for those of the other one.
Table = Sequence[Sequence[int]]


class Member(NamedTuple):
    """A node of an instance, and its strategy for each one of the merged node."""

    node: int
    strategies: list[int]


class Problem:
    """An instance, with merged nodes. `edges[node][other]` is the table of an edge."""

    def __init__(self, data: dict[str, Any]) -> None:
        nodes = data["nodes"]
        self.size = len(nodes["costs"])
        self.limit: int = data.get("usage_limit", 1 << 62)
        self.usages: list[list[int]] = nodes["usages"]
        # Only times at which an interval begins matter.
        starts = sorted({start for start, end in nodes["intervals"] if start < end})
        self.intervals = [
            (bisect_left(starts, start), bisect_left(starts, max(start, end)))
            for start, end in nodes["intervals"]
        ]
        self.times = len(starts)
        self.costs: list[list[int]] = [list(costs) for costs in nodes["costs"]]
        self.edges: list[dict[int, Table]] = [{} for _ in self.costs]
        self.members = [[Member(node, list(range(len(costs))))] for node, costs in enumerate(self.costs)]
        for (first, second), costs in zip(data["edges"]["nodes"], data["edges"]["costs"], strict=True):
            width = len(self.costs[second])
            self._add_edge(first, second, [costs[at : at + width] for at in range(0, len(costs), width)])
        self._merge()

    def _add_edge(self, first: int, second: int, table: Table) -> None:
        old = self.edges[first].get(second)
        if old is not None:
            table = [list(map(add, *rows)) for rows in zip(old, table, strict=True)]
        self._set_edge(first, second, table)

    def _set_edge(self, first: int, second: int, table: Table) -> None:
        self.edges[first][second], self.edges[second][first] = table, list(zip(*table, strict=True))

    def _merge(self) -> None:
        """Merges nodes into those that decide their strategy."""
        waiting, merged = list(range(self.size)), set[int]()
        while waiting:
            node = waiting.pop()
            if node in merged:
                continue
            if self._drop_impossible(node):
                waiting += self.edges[node]
            for other, table in self.edges[node].items():
                possible = [[at for at, cost in enumerate(row) if cost < _INFINITE] for row in table]
                if all(len(each) == 1 for each in possible):
                    self._merge_into(node, other, [at for [at] in possible])
                    merged.add(other)
                    waiting += [node, *self.edges[node]]
                    break
        left = [node for node in range(self.size) if node not in merged]
        numbers = {node: number for number, node in enumerate(left)}
        self.costs, self.members = [self.costs[node] for node in left], [self.members[node] for node in left]
        self.edges = [{numbers[other]: table for other, table in self.edges[node].items()} for node in left]

    def _drop_impossible(self, node: int) -> bool:
        """Drops the strategies of a node for which a neighbour has none; whether there are any."""
        count = len(self.costs[node])
        kept = [
            at
            for at in range(count)
            if all(min(table[at]) < _INFINITE for table in self.edges[node].values())
        ]
        if len(kept) in (0, count):
            return False
        self._select(node, kept)
        for other, table in self.edges[node].items():
            self._set_edge(node, other, [table[at] for at in kept])
        return True

    def _select(self, node: int, kept: Sequence[int]) -> None:
        self.costs[node] = [self.costs[node][at] for at in kept]
        self.members[node] = [
            Member(each, [strategies[at] for at in kept]) for each, strategies in self.members[node]
        ]

    def _merge_into(self, node: int, other: int, following: Sequence[int]) -> None:
        table = self.edges[node].pop(other)
        del self.edges[other][node]
        self._select(other, following)
        between = (row[at] for row, at in zip(table, following, strict=True))
        self.costs[node] = list(map(sum, zip(self.costs[node], self.costs[other], between, strict=True)))
        self.members[node] += self.members[other]
        for third, costs in self.edges[other].items():
            del self.edges[third][other]
            self._add_edge(node, third, [costs[at] for at in following])
        self.edges[other] = {}

    def cost(self, chosen: Sequence[int]) -> int:
        """The cost of the strategies that are chosen."""
        total = sum(costs[own] for costs, own in zip(self.costs, chosen, strict=True))
        for node, others in enumerate(self.edges):
            total += sum(
                table[chosen[node]][chosen[other]] for other, table in others.items() if node < other
            )
        return total

    def costs_around(self, node: int, chosen: Sequence[int]) -> list[int]:
        """The costs of the strategies of a node and of its edges."""
        totals = self.costs[node]
        for other, table in self.edges[node].items():
            totals = [total + row[chosen[other]] for total, row in zip(totals, table, strict=True)]
        return totals

    def profile(self, chosen: Sequence[int]) -> list[int]:
        """The usage at each time."""
        changes = [0] * (self.times + 1)
        for members, own in zip(self.members, chosen, strict=True):
            for node, strategies in members:
                start, end = self.intervals[node]
                changes[start] += self.usages[node][strategies[own]]
                changes[end] -= self.usages[node][strategies[own]]
        return list(accumulate(changes))[:-1]

    def change(self, usage: list[int], node: int, old: int, new: int) -> list[int]:
        """The usage after a change of the strategy of a node."""
        usage = list(usage)
        for each, strategies in self.members[node]:
            more = self.usages[each][strategies[new]] - self.usages[each][strategies[old]]
            if more:
                start, end = self.intervals[each]
                usage[start:end] = [at + more for at in usage[start:end]]
        return usage

    def priced(self, prices: Sequence[float]) -> list[list[float]]:
        """The costs of nodes with the prices of their usage."""
        sums = [0.0, *accumulate(prices)]
        found = []
        for costs, members in zip(self.costs, self.members, strict=True):
            totals: list[float] = list(costs)
            for node, strategies in members:
                start, end = self.intervals[node]
                if price := sums[end] - sums[start]:
                    usages = self.usages[node]
                    totals = [
                        total + price * usages[at] for total, at in zip(totals, strategies, strict=True)
                    ]
            found.append(totals)
        return found


class Messages:
    """Messages between nodes: `received[node][other]` has a cost for each strategy of the node."""

    def __init__(self, problem: Problem) -> None:
        self._edges = problem.edges
        pairs = zip(problem.costs, problem.edges, strict=True)
        self._received = [{other: [0.0] * len(costs) for other in others} for costs, others in pairs]
        self._is_forward = True

    def sweep(self, costs: Sequence[Sequence[float]]) -> list[int]:
        """Passes messages from each node to those after it; the strategies that follow from them.

        The next sweep goes in the other direction.
        """
        chosen = [-1] * len(costs)
        order = range(len(costs))
        for node in order if self._is_forward else reversed(order):
            edges, received = self._edges[node], self._received[node]
            around = total = costs[node]
            before = 0
            for other, table in edges.items():
                total = list(map(add, total, received[other]))
                if chosen[other] < 0:
                    around = list(map(add, around, received[other]))
                else:
                    around = [sum_ + row[chosen[other]] for sum_, row in zip(around, table, strict=True)]
                    before += 1
            chosen[node] = around.index(min(around))
            share = 1 / max(before, len(edges) - before, 1)
            for other in edges:
                if chosen[other] < 0:
                    base = [share * at - own for at, own in zip(total, received[other], strict=True)]
                    sent = [min(map(add, base, column)) for column in self._edges[other][node]]
                    least = min(sent)
                    self._received[other][node] = [each - least for each in sent]
        self._is_forward = not self._is_forward
        return chosen


def solved(problem: Problem, seconds: float) -> list[int] | None:
    """The best strategies that fit, after some processor time; None if none are found."""
    start, messages = process_time(), Messages(problem)
    prices = [0.0] * problem.times
    best, least, first = None, 0, 0.0
    while process_time() - start < seconds:
        costs = problem.priced(prices)
        found = min((messages.sweep(costs) for _ in range(_SWEEPS)), key=partial(_total, problem, costs))
        usage = problem.profile(found)
        excess = max(usage, default=0) - problem.limit
        fitting = _repaired(problem, found, usage) if excess <= problem.limit * _NEAR else None
        if fitting is not None:
            fitting = _improved(problem, fitting)
            cost = problem.cost(fitting)
            if best is None or cost < least:
                best, least = fitting, cost
        first = first or problem.cost(found) / problem.limit * _FIRST
        above = set(_peaks(usage, problem.limit))
        prices = [
            max(price * _RISE, first) if at in above else price * _FALL for at, price in enumerate(prices)
        ]
    return best


def _total(problem: Problem, costs: Sequence[Sequence[float]], chosen: Sequence[int]) -> float:
    """The cost with prices."""
    own = sum(each[at] - cost[at] for each, cost, at in zip(costs, problem.costs, chosen, strict=True))
    return problem.cost(chosen) + own


def _peaks(usage: Sequence[int], limit: int) -> Iterator[int]:
    """The time of the largest usage in each part that is above the limit."""
    peak = None
    for at, each in enumerate([*usage, limit]):
        if each > limit:
            peak = at if peak is None or each > usage[peak] else peak
        elif peak is not None:
            yield peak
            peak = None


def _repaired(problem: Problem, chosen: Sequence[int], usage: list[int]) -> list[int] | None:
    """Changes single nodes until the strategies fit, first what costs least for what it saves."""
    found = list(chosen)
    for _ in range(_MAX_REPAIRS):
        excess = max(usage, default=0) - problem.limit
        if excess <= 0:
            return found
        at, best = usage.index(max(usage)), None
        for node, own in enumerate(found):
            saved = [0] * len(problem.costs[node])
            for each, strategies in problem.members[node]:
                start, end = problem.intervals[each]
                if start <= at < end:
                    usages = problem.usages[each]
                    more = usages[strategies[own]]
                    saved = [sum_ + more - usages[new] for sum_, new in zip(saved, strategies, strict=True)]
            if max(saved) <= 0:
                continue
            totals = problem.costs_around(node, found)
            for new, total in enumerate(totals):
                if saved[new] > 0:
                    price = (total - totals[own]) / min(saved[new], excess)
                    if best is None or price < best[0]:
                        best = price, node, new
        if best is None:
            return None
        _, node, new = best
        usage = problem.change(usage, node, found[node], new)
        found[node] = new
    return None


def _improved(problem: Problem, chosen: Sequence[int]) -> list[int]:
    """Changes single nodes to what costs less and fits."""
    found, usage = list(chosen), problem.profile(chosen)
    for node, own in enumerate(found):
        totals = problem.costs_around(node, found)
        for new in sorted(range(len(totals)), key=totals.__getitem__):
            if totals[new] >= totals[own]:
                break
            changed = problem.change(usage, node, own, new)
            if max(changed, default=0) <= problem.limit:
                found[node], usage = new, changed
                break
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.advice.iopddl", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="processor time for each instance")
    parser.add_argument("--output", type=Path, metavar="PAGE", help="write the table in this page")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="keep rows here, and go on from them")
    parser.add_argument("instances", nargs="+", type=Path)
    arguments = parser.parse_args()
    rows = Rows(arguments.keep)
    for path in arguments.instances:
        name = path.name.partition(".")[0].rpartition("-")[2]
        rows.add(name, partial(_rows, path, name, arguments.seconds))
    if arguments.output is not None:
        good = [row.good[0] for row in rows.all if row.good]
        summary = f"{sum(good)} of {len(good)} solutions cost less than the published ones of XLA's solver."
        write_table(arguments.output, "iopddl", summary, _HEADER, rows.all)
    return 0


def _rows(path: Path, name: str, seconds: float) -> list[Row]:
    text = path.read_bytes()
    problem = Problem(json.loads(gzip.decompress(text) if path.suffix == ".gz" else text)["problem"])
    start = process_time()
    chosen = solved(problem, seconds)
    cost = None if chosen is None else problem.cost(chosen)
    known, theirs = KNOWN.get(name, (0, 0))
    cells = [
        name,
        f"{problem.size:,}",
        f"{len(problem.costs):,}",
        "none fits" if cost is None else f"{cost:,}",
        f"{known:,}" if known else "",
        f"{theirs:,}" if theirs else "",
        f"{cost / known:.3f}" if known and cost is not None else "",
        f"{process_time() - start:.0f}",
    ]
    return [Row(cells, [cost is not None and cost < theirs] if theirs else [])]


if __name__ == "__main__":
    sys.exit(main())
