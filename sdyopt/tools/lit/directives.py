"""Directives in the comments of a lit test: RUN, REQUIRES, UNSUPPORTED and XFAIL lines."""

import re

from sdyopt.base.dataclasses import dataclass
from sdyopt.tools.lit.features import Features
from sdyopt.tools.lit.malformed import MalformedCaseError

DIRECTIVE = re.compile(
    r"(?:^|[^\w-])(RUN|REQUIRES|UNSUPPORTED|XFAIL|DEFINE|REDEFINE|ALLOW_RETRIES):[ \t]*+(.*)$",
    re.MULTILINE,
)
# Directives after this line are ignored.
END = re.compile(r"^[^\w\n]*+END\.[^\S\n]*+$", re.MULTILINE)


@dataclass(frozen=True)
class RunLine:
    """The command of a RUN line, and the number of the line where it starts."""

    line: int
    command: str


@dataclass(frozen=True)
class LitTest:
    """The commands of a lit test, and the features that decide whether it runs and whether it should fail."""

    commands: tuple[RunLine, ...]
    required: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()

    def reason_to_skip(self, features: Features) -> str | None:
        """Why the test is skipped here; None if it runs."""
        if missing := [each for each in self.required if not features.evaluate(each)]:
            return f"requires {', '.join(missing)}"
        if present := [each for each in self.unsupported if features.evaluate(each)]:
            return f"unsupported with {', '.join(present)}"
        return None

    def reason_to_fail(self, features: Features) -> str | None:
        """Why the test should fail here; None if it should pass."""
        if present := [each for each in self.failing if each == "*" or features.evaluate(each)]:
            return "expected to fail" if "*" in present else f"expected to fail with {', '.join(present)}"
        return None


def parse_directives(text: str) -> LitTest:
    """Parses the directives of a file; a backslash at the end of a RUN line continues it.

    Raises MalformedCaseError for a directive that is not supported, and if there is no command or the last
    one is incomplete.
    """
    if end := END.search(text):
        text = text[: end.start()]
    runs: list[RunLine] = []
    features: dict[str, list[str]] = {"REQUIRES": [], "UNSUPPORTED": [], "XFAIL": []}
    continued = False
    for match in DIRECTIVE.finditer(text):
        keyword, argument = match[1], match[2].rstrip(" \t")
        if keyword in features:
            features[keyword] += [feature.strip() for feature in argument.split(",")]
            continue
        line = text.count("\n", 0, match.start(1)) + 1
        if keyword != "RUN":
            raise MalformedCaseError(f"{keyword} lines are not supported", line=line)
        part = argument.removesuffix("\\").strip()
        if continued:
            runs[-1] = RunLine(runs[-1].line, f"{runs[-1].command} {part}")
        else:
            runs.append(RunLine(line, part))
        continued = argument.endswith("\\")
    if continued:
        raise MalformedCaseError("the last RUN line ends in a backslash", line=runs[-1].line)
    if not runs:
        raise MalformedCaseError("no RUN line", "files that are not tests belong in folders named Inputs")
    return LitTest(tuple(runs), *map(tuple, features.values()))
