"""`--help-lint`: the list of lint rules, and the page of one."""

from __future__ import annotations

import click

from sdyopt.analysis.lint.rule import Rule, all_rules, rule_ids
from sdyopt.base.diagnostics.usage import UsageError, nearest
from sdyopt.tools.cli.help import MAX_WIDTH, wrapped


def lint_help(id: str) -> str:
    """The page of a rule, or the list of all rules if `id` is empty. Raises UsageError for an unknown one."""
    if not id:
        return _list()
    for rule in all_rules():
        if rule.id == id:
            return _page(rule)
    raise UsageError(f"unknown lint rule '{id}'", nearest(id, rule_ids()) or "--help-lint lists the rules")


def _list() -> str:
    formatter = click.HelpFormatter(max_width=MAX_WIDTH)
    with formatter.section("Lint rules"):
        formatter.write_dl([(rule.id, f"{rule.severity}: {rule.summary()}") for rule in all_rules()])
    return formatter.getvalue() + "\n  The page of a rule is printed by --help-lint=RULE.\n"


def _page(rule: type[Rule]) -> str:
    formatter = click.HelpFormatter(max_width=MAX_WIDTH)
    facts = [f"Severity: {rule.severity}. Looks at {rule.looks_at}."]
    facts += [f"Limit: {name} = {limit.default}: {limit.help}." for name, limit in rule.limits.items()]
    return "".join(f"{wrapped(text, formatter.width)}\n" for text in (rule.manual(), "", *facts))
