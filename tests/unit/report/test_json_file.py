"""Source locations of the values in a JSON text."""

import pytest

from sdyopt.analysis.figures.located_files import JsonFile, Path
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import FileLoc

TEXT = """{
 "a": [1, {"b, }": "]", "c": {}}, []],
 "d": -2.5
}"""


@pytest.mark.parametrize(
    ("path", "line", "column"),
    [
        ((), 1, 1),
        (("a",), 2, 7),
        (("a", 0), 2, 8),
        (("a", 1), 2, 11),
        (("a", 1, "b, }"), 2, 20),
        (("a", 1, "c"), 2, 30),
        (("a", 2), 2, 35),
        (("d",), 3, 7),
        # A missing value has the location of the innermost list or object that exists.
        (("a", 1, "e"), 2, 11),
        (("a", 3, "e"), 2, 7),
        (("e",), 1, 1),
    ],
)
def test_values_are_located(path: Path, line: int, column: int) -> None:
    assert JsonFile("x.json", TEXT).location(path) == FileLoc("x.json", line, column)


@pytest.mark.parametrize("text", [r'["\ud800"]', r'["\udc80"]', r'["\ud83d\ud83d\ude00"]', r'["\\\ud800"]'])
def test_half_of_a_surrogate_pair_is_an_error(text: str) -> None:
    with pytest.raises(DiagnosticError, match="half of a surrogate pair") as error:
        JsonFile("x.json", text)
    assert error.value.diagnostic.location == FileLoc("x.json", 1, text.index(r"\ud") + 1)


@pytest.mark.parametrize("text", [r'["\ud83d\ude00"]', r'["\\ud800"]'])
def test_surrogate_pairs_and_escaped_backslashes_are_valid(text: str) -> None:
    assert len(JsonFile("x.json", text).value) == 1
