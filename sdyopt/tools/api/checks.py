"""The check of a program: its figures, and the places that cost most, with changes that were tried there.

The code that checks is imported when it is used: it imports all of stablehlo.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.ids import TOPOLOGY_ERROR, identified
from sdyopt.mlir.asm.printer.asm_printer import PrintOptions
from sdyopt.mlir.ir.symbols import symbol_name
from sdyopt.mlir.ir.verify_incremental import IncrementalVerifier
from sdyopt.mlir.pipeline.run import run_pipeline
from sdyopt.tools.api.errors import Location, ParseError, PassError, diagnostic_of, from_source
from sdyopt.tools.api.html import html_fragment, printable
from sdyopt.tools.api.module import Module
from sdyopt.tools.api.parsing import parse
from sdyopt.tools.api.program import discard, session
from sdyopt.tools.api.reports import Report

if TYPE_CHECKING:  # imported only for checks
    from sdyopt.analysis.check import checker
    from sdyopt.analysis.mesh_sweep import sweep


@dataclass(frozen=True, slots=True)
class CostlyPlace:
    """A place of the program that communicates: the collectives of one line, kind and axes.

    `wire_bytes` is what a device sends there in a run of the program. `names` are the arguments whose
    elements move, or that gradients update. `change` is the change of an annotation that was tried and sends
    less, with its effect, or how many were tried in vain.
    """

    location: Location
    kind: str
    wire_bytes: int
    names: tuple[str, ...]
    reason: str
    change: str


class Check:
    """The check of `sdy-opt --check`. `str` is its text, in at most 12 lines. Figures are of one device."""

    __slots__ = ("_program", "_title", "ir")

    ir: checker.Check

    def __init__(self, ir: checker.Check, title: str, program: str) -> None:
        self.ir = ir
        self._title = title
        self._program = program

    @property
    def wire_bytes(self) -> int:
        """What a device sends in a run of the program, as far as that is known."""
        return round(self.ir.wire.high)

    @property
    def peak_bytes(self) -> int:
        """The memory that a device needs at most."""
        return self.ir.report.memory.peak

    @property
    def fits(self) -> bool | None:
        """Whether the peak fits in the memory of a device; None if that is not given."""
        return self.ir.fits

    @property
    def places(self) -> tuple[CostlyPlace, ...]:
        """The three places that cost most, the most expensive one first."""
        from sdyopt.analysis.check import check_text

        return tuple(
            [
                CostlyPlace(
                    from_source(place.largest.location),
                    place.largest.kind,
                    round(place.total.high),
                    tuple(place.names),
                    check_text.reason_of(place),
                    check_text.change_of(self.ir, place, 1000),
                )
                for place in self.ir.places
            ]
        )

    @property
    def report(self) -> Report:
        """The report with all figures."""
        return Report(self.ir.report, self._title, self._program)

    def __str__(self) -> str:
        from sdyopt.analysis.check import check_text

        return check_text.check_text(self.ir, 100)

    def __repr__(self) -> str:
        return f"<sdyopt.Check: {self.wire_bytes} bytes sent, {self.peak_bytes} bytes at the peak>"

    def _repr_html_(self) -> str:
        return html_fragment(self._parts())

    def _parts(self) -> Iterator[str]:
        from sdyopt.analysis.check import check_text

        check = self.ir
        figures = (
            ("communication", check_text.communication_of(check)),
            ("memory", check_text.memory_of(check)),
            ("compute", check_text.compute_of(check)),
        )
        yield "<table>"
        for name, text in figures:
            yield f"<tr><th>{name}</th><td>{escape(printable(text))}</td></tr>"
        yield "</table><table><tr><th>where</th><th>why</th><th>change</th></tr>"
        for place, shown in zip(check.places, self.places, strict=True):
            cells = check_text.title_of(check, place), shown.reason, shown.change
            yield f"<tr>{''.join(f'<td>{escape(printable(cell))}</td>' for cell in cells)}</tr>"
        yield "</table>"


class MeshSweep:
    """The sweep of `sdy-opt --mesh-sweep`. `str` is its table.

    `rows` has a dictionary for each mesh: `sizes` by axis, `devices`, `wire_bytes`, `peak`, `flops`, the
    `useful` share of them, `time` in seconds or None, and the `problem` that JAX or a pass has with it.
    """

    __slots__ = ("_ir",)

    def __init__(self, ir: sweep.Sweep) -> None:
        self._ir = ir

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The figures of each mesh, the last axis changing fastest."""
        return self._ir.rows

    @property
    def best(self) -> list[dict[str, Any]]:
        """The best row for each number of devices: it fits, and takes the least time, or sends least."""
        return self._ir.best

    def __str__(self) -> str:
        from sdyopt.analysis.mesh_sweep.sweep import sweep_text

        return sweep_text(self._ir)

    def __repr__(self) -> str:
        return f"<sdyopt.MeshSweep: {len(self.rows)} meshes>"

    def _repr_html_(self) -> str:
        from sdyopt.analysis.mesh_sweep.sweep import sweep_table

        header, *rows = sweep_table(self._ir)
        parts = [_html_row(header, "th"), *(_html_row(row, "td") for row in rows)]
        return html_fragment(["<table>", *parts, "</table>"])


