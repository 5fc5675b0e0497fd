"""Reads the assignment of buffers that XLA dumps: what the memory of a device holds at its peak.

    allocation 3: size 524288, page 0, parameter 6, shape |f32[256,512]| at ShapeIndex {}, maybe-live-out:
     value: <1772 param.9 @0> (size=524288,offset=0): f32[256,512]{1,0:T(8,128)}
    allocation 165: size 6554112, page 0, preallocated-temp:
     value: <2233 fusion.164 @0> (size=393216,offset=15728640): f32[256,3,4,32]{0,3,2,1:T(8,128)}

Allocations with a color are in another memory, such as the on-chip memory of a TPU. Thread-local ones are of
computations that operations call, such as what a reduction applies. The temporaries share one allocation; a
second file has the steps of the schedule in which each is live, as `fusion.164{}:42-70`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from sdyopt.base.dataclasses import NamedTuple, dataclass

_ALLOCATION = re.compile(r"allocation \d+: size (\d{1,18}), (.*):$")
_VALUE = re.compile(r" value: <\d+ (\S+) @(\d+)> \(size=(\d{1,18}),offset=(\d{1,18})\): (.*)$")
_RANGE = re.compile(r" {4}(\S+):(\d{1,9})-(\d{1,9})$")
_TYPE = re.compile(r"\b[a-z]\w*\[[\d,]*\]")
_PARAMETER = re.compile(r"\bparameter (\d{1,9})\b")
ARGUMENT, RESULT, CONSTANT, TEMPORARY = KINDS = ("argument", "result", "constant", "temporary")


class BufferValue(NamedTuple):
    """A value in memory: the name of its instruction, its bytes with padding, its type and kind."""

    instruction: str
    bytes: int
    type: str
    kind: str


@dataclass(frozen=True)
class Buffers:
    """The memory of a device in bytes: all of it, and by kind; `values` are live at the peak, largest first.

    Temporaries may take more than those that are live together: one must fit into the gaps of others.
    """

    total: int
    by_kind: dict[str, int]
    values: list[BufferValue]


def read_buffers(assignment: str, live_ranges: str) -> Buffers:
    """The buffers of a dumped assignment in the memory that is not on the chip."""
    by_kind = dict.fromkeys(KINDS, 0)
    values: list[BufferValue] = []
    steps = dict(_live_ranges(live_ranges))
    for size, words, held in _allocations(assignment):
        if "color " in words:
            continue
        if "thread-local" in words:
            by_kind[TEMPORARY] += size
            continue
        kind = _kind(words)
        by_kind[kind] += size
        if kind == TEMPORARY:
            values += _at_peak(held, steps)
        elif held and size:
            name, _, _, _, type = held[0]
            values.append(BufferValue(name, size, _type_text(type), kind))
    values.sort(key=lambda value: (-value.bytes, value.instruction))
    return Buffers(sum(by_kind.values()), by_kind, values)


# The name, bytes, offset, full name and type of a value.
_Held = tuple[str, int, int, str, str]


def _allocations(text: str) -> Iterator[tuple[int, str, list[_Held]]]:
    size, words, held = 0, "", list[_Held]()
    for line in text.splitlines():
        if (match := _ALLOCATION.match(line)) is not None:
            if words:
                yield size, words, held
            size, words, held = int(match[1]), match[2], []
        elif words and (match := _VALUE.match(line)) is not None:
            name = match[1].partition("{")[0]
            full = match[1] if "{" in match[1] else f"{match[1]}{{}}"
            held.append((name, int(match[3]), int(match[4]), full, match[5]))
        elif words and not line.startswith(" "):
            # Totals and what comes after them.
            yield size, words, held
            words = ""
    if words:
        yield size, words, held


def _kind(words: str) -> str:
    if _PARAMETER.search(words) is not None:
        return ARGUMENT
    if "preallocated-temp" in words:
        return TEMPORARY
    return CONSTANT if "constant" in words else RESULT


def _live_ranges(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    for line in text.splitlines():
        if (match := _RANGE.match(line)) is not None:
            yield match[1], (int(match[2]), int(match[3]))


def _at_peak(held: list[_Held], steps: dict[str, tuple[int, int]]) -> list[BufferValue]:
    """The temporaries in the step in which they take most bytes; of those at one offset, the largest."""
    changes: dict[int, int] = defaultdict(int)
    ranges = []
    for value in held:
        start, end = steps.get(value[3], (0, -1))
        ranges.append((start, end))
        if end >= start:
            changes[start] += value[1]
            changes[end + 1] -= value[1]
    live = most = peak = 0
    for step in sorted(changes):
        live += changes[step]
        if live > most:
            most, peak = live, step
    buffers_by_number: dict[int, BufferValue] = {}
    for (name, size, offset, _, type), (start, end) in zip(held, ranges, strict=True):
        if start <= peak <= end and size > buffers_by_number.get(offset, BufferValue("", 0, "", "")).bytes:
            buffers_by_number[offset] = BufferValue(name, size, _type_text(type), TEMPORARY)
    return list(buffers_by_number.values())


def _type_text(type: str) -> str:
    """`f32[256,512]`, without the layout; `(…)` for a tuple."""
    match = _TYPE.match(type)
    return "(…)" if match is None else match[0]
