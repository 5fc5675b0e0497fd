"""Pipelines as people write them: flags, a textual pipeline, or the names of passes."""

from __future__ import annotations

import shlex
from typing import Final

from sdyopt.diagnostics.usage import UsageError
from sdyopt.pipeline.base import MODULE
from sdyopt.pipeline.text import add_entry, parse_passes, parse_pipeline
from sdyopt.pipeline.tree import Pipeline
from sdyopt.registry.discovery import lookup

# The flag whose value is a whole pipeline.
_PIPELINE_FLAG: Final = "pass-pipeline"


def read_pipeline(text: str) -> Pipeline:
    """The pipeline of `-cse -sdy-close-shardings`, of `builtin.module(cse)` or of `cse,canonicalize`.

    Raises UsageError.
    """
    text = text.strip()
    if text.startswith("-"):
        pipeline = Pipeline()
        for flag in _split_flags(text):
            name, _, value = flag.lstrip("-").partition("=")
            if name == _PIPELINE_FLAG:
                pipeline.add_nested(parse_pipeline(value, lookup).elements)
            else:
                add_entry(pipeline, lookup(name), name, value, nests=True)
        return pipeline
    is_whole = text.startswith(f"{MODULE}(")
    return parse_pipeline(text, lookup) if is_whole else parse_passes(text, lookup)


def _split_flags(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as problem:
        raise UsageError(f"{text}: {problem}") from None
