"""`--compiled`: asks the compiler of a machine for each program of a run.

    report.compiled = compilation.figures(report)

The compiler writes its buffers to a file:

    allocation 3: size 524288, page 0, parameter 6, shape |f32[256,512]| at ShapeIndex {}, maybe-live-out:
     value: <1772 param.9 @0> (size=524288,offset=0): f32[256,512]{1,0:T(8,128)}
    allocation 165: size 6554112, page 0, preallocated-temp:
     value: <2233 fusion.164 @0> (size=393216,offset=15728640): f32[256,3,4,32]{0,3,2,1:T(8,128)}

Allocations with a color are in another memory, such as the on-chip memory of a TPU. Thread-local ones are of
computations that operations call, such as what a reduction applies. The temporaries share one allocation; a
second file has the steps of the schedule in which each is live, as `fusion.164{}:42-70`.

A process of the Python that has the compiler does it (`execution.worker.compile_ahead`). Results are kept in
the cache of the user, by the text of the program, the target and the version of the compiler.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import json
import os
import re
import sys
import zlib
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path, PurePath
from shutil import disk_usage
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

from sdyopt.analysis.execution.process import NoJax, NotValidated, Worker
from sdyopt.analysis.figures.figures import ARGUMENT as LIVE_ARGUMENT
from sdyopt.analysis.figures.figures import RESULT as LIVE_RESULT
from sdyopt.analysis.figures.figures import TEMPORARY, Compiled, LiveValue, Memory, Report, axis_sizes
from sdyopt.analysis.figures.program_report import report_on
from sdyopt.analysis.figures.source_locations import NO_LOCATION, UserLines
from sdyopt.analysis.figures.topology import Topology, read_topology
from sdyopt.analysis.hlo_comparison.comparison import (
    HloComparison,
    compare_hlo,
    compiled_report,
    sent_by_number,
)
from sdyopt.analysis.hlo_comparison.compiled import Options
from sdyopt.analysis.hlo_comparison.hlo_comparison import (
    FORMATS,
    comparison_data,
    different_sections,
    sections_of,
)
from sdyopt.analysis.hlo_comparison.hlo_text import CompiledProgram, read_hlo
from sdyopt.analysis.interface import Analysis, Program, Run
from sdyopt.analysis.interface.flag import STDOUT
from sdyopt.analysis.report.sections import compiled_section
from sdyopt.analysis.report.text_report import section_lines
from sdyopt.base.dataclasses import NamedTuple, asdict, dataclass
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.ids import NOT_VALIDATED, TOPOLOGY_ERROR, identified
from sdyopt.base.diagnostics.whole_files import read_regular_file, replace_cached_file, user_cache
from sdyopt.mlir.asm.printer.asm_printer import PrintOptions, print_op
from sdyopt.mlir.ir.operation import Op


class Compiling(Analysis[Options]):
    """The compilations of one run. A topology with mistakes is located in its file."""

    phase = "Compilation"

    def __init__(self, options: Options, run: Run) -> None:
        super().__init__(options, run)
        if options.compiled != STDOUT:
            run.check_is_one_chunk(f"--compiled={options.compiled} is one file", "compile each chunk alone")
        assert options.speeds is not None
        with identified(TOPOLOGY_ERROR):
            self._topology = read_topology(*options.speeds)
        # None if the input is no program.
        self._compilation: Compilation | None = None

    def on_input(self, program: Program) -> None:
        # What is compiled is the program of the user: the compiler propagates and partitions it as well.
        self._compilation = Compilation(program.op, self._topology, Worker(*self.options.jax, 0))
        program.compiled = partial(self._figures, program)

    def _figures(self, program: Program, report: Report) -> Compiled:
        assert self._compilation is not None
        try:
            with compiling(self._compilation.target(report)):
                return self._compilation.figures(report)
        except (NoJax, NotValidated) as failure:
            raise compilation_error(program.op, failure) from None

    def on_output(self, program: Program) -> None:
        if not self.options.is_shown:
            report = report_on(program.op, self._topology)
            if self.options.memory is not None:
                report.device_memory = self.options.memory
            compiled = self._figures(program, report)
            if self.options.replaces_output:
                assert self._compilation is not None and self._compilation.comparison is not None
                sections = [compiled_section(report, compiled), *sections_of(self._compilation.comparison)]
                lines = section_lines([], sections, self.run.width, self.options.rows or None)
                self.texts.append("".join(f"{line.rstrip()}\n" for line in lines))

    def on_end(self) -> None:
        if self._compilation is None:
            return
        path, text, comparison = self.options.compiled, self._compilation.text, self._compilation.comparison
        if path is not None and path != STDOUT and text is not None and comparison is not None:
            suffix = PurePath(path).suffix
            self.run.write_file(path, text.hlo if suffix == ".hlo" else FORMATS[suffix](comparison))


@contextmanager
def compiling(target: CompileTarget) -> Iterator[None]:
    """Shows on a terminal what is compiled, and for how long."""
    if sys.stderr is None or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield
        return
    from rich.console import Console  # noqa: PLC0415 - rich is slow to import, and only terminals need it
    from rich.progress import Progress, SpinnerColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = SpinnerColumn(), f"compiling for {target}", TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        bar.add_task("", total=None)
        yield


# The name of HLO that is in no file.
_HLO = "the compiled program"
# Where libtpu has another name.
_KINDS_OF_TPU = {"v7x": "tpu7x"}


class Compilation:
    """Compiles a program as it is now, for the machine of a topology.

    `figures` raises NoJax without the compiler, NotValidated if it fails, and DiagnosticError.
    """

    def __init__(self, program: Op, topology: Topology, worker: Worker) -> None:
        self._text = text_to_compile(program)
        self._topology = topology
        self._worker = worker
        self.text: CompiledText | None = None
        self.comparison: HloComparison | None = None

    def target(self, report: Report) -> CompileTarget:
        """What is compiled for: the machine in the shape that the mesh needs."""
        return target_of(self._topology, report.mesh)

    def figures(self, report: Report) -> Compiled:
        """The figures of the compiler beside those of a report on the same program."""
        target = self.target(report)
        mesh = list(axis_sizes(report.mesh).values()) or [report.devices]
        text = self.text = Compiler(self._worker, target).compile(self._text, mesh, report.devices)
        program = read_hlo(_HLO, text.hlo, report.devices)
        self.comparison = comparison = compare_hlo(report, program)
        figures = compiled_report(comparison)
        figures.device_memory, figures.topology = report.device_memory, report.topology
        figures.memory = _memory(read_buffers(text.assignment, text.live_ranges), program)
        # How often devices repeat a product does not depend on the compiler.
        figures.products, figures.is_sharded = report.products, report.is_sharded
        sections, data = different_sections(comparison), comparison_data(comparison)
        sent = sent_by_number(comparison)
        return Compiled(text.compiler, str(target), figures, program.flops, sent, sections, data)


def text_to_compile(program: Op) -> str:
    """The text of a program with its lines, in the generic form, which all versions of StableHLO read."""
    return print_op(program, PrintOptions(generic=True, debuginfo=True))


def compilation_error(program: Op, failure: NoJax | NotValidated) -> DiagnosticError:
    """The error for a program that was not compiled."""
    if isinstance(failure, NoJax):
        return failure.error("compile")
    error = DiagnosticError.at(program.location, f"not compiled: {failure}")
    error.diagnostic.id = NOT_VALIDATED
    return error


def target_of(topology: Topology, mesh: str) -> CompileTarget:
    """What the compiler of a topology's machine calls it, in the shape that the mesh needs."""
    machine = topology.on(mesh)
    if machine.compiler == "gpu":
        return CompileTarget("cuda", device=machine.kind.upper())
    if machine.compiler != "tpu":
        return CompileTarget("cpu")
    shape = "x".join(map(str, machine.shape or (1,)))
    return CompileTarget("tpu", f"{_KINDS_OF_TPU.get(machine.kind, machine.kind)}:{shape}", machine.slices)


