"""Reports on a program: what it communicates, stores and computes on each device.

The code that computes and prints reports is imported when it is used: it imports rich and all of stablehlo.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from sdyopt.analysis.figures import figures
from sdyopt.base.diagnostics import diagnostic as ir
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.ids import (
    BASELINE_ERROR,
    BASELINE_EXCEEDED,
    BUDGET_ERROR,
    BUDGET_EXCEEDED,
    BUDGET_UNKNOWN,
    INPUT_ERROR,
    TOPOLOGY_ERROR,
    identify,
)
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.diagnostics.text import counted
from sdyopt.mlir.asm.parser.module_parser import parse_module
from sdyopt.mlir.asm.parser.ssa_scope import ParseRecord
from sdyopt.mlir.asm.printer.asm_printer import PrintOptions
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.tools.api.errors import (
    Diagnostic,
    Location,
    ParseError,
    PassError,
    as_parse_error,
    diagnostic_of,
    from_source,
    path_text,
    require_text,
)
from sdyopt.tools.api.html import bar, coloured, details, frame, html_fragment, sections
from sdyopt.tools.api.pipelines import Passes, combined_pipeline
from sdyopt.tools.api.program import IrProgram, OfProgram
from sdyopt.tools.api.shardings import memory_of_device, topology_of

if TYPE_CHECKING:  # imported only when they are used
    from sdyopt.analysis.hlo_comparison import comparison
    from sdyopt.analysis.hlo_comparison.collectives import CollectiveOperand
    from sdyopt.analysis.report.check.checker import CheckResult

# What notebooks show of each table, and the largest page that is part of a notebook.
MAX_ROWS = 10
MAX_PAGE = 300_000


@runtime_checkable
class HasText(Protocol):
    """An object that prints itself, such as what `jax.jit(f).lower(…)` returns, or its `compile()`."""

    def as_text(self) -> str: ...


class Times(NamedTuple):
    """The least and the greatest number of runs."""

    least: int
    greatest: int


class WireBytes(NamedTuple):
    """The bytes that a device sends, according to the report and to XLA's program."""

    report: int
    xla: int


@dataclass(frozen=True, slots=True)
class Collective:
    """An operation that communicates.

    `kind` is the name of the operation without the dialect, `axes` are the mesh axes along which it
    communicates, `group_size` is the number of devices that communicate with each other. Bytes are those of
    one device and one run; `wire_bytes` is what a device sends along a ring. `times` is the least and the
    greatest number of runs. None stands for an unknown figure. `value` is the SSA name of the first result,
    `cause` the reason why the program needs the collective, `change` the shardings before and after the chain
    of collectives that contains it.
    """

    kind: str
    axes: str
    group_size: int | None
    bytes_in: int | None
    bytes_out: int | None
    wire_bytes: int | None
    times: Times | None
    location: Location
    value: str
    cause: str
    change: str = ""

    def __str__(self) -> str:
        return " ".join([self.kind, self.axes, *(["at", self.location.short] if self.location.short else [])])


@dataclass(frozen=True, slots=True)
class ComparedCollective:
    """A collective of a report or of XLA, one for each operand of a combined one.

    `name` is `#3` in a report, and the name of the instruction in HLO. `bytes` are those that all devices of
    a group have together after an all-gather or before any other collective, on one device. `wire_bytes` are
    those of all `times`, the least and the greatest number of runs; None for an unknown number. `argument` is
    the name of the argument of the program that it moves, or "". `loops` are those around one of XLA, the
    innermost first: the name stack, and how often it runs, if that is known.
    """

    name: str
    kind: str
    axes: str
    group_size: int
    bytes: int
    wire_bytes: int
    times: Times | None
    location: Location
    argument: str = ""
    loops: tuple[tuple[str, int | None], ...] = ()

    def __str__(self) -> str:
        return " ".join(filter(None, (self.name, self.kind, self.axes)))


@dataclass(frozen=True, slots=True)
class HloMatch:
    """Collectives of the report and of XLA that correspond, and the class of their difference.

    One side is empty if the other has no counterpart. `why` is what the HLO shows of the cause; "" if it
    shows none.
    """

    reason: str
    report: tuple[ComparedCollective, ...]
    xla: tuple[ComparedCollective, ...]
    why: str = ""


