"""Generates the pages of the lint rules: `python -m docs.lint_pages`, in the root of the checkout.

The text of a page is the docstring of the rule, its example the first program of the lit test of the rule.
"""

from __future__ import annotations

import re
from pathlib import Path

from docs.markdown import prose
from sdyopt.analysis.lint import Options
from sdyopt.analysis.lint.rule import Rule, all_rules
from sdyopt.tools.driver.job import Job
from sdyopt.tools.driver.run import run_job

FOLDER = Path(__file__).parent / "lint"
TESTS = Path(__file__).parents[1] / "tests" / "lit" / "lint"
HEAD = """\
<!-- written by `make docs` from the docstrings of the rules -->

# Lint rules

[lint.md](../lint.md) describes how rules are chosen, configured and allowed.

| rule | severity | what it reports |
|---|---|---|
"""


def pages() -> dict[str, str]:
    """The text of each page by its name in the folder."""
    rows = [f"| [{each.id}]({each.id}.md) | {each.severity} | {each.summary()} |" for each in all_rules()]
    return {
        "index.md": HEAD + "\n".join(rows) + "\n",
        **{f"{each.id}.md": _page(each) for each in all_rules()},
    }


def lit_test(id: str, suffix: str = "") -> Path:
    """The lit test in which a rule finds something or, with the suffix `_silent`, finds nothing."""
    return TESTS / f"{id.replace('-', '_')}{suffix}.mlir"


def _page(rule: type[Rule]) -> str:
    summary = rule.summary()
    parts = [
        f"# {rule.id}",
        f"{summary[:1].upper() + summary[1:]}.",
        prose(rule.manual().partition("\n")[2].strip("\n")),
        "\n".join(_properties(rule)),
        "## Example",
        _example(rule),
    ]
    return "\n\n".join(parts) + "\n"


def _properties(rule: type[Rule]) -> list[str]:
    limits = [f"| `{name}` | {limit.default}: {limit.help} |" for name, limit in rule.limits.items()]
    return [
        "| | |",
        "|---|---|",
        f"| severity | {rule.severity} |",
        f"| looks at | {rule.looks_at} |",
        *limits,
    ]


def _example(rule: type[Rule]) -> str:
    text = lit_test(rule.id).read_text(encoding="utf-8").partition("\n// -----")[0]
    program = re.sub(r"(?m)^\s*// (RUN|expected-).*\n", "", text).strip("\n")
    output = _output_of(rule, program + "\n")
    return f"```mlir\n{program}\n```\n\n```console\n$ sdy-opt example.mlir --lint={rule.id}\n{output}```"


def _output_of(rule: type[Rule], program: str) -> str:
    log: list[str] = []
    run_job(Job("example.mlir", program.encode, write_log=log.append, analyses=(Options(lint=(rule.id,)),)))
    # Editors remove spaces at the ends of lines.
    return "".join(f"{line.rstrip()}\n" for line in "".join(log).splitlines())


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
