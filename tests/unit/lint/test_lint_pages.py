"""Every lint rule has a page, a lit test in which it finds something, and one in which it does not."""

import re

import pytest

from docs.lint_pages import FOLDER, TESTS, lit_test, pages
from sdyopt.analysis.lint.rule import Rule, all_rules


def test_pages_are_up_to_date() -> None:
    found = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    assert found == pages(), "run: make docs"


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.id)
def test_every_rule_has_its_lit_tests(rule: type[Rule]) -> None:
    fires, silent = (lit_test(rule.id, suffix).read_text(encoding="utf-8") for suffix in ("", "_silent"))
    run = f"// RUN: sdy-opt %s --lint={rule.id} --lint-config=- --split-input-file --verify-diagnostics\n"
    assert fires.startswith(run) and silent.startswith(run)
    assert re.search(rf"expected-{rule.severity}", fires)
    # An expected finding would hide that the rule is not silent.
    assert "expected-" not in silent


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.id)
def test_the_id_of_a_rule_names_its_file(rule: type[Rule]) -> None:
    assert rule.__module__.rpartition(".")[2] == rule.id.replace("-", "_")
    assert rule.manual().startswith(f"{rule.id}: ") and len(rule.summary()) <= 80


def test_every_silent_lit_test_is_of_a_rule() -> None:
    names = {path.stem.removesuffix("_silent").replace("_", "-") for path in TESTS.glob("*_silent.mlir")}
    assert names == {rule.id for rule in all_rules()}