class HloComparison(OfProgram):
    """The comparison of `sdy-opt --compare-hlo`. `str` is its text."""

    __slots__ = ("ir",)
    _passed = "to_dict()"

    ir: comparison.HloComparison

    def __init__(self, ir: comparison.HloComparison) -> None:
        self.ir = ir

    @property
    def counts(self) -> dict[str, int]:
        """The number of collectives by class of their difference: `same`, `only in XLA`, …"""
        return dict(self.ir.counts)

    @property
    def wire_bytes(self) -> WireBytes:
        """The bytes that a device sends in all runs of loops, in the report and in XLA's program."""
        from sdyopt.analysis.hlo_comparison.comparison import wire_bytes

        return WireBytes(round(wire_bytes(self.ir.ours)), round(wire_bytes(self.ir.theirs)))

    @property
    def mismatch(self) -> str:
        """The reason why the HLO is of another program than the report; "" if nothing shows that it is."""
        return self.ir.mismatch

    @property
    def on_accelerators(self) -> int:
        """The bytes that a device would send on TPU or GPU, as far as HLO for another device shows it."""
        from sdyopt.analysis.hlo_comparison.comparison import wire_bytes

        accelerated = self.ir.accelerated
        return round(wire_bytes(self.ir.theirs if accelerated is None else accelerated.operands))

    @property
    def matches(self) -> tuple[HloMatch, ...]:
        """The pairs, and the collectives without a counterpart, in the order of the report, then of XLA."""
        return tuple(
            [
                HloMatch(pair.reason, self._compared(pair.ours), self._compared(pair.theirs), pair.why)
                for pair in self.ir.matches
            ]
        )

    def _compared(self, operands: Iterable[CollectiveOperand]) -> tuple[ComparedCollective, ...]:
        return tuple(
            [
                ComparedCollective(
                    entry.name,
                    entry.kind,
                    self.ir.axes(entry),
                    entry.group_size,
                    entry.bytes,
                    round(entry.wire_bytes_of_runs),
                    None if entry.times is None else Times(entry.times.low, entry.times.high),
                    from_source(entry.location),
                    entry.moved,
                    () if entry.hlo is None else tuple([(loop.name, loop.trips) for loop in entry.hlo.loops]),
                )
                for entry in operands
            ]
        )

    def to_json(self) -> str:
        """The comparison as JSON, whose schema is versioned."""
        from sdyopt.analysis.hlo_comparison.hlo_comparison import FORMATS

        return FORMATS[".json"](self.ir)

    def to_dict(self) -> dict[str, Any]:
        """The data of the JSON."""
        data: dict[str, Any] = json.loads(self.to_json())
        return data

    def over_budget(self, path: str | PathLike[str]) -> tuple[Diagnostic, ...]:
        """An error for each limit of a `--budget` file that XLA's collectives exceed."""
        from sdyopt.analysis.hlo_comparison.comparison import compiled_report

        return Report(compiled_report(self.ir), "", "").over_budget(path)

    def __str__(self) -> str:
        from sdyopt.analysis.hlo_comparison.hlo_comparison import comparison_text

        return comparison_text(self.ir, 100, None)

    def __repr__(self) -> str:
        same = self.counts.get("same", 0)
        return f"<sdyopt.HloComparison: {same} of {counted(len(self.ir.ours), 'collective')} are the same>"

    def _repr_html_(self) -> str:
        from sdyopt.analysis.hlo_comparison.hlo_comparison import header_of, sections_of

        axes = list(figures.axis_sizes(self.ir.report.mesh))
        lines = (f"<p>{coloured(line, axes)}</p>" for line in header_of(self.ir))
        return html_fragment(chain(lines, sections(sections_of(self.ir), axes, MAX_ROWS)))


