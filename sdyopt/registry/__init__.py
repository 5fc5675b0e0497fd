"""The registry of passes, pass pipelines and dialects by name."""

from sdyopt.registry.discovery import (
    add_dialect,
    all_dialects,
    all_passes,
    find_dialect,
    find_entry,
    import_passes,
    lookup,
)
from sdyopt.registry.missing import LIST_PASSES, missing_pass
from sdyopt.registry.table import PassEntry, PipelineEntry, register, register_pipeline

__all__ = [
    "LIST_PASSES",
    "PassEntry",
    "PipelineEntry",
    "add_dialect",
    "all_dialects",
    "all_passes",
    "find_dialect",
    "find_entry",
    "import_passes",
    "lookup",
    "missing_pass",
    "register",
    "register_pipeline",
]
