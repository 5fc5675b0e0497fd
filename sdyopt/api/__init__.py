"""The Python interface: what `import sdyopt` offers to notebooks, tests and scripts.

`sdyopt` imports this package when one of its names is first used. Operations, values and attributes are views
of the IR; diagnostics, locations, meshes and shardings are plain data. So the classes of the IR may change
while this interface stays the same.
"""

from sdyopt.api.attributes import Attribute, Type
from sdyopt.api.comparisons import Comparison, ShardingChange
from sdyopt.api.errors import Diagnostic, Error, Location, ParseError, PassError, PipelineError, VerifyError
from sdyopt.api.execution import ExecutionError, Validation
from sdyopt.api.module import Module
from sdyopt.api.operations import Block, Function, Operation, Value
from sdyopt.api.parsing import parse
from sdyopt.api.pipelines import (
    PassInfo,
    PassPipeline,
    create_pass,
    list_passes,
    load_dialect_plugin,
    load_pass_plugin,
)
from sdyopt.api.reports import Collective, Report
from sdyopt.api.shardings import Axis, DimensionSharding, Mesh, Sharding
from sdyopt.diagnostics.diagnostic import Severity

__all__ = [
    "Attribute",
    "Axis",
    "Block",
    "Collective",
    "Comparison",
    "Diagnostic",
    "DimensionSharding",
    "Error",
    "ExecutionError",
    "Function",
    "Location",
    "Mesh",
    "Module",
    "Operation",
    "ParseError",
    "PassError",
    "PassInfo",
    "PassPipeline",
    "PipelineError",
    "Report",
    "Severity",
    "Sharding",
    "ShardingChange",
    "Type",
    "Validation",
    "Value",
    "VerifyError",
    "create_pass",
    "list_passes",
    "load_dialect_plugin",
    "load_pass_plugin",
    "parse",
]
