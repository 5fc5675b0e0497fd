"""Features in directives of lit tests: boolean expressions of names, such as `system-linux && !slow`."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping

from sdyopt.base.diagnostics.text import printable

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
