"""Help, manuals and lists are complete."""

import re

import pytest

from sdyopt.cli.flags import FLAGS
from sdyopt.cli.help import help_text, manual_text, passes_markdown, passes_text, purpose
from sdyopt.diagnostics.usage import UsageError
from sdyopt.registry import all_passes


def test_help_names_every_flag_pass_and_option() -> None:
    text = help_text()
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


def test_manuals_end_with_the_options() -> None:
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
    assert all(f"-{entry.flag}" in passes_text() for entry in all_passes())
