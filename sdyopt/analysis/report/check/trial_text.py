"""The texts of changes that were tried, in little room: what to write where, and its effect."""

from __future__ import annotations

import re
from fractions import Fraction

from sdyopt.analysis.changes.effect import NOISE, Measure
from sdyopt.analysis.changes.trials import Trial
from sdyopt.analysis.figures.units import bytes_text, share_text
from sdyopt.analysis.report.check.checker import MemoryPlace
from sdyopt.base.diagnostics.text import counted
from sdyopt.base.patterns import constant_pattern

_UNLIMITED = 1000
PART = constant_pattern(r"\['[^']*'\]|\[[\d*]+\]|\.\w+")
# What stands before a change with which a partitioner may lose what we count as saved.
UNSURE = "XLA may differ"
# What is left out of a change that has too many columns, in this order: of its old spec, its spec, its
# subject, its results and its figures.
_SHORTER_TRIAL = (
    (0, ".+", ""),
    (1, ", ", ","),
    (2, "the state of the optimizer", "optimizer state"),
    (2, "the value at ", ""),
    (2, r"\b(?:the|a) ", ""),
    (2, r" and (\d+) other lines?", r" and \1 more"),
    (3, " and ", ", "),
    (2, rf"\b(\w+)(?:{PART.pattern})+({PART.pattern})", r"\1…\2"),
    (2, r" \(jax.grad\)", ""),
    (3, ".+", ""),
    (4, " between steps", " a step"),
    (2, "constraint at |out_sharding at ", ""),
    (4, " memory", " mem"),
)
# So much of what was tried is kept at least.
_LEAST_OF_SUBJECT = 16


def memory_title(place: MemoryPlace) -> str:
    """`1.00 GiB of the peak memory (25%)`."""
    share = Fraction(place.saved, place.trial.before.peak_bytes)
    return f"{bytes_text(place.saved)} of the peak memory ({share_text(share)})"


def memory_change(place: MemoryPlace, width: int = _UNLIMITED, is_compiled: bool = False) -> str:
    """The change, as that of other places."""
    return trial_text(place.trial, place.subject, width, place.name, is_compiled)


def memory_reason(place: MemoryPlace) -> str:
    """`several devices have all of it: params['w']: P() → P('x')`."""
    of = place.difference or place.trial.now
    return f"several devices have the same{f': {of}' if of else ''}"


def figures_text_of(trial: Trial) -> str:
    """`-1.00 GiB sent, +2.00 GiB memory`."""
    effect = trial.effect
    saved = effect.saved(Measure.WIRE)
    text = f"{_difference(-saved)} sent" if saved else "as much sent"
    if memory := -effect.saved(Measure.MEMORY):
        is_noise = abs(memory) < NOISE * effect.before.peak_bytes
        text += "" if is_noise else f", {_difference(memory)} memory"
    carried = effect.after.carried - effect.before.carried
    if carried and abs(carried) >= NOISE * effect.before.wire_bytes:
        text += f", {_difference(Fraction(carried))} between steps"
    faster = round(100 * (1 - trial.after.seconds / trial.before.seconds)) if trial.before.seconds else 0
    if saved <= 0 and faster > 0 and not trial.change.parts:
        # Why it pays although no less is sent.
        text += f", -{faster}% time"
    flops, more_flops = effect.before.flops, effect.after.flops
    return text + (f", +{round(100 * (more_flops / flops - 1))}% FLOPs" if more_flops > flops else "")


def trial_text(trial: Trial, subject: str, width: int, line: str = "", is_compiled: bool = False) -> str:
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
    parts = [
        f"{trial.now} → " if edit is not None and edit.replaced is not None and spec else "",
        spec,
        f" for {subject}" if spec else subject,
        results,
        f": {figures_text_of(trial)}",
    ]
    for number, long, short in _SHORTER_TRIAL:
        if len(start) + sum(map(len, parts)) <= width:
            break
        parts[number] = re.sub(long, short, parts[number])
    # Rather the start of the name is cut than anything else, but not all of it.
    excess = len(start) + sum(map(len, parts)) - width
    if excess > 0:
        name = parts[2].removeprefix(" for ")
        of = parts[2].removesuffix(name)
        kept = max(len(name) - excess, _LEAST_OF_SUBJECT)
        parts[2] = f"{of}…{name[1 - kept :]}" if kept < len(name) else parts[2]
    return start + "".join(parts)


def _difference(size: Fraction) -> str:
    return f"{'+' if size > 0 else '-'}{bytes_text(abs(size))}"
