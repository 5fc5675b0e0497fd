"""Compares estimated compute with the cycles that libtpu estimates for what it compiles:

    python -m benchmarks.calibration.cycles --keep FOLDER --reference-python PYTHON PROGRAM…

Each program is compiled to the end once, for the machine in the shape that its mesh needs; the HLO is kept in
the folder. Compiled compute is the sum of `estimated_cycles` × runs of all but collectives, estimated compute
that of products and of all other kernels. Without --reference-python, only programs whose HLO is kept are
compared. Programs whose hash says so are not what a model is tuned on: both halves are counted, and --each
lists programs of the tuned half only, with --kernels their kernels.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory

from benchmarks.calibration.machines import is_tuned
from benchmarks.calibration.program import NotComparedError, report_on_program
from benchmarks.processes import BenchmarkFailed, run
from sdyopt.analysis.figures.figures import Report, axis_sizes
from sdyopt.analysis.figures.time_estimate import time_estimate
from sdyopt.analysis.figures.topology import Topology, built_in_topology
from sdyopt.analysis.figures.units import seconds_text
from sdyopt.analysis.hlo_comparison.compiled.analysis import target_of
from sdyopt.analysis.hlo_comparison.hlo_instruction import flops_of
from sdyopt.analysis.hlo_comparison.hlo_text import read_hlo
from sdyopt.base.diagnostics.diagnostic import DiagnosticError

# Cycles per second. A program is compiled for the first machine that has a shape for its mesh.
CLOCKS = {"tpu-v5e": 1.5e9, "tpu-v5p": 1.75e9, "tpu-v6e": 1.75e9, "tpu-v7x": 1.89e9}
_COMPILE = Path(__file__).with_name("compile_alone.py")
_HEADER = re.compile(r"(?:ENTRY\s+)?%?([\w.-]+)\s*\((?=.*\{\s*$).*?\)\s*->")
_INSTRUCTION = re.compile(r"\s+(?:ROOT )?%?([\w.-]+) = .*?[\]})] ([\w-]+)\(")
_CYCLES = re.compile(r'"estimated_cycles":"(\d+)"')
_CALLED = re.compile(r"\b(?:calls|to_apply|called_computations)=\{?%?([\w.-]+)")
_COLLECTIVE = re.compile(
    r"\b(?:all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute|send|recv)"
)
# Calls are followed so far.
_DEPTH = 9
_LEAST = 100e-6


@dataclass
class Kernel:
    """An instruction of HLO: the seconds of one run, how often it runs, and the FLOPs of its products."""

    line: str
    seconds: float
    runs: int
    flops: list[int]


@dataclass
class Compared:
    """A program: its kernels; FLOPs, estimated seconds and runs of products, and seconds of all else."""

    name: str
    machine: str
    kernels: list[Kernel]
    products: list[tuple[int, float, int]]
    others: float

    @property
    def estimated(self) -> float:
        return self.others + sum(seconds * runs for _, seconds, runs in self.products)

    @property
    def compiled(self) -> float:
        return sum(kernel.seconds * kernel.runs for kernel in self.kernels)

    @property
    def error(self) -> float:
        return self.estimated / self.compiled - 1

    def pairs(self) -> Iterator[tuple[float, float]]:
        """Estimated and compiled seconds of products of the same FLOPs, in the order of their times."""
        ours = sorted((flops, seconds) for flops, seconds, _ in self.products)
        theirs = sorted(
            (kernel.flops[0], kernel.seconds) for kernel in self.kernels if len(kernel.flops) == 1
        )
        for flops in sorted({flops for flops, _ in ours}):
            yield from zip(
                (seconds for each, seconds in ours if each == flops),
                (seconds for each, seconds in theirs if each == flops),
                strict=False,
            )


class HloKernels:
    """The lines of each computation of HLO, and which calls which."""

    def __init__(self, name: str, hlo: str, devices: int) -> None:
        program = read_hlo(name, hlo, devices)
        self._times = program.times
        self._flops = {
            op.name: flops
            for computation in program.graph.computations.values()
            for op in computation.ops
            if (flops := flops_of(op))
        }
        self._lines: dict[str, list[str]] = {}
        self._callers: dict[str, list[str]] = {}
        name = ""
        for line in hlo.splitlines():
            if not line.startswith((" ", "}")) and (match := _HEADER.match(line)) is not None:
                name = match[1]
            elif line.startswith(" "):
                self._lines.setdefault(name, []).append(line)
                for callee in _CALLED.findall(line):
                    self._callers.setdefault(callee, []).append(name)

    def kernels(self, clock: float) -> Iterator[Kernel]:
        for computation, lines in self._lines.items():
            for line in lines:
                cycles = _CYCLES.search(line)
                runs = self._runs(computation) if cycles is not None else 0
                if cycles is None or not runs:
                    continue
                inner = list(self._inner(line))
                flops = [self._flops[name] for name, _ in inner if name in self._flops]
                # Products may have a part of a collective beside them.
                if flops or not any(_COLLECTIVE.match(opcode) for _, opcode in inner):
                    yield Kernel(line, int(cycles[1]) / clock, runs, flops)

    def _runs(self, computation: str, depth: int = 0) -> int:
        """As often as its callers, if it is a part of these."""
        times = self._times.get(computation)
        if times is not None:
            return times.high
        callers = self._callers.get(computation, ()) if depth < _DEPTH else ()
        return sum(self._runs(caller, depth + 1) for caller in callers)

    def _inner(self, line: str, depth: int = 0) -> Iterator[tuple[str, str]]:
        """The name and opcode of an instruction, and of those that it calls."""
        parts = _INSTRUCTION.match(line)
        if parts is None or depth > _DEPTH:
            return
        yield parts[1], parts[2]
        for callee in _CALLED.findall(line):
            for inner in self._lines.get(callee, ()):
                yield from self._inner(inner, depth + 1)


def compare(path: Path, folder: Path, python: str) -> Compared:
    """Compares a program. Raises NotComparedError with the reason if it is not compiled."""
    for machine, clock in CLOCKS.items():
        topology = built_in_topology(machine)
        try:
            report = report_on_program(path, topology)
            hlo = _compiled(path, folder, python, topology, report)
        except (BenchmarkFailed, DiagnosticError):
            continue
        kernels = list(HloKernels(path.stem, hlo, report.devices).kernels(clock))
        if not kernels:
            raise NotComparedError("nothing has an estimate")
        estimate = time_estimate(report, topology)
        products = [
            (product.flops or 0, float(timed.seconds), product.times.high)
            for product, timed in zip(report.products, estimate.products, strict=True)
            if timed.seconds is not None and product.times is not None
        ]
        others = float(estimate.elementwise[1]) if estimate.elementwise else 0.0
        return Compared(path.stem, machine, kernels, products, others)
    raise NotComparedError("it is not compiled")


def _compiled(path: Path, folder: Path, python: str, topology: Topology, report: Report) -> str:
    """The HLO of the folder, or what is compiled now. An empty file says that this failed."""
    target = target_of(topology, report.mesh)
    kept = folder / f"{path.stem}.{target.topology.partition(':')[0]}.hlo.gz"
    if kept.exists():
        hlo = gzip.decompress(kept.read_bytes()).decode()
    elif not python:
        raise BenchmarkFailed("it is not kept")
    else:
        with TemporaryDirectory() as scratch:
            output, request = Path(scratch, "hlo"), Path(scratch, "request.json")
            data = {
                "platform": "tpu",
                "topology": target.topology,
                "slices": target.slices,
                "device": "",
                "mesh": list(axis_sizes(report.mesh).values()) or [report.devices],
                "devices": report.devices,
                "text": path.read_text(encoding="utf-8"),
                "dump": "",
                "hlo": str(output),
            }
            request.write_text(json.dumps(data), encoding="utf-8")
            try:
                run([python, str(_COMPILE), str(request)])
            except BenchmarkFailed:
                output.touch()
            hlo = output.read_text(encoding="utf-8")
            kept.write_bytes(gzip.compress(hlo.encode(), mtime=0))
    if not hlo:
        raise BenchmarkFailed("it is not compiled")
    return hlo


def _counts(found: Sequence[Compared]) -> str:
    """Errors of programs: median, and how many are within half."""
    errors = sorted(abs(each.error) for each in found)
    if len(errors) < 2:
        return f"{len(errors)} programs"
    near, most = sum(error <= 0.5 for error in errors), quantiles(errors, n=10)[-1]
    shares = f"median {median(errors):.1%}, 9 of 10 within {most:.0%}, within 50%: {near}"
    return f"{len(errors)} programs, {shares} = {near / len(errors):.0%}"


def _order(found: Sequence[Compared]) -> str:
    """Of each program and the next one that takes at least a tenth longer: how often the estimates say so."""
    ordered = sorted(found, key=lambda each: each.compiled)
    pairs = [
        (each, longer)
        for position, each in enumerate(ordered)
        for longer in [
            next((other for other in ordered[position:] if other.compiled > 1.1 * each.compiled), None)
        ]
        if longer is not None
    ]
    right = sum(each.estimated < longer.estimated for each, longer in pairs)
    return f"order of neighbors: {right} of {len(pairs)} pairs"


def _text(seconds: float) -> str:
    return seconds_text(Fraction(seconds))


def _print_each(each: Compared, with_kernels: bool) -> None:
    products = sum(seconds * runs for _, seconds, runs in each.products)
    of_products = sum(kernel.seconds * kernel.runs for kernel in each.kernels if kernel.flops)
    others = each.compiled - of_products
    pairs = (each.estimated, each.compiled), (products, of_products), (each.others, others)
    all, of_units, rest = (f"{_text(ours):>8} for {_text(theirs):>8}" for ours, theirs in pairs)
    sys.stdout.write(f"{each.name:36} {each.error:+6.0%}  {all}, products {of_units}, others {rest}\n")
    if with_kernels:
        for kernel in sorted(each.kernels, key=lambda kernel: -kernel.seconds * kernel.runs):
            text = re.sub(r", (?:metadata|backend_config|frontend_attributes)=.*", "", kernel.line.strip())
            sys.stdout.write(f"  {kernel.runs} x {_text(kernel.seconds)} {text[:230]}\n")
        for flops, seconds, runs in sorted(each.products, key=lambda item: -item[1] * item[2]):
            sys.stdout.write(f"  {runs} x {_text(seconds)} estimated for a product of {flops} FLOPs\n")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration.cycles", description=__doc__)
    parser.add_argument("--reference-python", default="", metavar="PYTHON")
    parser.add_argument("--keep", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--each", action="store_true", help="list programs of the tuned half")
    parser.add_argument("--kernels", action="store_true", help="list their kernels, too")
    parser.add_argument("--tuned", action="store_true", help="compare programs of the tuned half only")
    parser.add_argument("programs", nargs="+", type=Path)
    arguments = parser.parse_args()
    arguments.keep.mkdir(parents=True, exist_ok=True)
    found = []
    for path in arguments.programs:
        if arguments.tuned and not is_tuned(path.stem):
            continue
        try:
            each = compare(path, arguments.keep, arguments.reference_python)
        except NotComparedError as error:
            sys.stderr.write(f"{path.stem}: {error}\n")
            continue
        found.append(each)
        if arguments.each and is_tuned(path.stem):
            _print_each(each, arguments.kernels)
        sys.stdout.flush()
    for half, name in ((True, "tuned"), (False, "others")):
        chosen = [each for each in found if is_tuned(each.name) is half]
        large = [each for each in chosen if each.compiled > _LEAST]
        pairs = [abs(ours / theirs - 1) for each in chosen for ours, theirs in each.pairs() if theirs]
        sys.stdout.write(f"{name}: {_counts(chosen)}; above 100 us: {_counts(large)}; {_order(chosen)}\n")
        if pairs:
            sys.stdout.write(f"  {len(pairs)} products paired by FLOPs: median {median(pairs):.1%}\n")


if __name__ == "__main__":
    main()
