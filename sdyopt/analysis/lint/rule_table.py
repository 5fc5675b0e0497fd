"""Finds the rules: every file in `rules/` is one, named by the id with underscores."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from sdyopt.analysis.lint import rules as package
from sdyopt.analysis.lint.rule import Rule, rules


@cache
def all_rules() -> tuple[type[Rule], ...]:
    """All rules, sorted by id."""
    for module in iter_modules(package.__path__, package.__name__ + "."):
        import_module(module.name)
    return tuple(rules[id] for id in sorted(rules))


@cache
def rule_ids() -> tuple[str, ...]:
    """The ids of all rules, sorted."""
    return tuple(each.id for each in all_rules())
