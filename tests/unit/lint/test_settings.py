"""Settings: the selection of rules, and configuration files. tests/lit/lint/ has the errors of files."""

from fractions import Fraction

import pytest

from sdyopt.analysis.lint.rule import LintSettings, all_rules, read_settings, rule_ids, select
from sdyopt.base.diagnostics.diagnostic import DiagnosticError, Severity
from sdyopt.base.diagnostics.usage import UsageError


def test_without_settings_all_rules_run_with_their_defaults() -> None:
    settings = LintSettings()
    assert [rule.id for rule in settings.rules()] == list(rule_ids())
    assert [settings.severity(rule) for rule in all_rules()] == [rule.severity for rule in all_rules()]
    assert settings.fail_on == "error"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["all"], set(rule_ids())),
        (["uneven-sharding", "size-one-axis"], {"uneven-sharding", "size-one-axis"}),
        (["-size-one-axis"], set(rule_ids()) - {"size-one-axis"}),
        (["uneven-sharding", "-uneven-sharding"], set()),
        (["all", "-uneven-sharding"], set(rule_ids()) - {"uneven-sharding"}),
    ],
)
def test_rules_are_selected_by_lists(texts: list[str], expected: set[str]) -> None:
    assert set(select(texts)) == expected


def test_selecting_an_unknown_rule_is_an_error() -> None:
    with pytest.raises(UsageError, match="unknown rule 'uneven'"):
        select(["uneven"])


def test_a_configuration_is_read() -> None:
    settings = read_settings(
        "sdy-lint.toml",
        """
        ignore = ["size-one-axis"]
        fail_on = "warning"

        [severity]
        uneven-sharding = "remark"

        [limits.replicated-value]
        min_bytes = "1 GiB"

        [allow]
        "attention.py" = ["redundant-compute"]
        """,
    )
    assert set(settings.selected) == set(rule_ids()) - {"size-one-axis"}
    assert settings.fail_on == "warning"
    assert settings.severities == {"uneven-sharding": Severity.REMARK}
    [replicated] = [rule for rule in settings.rules() if rule.id == "replicated-value"]
    assert replicated.limit("min_bytes") == Fraction(1024**3)
    assert settings.allowed == [("attention.py", ("redundant-compute",))]


def test_pyproject_has_its_settings_in_a_table_of_the_tool() -> None:
    text = '[tool.other]\nselect = 1\n\n[tool.sdy-lint]\nselect = ["size-one-axis"]\n'
    assert read_settings("model/pyproject.toml", text).selected == ("size-one-axis",)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("limits = 1", 1, "'limits' is not a table"),
        ("[limits]\nsize-one-axis = 1", 2, "'size-one-axis' is not a table"),
        ('[limits.replicated-value]\nmin_bytes = "much"', 2, "'min_bytes' is not a quantity"),
        ('\nfail_on = "note"', 2, "'fail_on' is not a severity or 'never'"),
        ("[allow]\n'a b' = 3", 2, "'a b' is not a list of lint rules"),
        ('[allow]\n"a.py" = 3', 2, "'a.py' is not a list of lint rules"),
        ("select = [1]", 1, "'select' is not a list of lint rules"),
        ("[severity]\nno-rule = 1", 2, "unknown key 'no-rule' in [severity]"),
    ],
)
def test_invalid_settings_are_located_errors(text: str, line: int, message: str) -> None:
    with pytest.raises(DiagnosticError) as error:
        read_settings("sdy-lint.toml", text)
    assert error.value.diagnostic.message == message
    location = error.value.diagnostic.location
    assert f":{line}:" in str(location)


@pytest.mark.parametrize("text", ["tool = 1", "[tool]\nsdy-lint = 1"])
def test_settings_of_pyproject_must_be_a_table(text: str) -> None:
    with pytest.raises(DiagnosticError, match=r"'(tool|sdy-lint)' is not a table"):
        read_settings("pyproject.toml", text)
