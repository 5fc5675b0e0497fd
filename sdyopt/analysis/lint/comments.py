"""Comments in the program that allow findings:

    %1 = stablehlo.dot_general …  // sdy-lint: allow(redundant-compute)
    // sdy-lint: allow(repeated-collective, loop-invariant-collective)
    %2 = stablehlo.dot_general …
    // sdy-lint: allow-file(unused-mesh-axis)

A comment applies to its line or, on a line of its own, to the next line that is not a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sdyopt.analysis.lint.rule_table import rule_ids
from sdyopt.base.dataclasses import dataclass, field
from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity
from sdyopt.base.diagnostics.ids import LINT_COMMENT
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.diagnostics.usage import nearest

_COMMENT = re.compile(r"//[ \t]*sdy-lint:[ \t]*(?P<what>[^\r\n]*)")
_ALLOW = re.compile(r"(?P<scope>allow(?:-file)?)\((?P<ids>[^()]*)\)")
_HELP = "write `// sdy-lint: allow(RULE, RULE)` or `// sdy-lint: allow-file(RULE)`"


@dataclass(slots=True)
class Comments:
    """The rules that comments allow in the whole text, and by line."""

    in_text: set[str] = field(default_factory=set)
    by_line: dict[int, set[str]] = field(default_factory=dict)
    problems: list[Diagnostic] = field(default_factory=list)

    def allows(self, id: str, lines: Iterable[int]) -> bool:
        """Whether a rule is allowed at one of these lines."""
        return id in self.in_text or any(id in self.by_line.get(line, ()) for line in lines)


def read_comments(source: Source) -> Comments:
    """The comments of a source, which may be a chunk of a file. Comments of no known form are problems."""
    found = Comments()
    # The line of a comment -> the next line that is not a comment.
    following: dict[int, int] = {}
    for comment in _COMMENT.finditer(source.text):
        match = _ALLOW.match(comment["what"])
        if match is None:
            found.problems.append(
                _problem(source, comment.start("what"), "this comment allows no rules", _HELP)
            )
            continue
        ids = set(_known_ids(source, comment.start("what") + match.start("ids"), match["ids"], found))
        if match["scope"] == "allow-file":
            found.in_text |= ids
        else:
            line, _ = source.line_column(comment.start())
            if _is_alone(source, comment.start()):
                line = _next_line(source, line, following)
            found.by_line.setdefault(line, set()).update(ids)
    return found


def _known_ids(source: Source, offset: int, text: str, found: Comments) -> Iterator[str]:
    for match in re.finditer(r"[^\s,]+", text):
        if match[0] in rule_ids():
            yield match[0]
            continue
        message = f"unknown lint rule '{match[0]}'"
        help = nearest(match[0], rule_ids()) or "--help-lint lists the rules"
        found.problems.append(_problem(source, offset + match.start(), message, help))


def _is_alone(source: Source, offset: int) -> bool:
    """Whether nothing but blanks is before an offset on its line."""
    return not source.text[source.text.rfind("\n", 0, offset) + 1 : offset].strip()


def _next_line(source: Source, line: int, following: dict[int, int]) -> int:
    """The next line that is not a comment. Adds it to `following` for all comments up to it."""
    if line in following:
        return following[line]
    first = line
    while line < source.line_count:
        line += 1
        if not source.line_text(line).lstrip().startswith("//"):
            break
    following.update((each, line) for each in range(first, line))
    return line


def _problem(source: Source, offset: int, message: str, help: str) -> Diagnostic:
    return Diagnostic(Severity.WARNING, source.location(offset), message, help=help, id=LINT_COMMENT)
