"""Completed diagnostics: their culprit and help. No explanation fails on a program of the lit tests."""

from __future__ import annotations

import gc
import re
from contextlib import nullcontext
from pathlib import Path

import pytest

from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity
from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.base.diagnostics.location import FileLoc, FileRange, Source, UnknownLoc
from sdyopt.mlir.asm.parser.module_parser import ParseOptions
from sdyopt.mlir.error_help.explainer import DiagnosticExplainer
from sdyopt.mlir.error_help.table import EXPLANATIONS, STEPS, did_you_mean, listed, sentences
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.registry import all_dialects, find_dialect
from sdyopt.tools.driver import display
from sdyopt.tools.driver.job import Job
from sdyopt.tools.driver.run import run_job

LIT = Path(__file__).parents[2] / "lit"
FOLDERS = sorted({path.parent for path in LIT.rglob("*.mlir")})


def complete(text: str, message: str, line: int, column: int, **more: str) -> Diagnostic:
    """A diagnostic without an operation, completed."""
    diagnostic = Diagnostic(Severity.ERROR, FileLoc("f", line, column), message, **more)  # type: ignore[arg-type]
    DiagnosticExplainer(Source("f", text), DialectTable(find_dialect, all_dialects), ParseOptions()).complete(
        diagnostic
    )
    return diagnostic


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.relative_to(LIT).as_posix())
def test_no_explanation_fails(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`LazyExplainer` hides failures; here they are raised."""
    monkeypatch.setattr(display, "suppress", lambda _: nullcontext())
    for path in sorted(folder.glob("*.mlir")):
        run_job(Job(name=path.name, read=path.read_bytes, split_marker="// -----"))


def test_by_default_the_token_at_the_location_is_underlined() -> None:
    assert complete("a.b %x", "bad", 1, 1).culprit == FileRange("f", 1, 1, 1, 4)
    assert complete("a.b %x", "bad", 1, 4).culprit == FileRange("f", 1, 4, 1, 5)


def test_a_name_in_the_message_is_underlined_if_it_is_unique() -> None:
    assert complete("a.b @m, @n", "no '@n'", 1, 1).culprit == FileRange("f", 1, 9, 1, 11)
    assert complete("a.b @n, @n", "no '@n'", 1, 1).culprit == FileRange("f", 1, 1, 1, 4)
    assert complete("a.b dims = [1]", "dims is bad", 1, 1).culprit == FileRange("f", 1, 5, 1, 15)


def test_the_token_at_the_location_of_a_parse_error_is_underlined() -> None:
    assert complete("a.b @m, @n", "no '@n'", 1, 5, id="parse-error").culprit == FileRange("f", 1, 5, 1, 7)


@pytest.mark.parametrize(
    ("text", "column", "help"),
    [
        # Cut within the name of an operation.
        (" " * 300 + "stablehlo.dot_g", 301, "the text ends here: is the file complete?"),
        ('{"schema": "sdy-opt-check",', 1, "this is what sdy-opt wrote (sdy-opt-check); give it the program"),
        ("communication  1 MiB sent", 1, "this is what sdy-opt wrote; give it the program"),
        ("8 devices, mesh \\<", 1, "this is what sdy-opt wrote; give it the program"),
        ('<!doctype html><html lang="en"><head>', 1, "this is what sdy-opt wrote; give it the program"),
        (
            "best: 1",
            1,
            "this is no MLIR; give what jax.jit(f).lower(*arguments).as_text(debug_info=True) returns",
        ),
        ("stablehlo.ad\n%0 = a.b", 1, ""),
    ],
)
def test_a_text_that_is_cut_or_no_program_is_called_that(text: str, column: int, help: str) -> None:
    message = f"custom op '{text.split()[0]}' is unknown"
    assert complete(text, message, 1, column, id="parse-error").help == help


def test_help_of_the_diagnostic_is_kept() -> None:
    message = ErrorKind("no '{name}'", explain="operation")(name="stablehlo.ad")
    assert complete("a.b", message, 1, 1).help == "did you mean `stablehlo.add`?"
    assert complete("a.b", message, 1, 1, help="mine").help == "mine"


def test_help_and_culprit_are_those_of_the_kind_whatever_the_wording() -> None:
    for wording in ("no '{name}'", "{name}: what is that?"):
        kind = ErrorKind(wording, at="text {name} > text c", help="write `{name}` once")
        diagnostic = complete("a.b @m, @n", "'a.b' op " + kind(name="@n"), 1, 1)
        assert diagnostic.culprit == FileRange("f", 1, 9, 1, 11)
        assert diagnostic.help == "write `@n` once"


def test_steps_and_functions_of_all_kinds_exist() -> None:
    dialects = DialectTable(find_dialect, all_dialects)
    assert all(dialects.find(name) for name in dialects.names())
    kinds = [kind for kind in gc.get_objects() if isinstance(kind, ErrorKind)]
    assert len(kinds) > 50
    for kind in kinds:
        assert not kind.explain or kind.explain in EXPLANATIONS
        for step in re.split(" > | [|] ", kind.at):
            assert step.partition(" ")[0] in {"", "{word}_type", *STEPS}


def test_no_hint_is_looked_for_in_a_long_message() -> None:
    """A name in the program that makes a pattern take quadratic time is long."""
    text, message = "a.b float", "expected non-function type"
    assert complete(text, message, 1, 5, id="parse-error").help
    assert not complete(text, message + "." * 20_000, 1, 5, id="parse-error").help


def test_diagnostics_outside_of_the_source_have_no_culprit() -> None:
    diagnostic = Diagnostic(Severity.ERROR, UnknownLoc(), "bad")
    DiagnosticExplainer(Source("f", "a.b"), DialectTable(find_dialect), ParseOptions()).complete(diagnostic)
    assert diagnostic.culprit is None
    assert complete("a.b", "bad", 7, 1).culprit is None


def test_a_similar_name_is_suggested() -> None:
    assert did_you_mean("modle", ["data", "model"]) == "did you mean `model`?"
    assert did_you_mean("eq", ["EQ", "NE"]) == "did you mean `EQ`?"
    assert did_you_mean("tensor", ["data", "model"]) == ""
    assert did_you_mean("data", ["data"]) == ""


def test_lists_are_cut_and_sentences_joined() -> None:
    assert listed("abc") == "a, b, c"
    assert listed("abc", 2) == "a, b, … (3 in all)"
    assert sentences("did you mean `x`?", "", "there is y") == "did you mean `x`? there is y"


def test_statements_on_one_line_are_read_a_bounded_number_of_times() -> None:
    """Each of them extends to the end of the line; all have a culprit, which is near their start."""
    statement = 'a.b @m, @n, {c = "d"} '
    text = statement * 2000
    explainer = DiagnosticExplainer(Source("f", text), DialectTable(find_dialect), ParseOptions())
    for column in range(1, len(text), len(statement)):
        diagnostic = Diagnostic(Severity.ERROR, FileLoc("f", 1, column), "no '@n'")
        explainer.complete(diagnostic)
        assert diagnostic.culprit is not None
    assert explainer.characters_left > -2000 * 300
