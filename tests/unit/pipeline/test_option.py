"""Options: every type, parsed from and printed as pipeline text."""

from enum import StrEnum
from typing import Literal

import pytest

from sdyopt.mlir.pipeline import Pass, Unsigned, UsageError, option
from sdyopt.mlir.pipeline.base import declared_options, read_options, split_list, write_options


class Level(StrEnum):
    LOW = "low"
    HIGH = "high"


def a_pipeline(
    is_on: bool = option(default=False, help="a switch"),
    count: int = option(default=10, help="a number"),
    limit: Unsigned = option(default=4, help="a number without a sign"),
    ratio: float = option(default=0.5, help="a fraction"),
    name: str = option(default="", help="a text"),
    level: Level = option(default=Level.LOW, help="an enumeration"),
    mode: Literal["normal", "aggressive"] = option(default="normal", help="literals"),
    labels: tuple[str, ...] = option(default=(), help="texts"),
    sizes: tuple[int, ...] = option(default=(1,), help="numbers"),
) -> None:
    """A pass with one option of every type."""


OPTIONS = declared_options(a_pipeline)
INTEGER = "write an integer of at most 64 bits"


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", {}),
        ("is-on", {"is_on": True}),
        ("is-on=false", {"is_on": False}),
        ("  is-on=1   count=-3 ", {"is_on": True, "count": -3}),
        ("count=0x10", {"count": 16}),
        ("count=010", {"count": 8}),
        ("count=-0b11", {"count": -3}),
        ("limit=4294967295", {"limit": 4294967295}),
        ("ratio=1e-3", {"ratio": 0.001}),
        ("name='two words' count=1", {"name": "two words", "count": 1}),
        ('name="a=b"', {"name": "a=b"}),
        ("name={a b} count=1", {"name": "a b", "count": 1}),
        ("name=", {"name": ""}),
        ("level=high mode=aggressive", {"level": Level.HIGH, "mode": "aggressive"}),
        ("labels=a,b", {"labels": ("a", "b")}),
        ("labels={a,b}", {"labels": ("a", "b")}),
        ("labels=a labels=b", {"labels": ("a", "b")}),
        ("labels={x,y},{z}", {"labels": ("x,y", "z")}),
        ("labels={}", {"labels": ()}),
        ("sizes=1,2", {"sizes": (1, 2)}),
        ("count=1 count=2", {"count": 2}),
    ],
)
def test_options_are_parsed(text: str, values: dict[str, object]) -> None:
    assert read_options(OPTIONS, text) == values


@pytest.mark.parametrize(
    ("text", "message", "help"),
    [
        (
            "is-on=maybe",
            "for the --is-on option: 'maybe' is invalid value for boolean argument! Try 0 or 1",
            "write true or false",
        ),
        ("count=x", "for the --count option: 'x' value invalid for long argument!", INTEGER),
        ("count", "for the --count option: requires a value!", INTEGER),
        (
            "count=9223372036854775808",
            "for the --count option: '9223372036854775808' value invalid for long argument!",
            INTEGER,
        ),
        ("count=1_0", "for the --count option: '1_0' value invalid for long argument!", INTEGER),
        (
            "limit=4294967296",
            "for the --limit option: '4294967296' value invalid for uint argument!",
            "write an integer from 0 to 4294967295",
        ),
        (
            "ratio=x",
            "for the --ratio option: 'x' value invalid for floating point argument!",
            "write a number",
        ),
        ("level=hihg", "for the --level option: Cannot find option named 'hihg'!", "did you mean 'high'?"),
        ("level=up", "for the --level option: Cannot find option named 'up'!", "choose from low, high"),
        ("cuont=1", "<Pass-Options-Parser>: no such option cuont", "did you mean 'count'?"),
        # In the text of a pipeline, and in a flag, spaces separate options.
        (
            "count=1,is-on=true",
            "for the --count option: '1,is-on=true' value invalid for long argument!",
            "write the options separated by spaces: 'count=1 is-on=true'",
        ),
        (
            "{count=1, ratio=2}",
            "<Pass-Options-Parser>: no such option {count",
            "write the options separated by spaces: 'count=1 ratio=2'",
        ),
        (
            "{count=1}",
            "<Pass-Options-Parser>: no such option {count",
            "write the options without braces: 'count=1'",
        ),
    ],
)
def test_invalid_options_are_errors_with_help(text: str, message: str, help: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_options(OPTIONS, text)
    assert (caught.value.message, caught.value.help) == (message, help)


def test_options_are_written_sorted_with_empty_text_for_empty_lists() -> None:
    class Values:
        is_on, count, limit, ratio, name, level, mode = True, 1, 2, 0.5, "n", Level.HIGH, "normal"
        labels, sizes = (), (1, 2)

    assert write_options(OPTIONS, Values) == (
        "{count=1 is-on=true  level=high limit=2 mode=normal name=n ratio=0.5 sizes={1,2}}"
    )
    assert write_options((), Values) == ""


def test_lists_split_at_outer_commas() -> None:
    assert split_list("a, {b,c} ,'d,e',f(g,h)") == ["a", "b,c", "d,e", "f(g,h)"]


def test_a_pass_that_is_not_registered_has_the_values_of_its_options() -> None:
    class Experiment(Pass):
        limit: int = option(default=3, help="a number")

    assert (Experiment().limit, Experiment(limit=4).limit) == (3, 4)


def test_an_option_needs_a_type() -> None:
    with pytest.raises(
        TypeError, match="the option 'limit' of Experiment has no type, as in `limit: int = …`"
    ):

        class Experiment(Pass):
            limit = option(default=3, help="a number")
