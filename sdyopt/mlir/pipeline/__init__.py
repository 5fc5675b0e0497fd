"""Passes, pass options, pass pipelines, and the pass manager that runs them."""

from sdyopt.base.diagnostics.usage import UsageError
from sdyopt.mlir.pipeline.base import (
    FUNCTION,
    MODULE,
    Option,
    Pass,
    RunNested,
    Since,
    Statistic,
    Unsigned,
    option,
)
from sdyopt.mlir.pipeline.run import Instrument, run_pipeline
from sdyopt.mlir.pipeline.tree import Pipeline, parse_pipeline

__all__ = [
    "FUNCTION",
    "MODULE",
    "Instrument",
    "Option",
    "Pass",
    "Pipeline",
    "RunNested",
    "Since",
    "Statistic",
    "Unsigned",
    "UsageError",
    "option",
    "parse_pipeline",
    "run_pipeline",
]
