"""Advice as text, Markdown and JSON: each change where JAX programs write it, with what it saves."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from fractions import Fraction

from sdyopt.analysis.advise.advice import Advice, AdvisedChange
from sdyopt.analysis.advise.moves import Move
from sdyopt.analysis.advise.search import Figures
from sdyopt.analysis.figures.source_locations import source_location
from sdyopt.analysis.figures.units import bytes_text, seconds_text, share_text
from sdyopt.analysis.report.markdown_report import markdown_text
from sdyopt.analysis.report.markdown_report import section_lines as markdown_lines
from sdyopt.analysis.report.sections import Section
from sdyopt.analysis.report.text_report import MIN_WIDTH, section_lines
from sdyopt.analysis.trials.annotation_edits import Change
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.ir.value import BlockArgument, OpResult
from sdyopt.shardy.record import FunctionResult

SCHEMA, VERSION = "sdy-opt-advice", 1
# The number of columns of a text in a file.
_WIDTH = 100


def advice_text(advice: Advice, suffix: str, width: int = _WIDTH, rows: int | None = None) -> str:
    """Advice in the format of a suffix; `rows` limits the changes in ".txt", which has `width` columns."""
    return _FORMATS[suffix](advice, width, rows)


def _text(advice: Advice, width: int, rows: int | None) -> str:
    lines = section_lines(_header(advice), list(_sections(advice, rows)), max(width, MIN_WIDTH), rows)
    return "".join(line.rstrip() + "\n" for line in lines)


def _markdown(advice: Advice, width: int, rows: int | None) -> str:
    header = [markdown_text(line) for line in _header(advice)]
    return "\n".join([*header, "", *markdown_lines(list(_sections(advice, rows)))]) + "\n"


def _header(advice: Advice) -> list[str]:
    return [line for line in (_summary(advice), _limits(advice), advice.assumption) if line]


def _summary(advice: Advice) -> str:
    """`3 changes of one annotation make the program cheaper, of 84 tried`."""
    if advice.reason:
        return f"no advice: the program cannot be changed, because {advice.reason}"
    tried = f"{advice.tried} tried"
    if not advice.changes:
        return f"no better program was found, of {tried}"
    count = len(advice.changes)
    if advice.is_sequence:
        return f"{count} {'change' if count == 1 else 'changes'}, one after the other, of {tried}"
    makes = "change makes" if count == 1 else "changes make"
    return f"{count} {makes} the program cheaper, each alone, of {tried}"


def _limits(advice: Advice) -> str:
    parts = []
    if left := advice.proposed - advice.tried:
        why = f"after {advice.seconds} s" if advice.seconds else "the most expensive places came first"
        parts.append(f"not tried: {left} more changes ({why})")
    if advice.failed:
        parts.append(f"{advice.failed} of them could not be partitioned")
    if advice.machine:
        parts.append(f"times are for {advice.machine}; --topology=FILE gives others")
    return "; ".join(parts)


def _sections(advice: Advice, rows: int | None) -> Iterator[Section]:
    for number, each in enumerate(advice.changes[:rows], 1):
        section = Section(f"{number}. {_heading(each.move)}")
        section.sentences += [f"now {now}" for now in [_current(each.move)] if now]
        section.sentences.append(_effect(each.before, each.after))
        section.sentences.append(
            "conflict-free: no activation is resharded"
            if not each.after.conflicts
            else f"depends on the partitioner: {bytes_text(each.after.conflicts)} of reshards of activations"
        )
        section.sentences.append(f"in sdy: {_sdy_text(each.move.changes[0].sharding)}")
        yield section
    if rows is not None and len(advice.changes) > rows:
        yield Section(f"… and {len(advice.changes) - rows} more")


def _heading(move: Move) -> str:
    """What to write, as JAX programs write it."""
    if move.title:
        return f"{move.title}: {_names(move)}"
    change = move.changes[0]
    spec = change.jax or _sdy_text(change.sharding)
    if isinstance(change.subject, FunctionResult) or change.is_boundary:
        return f"shard {_names(move)} as {spec}"
    where = _place_text(change)
    if change.replaced is not None:
        return f"{where}: write {spec} in with_sharding_constraint"
    return f"{where}: with_sharding_constraint(…, {spec})"


def _names(move: Move) -> str:
    """`params['w'] and 3 more`."""
    names = list(dict.fromkeys(_place_text(change) for change in move.changes))
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _place_text(change: Change) -> str:
    subject = change.subject
    if isinstance(subject, FunctionResult):
        return f"result {subject.result_index}"
    location = source_location(subject.location)
    if isinstance(subject, BlockArgument) and change.is_boundary:
        return location.name_stack or f"argument {subject.index}"
    op = subject.op.signature.name.partition(".")[2] if isinstance(subject, OpResult) else "a loop's value"
    return f"{location.file_text or 'unknown location'} ({op})"


def _current(move: Move) -> str:
    change = move.changes[0]
    if move.title or isinstance(change.subject, FunctionResult):
        return ""
    current = sharding_of(change.subject)
    if current is None:
        return "without an annotation"
    return change._replace(sharding=current).jax or _sdy_text(current)


def _sdy_text(sharding: TensorSharding) -> str:
    return TensorSharding.assembly.text(sharding)


def _effect(before: Figures, after: Figures) -> str:
    figures = (
        ("on the wire", before.wire_bytes, after.wire_bytes, bytes_text),
        ("peak memory", before.peak_bytes, after.peak_bytes, bytes_text),
        ("time", before.seconds, after.seconds, seconds_text),
    )
    parts = [_change_text(*each) for each in figures]
    if before.useful_share != after.useful_share and after.useful_share is not None:
        now = "unknown" if before.useful_share is None else share_text(before.useful_share)
        parts.append(f"useful FLOPs {now} → {share_text(after.useful_share)}")
    return ", ".join(parts)


def _change_text(name: str, old: Fraction | int, new: Fraction | int, text: Callable[[Fraction], str]) -> str:
    if old == new:
        return f"{name} {text(Fraction(old))} as before"
    share = f" ({100 * float(Fraction(new) / old - 1):+.1f} %)" if old else ""
    return f"{name} {text(Fraction(old))} → {text(Fraction(new))}{share}".replace("(-", "(−")


def _json(advice: Advice, width: int, rows: int | None) -> str:
    data = {
        "schema": SCHEMA,
        "version": VERSION,
        "assumption": advice.assumption,
        "machine": advice.machine,
        "reason": advice.reason,
        "tried": advice.tried,
        "proposed": advice.proposed,
        "failed": advice.failed,
        "is_sequence": advice.is_sequence,
        "changes": [_change_data(each) for each in advice.changes],
    }
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def _change_data(each: AdvisedChange) -> dict[str, object]:
    return {
        "heading": _heading(each.move),
        "conflict_free": not each.after.conflicts,
        "before": _figures_data(each.before),
        "after": _figures_data(each.after),
        "annotations": [
            {"place": _place_text(change), "spec": change.jax, "sdy": _sdy_text(change.sharding)}
            for change in each.move.changes
        ],
    }


def _figures_data(figures: Figures) -> dict[str, object]:
    share = figures.useful_share
    return {
        "seconds": float(figures.seconds),
        "wire_bytes": round(figures.wire_bytes),
        "peak_bytes": figures.peak_bytes,
        "useful_share": None if share is None else float(share),
        "activation_reshard_bytes": round(figures.conflicts),
    }


_FORMATS: dict[str, Callable[[Advice, int, int | None], str]] = {
    ".json": _json,
    ".md": _markdown,
    ".txt": _text,
}
