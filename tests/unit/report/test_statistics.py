"""The statistics report, in MLIR's layout."""

from sdyopt.dataclasses import dataclass
from sdyopt.pipeline import Pass, Pipeline, Statistic
from sdyopt.pipeline.statistics_report import statistics_report


@dataclass(frozen=True, eq=False)
class Counts(Pass):
    """A pass with two statistics."""

    merged = Statistic("num-merged", "merged operations")
    erased = Statistic("num-dce'd", "erased operations")


def a_pipeline() -> Pipeline:
    first, second = Counts(), Counts()
    first.count(first.merged, 12)
    second.count(second.erased, 3)
    return Pipeline(elements=[first, Pipeline("func.func", [second])])


def test_statistics_by_pipeline_are_nested() -> None:
    assert statistics_report(a_pipeline()).splitlines()[3:] == [
        "CountsPass",
        "  (S)  0 num-dce'd  - erased operations",
        "  (S) 12 num-merged - merged operations",
        "'func.func' Pipeline",
        "  CountsPass",
        "    (S) 3 num-dce'd  - erased operations",
        "    (S) 0 num-merged - merged operations",
        "",
    ]


def test_statistics_by_name_are_sums_of_equal_passes() -> None:
    assert statistics_report(a_pipeline(), as_list=True).splitlines()[3:] == [
        "  CountsPass",
        "    (S)  3 num-dce'd  - erased operations",
        "    (S) 12 num-merged - merged operations",
        "",
    ]