def _memory(buffers: Buffers, program: CompiledProgram) -> Memory:
    roles = {ARGUMENT: LIVE_ARGUMENT, RESULT: LIVE_RESULT}
    places = program.locations({value.instruction for value in buffers.values})
    lines = UserLines(lambda: list(places.values()))
    live = []
    for value in buffers.values:
        place = lines.chosen(places.get(value.instruction, NO_LOCATION))
        # The name stack of a parameter is the name of the argument.
        name = place.name_stack if value.kind == ARGUMENT else ""
        role = roles.get(value.kind, TEMPORARY)
        shown = f"%{value.instruction}"
        live.append(LiveValue(shown, value.type, "", value.bytes, None, place, name=name, role=role))
    return Memory(
        arguments=buffers.by_kind[ARGUMENT],
        results=buffers.by_kind[RESULT],
        constants=buffers.by_kind[CONSTANT],
        peak=buffers.total,
        live_at_peak=live,
    )


_ALLOCATION = re.compile(r"allocation \d+: size (\d{1,18}), (.*):$")
_VALUE = re.compile(r" value: <\d+ (\S+) @(\d+)> \(size=(\d{1,18}),offset=(\d{1,18})\): (.*)$")
_RANGE = re.compile(r" {4}(\S+):(\d{1,9})-(\d{1,9})$")
_TYPE = re.compile(r"\b[a-z]\w*\[[\d,]*\]")
_PARAMETER = re.compile(r"\bparameter (\d{1,9})\b")
ARGUMENT, RESULT, CONSTANT, TEMP_BUFFER = KINDS = ("argument", "result", "constant", "temporary")


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
            by_kind[TEMP_BUFFER] += size
            continue
        kind = _kind(words)
        by_kind[kind] += size
        if kind == TEMP_BUFFER:
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
        return TEMP_BUFFER
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
            buffers_by_number[offset] = BufferValue(name, size, _type_text(type), TEMP_BUFFER)
    return list(buffers_by_number.values())


