"""The registry of passes, pass pipelines and dialects by name."""

from sdyopt.mlir.registry.discovery import (
    LIST_PASSES,
    MESH_VERSIONS,
    add_dialect,
    all_dialects,
    all_passes,
    dialect_table,
    dialects_of_run,
    find_dialect,
    find_entry,
    forgotten_dialects,
    import_passes,
    lookup,
    of_other_tool,
    plugins_not_loaded,
    using_dialects,
)
from sdyopt.mlir.registry.table import PassEntry, PipelineEntry, register, register_pipeline

__all__ = [
    "LIST_PASSES",
    "MESH_VERSIONS",
    "PassEntry",
    "PipelineEntry",
    "add_dialect",
    "all_dialects",
    "all_passes",
    "dialect_table",
    "dialects_of_run",
    "find_dialect",
    "find_entry",
    "forgotten_dialects",
    "import_passes",
    "lookup",
    "of_other_tool",
    "plugins_not_loaded",
    "register",
    "register_pipeline",
    "using_dialects",
]
