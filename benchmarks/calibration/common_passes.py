"""Compiles a program by the passes of XLA that all devices have in common.

XLA for the CPU changes a program in ways that its results for other devices do not have: it reduces 16-bit
floats in 32 bits, calls libraries for products and what surrounds them, and orders operations so that many
can run at once. Flags of XLA switch this off. XLA dumps the HLO before it fuses operations, and the
assignment of buffers.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.processes import BenchmarkFailed, run

_CPU_PASSES = (
    "all-reduce-promotion",
    "change-op-data-type",
    "cpu-all-reduce-combiner",
    "dot-library-rewriter",
    "float-normalization-bf16",
    "library-rewriter",
)
_FLAGS = (
    f"--xla_disable_hlo_passes={','.join(_CPU_PASSES)}",
    # Operations in an order that needs little memory.
    "--xla_cpu_enable_concurrency_optimized_scheduler=false",
    # No machine code is needed.
    "--xla_backend_optimization_level=0",
    "--xla_dump_hlo_pipeline_re=HLO.passes.after.layout",
    "--xla_dump_hlo_pass_re=.*",
    "--xla_dump_large_constants=true",
)
_HLO = "HLO_passes_after_layout_assignment.after_pipeline-start"
_BUFFERS = "after_optimizations-buffer-assignment.txt"
_ALLOCATION = re.compile(r"allocation \d+: size (\d+)(.*)")


def compile_by_common_passes(script: Path, path: Path, devices: int, python: str) -> str:
    """JSON: the HLO before fusion, the bytes of the arguments, and those of all buffers but constants."""
    with TemporaryDirectory() as folder:
        flags = " ".join((*_FLAGS, f"--xla_dump_to={folder}"))
        try:
            run([python, str(script), str(path), str(devices), "common"], environment={"XLA_FLAGS": flags})
        except BenchmarkFailed:
            # The CPU has no code for collectives of 16-bit floats. By then, all has been dumped.
            if not any(_BUFFERS in dumped.name for dumped in Path(folder).iterdir()):
                raise
        arguments, peak = _buffer_bytes(_largest(folder, _BUFFERS))
        return json.dumps({"hlo": _largest(folder, _HLO), "arguments": arguments, "peak": peak})


def _largest(folder: str, part: str) -> str:
    """The largest file with this part of a name: that of the program, not of a part of it."""
    found = [path for path in Path(folder).iterdir() if part in path.name]
    return max(found, key=lambda path: path.stat().st_size).read_text(encoding="utf-8")


def _buffer_bytes(assignment: str) -> tuple[int, int]:
    """The bytes of the arguments, and of all buffers."""
    sizes = {True: 0, False: 0}
    for line in assignment.splitlines():
        match = _ALLOCATION.match(line)
        if match is not None and "thread-local" not in match[2] and ", constant" not in match[2]:
            sizes[", parameter" in match[2]] += int(match[1])
    return sizes[True], sum(sizes.values())
