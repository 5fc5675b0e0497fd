"""The figures of a program on meshes of other sizes. Also runs as a process of its own, for some of them.

The process reads a request as JSON from stdin, and writes a line of JSON for each point to stdout.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import Any

from sdyopt.analysis.changes.processes import prepare
from sdyopt.analysis.execution.process import NoJax, NotValidated, Worker
from sdyopt.analysis.figures.assumed_pipeline import assumed_pipeline
from sdyopt.analysis.figures.figures import Report, TimeEstimate, axis_sizes
from sdyopt.analysis.figures.local_shapes import LocalShapes
from sdyopt.analysis.figures.machines import idle_text, slices_of
from sdyopt.analysis.figures.program_report import report_on
from sdyopt.analysis.figures.source_locations import source_location
from sdyopt.analysis.figures.time_estimate import time_estimate
from sdyopt.analysis.figures.topology import Topology, read_topology
from sdyopt.analysis.figures.totals import flop_totals, time_totals, useful_share, wire_total
from sdyopt.analysis.hlo_comparison.compiled.analysis import Compilation
from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity, handling
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.releases import following
from sdyopt.mlir.asm.parser.module_parser import ParseOptions, parse_module
from sdyopt.mlir.asm.printer.asm_printer import print_for_note
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING, Mesh, MeshAxis
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp, find_mesh
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.symbols import is_private
from sdyopt.mlir.ir.types import DYNAMIC, RankedShapedType
from sdyopt.mlir.ir.verify import Verifier
from sdyopt.mlir.pipeline.run import run_and_verify
from sdyopt.mlir.pipeline.tree import parse_pipeline
from sdyopt.mlir.registry import dialects_of_run, lookup
from sdyopt.mlir.value_names import name_of, name_of_result

# Axis -> size.
Sizes = Mapping[str, int]


def _program(source: Source, dialects: DialectTable, sizes: Sizes, problems: list[Diagnostic]) -> Op:
    """The program with axes of these sizes, without the problems of a run on it."""
    problems.clear()
    module, _ = parse_module(source, dialects, ParseOptions())
    resize(module, sizes)
    return module


def main() -> None:
    """Answers a request of the process."""
    prepare()
    for row in rows_of(json.loads(sys.stdin.buffer.read())):
        sys.stdout.write(json.dumps(row) + "\n")
        sys.stdout.flush()


def rows_of(request: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The figures at each of the `points` of a request, or the `problem` why there are none.

    The request also has the `text` of the program, its `name`, the release of `shardy` that is followed, the
    `pipeline` as text, "" for the assumed one, a `topology` as (name, text) or None, and the `compiler` to
    ask: the Python that has it and the seconds that it may take, or None.
    """
    topology = request["topology"] and read_topology(*request["topology"])
    dialects = dialects_of_run()
    source = Source(request["name"], request["text"])
    verifier = Verifier(dialects, plain_type, print_for_note)
    with following(request["shardy"]):
        read, _ = parse_module(source, dialects, ParseOptions())
        for sizes in request["points"]:
            problems: list[Diagnostic] = []
            if fixed := fixed_by_shard_map(read, sizes):
                yield {"sizes": sizes, "problem": fixed}
                continue
            try:
                with handling(problems.append):
                    restart = partial(_program, source, dialects, sizes, problems)
                    module = restart()
                    compilation = None
                    if request["compiler"] is not None and topology is not None:
                        python, seconds = request["compiler"]
                        compilation = Compilation(module, topology, Worker(python, seconds, memory=0))
                    problem = undivided(module)
                    if request["pipeline"]:
                        pipeline = parse_pipeline(request["pipeline"], lookup)
                    else:
                        _, pipeline = assumed_pipeline(module, topology.compiler if topology else "")
                    is_done = verifier.verify(module) and run_and_verify(pipeline, module, verifier, restart)
            except DiagnosticError as error:
                is_done, problem = False, str(error)
            if not is_done:
                errors = [problem.message for problem in problems if problem.severity is Severity.ERROR]
                yield {"sizes": sizes, "problem": (errors or [problem or "a pass fails"])[0]}
                continue
            try:
                report = report_on(module, topology)
            except DiagnosticError as error:
                yield {"sizes": sizes, "problem": str(error)}
                continue
            flops, share = flop_totals(report)[0], useful_share(report)
            time = None if report.time is None else _seconds(report, report.time)
            estimated: dict[str, int] = {}
            used = _used_axes(module)
            if compilation is not None and not problem:
                try:
                    report.compiled = compilation.figures(report)
                except (DiagnosticError, NoJax, NotValidated) as error:
                    yield {"sizes": sizes, "problem": f"does not compile: {error}"}
                    continue
                estimated = {
                    "estimated_wire_bytes": round(wire_total(report).high),
                    "estimated_peak_bytes": report.memory.peak,
                }
                if report.time is not None and wire_total(report).high:
                    # The time of communication is that of the bytes that are sent as compiled.
                    communication, _ = time_totals(report, report.time)
                    share = wire_total(report.best_known).high / wire_total(report).high
                    time = _seconds(report, report.time) + float(communication.high * (share - 1))
            yield {
                "sizes": sizes,
                "problem": problem,
                "devices": report.devices,
                "wire_bytes": round(wire_total(report.best_known).high),
                "peak_bytes": report.best_known.memory.peak,
                **estimated,
                "flops": round(flops.high),
                "useful_share": None if share is None else float(share),
                "seconds": time,
                "unused": [name for name, size in sizes.items() if size > 1 and name not in used],
                "idle": "" if topology is None else idle_text(topology.name, report.devices),
                "slices": 1 if topology is None else slices_of(topology.name, report.devices),
                "layouts": [] if topology is None else _layouts(report, topology),
            }