class Report(OfProgram):
    """The report of `sdy-opt --report`. `str` is its text. Figures are those of one device."""

    __slots__ = ("_check", "_program", "_title", "ir")
    _passed = "to_dict()"

    ir: figures.Report

    def __init__(
        self, ir: figures.Report, title: str, program: str, check: CheckResult | None = None
    ) -> None:
        self.ir = ir
        self._check = check
        self._title = title
        self._program = program

    @property
    def devices(self) -> int:
        """The number of devices of the largest mesh."""
        return self.ir.devices

    @property
    def wire_bytes(self) -> int:
        """What a device sends in a run of the program, as far as that is known."""
        from sdyopt.analysis.figures.totals import wire_total

        return round(wire_total(self.ir).high)

    @property
    def peak_bytes(self) -> int:
        """The memory that a device needs at most."""
        return self.ir.memory.peak

    @property
    def collectives(self) -> tuple[Collective, ...]:
        """The operations that communicate, in the order of the text."""
        return tuple([_collective(collective) for collective in self.ir.collectives])

    @property
    def compiled(self) -> Report | None:
        """The figures of the machine's compiler beside these estimates; None if it was not asked."""
        compiled = self.ir.compiled
        return None if compiled is None else Report(compiled.figures, self._title, self._program)

    @property
    def fits(self) -> bool | None:
        """Whether the program fits in the memory of a device; None if that is unknown.

        What the machine's compiler says counts, if it was asked.
        """
        memory = self.ir.device_memory
        return None if memory is None else self.ir.best_known.memory.peak <= memory

    def over_budget(self, path: str | PathLike[str], allow_unknown: bool = False) -> tuple[Diagnostic, ...]:
        """An error for each limit of a `--budget` file that is exceeded, or whose figure is unknown.

        With `allow_unknown`, an unknown figure is a warning. Raises ParseError if the file is malformed.
        """
        from sdyopt.analysis.report.entry import over_budget

        with as_parse_error(BUDGET_ERROR):
            return _diagnostics(
                over_budget(self.ir, path_text("path", path), allow_unknown),
                {"error": BUDGET_EXCEEDED, "warning": BUDGET_UNKNOWN},
            )

    def over_baseline(self, path: str | PathLike[str], tolerance: float = 0) -> tuple[Diagnostic, ...]:
        """An error for each figure that is more than `tolerance` percent above that of an earlier report.

        `path` is the JSON of that report. Raises ParseError if it is malformed.
        """
        from sdyopt.analysis.report.entry import over_baseline

        with as_parse_error(BASELINE_ERROR):
            return _diagnostics(
                over_baseline(self.ir, path_text("path", path), tolerance), {"error": BASELINE_EXCEEDED}
            )

    def compare_hlo(self, compiled: str | HasText) -> HloComparison:
        """The collectives beside those that XLA compiled.

        `compiled` is optimized HLO, or what `lowered.compile()` returns in JAX. Raises ParseError for other
        text, and for a program of another number of devices.
        """
        from sdyopt.analysis.hlo_comparison.comparison import compare_hlo
        from sdyopt.analysis.hlo_comparison.hlo_text import read_hlo

        if not isinstance(compiled, str) and not hasattr(compiled, "as_text"):
            raise TypeError(
                f"compiled is what jax.jit(f).lower(*args).compile() returns, or its text, not {compiled!r}"
            )
        text = compiled if isinstance(compiled, str) else compiled.as_text()
        with as_parse_error(INPUT_ERROR):
            # The kind of device that JAX compiled a program for; "" for text.
            executable = getattr(compiled, "runtime_executable", None)
            client = getattr(executable() if callable(executable) else None, "client", None)
            name = str(getattr(client, "platform", "")).upper()
            platform = "GPU" if name in ("CUDA", "ROCM") else name if name in ("CPU", "GPU", "TPU") else ""
            return HloComparison(compare_hlo(self.ir, read_hlo("<hlo>", text, platform=platform)))

    def to_json(self) -> str:
        """The report as JSON, whose schema is versioned."""
        return self._write("report.json")

    def to_dict(self) -> dict[str, Any]:
        """The data of the JSON report."""
        data: dict[str, Any] = json.loads(self.to_json())
        return data

    def to_markdown(self) -> str:
        return self._write("report.md")

    def to_html(self) -> str:
        """The report as an HTML page, with the text of the program."""
        return self._write("report.html")

    def __str__(self) -> str:
        return self._write("report.txt")

    def __repr__(self) -> str:
        collectives = counted(len(self.ir.collectives), "collective")
        return f"<sdyopt.Report: {collectives}, {counted(self.devices, 'device')}>"

    def _repr_html_(self) -> str:
        return html_fragment(self._parts())

    def _parts(self) -> Iterator[str]:
        from sdyopt.analysis.figures.totals import wire_total, wire_totals
        from sdyopt.analysis.report.sections import sections_of

        axes, total = list(figures.axis_sizes(self.ir.mesh)), wire_total(self.ir)
        if self.ir.mesh:
            of_mesh = f"{counted(self.devices, 'device')}, mesh {self.ir.mesh}"
            yield f"<p>{coloured(of_mesh, axes)}</p>"
        if total.high:
            parts = wire_totals(
                self.ir.collectives, lambda collective: f"{collective.kind} {collective.group}"
            )
            yield bar([(name, float(part.high / total.high)) for name, part in parts.items()])
        yield from sections(sections_of(self.ir), axes, MAX_ROWS, ("by kind and axes",))
        # The page has the text of the program, and the notebook would store all of it.
        if len(page := self.to_html()) <= MAX_PAGE:
            yield details("the page, with all tables and the program", frame(page, "report"))
        else:
            yield "<p><code>report.to_html()</code> is the page, with all tables and the program</p>"

    def _write(self, path: str) -> str:
        from sdyopt.analysis.report.formats import Reported, report_text

        return report_text(Reported(self.ir, lambda: self._program, self._title, self._check), path)


def _collective(figure: figures.Collective) -> Collective:
    return Collective(
        figure.kind,
        figure.axes,
        figure.group_size,
        figure.bytes_in,
        figure.bytes_out,
        None if figure.wire_bytes is None else round(figure.wire_bytes),
        None if figure.times is None else Times(figure.times.low, figure.times.high),
        from_source(figure.location),
        figure.value,
        figure.cause,
        figure.change,
    )


