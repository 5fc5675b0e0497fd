"""Excerpts: the part of a long line around the text that is underlined."""

import pytest

from sdyopt.diagnostics.excerpt import excerpt


def test_a_line_that_fits_is_shown_whole() -> None:
    assert excerpt("one two", 4, 3, 7) == ("one two", "    ^~~")


@pytest.mark.parametrize("column", [0, 10, 450, 880, 897])
@pytest.mark.parametrize("columns", [40, 100])
def test_an_excerpt_has_the_underlined_text_and_fits(column: int, columns: int) -> None:
    line = "".join(f"{index:03}" for index in range(300))
    text, marks = excerpt(line, column, 3, columns)
    assert len(text) <= columns
    start = marks.index("^")
    assert text[start : len(marks)] == line[column : column + 3]
    assert text.startswith("...") == (start != column)


def test_underlined_text_that_does_not_fit_starts_in_the_excerpt() -> None:
    text, marks = excerpt("x" * 50 + "y" * 500, 50, 500, 40)
    assert text[marks.index("^")] == "y"
    assert max(len(text), len(marks)) <= 40


def test_wide_characters_count_twice() -> None:
    text, marks = excerpt("日" * 100, 50, 2, 40)
    assert marks.endswith("^~~~")
    assert len(text.strip(".")) * 2 + 6 <= 40


def test_a_narrow_terminal_shows_something() -> None:
    assert excerpt("x" * 100, 50, 1, 1)[0].count("x") >= 10
