"""Remarks in the formats of MLIR."""

import pytest
import yaml

from sdyopt.analysis.explain.remarks.remark import Remark, RemarkFilter, RemarkKind, remark_text, remark_yaml
from sdyopt.base.diagnostics.location import FileLoc, UnknownLoc
from sdyopt.base.diagnostics.usage import UsageError

REMARK = Remark(
    *(RemarkKind.MISSED, "propagation", "axis-not-propagated", "main", FileLoc("train.py", 12, 4)),
    (("Value", "%0"), ("Axis", '"x"'), ("Reason", "dimension 0 is closed")),
)


def test_the_text_sorts_arguments_and_quotes_those_with_spaces() -> None:
    assert remark_text(REMARK) == (
        "[Missed] axis-not-propagated | Category:propagation | Function=main | "
        'Axis="x", Reason="dimension 0 is closed", Value=%0'
    )


class Loader(yaml.SafeLoader):
    """Reads the tags of remarks."""


def _construct(loader: yaml.SafeLoader, tag: str, node: yaml.MappingNode) -> object:
    return {"Kind": tag, **loader.construct_mapping(node, deep=True)}


Loader.add_multi_constructor("!", _construct)


@pytest.mark.parametrize(
    "text", ["%0", 'it\'s "x"', "no", "", " a", "a: b", "#", "1", "a\nb\x1b", "–", "\\n"]
)
def test_yaml_keeps_every_text(text: str) -> None:
    remark = REMARK._replace(function=text or "f", arguments=(("Value", text),))
    [read] = yaml.load_all(remark_yaml(remark), Loader)
    assert read == {
        "Kind": "Missed",
        "Pass": "propagation",
        "Name": "axis-not-propagated",
        "DebugLoc": {"File": "train.py", "Line": 12, "Column": 4},
        "Function": text or "f",
        "Args": [{"Value": text}],
    }


def test_an_unknown_location_is_line_0() -> None:
    [read] = yaml.load_all(remark_yaml(REMARK._replace(location=UnknownLoc())), Loader)
    assert read["DebugLoc"] == {"File": "<unknown file>", "Line": 0, "Column": 0}


def test_a_filter_matches_whole_names() -> None:
    assert RemarkFilter({"remarks-filter": "prop.*"}).shows(RemarkKind.MISSED, "propagation")
    assert not RemarkFilter({"remarks-filter": "prop"}).shows(RemarkKind.MISSED, "propagation")


def test_flags_that_exclude_each_other_are_invalid() -> None:
    with pytest.raises(UsageError, match=r"is not a regular expression"):
        RemarkFilter({"remarks-filter": "(?a)(?u)"})


def test_a_filter_matches_in_bounded_time() -> None:
    with pytest.raises(UsageError, match=r"takes longer than 1 second to match"):
        RemarkFilter({"remarks-filter": "((((.*)*)*)*)*x"})


def test_a_filter_is_of_one_kind() -> None:
    assert RemarkFilter({"remarks-filter-missed": "propagation"}).shows(RemarkKind.MISSED, "propagation")
    assert not RemarkFilter({"remarks-filter-passed": "propagation"}).shows(RemarkKind.MISSED, "propagation")


def test_filters_without_a_category_are_known() -> None:
    selected = RemarkFilter({"remarks-filter": "reshard", "remarks-filter-passed": "loops"})
    assert selected.unmatched == ["remarks-filter-passed"]


def test_an_invalid_filter_is_an_error() -> None:
    with pytest.raises(
        UsageError, match="for the --remarks-filter option: '\\[' is not a regular expression"
    ):
        RemarkFilter({"remarks-filter": "["})