@as_parse_error(TOPOLOGY_ERROR)
def report_of(
    op: Op,
    title: str,
    program: str,
    topology: str | PathLike[str] | None = None,
    device_memory: str | None = None,
    assume_trips: int | Mapping[int, int] | None = None,
    compiled: Callable[[figures.Report], figures.Compiled] | None = None,
    source: Op | None = None,
) -> Report:
    """The report on a module, whose text is `program`; `source` is the module before assumed passes."""
    from sdyopt.analysis.figures.causes import stated_results, with_stated_results
    from sdyopt.analysis.figures.execution_counts import AssumedTrips
    from sdyopt.analysis.report.entry import report_on

    speeds = None if topology is None else topology_of(topology)
    if assume_trips is None or isinstance(assume_trips, int):
        trips = AssumedTrips({}, assume_trips)
    else:
        trips = AssumedTrips(assume_trips)
    memory = None if device_memory is None else memory_of_device(device_memory)
    report = report_on(op, speeds, trips)
    if source is not None:
        with_stated_results(report, stated_results(source))
    if memory is not None:
        report.device_memory = memory
    if compiled is not None:
        report.compiled = compiled(report)
    return Report(report, title, program)


def assumed_passes(program: IrProgram, topology: str | PathLike[str] | None = None) -> tuple[str, str]:
    """The passes that are assumed for a program on which none has run, and a sentence about them.

    Both are "" if it needs no pass.
    """
    from sdyopt.analysis.figures.assumed_pipeline import assumed_pipeline, reason_to_leave

    if not program.is_written or reason_to_leave(program.op):
        return "", ""
    compiler = "" if topology is None else topology_of(topology).compiler
    sentence, pipeline = assumed_pipeline(program.op, compiler)
    return sentence, str(pipeline)


def _diagnostics(emitted: Iterable[ir.Diagnostic], ids: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    diagnostics = list(emitted)
    for diagnostic in diagnostics:
        identify(diagnostic, ids[diagnostic.severity])
    return tuple([diagnostic_of(diagnostic, None) for diagnostic in diagnostics])


class Explanation(str):
    """The answer to a question about a program, as text."""

    __slots__ = ("_axes",)

    _axes: Sequence[str]

    def __new__(cls, text: str, axes: Sequence[str] = ()) -> Explanation:
        result = super().__new__(cls, text)
        result._axes = axes
        return result

    def __repr__(self) -> str:
        # What a terminal and a notebook without HTML show.
        return str(self).rstrip("\n")

    def _repr_html_(self) -> str:
        lines = [coloured(line, self._axes) for line in self.rstrip("\n").split("\n")]
        return html_fragment([f"<pre>{chr(10).join(lines)}</pre>"])


def explanation(
    program: IrProgram,
    what: str,
    passes: Sequence[Passes],
    width: int,
    is_assumed: bool,
    topology: str | PathLike[str] | None = None,
) -> Explanation:
    """The answer to a question about a program, whose values have the names of the printed program.

    `is_assumed`: the passes are those that `sdy-opt` assumes if none are given. Raises PassError if a pass
    fails, and ParseError, located in `what`, if `what` names nothing.
    """
    from sdyopt.analysis.explain.explainer import ShardingExplainer
    from sdyopt.analysis.explain.names import RecordedProgram

    require_text("what is explained", what, "such as \"params['w']\", 'train.py:12' or '#3'")
    pipeline = combined_pipeline(passes, {})
    machine = None if topology is None else topology_of(topology)
    # The printed program has the names that its user sees.
    source = Source(program.source.name, program.text(PrintOptions(debuginfo=True)))
    collector = program.collector()

    def parsed(parse_record: ParseRecord | None = None) -> Op:
        return parse_module(source, program.dialects, program.options, parse_record)[0]

    with program.session(collector.handle):
        parse_record = ParseRecord()
        module = parsed(parse_record)
        try:
            recorded = RecordedProgram(source, module, program.dialects, parse_record)
            explainer = ShardingExplainer(recorded)
            explainer.advice.is_assumed, explainer.advice.machine = is_assumed, machine
            target = explainer.target(what)
            with recorded.recording():
                succeeded = program.run_passes(pipeline, module, collector, parsed)
            if succeeded:
                meshes = [op.mesh for op in module.walk() if isinstance(op, MeshOp)]
                axes = dict.fromkeys(axis.name for mesh in meshes for axis in mesh.axes)
                return Explanation(explainer.answer(target, width), list(axes))
        except DiagnosticError as error:
            raise ParseError([diagnostic_of(error.diagnostic, error.diagnostic.source)]) from None
    raise PassError(collector.diagnostics)
