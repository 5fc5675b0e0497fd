"""`--help-lint`: the list of lint rules, and the page of one."""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.diagnostics.usage import UsageError, nearest
from sdyopt.lint.rule import Rule
from sdyopt.lint.rule_table import all_rules, rule_ids


def lint_help(id: str) -> str:
    """The page of a rule, or the list of all rules if `id` is empty. Raises UsageError for an unknown one."""
    if not id:
        width = max(map(len, rule_ids()))
        return "".join(
            f"  {rule.id:<{width}}  {rule.severity:<7}  {rule.summary()}\n" for rule in all_rules()
        )
    for rule in all_rules():
        if rule.id == id:
            return "\n".join(_page(rule)) + "\n"
    raise UsageError(f"unknown lint rule '{id}'", nearest(id, rule_ids()) or "--help-lint lists the rules")


def _page(rule: type[Rule]) -> Iterator[str]:
    yield rule.manual()
    yield ""
    yield f"Severity: {rule.severity}. Looks at {rule.looks_at}."
    for name, limit in rule.limits.items():
        yield f"Limit: {name} = {limit.default}: {limit.help}."
