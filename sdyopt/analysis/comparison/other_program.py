"""The program that another one is compared with: what the flags say of it, before anything runs."""

from __future__ import annotations

from sdyopt.analysis.interface import Request
from sdyopt.analysis.interface.flag import STDIN
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.usage import UsageError
from sdyopt.base.releases import following
from sdyopt.mlir.pipeline.base import MODULE
from sdyopt.mlir.pipeline.tree import Pipeline
from sdyopt.mlir.registry.discovery import read_pipeline


class OtherProgram(NamedTuple):
    """The name and the content of the other file, and the pipeline that runs on it in a release of Shardy.

    `titles` name both programs, the other one first.
    """

    name: str
    data: bytes
    pipeline: Pipeline
    release: str
    titles: tuple[str, str]


def other_program(
    request: Request, path: str | None, passes: str | None, other_release: str | None
) -> OtherProgram:
    """The program of a file, by default the input, with passes and a release, by default those of the run.

    Raises UsageError and FileProblem.
    """
    name = request.input if path is None else path
    if STDIN in (name, request.input) and (path is None or name == request.input):
        raise UsageError(
            "the program and the one to compare it with cannot both be read from stdin", "write one to a file"
        )
    data = request.read(name)
    name = request.name_of(name)
    release = other_release or request["sdy-version"]
    if passes is not None:
        with following(release):
            pipeline = _pipeline(passes)
    elif other_release is not None:
        pipeline = request.pipeline_in(release)
    else:
        pipeline = _copy(request.pipeline)
    titles = (name, request.name_of(request.input))
    if other_release is not None:
        titles = f"{titles[0]} in {release}", f"{titles[1]} in {request['sdy-version']}"
    if passes is not None:
        titles = _title(titles[0], passes), _title(titles[1], request.pipeline_text)
    return OtherProgram(name, data, pipeline, release, titles)


def _copy(pipeline: Pipeline) -> Pipeline:
    """The same pipeline with new passes, so that the statistics of the other program are separate."""
    return _pipeline(str(pipeline)) if pipeline.elements else Pipeline()


def _pipeline(text: str) -> Pipeline:
    if not text.strip():
        return Pipeline()
    try:
        read, combined = read_pipeline(text), Pipeline()
        combined.add_nested(read.elements if read.anchor == MODULE else [read])
    except UsageError as error:
        raise UsageError(f"for the --compare-pipeline option: {error.message}", error.help) from None
    return combined


def _title(name: str, passes: str) -> str:
    return f"{name} with {passes}" if passes.strip() else name
