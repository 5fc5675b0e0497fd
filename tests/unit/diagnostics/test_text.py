"""Text for people has no characters that control a terminal."""

import pytest

from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity
from sdyopt.base.diagnostics.location import FileLoc, FileRange, NameLoc, Source
from sdyopt.base.diagnostics.render import render
from sdyopt.base.diagnostics.text import printable, printable_line, replace_unprintable

HOSTILE = "\x1b\x07\x9b\u202e\u2066\u200b\r\x7f\udc80"


def test_control_characters_are_escaped() -> None:
    assert printable("a\x1b[31mb\x07") == "a\\x1b[31mb\\x07"
    assert printable("\x9b \u202e \u2066 \udc80") == "\\x9b \\u202e \\u2066 \\udc80"
    assert printable("tab\tand\nnewline, é, 日") == "tab\tand\nnewline, é, 日"
    assert printable_line("a\nb: error: c") == "a\\nb: error: c"


@pytest.mark.parametrize("character", [*HOSTILE, "\n", "\t", "\x00"])
def test_unprintable_characters_are_replaced(character: str) -> None:
    assert replace_unprintable(f"a{character}é 日") == "a\N{REPLACEMENT CHARACTER}é 日"
    assert replace_unprintable("é 日") == "é 日"


@pytest.mark.parametrize("character", HOSTILE)
def test_no_part_of_a_diagnostic_has_them(character: str) -> None:
    file = f"f{character}"
    note = Diagnostic(Severity.NOTE, NameLoc(character), character)
    diagnostic = Diagnostic(
        Severity.ERROR,
        FileLoc(f"{character}.py", 1, 1),
        character,
        [note],
        help=character,
        culprit=FileRange(file, 1, 1, 1, 2),
    )
    text = render(diagnostic, Source(file, f"{character} source"))
    assert character not in text
    assert "  --> f" in text
