"""Passes and dialects of other packages."""

from __future__ import annotations

from sdyopt.api.errors import pipeline_error
from sdyopt.diagnostics.usage import UsageError
from sdyopt.registry import plugins


def load_pass_plugin(name: str) -> None:
    """Registers the passes of an entry point of the group `sdyopt.passes`; raises PipelineError."""
    try:
        plugins.load_pass_plugin(name)
    except UsageError as error:
        raise pipeline_error(error) from None


def load_dialect_plugin(name: str) -> None:
    """Registers the dialect of an entry point of the group `sdyopt.dialects`; raises PipelineError."""
    try:
        plugins.load_dialect_plugin(name)
    except UsageError as error:
        raise pipeline_error(error) from None
