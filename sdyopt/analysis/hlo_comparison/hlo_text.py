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
from math import prod

from sdyopt.analysis.figures.figures import ONCE, RunTimes
from sdyopt.analysis.figures.source_locations import NO_LOCATION, SourceLocation
from sdyopt.analysis.hlo_comparison.collectives import (
    REDUCTIONS,
    CollectiveOperand,
    Groups,
    HloSource,
    Loop,
    bits_of,
    groups_across_slices,
    groups_of_hlo,
    in_all_slices,
    size_of,
    slices_of,
)
from sdyopt.analysis.hlo_comparison.hlo_graph import (
    MAX_SIZE,
    REARRANGE,
    HloGraph,
    HloValue,
    Instruction,
    sizes_of,
    uses_of,
    without_rearranging,
)
from sdyopt.analysis.hlo_comparison.hlo_instruction import (
    RENDEZVOUS,
    SHAPE,
    TARGET,
    TRANSFER,
    Locations,
    Shape,
    bytes_of_shape,
    flops_of,
    group_text,
    kind_of,
    moving_devices,
    results_of,
    shapes_of,
    unknown_kind,
)
from sdyopt.analysis.hlo_comparison.index_values import IndexValues, Values
from sdyopt.base.dataclasses import NamedTuple, dataclass, field, replace
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import FileLoc

