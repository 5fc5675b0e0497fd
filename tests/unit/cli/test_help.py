"""Help, manuals and lists are complete."""

import re

import pytest

from sdyopt.base.diagnostics.usage import UsageError
from sdyopt.mlir.registry import all_passes
from sdyopt.tools.cli.flags import FLAGS
from sdyopt.tools.cli.help import (
    help_text,
    manual_text,
    passes_full,
    passes_markdown,
    passes_short,
    purpose,
    wrapped,
)


def test_help_names_every_flag_pass_and_option() -> None:
    text = help_text(is_complete=True)
    assert [flag for flag in FLAGS if f"-{flag}" not in text] == []
    for entry in all_passes():
        assert re.search(rf"-{re.escape(entry.flag)}\s", text)
        assert [option.flag for option in entry.options() if f"{option.flag}=" not in text] == []


def test_the_first_line_of_every_manual_is_a_summary() -> None:
    for entry in all_passes():
        assert entry.manual.startswith(f"{entry.flag}: ")
        assert purpose(entry)
        assert not purpose(entry).endswith(".")


def test_every_option_has_help() -> None:
    assert [o for entry in all_passes() for o in entry.options() if not o.help] == []


def test_manuals_have_anchors_and_options() -> None:
    text = manual_text("canonicalize")
    assert text.startswith("canonicalize: ")
    assert "Runs on any operation.\n" in text
    assert "max-iterations=" in text
    with pytest.raises(UsageError) as caught:
        manual_text("cannonicalize")
    assert caught.value.help == "did you mean 'canonicalize'?"


def test_lists_contain_every_pass() -> None:
    rows = passes_markdown().splitlines()[2:]
    assert [row.split("`")[1] for row in rows] == [f"-{entry.flag}" for entry in all_passes()]
    assert all(row.count("|") - row.count(r"\|") == 4 for row in rows)
    assert all(f"-{entry.flag}" in passes_full() for entry in all_passes())


def test_short_help_names_common_flags_in_80_lines_and_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = help_text()
    assert [name for name, flag in FLAGS.items() if flag.is_common and f"-{name}" not in text] == []
    assert [name for name, flag in FLAGS.items() if not flag.is_common and f"--{name} " in text] == []
    lines = text.splitlines()
    assert len(lines) <= 80
    assert max(map(len, lines)) <= 80


def test_each_pass_is_one_line_of_the_list() -> None:
    """In a pipe, lines are complete, so that grep finds every word."""
    lines = passes_short().splitlines()
    assert [line.split()[0] for line in lines if line.startswith("  -")] == sorted(
        (f"-{entry.flag}" for entry in all_passes()), key=lambda flag: (flag.endswith("pipeline"), flag)
    )
    assert all(any(line.endswith(purpose(entry)) for line in lines) for entry in all_passes())


def test_lines_of_the_list_are_cut_off_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sdyopt.tools.cli.help.stdout_is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    lines = passes_short().splitlines()
    assert max(map(len, lines)) == 80
    assert any(line.endswith("…") for line in lines)


def test_paragraphs_are_wrapped_and_code_is_not() -> None:
    text = "merge: merge equal constants.\n\nOne two three four.\n\n    %0 = long.operation %a, %b : i32"
    assert wrapped(text, 12).splitlines() == [
        "merge: merge",
        "equal",
        "constants.",
        "",
        "One two",
        "three four.",
        "",
        "    %0 = long.operation %a, %b : i32",
    ]