def _used_axes(module: Op) -> set[str]:
    """The axes along which a program with collectives shards values, or is written for each device."""
    shapes, used = LocalShapes(module), set[str]()
    for op in module.walk():
        if isinstance(op, ManualComputationOp):
            used.update(op.manual_axes)
        blocks = (block for region in op.regions for block in region.blocks)
        values = chain(op.results, *(block.arguments for block in blocks))
        for sharding in filter(None, map(shapes.sharding, values)):
            axes = chain(sharding.unreduced_axes, *(dim.axes for dim in sharding.dims))
            used.update(axis.name for axis in axes)
    return used


def _seconds(report: Report, time: TimeEstimate) -> float:
    """As in advice: without overlap, and with elementwise operations that are fused."""
    fused, _ = time.elementwise or (Fraction(0), Fraction(0))
    return float(sum(total.high for total in time_totals(report, time)) + fused)


def _layouts(report: Report, topology: Topology) -> list[dict[str, Any]]:
    """The time with each way to lay the mesh on the machine, the least first."""
    axes = list(axis_sizes(report.mesh))
    layouts = [
        {
            "axes": list(laid_out.order) or axes,
            "on": {axis: laid_out.layout.texts.get(axis, "") for axis in axes} if laid_out.layout else {},
            "seconds": _seconds(report, time_estimate(report, laid_out)),
        }
        for laid_out in topology.layouts(report.mesh)
    ]
    return sorted(layouts, key=itemgetter("seconds"))


def resize(module: Op, sizes: Sizes) -> None:
    """Gives the axes of named meshes other sizes. Devices are in row-major order then."""
    for op in module.walk():
        if isinstance(op, MeshOp):
            axes = tuple([MeshAxis(axis.name, sizes.get(axis.name, axis.size)) for axis in op.mesh.axes])
            if axes != op.mesh.axes:
                Rewriter().set_attribute(op, "mesh", Mesh(axes))


FIXED = "the shapes in the shard_map"


def fixed_by_shard_map(module: Op, sizes: Sizes) -> str:
    """Why a program cannot have axes of these sizes: a shard_map has the shapes of shards; "" if it can."""
    now = {axis.name: axis.size for op in module.walk() if isinstance(op, MeshOp) for axis in op.mesh.axes}
    for op in module.walk():
        names = (
            [name for name in op.manual_axes if name in now] if isinstance(op, ManualComputationOp) else []
        )
        if any(sizes.get(name, now[name]) != now[name] for name in names):
            location = source_location(op.location)
            where = f" at {location.file_text}" if location.line else ""
            return f"{FIXED}{where} are those of {' × '.join(f'{name}={now[name]}' for name in names)}"
    return ""


def undivided(module: Op) -> str:
    """The argument or result with a dimension that its axes do not divide, as JAX requires; "" for none."""
    for function in module.walk():
        if not isinstance(function, FuncOp) or is_private(function) or function.is_declaration:
            continue
        types = function.function_type
        for index, (type, attributes) in enumerate(
            zip(types.inputs, function.argument_attributes, strict=True)
        ):
            if not _divides(type, attributes.get(SHARDING), module):
                return f"does not divide {name_of(function.entry.arguments[index]) or f'%arg{index}'}"
        for index, (type, attributes) in enumerate(
            zip(types.results, function.result_attributes, strict=True)
        ):
            if not _divides(type, attributes.get(SHARDING), module):
                return f"does not divide {name_of_result(function, index) or f'result {index}'}"
    return ""


def _divides(type: object, sharding: object, module: Op) -> bool:
    if not isinstance(sharding, TensorSharding) or not isinstance(type, RankedShapedType):
        return True
    mesh = find_mesh(sharding.mesh_or_ref, module)
    return mesh is None or all(
        size == DYNAMIC or size % dim.sharded_size(mesh) == 0
        for size, dim in zip(type.shape, sharding.dims, strict=True)
    )


def swept_axes(module: Op) -> Iterable[str]:
    """The axes of the named meshes of a module."""
    return dict.fromkeys(axis.name for op in module.walk() if isinstance(op, MeshOp) for axis in op.mesh.axes)


def points_of(axes: Mapping[str, Sequence[int]]) -> list[dict[str, int]]:
    """All combinations of the sizes of axes, the last axis changing fastest."""
    points: list[dict[str, int]] = [{}]
    for name, sizes in axes.items():
        points = [{**point, name: size} for point in points for size in sizes]
    return points
