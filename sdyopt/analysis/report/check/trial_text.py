"""The texts of changes that were tried, in little room: what to write where, and its effect."""

from __future__ import annotations

from fractions import Fraction

from sdyopt.analysis.changes.trials import Trial
from sdyopt.analysis.figures.units import bytes_text, share_text
from sdyopt.analysis.report.check.checker import MemoryPlace
from sdyopt.base.diagnostics.text import counted
from sdyopt.base.patterns import constant_pattern

PART = constant_pattern(r"\['[^']*'\]|\[[\d*]+\]|\.\w+")
# What stands before a change with which a partitioner may lose what we count as saved.
UNSURE = "XLA may differ"


def memory_title(place: MemoryPlace) -> str:
    """`1.00 GiB of the peak memory (25%)`."""
    share = Fraction(place.saved, place.trial.before.peak_bytes)
    return f"{bytes_text(place.saved)} of the peak memory ({share_text(share)})"


def memory_change(place: MemoryPlace, is_compiled: bool = False) -> str:
    """The change, as that of other places."""
    return trial_text(place.trial, place.subject, place.name, is_compiled)


def memory_reason(place: MemoryPlace) -> str:
    """`several devices have all of it: params['w']: P() → P('x')`."""
    of = place.difference or place.trial.now
    return f"several devices have the same{f': {of}' if of else ''}"


def trial_text(trial: Trial, subject: str, line: str = "", is_compiled: bool = False) -> str:
    """`tried: P('x') for params['w'] and 1 result: -1.00 GiB sent, +2.00 GiB memory`.

    `line` is the place that the text is below, such as `model.py:7`: lines of this file are `line 7`. If a
    compiler gave the figures of the program, `is_compiled`, those of the change are estimates beside them.
    """
    start = f"{UNSURE}: " if not trial.effect.holds else "estimated: " if is_compiled else "tried: "
    file, colon, _ = line.rpartition(":")
    subject = subject.replace(f"{file}:", "line ") if colon else subject
    # A donated argument says that its result changes.
    is_carried = trial.after.carried != trial.before.carried
    results = f" and {counted(len(trial.results), 'result')}" if trial.results and not is_carried else ""
    edit = next(iter(trial.change.edits), None)
    spec = "" if edit is None or trial.change.title else trial.annotations[0].spec or ""
    if trial.change.parts:
        spec = ""
    elif edit is not None and edit.is_removal:
        spec = "no constraint"
    what = f"{spec} for {subject}" if spec else subject
    return f"{start}{what}{results}: {trial.effect.figures_text}"
