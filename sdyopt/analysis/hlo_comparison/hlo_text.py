"""Reads HLO text after XLA's optimizations, well enough to list its collectives.

    %all-reduce.1 = f32[8,16]{1,0} all-reduce(%dot.3), replica_groups=[4,2]<=[8], metadata={… source_line=12}

Each operand of a combined collective is a collective of its own. An instruction runs as often as the loops
around it, whose numbers of trips XLA states.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import prod

from sdyopt.analysis.figures.figures import ONCE, Times
from sdyopt.analysis.figures.source_locations import Frame, SourceLocation
from sdyopt.analysis.hlo_comparison.collectives import CollectiveOperand, bits_of
from sdyopt.analysis.hlo_comparison.device_groups import Groups, groups_of_hlo
from sdyopt.base.dataclasses import dataclass, field, replace
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import FileLoc

_HEADER = re.compile(r"HloModule\s")
_COUNTS = re.compile(r"\b(num_partitions|replica_count)=(\d{1,9})")
_COMPUTATION = re.compile(r"(ENTRY\s+)?%?([\w.-]+)\s*\((?=.*\{\s*$).*?\)\s*->")
_OP = re.compile(
    r"\s*+(?:ROOT )?%?([\w.-]++) = (\(.*?\)|\S+) "
    r"(all-reduce|all-gather|reduce-scatter|all-to-all|ragged-all-to-all|collective-permute)(?:-start)?\((.*)"
)
_SHAPE = re.compile(r"\b([a-z]\w*+)\[([\d,]*)\]")
_PAIRS = re.compile(r"source_target_pairs=(\{(?:\{[\d,]*\},?)*\})")
_CALLED = re.compile(
    r"\b(body|condition|to_apply|calls|true_computation|false_computation|branch_computations)="
    r"(\{[^}]*\}|%?[\w.-]+)"
)
_CALLS = re.compile(r"\bcalls=%?([\w.-]+)")
_SLICE = re.compile(r"\sdynamic-slice\(")
_PASSES_ON = re.compile(r" (?:all-gather-done|bitcast|copy|reshape|transpose|convert)\(")
# Not the operation, nor a part of a path.
_NAME = re.compile(r"(?<![\w./-])[A-Za-z_][\w.-]*+(?!\()")
_TRIPS = re.compile(r'known_trip_count\\?"?:\{\\?"?n\\?"?:\\?"?(\d{1,18})')
_METADATA = re.compile(r"metadata=\{([^{}]*)\}")
_FIELD = re.compile(r'\b(\w++)=("[^"]*"|\d{1,9})')
_TABLES = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")
# JAX keeps at most 10 frames of a call stack by default.
_MAX_FRAMES = 64


@dataclass(slots=True)
class CompiledProgram:
    """The operands of the collectives that communicate, and the number of those of combined collectives.

    `all_operands` are also those of collectives whose groups have one device.
    """

    operands: list[CollectiveOperand] = field(default_factory=list)
    all_operands: list[CollectiveOperand] = field(default_factory=list)
    combined: int = 0
    devices: int = 1


def read_hlo(name: str, text: str, devices: int = 0) -> CompiledProgram:
    """The collectives of optimized HLO text. Raises DiagnosticError for any other text.

    `devices` is the number of devices, by default that of the text.
    """
    if _HEADER.match(text) is None:
        error = DiagnosticError.at(
            FileLoc(name, 1, 1), "this is not HLO text: it does not start with HloModule"
        )
        raise error.help("write what compiled.as_text() returns in JAX")
    try:
        return _Reader(text, devices).program()
    except OverflowError as problem:
        raise DiagnosticError.at(FileLoc(name, 1, 1), str(problem)) from None


class _Reader:
    def __init__(self, text: str, devices: int) -> None:
        self._lines = text.splitlines()
        header = dict(_COUNTS.findall(self._lines[0]))
        self._devices = devices or int(header.get("num_partitions", 1)) * int(header.get("replica_count", 1))
        self._tables = _tables(self._lines)
        # Computation -> the lines of its instructions.
        self._computations: dict[str, list[str]] = {}
        self._entry = ""
        current: list[str] | None = None
        for line in self._lines:
            if not line.startswith((" ", "}")) and (match := _COMPUTATION.match(line)) is not None:
                current = self._computations.setdefault(match[2], [])
                self._entry = match[2] if match[1] else self._entry
            elif line.startswith("}"):
                current = None
            elif current is not None:
                current.append(line)

    def program(self) -> CompiledProgram:
        found = CompiledProgram(devices=self._devices)
        times = self._times()
        for name, lines in self._computations.items():
            gathers = any(" all-gather" in line for line in lines)
            users = self._users(lines) if gathers else {}
            for line in lines:
                if "-done(" not in line and (match := _OP.match(line)) is not None:
                    is_sliced = match[3] == "all-gather" and self._is_sliced(match[1], users)
                    operands = [
                        replace(each, is_sliced=is_sliced) if is_sliced else each
                        for each in self._operands(match, times.get(name))
                    ]
                    found.all_operands += operands
                    found.combined += len(operands) if len(operands) > 1 else 0
                    found.operands += [each for each in operands if self._communicates(each, match[4])]
        return found

    # --- Collectives --------------------------------------------------------------------------

    def _operands(self, match: re.Match[str], times: Times | None) -> Iterator[CollectiveOperand]:
        name, result, op, rest = match.groups()
        kind = op.replace("-", "_")
        shapes = [
            (prod(map(int, re.findall(r"\d{1,18}", dims))), type) for type, dims in _SHAPE.findall(result)
        ]
        is_async = f"{op}-start(" in match[0]
        if is_async and kind != "all_reduce" and result.startswith("(") and len(shapes) > 1:
            # The operand comes first in the result of a start; counters follow that of a permute.
            shapes = shapes[1:2] if kind == "collective_permute" else shapes[len(shapes) // 2 :]
        groups: Groups = frozenset()
        if kind != "collective_permute":
            _, _, listed = rest.partition("replica_groups=")
            groups = groups_of_hlo(_group_text(listed), self._devices)
        if kind == "all_to_all" and result.startswith("(") and shapes:
            # A tuple with one operand for each device of a group.
            shapes = [(sum(elements for elements, _ in shapes), shapes[0][1])]
        factor = max(map(len, groups), default=1) if kind == "reduce_scatter" else 1
        location = self._location(rest)
        for elements, type in shapes:
            yield CollectiveOperand(kind, groups, elements * factor, bits_of(type), location, name, times)

    def _communicates(self, each: CollectiveOperand, attributes: str) -> bool:
        if each.kind == "collective_permute":
            pairs = _PAIRS.search(attributes)
            return pairs is not None and any(
                source != target for source, target in re.findall(r"\{(\d+),(\d+)\}", pairs[1])
            )
        return max(map(len, each.groups), default=1) > 1

    def _is_sliced(self, name: str, users: Mapping[str, Sequence[str]]) -> bool:
        """Whether only slices use an all-gather, and devices differ by their number."""
        names, found = [name], []
        for each in names:
            for line in users.get(each, ()):
                instruction, _, text = line.partition(" = ")
                if _PASSES_ON.search(text) is not None:
                    names.append(instruction.removeprefix("  ROOT ").strip(" %"))
                else:
                    found.append(self._with_called(text))
        is_by_device = any("partition-id(" in line for line in self._lines)
        return bool(found) and is_by_device and all(_SLICE.search(text) is not None for text in found)

    @staticmethod
    def _users(lines: Sequence[str]) -> dict[str, list[str]]:
        """The instructions by the names that they mention."""
        users: dict[str, list[str]] = {}
        for line in lines:
            for name in dict.fromkeys(_NAME.findall(line.partition(" = ")[2])):
                users.setdefault(name, []).append(line)
        return users

    def _with_called(self, text: str) -> str:
        """An instruction with those of the fusion that it is."""
        called = _CALLS.search(text) if " fusion(" in text else None
        return text if called is None else "\n".join(self._computations.get(called[1], ()))

    # --- Counts -------------------------------------------------------------------------------

    def _times(self) -> dict[str, Times | None]:
        """The number of times that each computation runs; those that no one calls are left out."""
        calls: dict[str, list[tuple[str, Times | None]]] = {}
        for caller, lines in self._computations.items():
            for line in lines:
                trips = _TRIPS.search(line)
                for role, names in _CALLED.findall(line):
                    factor: Times | None = ONCE
                    if role in ("body", "condition"):
                        factor = None if trips is None else Times(int(trips[1]), int(trips[1]))
                    elif role.endswith(("computation", "computations")):
                        factor = Times(0, 1)
                    for callee in re.findall(r"[\w.-]+", names):
                        if callee in self._computations:
                            calls.setdefault(callee, []).append((caller, factor))
        found: dict[str, Times | None] = {self._entry: ONCE}
        # A computation is printed after those that it calls.
        for name in reversed(list(self._computations)):
            if name == self._entry or name not in calls:
                continue
            total: Times | None = Times(0, 0)
            for caller, factor in calls[name]:
                if caller in found:
                    times = found[caller]
                    if total is None or times is None or factor is None:
                        total = None
                    else:
                        total = total + times * factor
            found[name] = total
        return found

    # --- Locations ----------------------------------------------------------------------------

    def _location(self, rest: str) -> SourceLocation:
        metadata = _METADATA.search(rest)
        fields = {} if metadata is None else dict(_FIELD.findall(metadata[1]))
        name = fields.get("op_name", "").strip('"')
        numbers = {field: int(value) for field, value in fields.items() if value.isdecimal()}
        if "stack_frame_id" in numbers and (frames := self._frames(numbers["stack_frame_id"])):
            first = frames[0]
            return SourceLocation(first.file, first.line, first.column, name, frames, name)
        file, line = fields.get("source_file", "").strip('"'), numbers.get("source_line", 0)
        frames = (Frame("", file, line, 0),) if line else ()
        return SourceLocation(file, line, 0, name, frames, name)

    def _frames(self, number: int) -> tuple[Frame, ...]:
        """The call stack of a frame, the innermost first. The parent of frame 5 is 4 if it says 5."""
        files, functions, places, frames = (self._tables[name] for name in _TABLES)
        found: list[Frame] = []
        while number in frames and len(found) < _MAX_FRAMES:
            frame = _numbers_of(frames[number])
            place = _numbers_of(places.get(frame.get("file_location_id", 0), ""))
            found.append(
                Frame(
                    functions.get(place.get("function_name_id", 0), "").strip('"'),
                    files.get(place.get("file_name_id", 0), "").strip('"'),
                    place.get("line", 0),
                    place.get("column", 0),
                )
            )
            number = frame.get("parent_frame_id", 0) - 1
        return tuple(found)


def _group_text(text: str) -> str:
    """The groups at the start of a text, without what follows."""
    match = re.match(r"mesh\[[^\]]*\](?:, device_ids=\([^ ]*\))? ?\{[^}]*\}|\{(?:\{[\d,]*\},?)*\}|\S+", text)
    return "" if match is None else match[0].rstrip(",")


def _tables(lines: list[str]) -> dict[str, dict[int, str]]:
    """The tables of frames, by name and number, which newer XLA prints before the computations."""
    found: dict[str, dict[int, str]] = {name: {} for name in _TABLES}
    table: dict[int, str] | None = None
    for line in lines[1:]:
        if line in found:
            table = found[line]
        elif table is not None and (match := re.match(r"(\d{1,9}) (.*)", line)) is not None:
            table[int(match[1])] = match[2]
        elif line.startswith(("ENTRY", "%")):
            break
    return found


def _numbers_of(text: str) -> dict[str, int]:
    return {name: int(value) for name, value in re.findall(r"\b(\w++)=(\d{1,9})", text)}
