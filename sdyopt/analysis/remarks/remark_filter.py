"""Which remarks are shown: a regular expression of categories for each kind, as in mlir-opt."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sdyopt.analysis.remarks.remark import CATEGORIES, Kind
from sdyopt.base.diagnostics.expected import MatchTime
from sdyopt.base.diagnostics.usage import UsageError

ALL_FLAG = "remarks-filter"
KIND_OF_FLAG: Mapping[str, Kind] = {
    "remarks-filter-passed": Kind.PASSED,
    "remarks-filter-missed": Kind.MISSED,
    "remarks-filter-analyse": Kind.ANALYSIS,
    "remarks-filter-failed": Kind.FAILED,
}

# For all categories, which are a few short names.
_MATCH_SECONDS = 1.0


class RemarkFilter:
    """Selects remarks by kind and category. A filter must match the whole name of a category.

    `filters` map flags to regular expressions; `unmatched` are the flags whose expression matches no
    category. Raises UsageError for an invalid expression, and for one that takes too long to match.
    """

    def __init__(self, filters: Mapping[str, str]) -> None:
        self._shown: dict[Kind, set[str]] = {kind: set() for kind in Kind}
        self.unmatched: list[str] = []
        for flag, text in filters.items():
            categories = _matching(flag, text)
            for kind in Kind if flag == ALL_FLAG else (KIND_OF_FLAG[flag],):
                self._shown[kind] |= categories
            if not categories:
                self.unmatched.append(flag)

    def shows(self, kind: Kind, category: str) -> bool:
        """Whether remarks of a kind and category are shown."""
        return category in self._shown[kind]


def _matching(flag: str, text: str) -> set[str]:
    """The categories that a regular expression matches."""
    time = MatchTime(_MATCH_SECONDS)
    try:
        match = re.compile(text).fullmatch
        return {category for category in CATEGORIES if time.found(match, category)}
    except TimeoutError:
        message = f"for the --{flag} option: '{text}' takes longer than {_MATCH_SECONDS:g} second to match"
        raise UsageError(message, f"such as {CATEGORIES[1]}, or .* for all categories") from None
    except (re.error, ValueError, RecursionError, OverflowError) as problem:
        message = f"for the --{flag} option: '{text}' is not a regular expression: {problem}"
        raise UsageError(message, f"such as {CATEGORIES[1]}, or .* for all categories") from None
