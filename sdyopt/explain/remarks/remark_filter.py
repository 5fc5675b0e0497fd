"""Which remarks are shown: a regular expression of categories for each kind, as in mlir-opt."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sdyopt.diagnostics.usage import UsageError
from sdyopt.explain.remarks.remark import CATEGORIES, Kind

ALL_FLAG = "remarks-filter"
KIND_OF_FLAG: Mapping[str, Kind] = {
    "remarks-filter-passed": Kind.PASSED,
    "remarks-filter-missed": Kind.MISSED,
    "remarks-filter-analyse": Kind.ANALYSIS,
    "remarks-filter-failed": Kind.FAILED,
}


class RemarkFilter:
    """Selects remarks by kind and category. A filter must match the whole name of a category.

    `filters` map flags to regular expressions; `unmatched` are the flags whose expression matches no
    category. Raises UsageError for an invalid expression.
    """

    def __init__(self, filters: Mapping[str, str]) -> None:
        self._patterns: dict[Kind, list[re.Pattern[str]]] = {kind: [] for kind in Kind}
        self.unmatched: list[str] = []
        for flag, text in filters.items():
            pattern = _pattern(flag, text)
            for kind in Kind if flag == ALL_FLAG else (KIND_OF_FLAG[flag],):
                self._patterns[kind].append(pattern)
            if not any(pattern.fullmatch(category) for category in CATEGORIES):
                self.unmatched.append(flag)

    def shows(self, kind: Kind, category: str) -> bool:
        """Whether remarks of a kind and category are shown."""
        return any(pattern.fullmatch(category) for pattern in self._patterns[kind])


def _pattern(flag: str, text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except (re.error, RecursionError, OverflowError) as problem:
        message = f"for the --{flag} option: '{text}' is not a regular expression: {problem}"
        raise UsageError(message, f"such as {CATEGORIES[1]}, or .* for all categories") from None
