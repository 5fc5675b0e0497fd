"""The compilation of one program of a run, and its figures as those of a report.

report.compiled = compilation.figures(report)
"""

from __future__ import annotations

from sdyopt.analysis.execution.process import NoJax, NotValidated, Worker
from sdyopt.analysis.figures.figures import ARGUMENT as LIVE_ARGUMENT
from sdyopt.analysis.figures.figures import RESULT as LIVE_RESULT
from sdyopt.analysis.figures.figures import TEMPORARY, Compiled, LiveValue, Memory, Report, axis_sizes
from sdyopt.analysis.figures.source_locations import NO_LOCATION
from sdyopt.analysis.figures.topology import Topology
from sdyopt.analysis.figures.user_lines import UserLines
from sdyopt.analysis.hlo_comparison.comparison import HloComparison, compare_hlo, compiled_report
from sdyopt.analysis.hlo_comparison.compiled.ahead_of_time import CompiledText, Compiler, CompileTarget
from sdyopt.analysis.hlo_comparison.compiled.buffers import ARGUMENT, CONSTANT, RESULT, Buffers, read_buffers
from sdyopt.analysis.hlo_comparison.hlo_comparison import comparison_data, different_sections
from sdyopt.analysis.hlo_comparison.hlo_text import CompiledProgram, read_hlo
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.ids import NOT_VALIDATED
from sdyopt.mlir.asm.printer.asm_printer import PrintOptions, print_op
from sdyopt.mlir.ir.operation import Op

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
        return Compiled(text.compiler, str(target), figures, program.flops, sections, data)


def text_to_compile(program: Op) -> str:
    """The text of a program with its lines, in the generic form, which all versions of StableHLO read."""
    return print_op(program, PrintOptions(generic=True, debuginfo=True))


def compilation_error(program: Op, failure: NoJax | NotValidated) -> DiagnosticError:
    """The error for a program that was not compiled."""
    if isinstance(failure, NoJax):
        error = DiagnosticError.at(program.location, f"cannot compile: {failure}").help(failure.help)
    else:
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