def _type_text(type: str) -> str:
    """`f32[256,512]`, without the layout; `(…)` for a tuple."""
    match = _TYPE.match(type)
    return "(…)" if match is None else match[0]


# A change of the format, or of what is compiled, makes older results useless.
_FORMAT = 2
_MAX_CACHE = 1 << 30
# With fewer bytes, a file system is full.
_LEAST_ROOM = 1 << 16
_FILES = {
    "hlo": ("*after_optimizations_after_buffer_assignment.txt", "*after_optimizations.txt"),
    "assignment": ("*after_optimizations-buffer-assignment.txt",),
    "live_ranges": ("*after_optimizations-live-range.txt",),
}
# How XLA begins the error of a program that needs more memory than a device has.
_EXHAUSTED = "RESOURCE_EXHAUSTED"
_INSTALL = {
    "tpu": "pip install 'sdy-opt[tpu]'",
    "cuda": "pip install 'sdy-opt[gpu]'",
    "cpu": "pip install 'sdy-opt[run]'",
}


@dataclass(frozen=True)
class CompileTarget:
    """What is compiled for: `topology` is that of a TPU, such as `v5e:4x4`, `device` the name of a GPU."""

    platform: str
    topology: str = ""
    slices: int = 1
    device: str = ""

    def __str__(self) -> str:
        slices = f" × {self.slices} slices" if self.slices > 1 else ""
        return f"{self.topology or self.device or 'CPU'}{slices}"


@dataclass(frozen=True)
class CompiledText:
    """The optimized HLO of one device and its buffers, as a compiler such as `libtpu 0.0.52` wrote them."""

    compiler: str
    hlo: str
    assignment: str
    live_ranges: str

    @classmethod
    def read(cls, path: Path) -> CompiledText | None:
        """A result that was kept; None for a file that is damaged, or none of ours."""
        try:
            data = read_regular_file(path, _MAX_CACHE)
            fields = json.loads(gzip.decompress(data or b""))
            compiled = cls(**fields)
        except (OSError, EOFError, ValueError, TypeError, RecursionError, zlib.error):
            return None
        with suppress(OSError):
            # The oldest results are those that were not used for longest. A cache may be read-only.
            os.utime(path)
        return compiled if all(isinstance(value, str) for value in fields.values()) else None


