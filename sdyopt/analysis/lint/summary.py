"""The summary of a lint run: findings by rule, with what they cost."""

from __future__ import annotations

from sdyopt.analysis.lint.linter import LintResult
from sdyopt.analysis.lint.rule_table import all_rules
from sdyopt.analysis.lint.texts import UNIT_TEXTS


def summary_text(result: LintResult) -> str:
    """A line for each rule that found something, then a line with the sum."""
    lines = []
    for rule in all_rules():
        if rule.id in result.counts:
            count, cost = result.counts[rule.id]
            costs = f"  {UNIT_TEXTS[rule.unit](cost)} {rule.cost}" if cost and rule.cost else ""
            lines.append(f"{count:>5}  {rule.id}{costs}")
    total = sum(count for count, _ in result.counts.values())
    text = "no findings" if not total else f"{total} finding{'s' if total > 1 else ''}"
    if result.untried:
        text += f"; {result.untried} more could not be tried, because the program is large"
    if result.allowed:
        text += f", {result.allowed} allowed"
    if not result.is_complete:
        text += "; a pass failed, so that the rules on the program with collectives did not run"
    if total:
        text += "; --help-lint=RULE explains a rule"
    return "\n".join([*lines, text]) + "\n"
