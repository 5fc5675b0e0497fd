"""The Python interface: what `import sdyopt` offers to notebooks, tests and scripts.

`sdyopt` imports this package when one of its names is first used. Operations, values and attributes are views
of the IR; diagnostics, locations, meshes and shardings are plain data. So the classes of the IR may change
while this interface stays the same.
"""

from sdyopt.base.diagnostics.diagnostic import Severity
from sdyopt.mlir.bytecode.stream import ExportedFunction
from sdyopt.mlir.pipeline.base import option
from sdyopt.tools.api.analyses import Advice, Comparison, Findings, ShardingChange
from sdyopt.tools.api.attributes import Attribute, Type
from sdyopt.tools.api.checks import Check, CostlyPlace, MemoryPlace, MeshSweep, TriedChange, check, mesh_sweep
from sdyopt.tools.api.errors import (
    Diagnostic,
    Error,
    Location,
    ParseError,
    PassError,
    PipelineError,
    VerifyError,
)
from sdyopt.tools.api.execution import ExecutionError, Validation
from sdyopt.tools.api.module import Edit, Module
from sdyopt.tools.api.operations import Block, Function, Operation, Value
from sdyopt.tools.api.parsing import exported_function, parse
from sdyopt.tools.api.pipelines import (
    Pass,
    PassInfo,
    PassPipeline,
    create_pass,
    list_passes,
    load_dialect_plugin,
    load_pass_plugin,
    register_pass,
)
from sdyopt.tools.api.reports import (
    Collective,
    ComparedCollective,
    Explanation,
    HloComparison,
    HloMatch,
    Report,
)
from sdyopt.tools.api.rewriting import Pattern, Rewriter
from sdyopt.tools.api.shardings import Axis, DimensionSharding, Mesh, Sharding

__all__ = [
    "Advice",
    "Attribute",
    "Axis",
    "Block",
    "Check",
    "Collective",
    "ComparedCollective",
    "Comparison",
    "CostlyPlace",
    "Diagnostic",
    "DimensionSharding",
    "Edit",
    "Error",
    "ExecutionError",
    "Explanation",
    "ExportedFunction",
    "Findings",
    "Function",
    "HloComparison",
    "HloMatch",
    "Location",
    "MemoryPlace",
    "Mesh",
    "MeshSweep",
    "Module",
    "Operation",
    "ParseError",
    "Pass",
    "PassError",
    "PassInfo",
    "PassPipeline",
    "Pattern",
    "PipelineError",
    "Report",
    "Rewriter",
    "Severity",
    "Sharding",
    "ShardingChange",
    "TriedChange",
    "Type",
    "Validation",
    "Value",
    "VerifyError",
    "check",
    "create_pass",
    "exported_function",
    "list_passes",
    "load_dialect_plugin",
    "load_pass_plugin",
    "mesh_sweep",
    "option",
    "parse",
    "register_pass",
]