class Compiler:
    """Compiles for one target. `compile` raises NoJax without the compiler, NotValidated if it fails."""

    def __init__(self, worker: Worker, target: CompileTarget) -> None:
        self._worker = worker
        self.target = target
        self._known_versions: list[str] = []

    def compile(self, text: str, mesh: list[int], devices: int) -> CompiledText:
        """Compiles the text of a program for so many devices."""
        request: dict[str, Any] = {
            "platform": self.target.platform,
            "topology": self.target.topology,
            "slices": self.target.slices,
            "device": self.target.device,
            "mesh": mesh,
            "devices": devices,
            "text": text,
        }
        versions = self.versions
        settings = [os.environ.get(name, "") for name in ("XLA_FLAGS", "LIBTPU_INIT_ARGS")]
        key = json.dumps([_FORMAT, versions, settings, request])
        path = _cache_file(hashlib.sha256(key.encode()).hexdigest())
        kept = None if path is None else CompiledText.read(path)
        if kept is not None:
            return kept
        try:
            with TemporaryDirectory(prefix="sdyopt-compiled-", ignore_cleanup_errors=True) as folder:
                answer = self._run("compile_ahead", {**request, "dump": folder})
                # A compiler goes on without what it cannot write, and reports something else or nothing.
                if disk_usage(folder).free < _LEAST_ROOM:
                    raise OSError(errno.ENOSPC, f"{os.strerror(errno.ENOSPC)} in {gettempdir()}")
                failure = answer.get("cannot", "")
                # A program that does not fit has its buffers, too: how many bytes they need is the answer.
                if failure and _EXHAUSTED not in failure:
                    raise NotValidated(failure)
                texts = {name: _largest(Path(folder), names, failure) for name, names in _FILES.items()}
        except OSError as problem:
            raise NotValidated(f"no room for what the compiler writes: {problem.strerror}") from None
        compiled = CompiledText(compiler=versions[0], **texts)
        if path is not None:
            _write(path, compiled)
        return compiled

    @property
    def versions(self) -> list[str]:
        """The compiler, such as `libtpu 0.0.52`, and what else decides on what it makes. Raises NoJax."""
        if not self._known_versions:
            answer = self._run("compiler_version", {"platform": self.target.platform})
            if "cannot" in answer:
                python = self._worker.python or sys.executable
                raise NoJax(f"{python} {answer['cannot']}", self._install(), python)
            self._known_versions = answer["versions"]
        return self._known_versions

    def _run(self, task: str, request: dict[str, Any]) -> dict[str, Any]:
        try:
            [answer] = self._worker.run(task, {"devices": 1, **request})
        except NoJax as error:
            raise NoJax(str(error), self._install(), error.python) from None
        return answer

    def _install(self) -> str:
        return f"{_INSTALL[self.target.platform]}, or name a Python that has it with --jax-python"


def _largest(folder: Path, patterns: tuple[str, ...], failure: str) -> str:
    """The text of the largest file: others are of small programs of a compiler's own. Raises NotValidated."""
    for pattern in patterns:
        paths = sorted(folder.glob(pattern), key=lambda path: path.stat().st_size)
        if paths:
            return paths[-1].read_text(encoding="utf-8", errors="replace")
    raise NotValidated(failure or "the compiler ended without writing its HLO and buffers")


# --- The cache --------------------------------------------------------------------------------


def _cache_file(key: str) -> Path | None:
    folder = user_cache()
    return None if folder is None else folder / "compiled" / f"{key}.json.gz"


def _write(path: Path, compiled: CompiledText) -> None:
    """Keeps a result. Another process may write the same; without space, nothing is kept."""
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, exist_ok=True)
        text = json.dumps(asdict(compiled))
        replace_cached_file(path, gzip.compress(text.encode(), compresslevel=4, mtime=0))
        _remove_oldest(path.parent)


def _remove_oldest(folder: Path) -> None:
    """Removes results until the others have at most _MAX_CACHE bytes."""
    states = [(path.stat(), path) for path in folder.glob("*.json.gz")]
    total = 0
    for state, path in sorted(states, key=lambda state: (-state[0].st_mtime_ns, state[1])):
        total += state.st_size
        if total > _MAX_CACHE:
            path.unlink(missing_ok=True)
