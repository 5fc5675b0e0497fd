"""Source locations of the values in a JSON text."""

import pytest

from sdyopt.diagnostics.location import FileLoc
from sdyopt.report.json_file import JsonFile, Path

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
