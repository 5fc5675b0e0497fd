"""The filter that selects operations by their number and their name."""

from __future__ import annotations

from sdyopt.base.dataclasses import dataclass

_LOW, _HIGH = "selectLow=", "selectHigh="


@dataclass(frozen=True)
class OpFilter:
    """Selects operations by a range of numbers and by parts of names; a criterion left out selects all."""

    low: int | None = None
    high: int | None = None
    names: tuple[str, ...] = ()

    def selects(self, name: str, number: int) -> bool:
        """Whether the filter selects an operation."""
        if self.low is not None and number < self.low:
            return False
        if self.high is not None and number > self.high:
            return False
        return not self.names or any(part in name for part in self.names)


def parse_filter(text: str) -> OpFilter:
    """Parses `selectLow=0, selectHigh=10, dot`, with or without quotes around it.

    As in Shardy, a limit that is negative or no number is ignored.
    """
    text = text.strip()
    if text[:1] in ("'", '"') and text[-1:] == text[:1]:
        text = text[1:-1]
    limits: dict[str, int] = {}
    names = []
    for part in filter(None, map(str.strip, text.split(","))):
        prefix = next((each for each in (_LOW, _HIGH) if part.startswith(each)), None)
        if prefix is None:
            names.append(part)
            continue
        number = part.removeprefix(prefix).strip()
        if number.isascii() and number.isdigit() and len(number) < 20:
            limits[prefix] = int(number)
    return OpFilter(limits.get(_LOW), limits.get(_HIGH), tuple(names))
