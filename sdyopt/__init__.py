"""A Python implementation of Shardy's `sdy_opt`: an IR, dialects, the `sdy-opt` driver, a Python interface.

    import sdyopt

    module = sdyopt.parse(jax.jit(step).lower(*arguments))
    print(module.run("sdy-propagation-pipeline"))

The names in `__all__` are public and described in docs/api.md; all others may change in any release. This
module imports nothing, so that `sdy-opt --version` starts fast; the first use of a public name imports
`sdyopt.tools.api`.

docs/architecture.md has the five storeys and their rooms.
"""

__version__ = "0.1.0"

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

# Type checkers take this for true, without an import of `typing`.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from sdyopt.tools.api import *
else:

    def __getattr__(name):
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from sdyopt.tools import api

        return getattr(api, name)

    def __dir__():
        return sorted({*globals(), *__all__})
