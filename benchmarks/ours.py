"""`python -m benchmarks.ours FILE PIPELINE` times the steps of sdy-opt in process and prints JSON."""

import gc
import json
import resource
import sys
import time
from pathlib import Path

from sdyopt.base.diagnostics import Source
from sdyopt.mlir.asm.parser.module_parser import parse_module
from sdyopt.mlir.asm.printer.asm_printer import print_for_note, print_op
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.verify import Verifier
from sdyopt.mlir.pipeline.run import run_pipeline
from sdyopt.mlir.pipeline.tree import parse_pipeline
from sdyopt.mlir.registry import find_dialect, lookup

DIALECTS = ("builtin", "func", "stablehlo", "chlo", "mhlo", "sdy")


def steps(path: str, pipeline: str) -> dict[str, float]:
    """Processor seconds per step, peak memory in bytes, and the number of operations."""
    text = Path(path).read_text(encoding="utf-8")
    gc.disable()  # as the driver does
    dialects = DialectTable(find_dialect)
    for name in DIALECTS:  # imported before the clock starts
        dialects.find(name)
    start = time.process_time()
    module, _ = parse_module(Source(path, text), dialects)
    verifier = Verifier(dialects, AttributePrinter().type, print_for_note)
    if not verifier.verify(module):
        sys.exit(f"{path} is not valid")
    parsed = time.process_time()
    print_op(module)
    printed = time.process_time()
    operations = sum(1 for _ in module.walk())
    passes = parse_pipeline(pipeline, lookup).merged()
    ready = time.process_time()
    if not run_pipeline(passes, module) or not verifier.verify(module):
        sys.exit(f"{pipeline} fails on {path}")
    transformed = time.process_time()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return {
        "parse and verify": parsed - start,
        "print": printed - parsed,
        "passes": transformed - ready,
        "memory": memory,
        "operations": operations,
    }


if __name__ == "__main__":
    json.dump(steps(sys.argv[1], sys.argv[2]), sys.stdout)
