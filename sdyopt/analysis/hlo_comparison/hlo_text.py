"""Reads HLO text after XLA's optimizations, well enough to list its collectives.

    %all-reduce.1 = f32[8,16]{1,0} all-reduce(%dot.3), replica_groups=[4,2]<=[8], metadata={… source_line=12}

Each operand of a combined collective is a collective of its own, with the location that XLA gives the result
of that operand. An instruction runs as often as the loops around it. Programs for several slices of TPUs are
printed for one of them; what they send to others is a collective, too:

    %send = (f32[8,16], …) send(%dot, …), … _xla_megascale_transfer_type="ALL_REDUCE"
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction

from sdyopt.analysis.figures.figures import ONCE, Times
from sdyopt.analysis.figures.source_locations import NO_LOCATION, Frame, SourceLocation
from sdyopt.analysis.hlo_comparison.collectives import CollectiveOperand, HloSource, Loop, bits_of
from sdyopt.analysis.hlo_comparison.device_groups import (
    Groups,
    groups_across_slices,
    groups_of_hlo,
    in_all_slices,
    slices_of,
)
from sdyopt.analysis.hlo_comparison.hlo_collective import (
    RENDEZVOUS,
    SHAPE,
    TARGET,
    TRANSFER,
    bytes_of_shape,
    group_text,
    kind_of,
    moving_devices,
    results_of,
    shapes_of,
    unknown_kind,
)
from sdyopt.analysis.hlo_comparison.hlo_flops import flops_of
from sdyopt.analysis.hlo_comparison.hlo_graph import (
    MAX_SIZE,
    REARRANGE,
    HloGraph,
    Instruction,
    Value,
    uses_of,
    without_rearranging,
)
from sdyopt.analysis.hlo_comparison.index_values import IndexValues, Values
from sdyopt.base.dataclasses import dataclass, field
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import FileLoc

_HEADER = re.compile(r"HloModule\s")
_COUNTS = re.compile(r"\b(num_partitions|replica_count)=(\d{1,9})")
_METADATA = re.compile(r"metadata=\{((?:[^{}\"]|\"(?:[^\"\\]|\\.)*+\")*+)\}")
_FIELD = re.compile(r'\b(\w++)=("(?:[^"\\]|\\.)*"|\d{1,9})')
_TABLES = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")
# JAX keeps at most 10 frames of a call stack by default.
_MAX_FRAMES = 64
_MAX_USES = 16
_MAX_LOOPS = 16
# Devices in all groups that differ.
_MAX_GROUPED = 1 << 21
# What moves an argument, or a part of it.
_OF_ARGUMENTS = (*REARRANGE, "convert", "dynamic-slice", "slice", "all-gather", "collective-permute")
# What only text of one kind of device has, in the order of a search.
_DEVICES = {
    "CPU": re.compile(r'"outer_dimension_partitions"|__ynn_fusion|__onednn|"__xla_cpu|_promoted\b'),
    "TPU": re.compile(r":T\(\d+(?:,\d+)*\)"),
    "GPU": re.compile(r'"operation_queue_id"|__cublas|__cudnn|__triton|"fusion_backend_config"'),
}


@dataclass(slots=True)
class CompiledProgram:
    """The operands of the collectives that communicate.

    `all_operands` are also those of collectives whose groups have one device. `platform` is "CPU", "GPU" or
    "TPU", or "" if that is unknown. `is_elided`: the text leaves out the values of large constants. `name` is
    that of its file. `parameters` are the types of its arguments on one device, None if the text does not
    state them. `states_devices`: the text states the number of devices. `slices` of TPUs run it, with so many
    `devices` on all of them. `not_read` are instructions that communicate in a way that is not known here:
    the name, what it is, and its bytes. `times` has the number of runs of each computation of the graph, and
    `locate` reads the location of an instruction from its attributes.
    """

    operands: list[CollectiveOperand] = field(default_factory=list)
    all_operands: list[CollectiveOperand] = field(default_factory=list)
    devices: int = 1
    platform: str = ""
    graph: HloGraph | None = None
    indices: IndexValues | None = None
    is_elided: bool = False
    name: str = ""
    parameters: Sequence[str] | None = None
    states_devices: bool = False
    slices: int = 1
    not_read: list[tuple[str, str, int]] = field(default_factory=list)
    times: Mapping[str, Times | None] = field(default_factory=dict)
    locate: Callable[[str], SourceLocation] = lambda _: NO_LOCATION
    _different: dict[tuple[object, ...], bool] = field(default_factory=dict)

    @property
    def flops(self) -> int | None:
        """The FLOPs of all runs of products, of the longest branches; None if a number is unknown."""
        assert self.graph is not None
        total = 0
        for name, computation in self.graph.computations.items():
            if name not in self.times:
                continue
            for op in computation.ops:
                flops, times = flops_of(op), self.times[name]
                if flops and times is not None:
                    total += flops * times.high
                elif flops != 0:
                    return None
        return total

    def locations(self, names: Collection[str]) -> dict[str, SourceLocation]:
        """The locations of instructions by name."""
        assert self.graph is not None
        return {op.name: self.locate(op.attributes) for op in self.graph.printed if op.name in names}

    def take_different(self, offsets: Sequence[Values], groups: Groups) -> bool:
        """Whether the devices of a group have different offsets, whatever the group is."""
        key = tuple(map(id, offsets)), groups
        if key not in self._different:
            per_slice = self.devices // self.slices
            self._different[key] = all(
                len({tuple(each.on(device % per_slice) for each in offsets) for device in group})
                == len(group)
                and all(each.on(device % per_slice) for device in group for each in offsets)
                for group in groups
            )
        return self._different[key]


def read_hlo(name: str, text: str, devices: int = 0, platform: str = "") -> CompiledProgram:
    """The collectives of optimized HLO text. Raises DiagnosticError for any other text.

    `devices` is the number of devices and `platform` what they are, by default those of the text.
    """
    if _HEADER.match(text) is None:
        error = DiagnosticError.at(
            FileLoc(name, 1, 1), "this is not HLO text: it does not start with HloModule"
        )
        raise error.help("write what compiled.as_text() returns in JAX")
    try:
        found = _Reader(text, devices).program()
    except OverflowError as problem:
        raise DiagnosticError.at(FileLoc(name, 1, 1), str(problem)) from None
    assert found.graph is not None
    if not found.graph.is_complete:
        # Without its last lines, it would have fewer collectives.
        error = DiagnosticError.at(
            FileLoc(name, 1, 1), "the HLO is cut off: its entry computation does not end"
        )
        raise error.help("write all of the text to the file")
    header, _, _ = text.partition("\n")
    found.name, found.parameters = name, _parameters(header)
    found.states_devices = bool(devices) or _COUNTS.search(header) is not None
    found.is_elided = "constant({...})" in text
    found.platform = platform or next(
        (device for device, words in _DEVICES.items() if words.search(text) is not None), ""
    )
    return found


def _parameters(header: str) -> Sequence[str] | None:
    """The types of the parameters of the entry, those in a tuple one by one, without their layouts."""
    _, stated, layout = header.partition("entry_computation_layout={(")
    shapes = SHAPE.finditer(layout.partition(")->")[0])
    return [f"{shape[1]}[{shape[2]}]" for shape in shapes if shape[1] != "token"] if stated else None


class _Reader:
    def __init__(self, text: str, devices: int) -> None:
        lines = text.splitlines()
        header = dict(_COUNTS.findall(lines[0]))
        self._devices = int(header.get("num_partitions", 1)) * int(header.get("replica_count", 1))
        self._slices = slices_of(TARGET.findall(text))
        # The text is that of one slice.
        self._per_slice = devices // self._slices if devices else self._devices
        self._devices = self._per_slice * self._slices
        self._tables = _tables(lines)
        self._graph = HloGraph(lines)
        self._indices = IndexValues(self._graph, self._per_slice)
        self._groups: dict[str, Groups] = {}
        self._grouped = 0
        self._loops: dict[str, tuple[Loop, ...]] = {}
        self._locations: dict[str, SourceLocation] = {}

    def program(self) -> CompiledProgram:
        found = CompiledProgram(
            devices=self._devices, graph=self._graph, indices=self._indices, slices=self._slices
        )
        times = found.times = self._times()
        found.locate = self._location
        for name, computation in self._graph.computations.items():
            received = {
                rendezvous[1]: Value(op, 0)
                for op in computation.ops
                if op.opcode == "recv" and (rendezvous := RENDEZVOUS.search(op.attributes)) is not None
            }
            for op in computation.ops:
                if (kind := kind_of(op)) is not None:
                    operands = list(self._operands(name, op, kind, times.get(name), received))
                    found.all_operands += operands
                    found.operands += [each for each in operands if self._communicates(each)]
                elif (what := unknown_kind(op)) and name in times:
                    found.not_read.append(
                        (op.name, what, sum(bytes_of_shape(each) for each in shapes_of(op.type)))
                    )
        return found

    # --- Collectives --------------------------------------------------------------------------

    def _operands(
        self,
        computation: str,
        op: Instruction,
        kind: str,
        times: Times | None,
        received: Mapping[str, Value],
    ) -> Iterator[CollectiveOperand]:
        transfer = TRANSFER.search(op.attributes) if op.opcode == "send" else None
        rendezvous = RENDEZVOUS.search(op.attributes)
        result_op = op
        if op.opcode == "send":
            # What arrives is the result.
            other = received.get(rendezvous[1]) if rendezvous is not None else None
            result_op = op if other is None else other.op
            is_of_result = kind in ("all_gather", "reduce_scatter")
            shapes = shapes_of((result_op if is_of_result else op).type)[:1]
            is_tuple = True
        else:
            text = results_of(op, kind)
            is_tuple = text.startswith("(") or (op.opcode.endswith("-start") and text.count("[") > 1)
            shapes = shapes_of(text)
        groups: Groups = frozenset()
        sent: Fraction | None = None
        if kind == "collective_permute":
            moving = moving_devices(op.attributes)
            devices = self._devices if transfer is not None else self._per_slice
            sent = Fraction(moving, max(devices, moving, 1))
        else:
            groups = self._groups_of(op)
        if kind == "all_to_all" and is_tuple and shapes:
            # A tuple with one operand for each device of a group.
            shapes = [(sum(elements for elements, *_ in shapes), *shapes[0][1:])]
            is_tuple = op.opcode == "send"
        factor = max(map(len, groups), default=1) if kind == "reduce_scatter" else 1
        for number, (elements, type, text) in enumerate(shapes):
            bits = bits_of(type)
            part = number if is_tuple else -1
            result = Value(result_op, part)
            source = HloSource(
                computation,
                op,
                number,
                len(shapes),
                op.operands[number] if number < len(op.operands) else None,
                result,
                text,
                self._loops.get(computation, ()),
                self._produced_at(op.operands[number] if number < len(op.operands) else None),
                self._used_at(result),
            )
            yield CollectiveOperand(
                kind,
                groups,
                elements * factor,
                bits,
                self._location(op.parts.get(part, op.attributes)),
                op.name,
                times,
                kind == "all_gather" and self._is_sliced(result),
                None if sent is None else sent * elements * bits / 8,
                self._argument(source.operand),
                hlo=source,
            )

    def _groups_of(self, op: Instruction) -> Groups:
        """The groups of devices of all slices, equal ones being the same object."""
        if op.opcode == "send":
            target = TARGET.search(op.attributes)
            text = "" if target is None else target[1]
        else:
            text = group_text(op.attributes.partition("replica_groups=")[2])
        key = f"{op.opcode == 'send'} {text}"
        if key not in self._groups:
            if op.opcode == "send":
                groups = groups_across_slices(text, self._per_slice)
            else:
                groups = in_all_slices(groups_of_hlo(text, self._per_slice), self._per_slice, self._slices)
            self._grouped += sum(map(len, groups))
            if self._grouped > _MAX_GROUPED:
                raise OverflowError("its replica groups list more devices than are compared")
            self._groups[key] = groups
        return self._groups[key]

    def _produced_at(self, operand: Value | None) -> SourceLocation | None:
        if operand is None:
            return None
        value = without_rearranging(operand, ("convert", "slice"))
        return self._location(value.op.parts.get(value.part, value.op.attributes))

    def _used_at(self, result: Value) -> tuple[SourceLocation, ...]:
        """Where the operations are that use a result."""
        found: dict[str, None] = {}
        for user, _ in uses_of(result, ("convert",)):
            found[user.attributes] = None
            if len(found) == _MAX_USES:
                break
        return tuple(dict.fromkeys(map(self._location, found)))

    def _argument(self, value: Value | None) -> str:
        """The name of the argument of the program that a value is, or a part or a copy of; else ""."""
        for _ in range(_MAX_FRAMES):
            if value is None:
                break
            operands = value.op.operands if value.op.opcode in _OF_ARGUMENTS else ()
            if operands:
                # That of an element of a combined collective is the operand of its number.
                value = operands[value.part] if 0 < value.part < len(operands) else operands[0]
            elif (carried := self._indices.kept(value)) is not None:
                value = carried
            elif value.op.opcode == "parameter" and value.part < 0:
                return self._location(value.op.attributes).name_stack
            else:
                break
        return ""

    def _communicates(self, each: CollectiveOperand) -> bool:
        if each.kind == "collective_permute":
            return bool(each.sent)
        return max(map(len, each.groups), default=1) > 1

    def _is_sliced(self, result: Value) -> bool:
        """Whether only slices use an all-gather, and devices take different ones."""
        uses = list(uses_of(result, ("convert",)))
        return bool(uses) and all(
            user.opcode == "dynamic-slice"
            and number == 0
            and any(
                (found := self._indices.of(each)) is not None and found.differ for each in user.operands[1:]
            )
            for user, number in uses
        )

    # --- Counts -------------------------------------------------------------------------------

    def _times(self) -> dict[str, Times | None]:
        """The number of times that each computation runs; those that no one calls are left out."""
        graph = self._graph
        calls: dict[str, list[tuple[str, Times | None, Instruction]]] = {}
        trips: dict[Instruction, int | None] = {}
        for call in graph.calls:
            factor: Times | None = ONCE
            if call.role in ("body", "condition"):
                if call.op not in trips:
                    trips[call.op] = self._indices.trips(call.op)
                count = trips[call.op]
                factor = None if count is None else Times(count, count)
            elif call.role.endswith(("computation", "computations")):
                factor = Times(0, 1)
            calls.setdefault(call.callee, []).append((call.caller, factor, call.op))
        entry = graph.entry
        found: dict[str, Times | None] = {entry: ONCE}
        # A computation is printed after those that it calls.
        for name in reversed(list(graph.computations)):
            if name == entry or name not in calls:
                continue
            total: Times | None = Times(0, 0)
            for caller, factor, op in calls[name]:
                if caller in found:
                    times = found[caller]
                    if total is None or times is None or factor is None:
                        total = None
                    else:
                        total = total + times * factor
                        # As if it were unknown.
                        total = total if total.high < MAX_SIZE else None
                    around = self._loops.get(caller, ())
                    if op in trips:
                        place = self._location(op.attributes)
                        around = (Loop(place.name_stack, place, trips[op]), *around[: _MAX_LOOPS - 1])
                    self._loops.setdefault(name, around)
            found[name] = total
        return found

    # --- Locations ----------------------------------------------------------------------------

    def _location(self, rest: str) -> SourceLocation:
        found = self._locations.get(rest)
        if found is None:
            found = self._locations[rest] = self._read_location(rest)
        return found

    def _read_location(self, rest: str) -> SourceLocation:
        # What is not closed is not searched for another start.
        at = rest.find("metadata={")
        metadata = None if at < 0 else _METADATA.match(rest, at)
        fields = {} if metadata is None else dict(_FIELD.findall(metadata[1]))
        name = fields.get("op_name", "").strip('"').replace("\\'", "'")
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
        found: dict[Frame, None] = {}
        for _ in range(_MAX_FRAMES):
            if number not in frames:
                break
            frame = _numbers_of(frames[number])
            place = _numbers_of(places.get(frame.get("file_location_id", 0), ""))
            # XLA repeats the frames around a loop or a call that it inlines.
            each = Frame(
                functions.get(place.get("function_name_id", 0), "").strip('"'),
                files.get(place.get("file_name_id", 0), "").strip('"'),
                place.get("line", 0),
                place.get("column", 0),
            )
            found[each] = None
            number = frame.get("parent_frame_id", 0) - 1
        return tuple(found)


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
