"""`--mlir-pass-statistics`: the report of pass statistics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sdyopt.pipeline.base import Pass, Statistic
from sdyopt.pipeline.timing_report import header
from sdyopt.pipeline.tree import Pipeline


def statistics_report(pipeline: Pipeline, as_list: bool = False) -> str:
    """The statistics of each pass in the pipeline, or with `as_list` the sums per pass label."""
    lines = _as_list(pipeline) if as_list else _as_pipeline(pipeline, 0)
    return header("... Pass statistics report ...") + "".join(lines) + "\n"


def _as_pipeline(pipeline: Pipeline, indent: int) -> Iterator[str]:
    for element in pipeline.elements:
        if isinstance(element, Pass):
            counts = {statistic: element.counted(statistic) for statistic in element.statistics()}
            yield from _pass_lines(element.label(), counts, indent)
        else:
            yield f"{' ' * indent}'{element.anchor}' Pipeline\n"
            yield from _as_pipeline(element, indent + 2)


def _as_list(pipeline: Pipeline) -> Iterator[str]:
    sums: dict[str, dict[Statistic, int]] = {}
    for pass_ in pipeline.passes():
        for statistic in pass_.statistics():
            counts = sums.setdefault(pass_.label(), {})
            counts[statistic] = counts.get(statistic, 0) + pass_.counted(statistic)
    for label in sorted(sums):
        yield from _pass_lines(label, sums[label], 2)


def _pass_lines(label: str, counts: Mapping[Statistic, int], indent: int) -> Iterator[str]:
    yield f"{' ' * indent}{label}\n"
    name_width = max((len(statistic.name) for statistic in counts), default=0)
    count_width = max((len(str(count)) for count in counts.values()), default=0)
    for statistic in sorted(counts, key=lambda statistic: statistic.name):
        count = f"{counts[statistic]:{count_width}}"
        yield f"{' ' * indent}  (S) {count} {statistic.name:{name_width}} - {statistic.help}\n"
