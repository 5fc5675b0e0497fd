"""The texts of changes that were tried, in little room: what to write where, and its effect."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import partial
from textwrap import wrap

from sdyopt.analysis.changes.trial import Trial
from sdyopt.analysis.figures.units import bytes_text, share_text
from sdyopt.analysis.report.check.checker import MemoryPlace
from sdyopt.base.diagnostics.text import counted
from sdyopt.base.patterns import constant_pattern

PART = constant_pattern(r"\['[^']*'\]|\[[\d*]+\]|\.\w+")
_NO_BREAK = "\N{NO-BREAK SPACE}"
_NAME = constant_pattern(rf"\b\w+(?:{PART.pattern}){{2,}}")
_SEVERAL = constant_pattern(
    rf"(?<![\w.])(\w+…?(?:{PART.pattern})*), \w+…?(?:{PART.pattern})* and (\d+) more\b"
)
_UNIT = constant_pattern(r"(?<=\d) (?=[KMGT]?i?B\b)")
_SPEC = constant_pattern(r"\bP\([^()]*(?:\([^()]*\)[^()]*)*\)")
_LEAST_WIDTH = 40
_SPEC_START = constant_pattern(r"P\(")


def memory_title(place: MemoryPlace) -> str:
    """`1.00 GiB of the peak memory (25%)`."""
    share = Fraction(place.saved, place.trial.before.peak_bytes)
    return f"{bytes_text(place.saved)} of the peak memory ({share_text(share)})"


def trial_text(trial: Trial, is_compiled: bool = False, has_time: bool = False) -> str:
    """`write P('x') in the reshard at model.py:7 (now P()): -1.00 GiB sent, +2.00 GiB memory`.

    If a compiler gave the figures of the program, `is_compiled`, those of the change are estimates.
    `has_time`: it says what it saves of the time, which changes are in the order of.
    """
    text = trial.text or "; ".join(trial.texts)
    now = f" (now {trial.now})" if _SPEC_START.match(trial.now) else ""
    # A donated argument says that its result changes.
    is_carried = trial.after.carried != trial.before.carried
    results = len(trial.results) if not is_carried else 0
    others = f"; {counted(results, 'result')} {'are' if results > 1 else 'is'} sharded otherwise, too"
    figures, risk = trial.effect.figures_text, trial.effect.text[len(trial.effect.figures_text) :]
    if has_time and "% time" not in figures and (faster := trial.effect.faster) > 0:
        figures += f", -{faster}% time"
    fits = "" if trial.fits_in is None else f"; then it fits in {bytes_text(trial.fits_in)}"
    effect = f"{'estimated ' if is_compiled else ''}{figures}{risk}{fits}"
    return f"{text}{now}: {effect}{others if results else ''}"


def folded(line: str, width: int) -> str:
    """A line in several, which do not break within `P(…)`, nor between an amount and its unit."""
    # A space that does not break.
    text = _SPEC.sub(lambda spec: spec[0].replace(" ", _NO_BREAK), line.lstrip())
    text = _UNIT.sub(_NO_BREAK, text)
    indent = line[: len(line) - len(line.lstrip())]
    next_indent = f"{indent}  " if indent else "   "
    lines = wrap(
        text,
        max(width, _LEAST_WIDTH),
        initial_indent=indent,
        subsequent_indent=next_indent,
        break_on_hyphens=False,
    )
    return "".join(f"{part.replace(_NO_BREAK, ' ')}\n" for part in lines)


def tight(text: str, width: int) -> str:
    """A text that has too many columns with `P('x',None)` for `P('x', None)`, and the ends of names.

    The number of names stays: `params['wq'], params['wk'] and 1 more` are `params['wq'] and 2 more`.
    """
    if len(text) > width:
        text = _SPEC.sub(lambda match: match[0].replace(", ", ","), text)
    short = text
    for parts in (2, 1):
        if len(short) > width:
            short = _NAME.sub(partial(_end_of, parts), text)
    if len(short) > width:
        short = _SEVERAL.sub(lambda names: f"{names[1]} and {int(names[2]) + 1} more", short)
    return short


def _end_of(parts: int, name: re.Match[str]) -> str:
    """`params…['mlp']['up']`: the argument, and the last parts of a name."""
    result = PART.findall(name[0])
    root = name[0][: len(name[0]) - len("".join(result))]
    return f"{root}…{''.join(result[-parts:])}"
