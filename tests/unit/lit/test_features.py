"""Expressions of features in REQUIRES, UNSUPPORTED and XFAIL lines."""

import sys

import pytest

from sdyopt.tools.lit.directives import SYSTEMS, Features, MalformedCaseError

FEATURES = Features({"yes": True, "no": False, "c++17": True})


@pytest.mark.parametrize(
    "expression",
    ["yes", "true", "!no", "!!yes", "c++17 && yes", "yes || no && no", "!(yes && no)"],
)
def test_expressions_that_hold(expression: str) -> None:
    assert FEATURES.evaluate(expression)


@pytest.mark.parametrize("expression", ["no", "false", "!yes", "yes && no", "(yes || yes) && no"])
def test_expressions_that_do_not_hold(expression: str) -> None:
    assert not FEATURES.evaluate(expression)


def test_systems_are_features() -> None:
    assert FEATURES.evaluate(SYSTEMS[sys.platform])
    assert not any(FEATURES.evaluate(name) for platform, name in SYSTEMS.items() if platform != sys.platform)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("yse", "unknown feature 'yse'; known are .*no, .*yes"),
        ("yes || yse", "unknown feature 'yse'"),
        ("yes no", "unexpected 'no'"),
        ("yes &", "unexpected '&'"),
        ("yes &&", "expected the name of a feature"),
        ("(yes", r"expected '\)' in '\(yes'"),
        ("", "expected the name of a feature"),
    ],
)
def test_invalid_expressions_are_errors(expression: str, message: str) -> None:
    """An unknown name is an error: a misspelled one would skip the test everywhere."""
    with pytest.raises(MalformedCaseError, match=message):
        FEATURES.evaluate(expression)
