"""Decoding of the input, and its chunks."""

import pytest

from sdyopt.base.diagnostics import Diagnostic, DiagnosticError, FileLoc, Source, handling
from sdyopt.tools.driver.split import check_text, decode, split


@pytest.mark.parametrize(
    ("data", "message", "position"),
    [
        (b"ab\nc\xff", "invalid UTF-8: byte 0xff", (2, 2)),
        ("é\0".encode(), "unexpected NUL character", (1, 3)),
    ],
)
def test_input_that_is_not_text_is_a_located_error(
    data: bytes, message: str, position: tuple[int, int]
) -> None:
    with pytest.raises(DiagnosticError, match=message) as caught:
        check_text(decode("f", data))
    assert caught.value.diagnostic.location is FileLoc("f", *position)


def pieces(text: str, marker: str = "// -----") -> tuple[list[str], list[tuple[int, int]]]:
    """The chunks of a text, and the locations of warnings."""
    warnings: list[Diagnostic] = []
    source = Source("f", text)
    with handling(warnings.append):
        chunks = [chunk.text for chunk in split(source, marker)]
    locations = [warning.location for warning in warnings]
    return chunks, [
        (position.line, position.column) for position in locations if isinstance(position, FileLoc)
    ]


@pytest.mark.parametrize(
    ("text", "chunks"),
    [
        ("", [""]),
        ("a\n", ["a\n"]),
        ("a\n// -----\nb\n", ["a\n", "\nb\n"]),
        ("// -----\n", ["", "\n"]),
        ("a // ------ b", ["a ", "- b"]),
        ("a// -----// -----b", ["a", "", "b"]),
    ],
)
def test_the_default_marker_splits_and_an_empty_one_does_not(text: str, chunks: list[str]) -> None:
    assert pieces(text) == (chunks, [])
    assert [chunk.text for chunk in split(Source("f", text), "")] == [text]


def test_the_marker_can_be_chosen() -> None:
    assert pieces("a%%b", "%%") == (["a", "b"], [])
    assert pieces("a%b", "%") == (["a", "b"], [])


def test_near_misses_are_warnings() -> None:
    assert pieces("a\n// ----\nb\n// -----\nc") == (["a\n// ----\nb\n", "\nc"], [(2, 7)])
