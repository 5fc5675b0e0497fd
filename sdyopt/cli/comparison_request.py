"""Builds the options of comparisons and snapshots from the arguments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath

from sdyopt.cli.arguments import Arguments
from sdyopt.cli.files import STDIN, STDIN_NAME, STDOUT, read_input
from sdyopt.diagnostics.usage import UsageError
from sdyopt.driver.job import ComparisonOptions, SnapshotOptions
from sdyopt.pipeline.tree import Pipeline
from sdyopt.releases import following

_SNAPSHOT_SUFFIX = ".json"


def comparison_options(
    arguments: Arguments, pipeline: Pipeline, build: Callable[[Arguments], Pipeline]
) -> ComparisonOptions:
    """The options of a comparison, with the other program. Raises UsageError and FileProblem.

    `pipeline` is the pipeline of this run, which also runs on the other program by default; `build` makes it
    from the arguments as in another release.
    """
    names = ("with", "pipeline", "sdy-version", "output")
    path, passes, other_version, output = (arguments[f"compare-{name}"] for name in names)
    if path is None and passes is None and not other_version:
        if output is not None:
            message = "the --compare-output option has nothing to compare"
            raise UsageError(message, "add --compare-with=FILE or --compare-pipeline=PASSES")
        return ComparisonOptions()
    if output is not None:
        from sdyopt.analysis.comparison.comparison_formats import check_comparison_format

        check_comparison_format(output)
    name = arguments.input if path is None else path
    if STDIN in (name, arguments.input) and (path is None or name == arguments.input):
        raise UsageError(
            "the program and the one to compare it with cannot both be read from stdin", "write one to a file"
        )
    data = read_input(name)
    name = STDIN_NAME if name == STDIN else name
    version = other_version or arguments["sdy-version"]
    with following(version):
        if passes is not None:
            other = _pipeline(passes)
        elif other_version:
            other = build(arguments)
        else:
            other = _copy(pipeline)
    return ComparisonOptions(
        name,
        data,
        other,
        version,
        _titles(arguments, name, passes, other_version),
        to_stdout=output is None,
        path=output or "",
    )


def snapshot_options(arguments: Arguments) -> SnapshotOptions:
    """The options of snapshots, with the earlier one. Raises UsageError and FileProblem."""
    path, check = arguments["snapshot"], arguments["check-snapshot"]
    to_stdout = path == STDOUT
    if path and not to_stdout and PurePath(path).suffix != _SNAPSHOT_SUFFIX:
        message = f"for the --snapshot option: '{path}' does not end with {_SNAPSHOT_SUFFIX}"
        raise UsageError(message, "such as shardings.json")
    if to_stdout and _prints_other(arguments):
        message = "the --snapshot option prints on stdout, and so does another one"
        raise UsageError(message, "write the snapshot to a file with --snapshot=FILE.json")
    earlier = None if check is None else (check, read_input(check).decode("utf-8", "surrogateescape"))
    return SnapshotOptions(to_stdout, "" if to_stdout else path or "", arguments["snapshot-places"], earlier)


def _prints_other(arguments: Arguments) -> bool:
    """Whether answers, a summary of findings, a report or a comparison are on stdout."""
    is_compared = any(
        arguments[f"compare-{name}"] not in (None, "") for name in ("with", "pipeline", "sdy-version")
    )
    return (
        bool(arguments["explain"])
        or bool(arguments["lint"])
        or arguments["report"] == STDOUT
        or (is_compared and arguments["compare-output"] is None)
    )


def _pipeline(text: str) -> Pipeline:
    """The pipeline of flags, of names, or of a textual pipeline. Raises UsageError."""
    from sdyopt.api.errors import PipelineError
    from sdyopt.api.pipelines import combined_pipeline

    try:
        return combined_pipeline([text], {}) if text.strip() else Pipeline()
    except PipelineError as error:
        [problem] = error.diagnostics
        message = f"for the --compare-pipeline option: {problem.message}"
        raise UsageError(message, problem.help) from None


def _copy(pipeline: Pipeline) -> Pipeline:
    """The same pipeline with new passes, so that the statistics of the other program are separate."""
    return _pipeline(str(pipeline)) if pipeline.elements else Pipeline()


def _titles(arguments: Arguments, name: str, passes: str | None, other_version: str) -> tuple[str, str]:
    """What the programs are called: by their files, and by their releases and passes if these may differ."""
    own = STDIN_NAME if arguments.input == STDIN else arguments.input
    if other_version:
        name, own = f"{name} in {other_version}", f"{own} in {arguments['sdy-version']}"
    if passes is None:
        return name, own
    flags = [f"-{flag.name}={flag.options}" if flag.options else f"-{flag.name}" for flag in arguments.passes]
    ran = arguments["pass-pipeline"] or " ".join(flags)
    return _title(name, passes), _title(own, ran)


def _title(name: str, passes: str) -> str:
    return f"{name} with {passes}" if passes.strip() else name
