"""What a diagnostic shows of an operation and of its message on a terminal."""

from __future__ import annotations

import pytest

from sdyopt.tools.driver.display import shortened
from sdyopt.tools.driver.job import Job
from sdyopt.tools.driver.run import run_job

HINT = "--max-diagnostic-op-lines=0 prints all)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one", "one"),
        ("\none\ntwo", "\none\ntwo"),
        ("\none\ntwo\nthree", f"\none\ntwo\n... (1 more line; {HINT}"),
        ("\n1\n2\n3\n4", f"\n1\n2\n... (2 more lines; {HINT}"),
        ("12345678901", f"1234567...\n... (shortened; {HINT}"),
    ],
)
def test_text_is_shortened_to_two_lines_of_ten_columns(text: str, expected: str) -> None:
    assert shortened(text, 2, 10) == expected


def shown(program: str, max_op_lines: int) -> str:
    said: list[str] = []
    run_job(Job(name="f", read=program.encode, write_log=said.append, columns=50, max_op_lines=max_op_lines))
    return "".join(said)


def test_long_messages_are_shortened_where_operations_are() -> None:
    program = "x" * 1000
    assert "x" * 1000 in shown(program, 0)
    text = shown(program, 3)
    assert "x" * 201 not in text
    assert f"... (shortened; {HINT}" in text


def test_errors_that_follow_one_another_show_the_same_line_once() -> None:
    text = shown("sdy.mesh @m = <[x=2]>", 0)
    assert text.count(": error: ") == 3
    assert text.count("sdy.mesh @m = <[x=2]>") == 1