def _html_row(cells: Iterable[str], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(printable(cell))}</{tag}>' for cell in cells)}</tr>"


def mesh_sweep(
    program: Any,
    sizes: str,
    *arguments: Any,
    topology: str | PathLike[str] | None = None,
    device_memory: str | None = None,
    **keywords: Any,
) -> MeshSweep:
    """What a program sends and stores on meshes of other sizes, such as "fsdp=1..64 x tp=1,2,8".

    The program and its arguments are as for `check`. The meshes are computed in several processes. Raises
    UsageError for malformed sizes, and ParseError for an axis that the program does not have.
    """
    from sdyopt.analysis.figures.machines import MACHINES, memory_size
    from sdyopt.analysis.mesh_sweep.sweep import check_axes, read_sizes, run_sweep

    axes, memory = read_sizes(sizes), memory_size("device-memory", device_memory)
    lowered = _module(program, arguments, keywords)._program
    name = None if topology is None else fspath(topology)
    speeds = None if name is None else (name, MACHINES.get(name) or Path(name).read_text(encoding="utf-8"))
    request = {
        "text": lowered.text(PrintOptions(debuginfo=True)),
        "name": lowered.source.name,
        "shardy": lowered.sdy_version,
        "pipeline": "",
        "topology": speeds,
    }
    with session(discard, lowered.sdy_version):
        try:
            check_axes(lowered.op, list(axes))
            return MeshSweep(run_sweep(request, axes, memory))
        except DiagnosticError as error:
            raise ParseError([diagnostic_of(error.diagnostic, lowered.source)]) from None


def check(
    program: Any,
    *arguments: Any,
    topology: str | PathLike[str] | None = None,
    device_memory: str | None = None,
    **keywords: Any,
) -> Check:
    """What a program sends, stores and computes on a device, and the three places that cost most.

    `program` is a function of `jax.jit`, which is lowered for the arguments, or what `parse` takes, or a
    module. The passes of `sdy-jax-pipeline` run, as they do in JAX, unless the program has its collectives.
    A `topology` file adds an estimated time; `device_memory`, such as "16GiB", whether the program fits.
    Raises ParseError, VerifyError, PassError, or UsageError for a malformed size.
    """
    from sdyopt.analysis.check.checker import Checker
    from sdyopt.analysis.figures.assumed_pipeline import assumed_pipeline
    from sdyopt.analysis.figures.machines import memory_size
    from sdyopt.analysis.report.entry import read_topology, report_on

    memory = memory_size("device-memory", device_memory)
    copy = _module(program, arguments, keywords)._program.clone()
    collector = copy.collector()
    with session(collector.handle, copy.sdy_version):
        try:
            with identified(TOPOLOGY_ERROR):
                speeds = None if topology is None else read_topology(fspath(topology))
        except DiagnosticError as error:
            raise ParseError([diagnostic_of(error.diagnostic, error.diagnostic.source)]) from None
        _, pipeline = assumed_pipeline(copy.op)
        checker = Checker(copy.op, copy.dialects, has_passes=False)
        with checker.recording():
            succeeded = run_pipeline(pipeline, copy.op, IncrementalVerifier(copy.verifier))
        if not succeeded:
            raise PassError(collector.diagnostics)
        found = checker.check(copy.op, report_on(copy.op, speeds), memory)
        title = symbol_name(copy.op) or copy.source.name
    return Check(found, title, str(Module(copy, ())))


def _module(program: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Module:
    if isinstance(program, Module):
        return program
    return parse(_lowered(program, arguments, keywords) if hasattr(program, "lower") else program)


def _lowered(function: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """A function of `jax.jit`, lowered; for TPUs if its mesh has no devices."""
    try:
        return function.lower(*arguments, **keywords)
    except ValueError as error:
        if "lowering_platforms" not in str(error):
            raise
        return function.trace(*arguments, **keywords).lower(lowering_platforms=("tpu",))
