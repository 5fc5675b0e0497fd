"""Pipelines: passes, their options, their order and nesting, and running them."""

from sdyopt.diagnostics.usage import UsageError
from sdyopt.pipeline.base import FUNCTION, MODULE, Pass, RunInside, Statistic
from sdyopt.pipeline.option import Option, option
from sdyopt.pipeline.run import Instrument, run_pipeline
from sdyopt.pipeline.text import parse_pipeline
from sdyopt.pipeline.tree import Pipeline

__all__ = [
    "FUNCTION",
    "MODULE",
    "Instrument",
    "Option",
    "Pass",
    "Pipeline",
    "RunInside",
    "Statistic",
    "UsageError",
    "option",
    "parse_pipeline",
    "run_pipeline",
]
