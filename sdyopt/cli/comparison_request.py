"""Builds the options of comparisons from the arguments."""

from __future__ import annotations

from sdyopt.analysis.flag import STDIN
from sdyopt.cli.arguments import Arguments
from sdyopt.cli.files import STDIN_NAME, read_input
from sdyopt.diagnostics.usage import UsageError
from sdyopt.driver.job import ComparisonOptions
from sdyopt.pipeline.tree import Pipeline


def comparison_options(arguments: Arguments, pipeline: Pipeline) -> ComparisonOptions:
    """The options of a comparison, with the other program. Raises UsageError and FileProblem.

    `pipeline` is the pipeline of this run, which also runs on the other program by default.
    """
    path, passes, output = (arguments[f"compare-{name}"] for name in ("with", "pipeline", "output"))
    if path is None and passes is None:
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
    return ComparisonOptions(
        name,
        data,
        _copy(pipeline) if passes is None else _pipeline(passes),
        _titles(arguments, name, passes),
        to_stdout=output is None,
        path=output or "",
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


def _titles(arguments: Arguments, name: str, passes: str | None) -> tuple[str, str]:
    """What the programs are called: by their files, and by their passes with --compare-pipeline."""
    own = STDIN_NAME if arguments.input == STDIN else arguments.input
    if passes is None:
        return name, own
    flags = [f"-{flag.name}={flag.options}" if flag.options else f"-{flag.name}" for flag in arguments.passes]
    ran = arguments["pass-pipeline"] or " ".join(flags)
    return _title(name, passes), _title(own, ran)


def _title(name: str, passes: str) -> str:
    return f"{name} with {passes}" if passes.strip() else name