_HEADER = re.compile(r"HloModule\s")
_COUNTS = re.compile(r"\b(num_partitions|replica_count)=(\d{1,9})")
_SLICE = re.compile(r"\bslice=\{\[(\d{1,18}):\d{1,18}\]\}")
_MAX_USES = 16
# An argument is moved in few steps.
_MAX_STEPS = 64
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

    graph: HloGraph
    indices: IndexValues
    operands: list[CollectiveOperand] = field(default_factory=list)
    all_operands: list[CollectiveOperand] = field(default_factory=list)
    devices: int = 1
    platform: str = ""
    is_elided: bool = False
    name: str = ""
    parameters: Sequence[str] | None = None
    states_devices: bool = False
    slices: int = 1
    not_read: list[tuple[str, str, int]] = field(default_factory=list)
    times: Mapping[str, RunTimes | None] = field(default_factory=dict)
    locate: Callable[[str], SourceLocation] = lambda _: NO_LOCATION
    _different: dict[tuple[object, ...], bool] = field(default_factory=dict)

    @property
    def flops(self) -> int | None:
        """The FLOPs of all runs of products, of the longest branches; None if a number is unknown."""
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
        return {op.name: self.locate(op.attributes) for op in self.graph.printed if op.name in names}

    def in_slices(self, slices: int) -> CompiledProgram:
        """The program of several slices that send each other nothing, of which this is one."""

        def everywhere(operands: list[CollectiveOperand]) -> list[CollectiveOperand]:
            devices = self.devices
            return [
                replace(operand, groups=in_all_slices(operand.groups, devices, slices))
                for operand in operands
            ]

        return replace(
            self,
            operands=everywhere(self.operands),
            all_operands=everywhere(self.all_operands),
            devices=self.devices * slices,
            slices=slices,
        )

    def take_different(self, offsets: Sequence[Values], groups: Groups) -> bool:
        """Whether the devices of a group have different offsets, whatever the group is."""
        key = tuple(map(id, offsets)), groups
        if key not in self._different:
            per_slice = self.devices // self.slices
            self._different[key] = all(
                len({tuple(offset.on(device % per_slice) for offset in offsets) for device in group})
                == len(group)
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
    header, _, _ = text.partition("\n")
    try:
        hlo = _Reader(text, devices).program()
        hlo.parameters = _parameters(header)
    except OverflowError as problem:
        raise DiagnosticError.at(FileLoc(name, 1, 1), str(problem)) from None
    if not hlo.graph.is_complete:
        # Without its last lines, it would have fewer collectives.
        error = DiagnosticError.at(
            FileLoc(name, 1, 1), "the HLO is cut off: its entry computation does not end"
        )
        raise error.help("write all of the text to the file")
    hlo.name = name
    hlo.states_devices = bool(devices) or _COUNTS.search(header) is not None
    hlo.is_elided = "constant({...})" in text
    hlo.platform = platform or next(
        (device for device, words in _DEVICES.items() if words.search(text) is not None), ""
    )
    return hlo


def _parameters(header: str) -> Sequence[str] | None:
    """The types of the parameters of the entry, those in a tuple one by one, without their layouts."""
    _, stated, layout = header.partition("entry_computation_layout={(")
    shapes = [item for item in SHAPE.finditer(layout.partition(")->")[0]) if item[1] != "token"]
    return [f"{shape[1]}[{','.join(map(str, sizes_of(shape[2])))}]" for shape in shapes] if stated else None


class _Reader:
    def __init__(self, text: str, devices: int) -> None:
        lines = text.splitlines()
        header = dict(_COUNTS.findall(lines[0]))
        counts = (max(int(header.get(name, 1)), 1) for name in ("num_partitions", "replica_count"))
        self._devices = prod(counts)
        self._slices = slices_of(TARGET.findall(text))
        # The text is that of one slice.
        self._per_slice = max(devices // self._slices, 1) if devices else self._devices
        self._devices = self._per_slice * self._slices
        self._location = Locations(lines).of
        self._graph = HloGraph(lines)
        self._indices = IndexValues(self._graph, self._per_slice)
        self._groups: dict[str, Groups] = {}
        self._grouped = 0
        self._loops: dict[str, tuple[Loop, ...]] = {}

    def program(self) -> CompiledProgram:
        compiled_program = CompiledProgram(
            self._graph, self._indices, devices=self._devices, slices=self._slices
        )
        times = compiled_program.times = self._times()
        compiled_program.locate = self._location
        for name, computation in self._graph.computations.items():
            received = {
                rendezvous[1]: HloValue(op, 0)
                for op in computation.ops
                if op.opcode == "recv" and (rendezvous := RENDEZVOUS.search(op.attributes)) is not None
            }
            for op in computation.ops:
                if (kind := kind_of(op)) is not None:
                    operands = list(self._operands(name, op, kind, times.get(name), received))
                    compiled_program.all_operands += operands
                    compiled_program.operands += [
                        operand for operand in operands if self._communicates(operand)
                    ]
                elif (what := unknown_kind(op)) and name in times:
                    compiled_program.not_read.append(
                        (op.name, what, sum(bytes_of_shape(shape) for shape in shapes_of(op.type)))
                    )
        return compiled_program

    # --- Collectives --------------------------------------------------------------------------

    def _operands(
        self,
        computation: str,
        op: Instruction,
        kind: str,
        times: RunTimes | None,
        received: Mapping[str, HloValue],
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
        factor = size_of(groups) if kind == "reduce_scatter" else 1
        arrays = [
            _Array(
                shape,
                op.operands[number]
                if number < len(op.operands)
                else HloValue(Instruction("", "", "", "", "")),
                HloValue(result_op, number if is_tuple else -1),
                op.parts.get(number if is_tuple else -1, op.attributes),
            )
            for number, shape in enumerate(shapes)
        ]
        if kind == "all_reduce" and len(arrays) == 1:
            arrays = arrays[0].joined_arrays()
        for number, array in enumerate(arrays):
            elements, type, text = array.shape
            bits = bits_of(type)
            own = sent * elements * bits / 8 if sent is not None else None
            before = self._bits_of_operand(array, elements * factor) if kind in REDUCTIONS else bits
            if before != bits:
                # TPU sums up floats of one type and hands on those of another.
                size = size_of(groups)
                own = Fraction((size - 1) * elements * factor, 8 * size) * (
                    before + (bits if kind == "all_reduce" else 0)
                )
                bits = before
            source = HloSource(
                computation,
                op,
                number,
                len(arrays),
                array.operand,
                array.result,
                text,
                self._loops.get(computation, ()),
                self._produced_at(array.operand),
                self._used_at(array.result),
            )
            yield CollectiveOperand(
                kind,
                groups,
                elements * factor,
                bits,
                self._location(array.attributes),
                op.name,
                times,
                kind == "all_gather" and self._is_sliced(array.result),
                own,
                self._argument(source.operand),
                hlo=source,
            )

    def _bits_of_operand(self, array: _Array, elements: int) -> int:
        """The bits of an element of an operand, those of the result if the type of the operand is unknown."""
        # A copy that starts has its result first.
        op, part = array.operand.op, max(array.operand.part, 0)
        shapes = shapes_of(op.type)
        shape = shapes[part] if part < len(shapes) else array.shape
        return bits_of((shape if shape[0] == elements else array.shape)[1])

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

    def _produced_at(self, operand: HloValue) -> SourceLocation:
        value = without_rearranging(operand, ("convert", "slice"))
        return self._location(value.op.parts.get(value.part, value.op.attributes))

    def _used_at(self, result: HloValue) -> tuple[SourceLocation, ...]:
        """Where the operations are that use a result."""
        texts: dict[str, None] = {}
        for user, _ in uses_of(result, ("convert",)):
            texts[user.attributes] = None
            if len(texts) == _MAX_USES:
                break
        return tuple(dict.fromkeys(map(self._location, texts)))

    def _argument(self, value: HloValue) -> str:
        """The name of the argument of the program that a value is, or a part or a copy of; else ""."""
        for _ in range(_MAX_STEPS):
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

    def _communicates(self, operand: CollectiveOperand) -> bool:
        if operand.kind == "collective_permute":
            return bool(operand.sent)
        return operand.group_size > 1

    def _is_sliced(self, result: HloValue) -> bool:
        """Whether only slices use an all-gather, and devices take different ones."""
        uses = list(uses_of(result, ("convert",)))
        return bool(uses) and all(
            user.opcode == "dynamic-slice"
            and number == 0
            and any(
                (index := self._indices.of(operand)) is not None and index.differ
                for operand in user.operands[1:]
            )
            for user, number in uses
        )

    # --- Counts -------------------------------------------------------------------------------

    def _times(self) -> dict[str, RunTimes | None]:
        """The number of times that each computation runs; those that no one calls are left out."""
        graph = self._graph
        calls: dict[str, list[tuple[str, RunTimes | None, Instruction]]] = {}
        trips: dict[Instruction, int | None] = {}
        for call in graph.calls:
            factor: RunTimes | None = ONCE
            if call.role in ("body", "condition"):
                if call.op not in trips:
                    trips[call.op] = self._indices.trips(call.op)
                count = trips[call.op]
                factor = None if count is None else RunTimes(count, count)
            elif call.role.endswith(("computation", "computations")):
                factor = RunTimes(0, 1)
            calls.setdefault(call.callee, []).append((call.caller, factor, call.op))
        entry = graph.entry
        times_by_name: dict[str, RunTimes | None] = {entry: ONCE}
        # A computation is printed after those that it calls.
        for name in reversed(list(graph.computations)):
            if name == entry or name not in calls:
                continue
            total: RunTimes | None = RunTimes(0, 0)
            for caller, factor, op in calls[name]:
                if caller in times_by_name:
                    times = times_by_name[caller]
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
            times_by_name[name] = total
        return times_by_name


class _Array(NamedTuple):
    """An array of a collective: its shape, its operand and result, and the attributes that have its place."""

    shape: Shape
    operand: HloValue
    result: HloValue
    attributes: str

    def joined_arrays(self) -> list[_Array]:
        """The arrays that GPU joins to a flat one, sums up together, and takes apart; else the whole one."""
        joined = without_rearranging(self.operand).op
        elements, type, _ = self.shape
        if joined.opcode != "concatenate" or len(joined.shape) != 1:
            return [self]
        parts = {}
        for user, _ in uses_of(self.result):
            limits = _SLICE.search(user.attributes)
            if user.opcode != "slice" or limits is None:
                return [self]
            parts[int(limits[1])] = user
        result, start = [], 0
        for operand in joined.operands:
            part, source = parts.get(start), without_rearranging(operand)
            size = 0 if part is None else part.elements
            if part is None or not size:
                return [self]
            attributes = source.op.parts.get(source.part, source.op.attributes)
            place = attributes if "metadata={" in attributes else self.attributes
            result.append(_Array((size, type, f"{type}[{size}]"), operand, HloValue(part), place))
            start += size
        return result if start == elements and len(result) > 1 else [self]
