"""Programs for the tests of the sharding record: parsed, propagated and recorded."""

from sdyopt.analysis.sharding_record.record import ShardingRecord
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.module_parser import ParseOptions, parse_module
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.pipeline.run import run_pipeline
from sdyopt.mlir.pipeline.tree import parse_passes
from sdyopt.mlir.registry import dialect_table, lookup


def recorded(text: str, passes: str = "sdy-propagation-pipeline") -> tuple[Op, ShardingRecord]:
    """The program after some passes, and the record of what they did to its shardings."""
    module, _ = parse_module(Source("program.mlir", text), dialect_table(), ParseOptions())
    record = ShardingRecord()
    with record.active():
        assert run_pipeline(parse_passes(passes, lookup), module)
    return module, record
