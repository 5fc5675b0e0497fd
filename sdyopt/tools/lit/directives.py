"""Directives of lit tests: RUN, REQUIRES, UNSUPPORTED and XFAIL lines, and the features that they name."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from sdyopt.base.dataclasses import dataclass
from sdyopt.base.diagnostics.text import printable

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
        """The reason for which the test is skipped here; None if it runs."""
        if missing := [feature for feature in self.required if not features.evaluate(feature)]:
            return f"requires {', '.join(missing)}"
        if present := [feature for feature in self.unsupported if features.evaluate(feature)]:
            return f"unsupported with {', '.join(present)}"
        return None

    def reason_to_fail(self, features: Features) -> str | None:
        """The reason for which the test should fail here; None if it should pass."""
        if present := [feature for feature in self.failing if feature == "*" or features.evaluate(feature)]:
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


# Not SSA names such as `%0` and `%arg0`, nor patterns such as `%{{.*}}`.
SUBSTITUTION = re.compile(
    r"%(?: [A-Za-z](?!\w) | % | basename_t\b | [/:][A-Za-z]\b | (?:if|else)\b | \((?=line) | \{(?!\{) )",
    re.VERBOSE,
)


class Substitutions:
    """The substitutions of a test with this path, and an unused path for its temporary files."""

    def __init__(self, source: Path, temporary: Path, declared: Mapping[str, str] | None = None) -> None:
        folder = str(source.parent)
        self._paths = {
            "%s": str(source),
            "%S": folder,
            "%p": folder,
            "%t": str(temporary),
            "%T": str(temporary.parent),
            "%basename_t": source.name,
            "%%": "%",
        }
        self._declared = dict(declared or {})

    def expand(self, command: str) -> str:
        """Replaces the declared substitutions, longest name first. A replacement may be several words."""
        for name in sorted(self._declared, key=len, reverse=True):
            command = re.sub(re.escape(name) + r"(?!\w)", self._declared[name].replace("\\", r"\\"), command)
        return command

    def replace(self, word: str) -> str:
        """Replaces the predefined substitutions in a word, which stays one word even if a path has spaces.

        Raises MalformedCaseError for an unknown substitution.
        """
        return SUBSTITUTION.sub(self._path, word)

    def _path(self, match: re.Match[str]) -> str:
        if (text := self._paths.get(match[0])) is None:
            raise MalformedCaseError(
                f"unknown substitution {match[0]!r}; known are {', '.join([*self._paths, *self._declared])}",
                "declare others with the hook pytest_sdyopt_lit_substitutions in conftest.py",
            )
        return text


def temporary_path(folder: Path, source: Path) -> Path:
    """The path for temporary files of a test: under a folder, with the path of the test."""
    parts = [part for part in source.parts if part not in (os.pardir, source.anchor)]
    return folder.joinpath(*parts[:-1], source.name + ".tmp")


# The names that LLVM's lit has for the values of sys.platform.
SYSTEMS = {"linux": "system-linux", "darwin": "system-darwin", "win32": "system-windows"}
TOKEN = re.compile(r"(&&|\|\||[!()]|[-+=.\w]+)|(\S)")


class Features:
    """The features that are known, and whether each is available."""

    def __init__(self, declared: Mapping[str, bool] | None = None) -> None:
        systems = {name: sys.platform == platform for platform, name in SYSTEMS.items()}
        self._available = {"true": True, "false": False, **systems, **(declared or {})}

    def evaluate(self, expression: str) -> bool:
        """The value of an expression of names, `!`, `&&`, `||` and parentheses.

        Raises MalformedCaseError, also for an unknown name, for which lit would skip the test everywhere.
        """
        return _Evaluation(expression, self._available).result()


class _Evaluation:
    """Evaluates an expression. Both operands of `&&` and `||` are evaluated, so that each name is checked."""

    def __init__(self, expression: str, available: Mapping[str, bool]) -> None:
        self._expression = expression
        self._available = available
        tokens = TOKEN.findall(expression)
        # The remaining tokens, the next one last.
        self._rest = [token or other for token, other in reversed(tokens)]

    def result(self) -> bool:
        value = self._disjunction()
        if self._rest:
            raise self._error(f"unexpected {self._rest[-1]!r}")
        return value

    def _disjunction(self) -> bool:
        value = self._conjunction()
        while self._accept("||"):
            value |= self._conjunction()
        return value

    def _conjunction(self) -> bool:
        value = self._negation()
        while self._accept("&&"):
            value &= self._negation()
        return value

    def _negation(self) -> bool:
        if self._accept("!"):
            return not self._negation()
        if self._accept("("):
            value = self._disjunction()
            if not self._accept(")"):
                raise self._error("expected ')'")
            return value
        if not self._rest or not re.fullmatch(r"[-+=.\w]+", self._rest[-1]):
            raise self._error("expected the name of a feature")
        return self._value(self._rest.pop())

    def _value(self, name: str) -> bool:
        if name in self._available:
            return self._available[name]
        raise MalformedCaseError(
            f"unknown feature {name!r}; known are {', '.join(sorted(self._available))}",
            "declare others with the hook pytest_sdyopt_lit_features in conftest.py",
        )

    def _accept(self, token: str) -> bool:
        if self._rest and self._rest[-1] == token:
            self._rest.pop()
            return True
        return False

    def _error(self, what: str) -> MalformedCaseError:
        return MalformedCaseError(f"{what} in {self._expression!r}")


class MalformedCaseError(Exception):
    """Invalid directives or commands in a lit test, with help and a line number.

    The line is 0 if the error concerns the whole file, or if it is not known yet.
    """

    def __init__(self, message: str, help: str = "", line: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.help = help
        self.line = line

    def report(self, path: str) -> str:
        """The error as it is shown."""
        location = f"{path}:{self.line}" if self.line else path
        help = f"\nhelp: {self.help}" if self.help else ""
        return printable(f"{location}: error: {self.message}{help}")
