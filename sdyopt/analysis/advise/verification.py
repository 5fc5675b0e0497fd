"""The bytes that XLA sends before and after changes.

It compiles the programs for virtual devices of the CPU, and its collectives are read as the compilers for TPU
and GPU go on with them; or the compiler of the machine compiles them ahead of time.

verification = Verification(worker, topology, is_ahead=False)
before, *after = verification.compiled([program, *changed_programs], mesh, devices)
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sdyopt.analysis.changes.trials import CompiledCost
from sdyopt.analysis.execution.local_program import program_text
from sdyopt.analysis.execution.process import NotValidated, Worker
from sdyopt.analysis.figures.figures import axis_names, axis_sizes
from sdyopt.analysis.figures.topology import Topology, ring_steps
from sdyopt.analysis.hlo_comparison.accelerators import on_accelerators
from sdyopt.analysis.hlo_comparison.collectives import CollectiveOperand
from sdyopt.analysis.hlo_comparison.comparison import wire_bytes
from sdyopt.analysis.hlo_comparison.compiled.ahead_of_time import Compiler
from sdyopt.analysis.hlo_comparison.compiled.compilation import target_of, text_to_compile
from sdyopt.analysis.hlo_comparison.device_groups import axes_of_groups
from sdyopt.analysis.hlo_comparison.hlo_text import read_hlo
from sdyopt.base.dataclasses import replace
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.ir.builtin_attributes import integer
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import I32


class Verification:
    """Compiles programs: ahead of time for the machine, or for the CPU, all of one call in one process."""

    def __init__(self, worker: Worker, topology: Topology, is_ahead: bool) -> None:
        self._worker = worker
        self._topology = topology
        self._is_ahead = is_ahead

    def compiled(self, programs: Sequence[Op], mesh: str, devices: int) -> list[CompiledCost | str]:
        """The costs of programs on a mesh; a text for one that XLA does not compile. Raises NoJax."""
        if self._is_ahead:
            compiler = Compiler(replace(self._worker, memory=0), target_of(self._topology, mesh))
            sizes = list(axis_sizes(mesh).values()) or [devices]
            return [self._compiled_ahead(compiler, program, sizes, mesh, devices) for program in programs]
        texts = [program_for_xla(program, devices) for program in programs]
        compiled: list[CompiledCost | str] = []
        while len(compiled) < len(texts):
            # XLA may end the process at one of them.
            try:
                answers = self._worker.run("compile", {"devices": devices, "texts": texts[len(compiled) :]})
            except NotValidated as failure:
                answers = [{"cannot": str(failure)}]
            compiled += [
                answer.get("cannot") or self._on_cpu(answer["hlo"], mesh, devices) for answer in answers
            ]
        return compiled

    def _on_cpu(self, hlo: str, mesh: str, devices: int) -> CompiledCost:
        # As users of TPU and GPU will see it; XLA has compiled it for the CPU.
        return self._figures(on_accelerators(read_hlo("hlo", hlo, devices)).operands, mesh)

    def _compiled_ahead(
        self, compiler: Compiler, program: Op, sizes: list[int], mesh: str, devices: int
    ) -> CompiledCost | str:
        try:
            compiled = compiler.compile(text_to_compile(program), sizes, devices)
        except NotValidated as failure:
            return str(failure)
        return self._figures(read_hlo("hlo", compiled.hlo, devices).operands, mesh)

    def _figures(self, operands: Sequence[CollectiveOperand], mesh: str) -> CompiledCost:
        topology = self._topology.on(mesh)
        seconds = Fraction(0)
        combined: set[str] = set()
        for operand in operands:
            # Permutes, and groups that follow no axes, may need any link.
            axes = axes_of_groups(operand.groups, mesh) if operand.groups else ""
            link = topology.link(axis_names(axes or mesh))
            seconds += operand.wire_bytes_of_runs / link.bandwidth if link.bandwidth else 0
            if link.latency and operand.name not in combined:
                # The operands of a combined collective take the steps of a ring together.
                runs = 1 if operand.times is None else operand.times.high
                seconds += ring_steps(operand.kind, operand.group_size) * link.latency * runs
                combined.add(operand.name)
        return CompiledCost(wire_bytes(operands), seconds)


def program_for_xla(program: Op, devices: int) -> str:
    """The text of a program that XLA partitions for so many devices."""
    rewriter = Rewriter()
    copy = rewriter.clone(program)
    assert isinstance(copy, ModuleOp)
    rewriter.set_attribute(copy, "mhlo.num_partitions", integer(devices, I32))
    return program_text(copy)
