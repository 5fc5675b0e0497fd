"""Reports of unexpected exceptions: where, in which pass, and whose bug it is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sdyopt import __version__
from sdyopt.tools.cli.crash import crash_diagnostic
from tests.unit.mistakes import PLUGIN


def raised(error: Exception) -> Exception:
    """The exception, with a traceback."""
    try:
        raise error
    except Exception as caught:
        return caught


def test_the_report_of_a_bug_has_the_frame_and_the_version() -> None:
    diagnostic = crash_diagnostic(raised(ZeroDivisionError("oops")), shows_stack=False)
    first, second = diagnostic.message.splitlines()
    assert first == "internal error: ZeroDivisionError: oops"
    assert second.startswith(f"raised at {__file__}:")
    assert diagnostic.help.startswith(
        f"this is a bug in sdy-opt {__version__}; report it to its maintainers "
    )
    assert diagnostic.help.endswith("; --mlir-print-stacktrace-on-diagnostic prints that")


def test_notes_of_the_exception_are_shown() -> None:
    error = raised(ValueError("bad"))
    error.add_note("while running pass 'p' on 'm'")
    assert crash_diagnostic(error, shows_stack=False).message.endswith(", while running pass 'p' on 'm'")


def test_an_exception_without_text_is_shown_by_its_class() -> None:
    message = crash_diagnostic(raised(AssertionError()), shows_stack=False).message
    assert message.startswith("internal error: AssertionError\n")


def test_the_stack_trace_is_last() -> None:
    diagnostic = crash_diagnostic(raised(ValueError("bad")), shows_stack=True)
    assert diagnostic.message.splitlines()[2] == "Traceback (most recent call last):"
    assert diagnostic.message.endswith("ValueError: bad")
    assert "prints that" not in diagnostic.help


def test_the_report_of_a_bug_of_a_plugin_names_the_plugin(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The exception is raised in a library; the innermost frame of the plugin is shown."""
    monkeypatch.syspath_prepend(PLUGIN)
    path = tmp_path / "part.py"
    path.write_text("import json\njson.loads('x')\n", encoding="utf-8")
    code = compile(path.read_text(encoding="utf-8"), str(path), "exec")
    with pytest.raises(ValueError, match="Expecting value") as caught:
        exec(code, {"__name__": "broken_passes.part"})
    diagnostic = crash_diagnostic(caught.value, shows_stack=False)
    assert f"raised at {path}:2, in <module>" in diagnostic.message
    assert (
        "the plugin broken-passes 1.2; report it at https://example.org/broken-passes/issues"
        in diagnostic.help
    )
    assert "broken_passes" not in sys.modules


def test_a_plugin_that_is_a_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "my_pass.py"
    code = compile("1 / 0", str(path), "exec")
    with pytest.raises(ZeroDivisionError) as caught:
        exec(code, {"__name__": "sdyopt_plugin_0_my_pass"})
    help = crash_diagnostic(caught.value, shows_stack=False).help
    assert help.startswith(f"this is a bug in the plugin {path}; --mlir-print-stack")
