"""The bytes that a device receives in a program that sdy-opt partitions, and in one that XLA partitions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.calibration.program import NotComparedError, compile_with_xla
from sdyopt.analysis.execution.global_program import REPLICAS, local_text
from sdyopt.analysis.hlo_comparison.collectives import CollectiveOperand
from sdyopt.analysis.hlo_comparison.hlo_text import read_hlo
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.module_parser import parse_module
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.pipeline.tree import parse_pipeline
from sdyopt.mlir.registry import all_dialects, find_dialect, lookup
from sdyopt.tools.driver.job import Job, interpreter_settings
from sdyopt.tools.driver.run import run_job

PIPELINE = "builtin.module(sdy-partition-pipeline)"
KINDS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "collective_permute")

# By kind of collective; a loop body counts once.
ReceivedBytes = dict[str, Fraction]


@dataclass(frozen=True)
class Communication:
    """What a device receives in the two programs."""

    name: str
    devices: int
    received: ReceivedBytes
    received_by_xla: ReceivedBytes

    @property
    def total(self) -> Fraction:
        return sum(self.received.values(), Fraction(0))

    @property
    def total_of_xla(self) -> Fraction:
        return sum(self.received_by_xla.values(), Fraction(0))


def compare_program(path: Path, python: str, keep: Path | None) -> Communication:
    """Compares a program. Raises NotComparedError if one of the partitioners rejects it."""
    outcome = run_job(Job(path.name, path.read_bytes, parse_pipeline(PIPELINE, lookup)))
    if not outcome.succeeded:
        raise NotComparedError("the pipeline rejects it")
    with interpreter_settings(), TemporaryDirectory() as folder:
        module, _ = parse_module(Source(path.name, outcome.output), DialectTable(find_dialect, all_dialects))
        assert isinstance(module, ModuleOp)
        devices = max([op.mesh.total_size for op in module.walk() if isinstance(op, MeshOp)], default=1)
        entry = next(op for op in module.walk() if isinstance(op, FuncOp) and op.sym_visibility != "private")
        text = local_text(module, entry, devices, REPLICAS).encode("utf-8")
        local = Path(folder) / f"{path.stem}.{sha256(text).hexdigest()[:16]}.mlir"
        local.write_bytes(text)
        by_xla = compile_with_xla(path, devices, python, keep)["hlo"]
        ours = compile_with_xla(local, devices, python, keep, "replicas")["hlo"]
    return Communication(
        path.stem, devices, *(_received(read_hlo(path.stem, hlo, devices).operands) for hlo in (ours, by_xla))
    )


def _received(operands: Iterable[CollectiveOperand]) -> ReceivedBytes:
    received = dict.fromkeys(KINDS, Fraction(0))
    for each in operands:
        received[each.kind] += each.wire_bytes
    return received
