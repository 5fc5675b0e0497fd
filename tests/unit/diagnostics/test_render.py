"""Rendering of diagnostics: LLVM's layout, excerpts of long lines, control characters, colors."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sdyopt.base.diagnostics import (
    CallSite,
    Diagnostic,
    DiagnosticError,
    FileLoc,
    FileRange,
    Location,
    NameLoc,
    Severity,
    Source,
    UnknownLoc,
)
from sdyopt.base.diagnostics.render import excerpt, paint, render


def show(text: str, location: Location, **more: str) -> str:
    return render(Diagnostic(Severity.ERROR, location, "bad", **more), Source("f", text))  # type: ignore[arg-type]


def test_the_line_is_shown_with_a_caret_below() -> None:
    assert show("one\n  two\n", FileLoc("f", 2, 3)) == "f:2:3: error: bad\n  two\n  ^\n"


def test_caret_below_the_end_of_the_line() -> None:
    assert show("one\n", FileLoc("f", 1, 4)) == "f:1:4: error: bad\none\n   ^\n"


def test_tabs_become_spaces_in_both_lines() -> None:
    assert show("\ta\tb", FileLoc("f", 1, 4)) == ("f:1:4: error: bad\n        a       b\n                ^\n")


def test_range_is_underlined() -> None:
    assert show("a word.", FileRange("f", 1, 3, 1, 7)) == "f:1:3: error: bad\na word.\n  ^~~~\n"


def test_caret_is_below_its_character_after_wide_characters() -> None:
    # 日 is two columns wide and three bytes long; é, two bytes.
    assert show("日é.x", FileLoc("f", 1, 6)) == "f:1:6: error: bad\n日é.x\n   ^\n"


def test_long_lines_are_shortened() -> None:
    text = show("x" * 1000 + "!" + "y" * 1000, FileLoc("f", 1, 1001))
    _, line, caret = text.splitlines()
    assert len(line) < 200
    assert line[caret.index("^")] == "!"
    assert line.startswith("...x")
    assert line.endswith("y...")


def test_control_characters_are_replaced() -> None:
    assert "\x1b" not in show("a\x1b[31mb", FileLoc("f", 1, 1))


def test_locations_outside_the_text_show_no_line() -> None:
    assert show("a", FileLoc("g", 1, 1)) == "g:1:1: error: bad\n"
    assert show("a", FileLoc("f", 7, 1)) == "f:7:1: error: bad\n"
    assert show("a", FileLoc("f", 0, 0)) == "f:0:0: error: bad\n"
    assert show("a", UnknownLoc()) == "<unknown>:0: error: bad\n"
    assert show("a", NameLoc("n")) == 'loc("n"): error: bad\n'


def test_callers_of_inlined_code_are_notes() -> None:
    assert show("callee\ncaller", CallSite(FileLoc("f", 1, 1), FileLoc("f", 2, 1))) == (
        "f:1:1: error: bad\ncallee\n^\nf:2:1: note: called from\ncaller\n^\n"
    )


def test_notes_at_the_same_location_show_the_line_once() -> None:
    error = DiagnosticError.at(FileLoc("f", 1, 1), "bad").note("same").note("other", FileLoc("f", 1, 2))
    assert render(error.diagnostic, Source("f", "ab")) == (
        "f:1:1: error: bad\nab\n^\nf:1:1: note: same\nf:1:2: note: other\nab\n ^\n"
    )


def test_help_is_last() -> None:
    assert show("a", UnknownLoc(), help="write b") == "<unknown>:0: error: bad\nhelp: write b\n"


def test_the_severity_is_colored_and_brackets_are_text() -> None:
    diagnostic = Diagnostic(Severity.ERROR, FileLoc("f", 1, 1), "bad [red]")
    text = render(diagnostic, Source("f", "a"), paint)
    assert "\x1b[1;31merror:\x1b[0m" in text
    assert "bad [red]" in text


def test_rich_is_not_imported_for_plain_text() -> None:
    program = "import sys, sdyopt.base.diagnostics.render; sys.exit('rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


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


def test_help_is_folded_to_the_width_of_a_terminal() -> None:
    help = "write P('x') in the with_sharding_constraint at model.py:7\n"
    help += '  in sdy: [{"x"}, {}] on %arg0, %arg1'
    found = Diagnostic(Severity.WARNING, FileLoc("model.py", 7, 1), "message", help=help)
    assert render(found, columns=40).endswith(f"help: {help}\n")
    assert render(found, columns=40, folds_help=True).splitlines()[1:] == [
        "help: write P('x') in the",
        "      with_sharding_constraint at",
        "      model.py:7",
        '  in sdy: [{"x"}, {}] on %arg0, %arg1',
    ]
    assert render(found, columns=30, folds_help=True).splitlines()[-2:] == [
        '  in sdy: [{"x"}, {}] on',
        "    %arg0, %arg1",
    ]
