"""Directives in the comments of a lit test: RUN, REQUIRES and UNSUPPORTED lines."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

DIRECTIVE = re.compile(r"(?:^|[^\w-])(RUN|REQUIRES|UNSUPPORTED):[ \t]*(.*?)[ \t]*$", re.MULTILINE)


class MalformedCaseError(Exception):
    """A lit test with invalid directives or commands."""


@dataclass(frozen=True)
class LitTest:
    """The commands of a lit test, and the features that decide whether they run."""

    commands: tuple[str, ...]
    required: tuple[str, ...]
    unsupported: tuple[str, ...]

    def reason_to_skip(self, has_feature: Callable[[str], bool]) -> str | None:
        """Why the test is skipped here; None if it runs."""
        if missing := [feature for feature in self.required if not has_feature(feature)]:
            return f"requires {', '.join(missing)}"
        if present := [feature for feature in self.unsupported if has_feature(feature)]:
            return f"unsupported with {', '.join(present)}"
        return None


def parse_directives(text: str) -> LitTest:
    """Parses the directives of a file; a backslash at the end of a RUN line continues it.

    Raises MalformedCaseError if there is no command or the last one is incomplete.
    """
    commands: list[str] = []
    features: dict[str, list[str]] = {"REQUIRES": [], "UNSUPPORTED": []}
    continued = False
    for keyword, argument in DIRECTIVE.findall(text):
        if keyword != "RUN":
            features[keyword] += [feature.strip() for feature in argument.split(",")]
            continue
        continues = argument.endswith("\\")
        line = argument.removesuffix("\\").strip()
        if continued:
            commands[-1] += " " + line
        else:
            commands.append(line)
        continued = continues
    if continued:
        raise MalformedCaseError("the last RUN line ends in a backslash")
    if not commands:
        raise MalformedCaseError("no RUN line")
    return LitTest(tuple(commands), tuple(features["REQUIRES"]), tuple(features["UNSUPPORTED"]))


def substitute(command: str, source: Path, temporary: Path) -> str:
    """Replaces %s (the path of the test), %S (its folder), %t (an unused path) and %%.

    Raises MalformedCaseError for another substitution.
    """
    substitutions = {"%s": str(source), "%S": str(source.parent), "%t": str(temporary), "%%": "%"}

    def replacement(match: re.Match[str]) -> str:
        if (text := substitutions.get(match[0])) is None:
            raise MalformedCaseError(f"unknown substitution {match[0]!r}")
        return text

    # `%0` and `%arg0` in a quoted pattern are SSA names.
    return re.sub(r"%(?:[A-Za-z](?![\w])|%)", replacement, command)
