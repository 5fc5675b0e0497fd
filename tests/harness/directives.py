"""What the comments of a lit case ask for: RUN, REQUIRES and UNSUPPORTED lines."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

DIRECTIVE = re.compile(r"(?:^|[^\w-])(RUN|REQUIRES|UNSUPPORTED):[ \t]*(.*?)[ \t]*$", re.MULTILINE)


class MalformedCaseError(Exception):
    """A lit case that cannot be run as it is written."""


@dataclass(frozen=True)
class LitTest:
    """One lit case: its commands, and the features that decide whether they run."""

    commands: tuple[str, ...]
    required: tuple[str, ...]
    unsupported: tuple[str, ...]

    def reason_to_skip(self, has_feature: Callable[[str], bool]) -> str | None:
        """Why the case does not run here, or None."""
        if missing := [feature for feature in self.required if not has_feature(feature)]:
            return f"requires {', '.join(missing)}"
        if present := [feature for feature in self.unsupported if has_feature(feature)]:
            return f"unsupported with {', '.join(present)}"
        return None


def read_case(text: str) -> LitTest:
    """The case that a file's text describes; a command line goes on where one ends in a backslash."""
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
    """Replaces %s (the case), %S (its folder), %t (a path of its own, not yet there) and %%."""
    meanings = {"%s": str(source), "%S": str(source.parent), "%t": str(temporary), "%%": "%"}

    def meaning(match: re.Match[str]) -> str:
        if (text := meanings.get(match[0])) is None:
            raise MalformedCaseError(f"unknown substitution {match[0]!r}")
        return text

    # `%0` and `%arg0` in a quoted pattern are values of the program, and stay.
    return re.sub(r"%(?:[A-Za-z](?![\w])|%)", meaning, command)
