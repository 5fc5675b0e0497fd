"""Runs the trials of a program, and prints the advice as text, Markdown, HTML or JSON."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction

from sdyopt.analysis.advise import Options
from sdyopt.analysis.advise.adviser import PIPELINE_FAILS, TRIED, AdviceResult, Adviser, Show
from sdyopt.analysis.changes.effect import Effect, Figures
from sdyopt.analysis.changes.trial import CompiledCost, Trial
from sdyopt.analysis.execution.process import NoJax
from sdyopt.analysis.figures.assumed_pipeline import assumed_pipeline
from sdyopt.analysis.figures.topology import Topology, read_topology
from sdyopt.analysis.figures.units import bytes_text, seconds_text, share_text
from sdyopt.analysis.interface import Analysis, Program, Run
from sdyopt.analysis.interface.flag import STDOUT
from sdyopt.analysis.interface.pages.section import Section
from sdyopt.analysis.report.formats import markdown_text
from sdyopt.analysis.report.formats import section_lines as markdown_lines
from sdyopt.analysis.report.text_report import MIN_WIDTH, section_lines
from sdyopt.base.diagnostics.ids import TOPOLOGY_ERROR, identified
from sdyopt.base.diagnostics.text import printable_json
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.value_names import pattern_of


class Advising(Analysis[Options]):
    """The advice of one run."""

    phase = "Advice"

    def __init__(self, options: Options, run: Run) -> None:
        super().__init__(options, run)
        if (path := options.advise) is not None and path != STDOUT:
            help = "print advice on each chunk with --advise, or give each chunk a file of its own"
            run.check_is_one_chunk(f"--advise={path} is one file", help)
        with identified(TOPOLOGY_ERROR):
            self._topology = None if options.topology is None else read_topology(*options.topology)

    def before_passes(self, program: Program) -> None:
        """Prints the program with the best change, before the passes; as it was if there is none."""
        try:
            with progress() as show:
                adviser = Adviser(program.op, program.pipeline, self._topology, self.options, show)
                advice = adviser.advice()
        except NoJax as error:
            raise error.error("verify") from None
        if advice.reason == PIPELINE_FAILS:
            # The run does the same, and emits the error.
            return
        advice.assumption = program.assumption
        path = self.options.advise
        if path == STDOUT:
            self.texts.append(advice_text(advice, ".txt", self.run.width, self.options.rows or None))
        elif path is not None:
            self.run.write_file(path, advice_text(advice, path[path.rindex(".") :]))
        program.printed = advice.program


@contextmanager
def progress() -> Iterator[Show]:
    """Shows on a terminal how many changes are tried, of how many; then how many programs are compiled."""
    is_terminal = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    if not is_terminal:
        yield lambda done, total, what=TRIED: None
        return
    from rich.console import Console  # noqa: PLC0415 - rich is slow to import, and only terminals need it
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn  # noqa: PLC0415

    columns = "{task.description}", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    # Without a thread that refreshes it, because trials fork.
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task = bar.add_task(TRIED, total=None)

        def show(done: int, total: int, what: str = TRIED) -> None:
            bar.update(task, description=what, completed=done, total=total, refresh=True)

        yield show


def advice_of(module: Op, options: Options, topology: Topology | None) -> AdviceResult:
    """The advice on a program for which the pipeline runs that reports assume."""
    assumption, pipeline = assumed_pipeline(module, "" if topology is None else topology.compiler)
    advice = Adviser(module, pipeline, topology, options).advice()
    advice.assumption = assumption
    return advice


SCHEMA, VERSION = "sdy-opt-advice", 1
# So many times as much is said before everything else.
_MUCH_MORE = Fraction(5, 4)
# The number of columns of a text in a file.
_WIDTH = 100


def advice_text(advice: AdviceResult, suffix: str, width: int = _WIDTH, rows: int | None = None) -> str:
    """Advice in the format of a suffix; `rows` limits the changes in ".txt", which has `width` columns."""
    return _FORMATS[suffix](advice, width, rows)


def _text(advice: AdviceResult, width: int, rows: int | None) -> str:
    lines = section_lines(header_of(advice), list(_sections(advice, rows)), max(width, MIN_WIDTH), rows)
    return "".join(line.rstrip() + "\n" for line in lines)


def _markdown(advice: AdviceResult, width: int, rows: int | None) -> str:
    header = [markdown_text(line) for line in header_of(advice)]
    return "\n".join([*header, "", *markdown_lines(list(_sections(advice, rows)))]) + "\n"


def _html(advice: AdviceResult, width: int, rows: int | None) -> str:
    # Few runs write a page.
    from sdyopt.analysis.advise.html_advice import html_advice  # noqa: PLC0415 - htpy is slow to import

    return html_advice(advice, header_of(advice), list(_sections(advice, rows)))


def header_of(advice: AdviceResult) -> list[str]:
    lines = (_summary(advice), *_from_scratch(advice), _limits(advice), advice.assumption)
    return [line for line in lines if line]


def _from_scratch(advice: AdviceResult) -> Iterator[str]:
    """The figures from scratch beside those of the given annotations."""
    if advice.given is not None and advice.final is not None:
        yield f"in place of the given annotations: {_effect(advice, advice.given, advice.final)}"
        if advice.compiled is not None:
            before, after = advice.compiled
            seconds = before.seconds + advice.given.compute, after.seconds + advice.final.compute
            yield _in_xla(advice.compiled, seconds, advice.compiler)


def _summary(advice: AdviceResult) -> str:
    """`3 changes of one annotation make the program cheaper, of 84 tried`."""
    if advice.reason:
        return f"no advice: the program cannot be changed, because {advice.reason}"
    left = advice.proposed - advice.tried
    tried = f"{advice.tried} tried" + (f" and {advice.proposed} possible" if left > 0 else "")
    if not advice.changes:
        return f"no better program was found, of {tried}"
    count = len(advice.changes)
    if advice.is_sequence:
        return f"{count} {'change' if count == 1 else 'changes'}, one after the other, of {tried}"
    if advice.is_above_memory:
        lowers = "change lowers" if count == 1 else "changes lower"
        return f"{count} {lowers} the peak memory, which is above the limit, each alone, of {tried}"
    makes = "change makes" if count == 1 else "changes make"
    return f"{count} {makes} the program cheaper, each alone, of {tried}"


def _limits(advice: AdviceResult) -> str:
    parts = []
    if advice.excess:
        parts.append(f"the peak memory is {bytes_text(advice.excess)} above the limit")
    if advice.reduced:
        parts.append(f"{advice.reduced} of the trials have two of the equal layers")
    if left := advice.proposed - advice.tried:
        why = f"after {advice.seconds} s" if advice.seconds else "others save more by an estimate"
        parts.append(f"not tried: {left} more changes ({why})")
    if advice.failed:
        parts.append(f"{advice.failed} of them could not be partitioned")
    if advice.contradicted:
        parts.append(f"left out: {len(advice.contradicted)} that XLA contradicts")
    if advice.uncompiled:
        parts.append(f"not compiled: {advice.uncompiled} more, as {len(advice.changes)} hold")
    if advice.unverified:
        parts.append(f"not verified: {advice.unverified}")
    if advice.machine:
        parts.append(f"times are for --topology={advice.machine}")
    if any(_has_range(advice, change.before, change.after) for change in advice.changes):
        parts.append("in the order of the time that is saved even if XLA moves resharded activations whole")
    if advice.prefers_less and len(advice.changes) > 1:
        parts.append("what sends more, or has more places, comes later")
    return "; ".join(parts)


def _sections(advice: AdviceResult, rows: int | None) -> Iterator[Section]:
    for number, item in enumerate(advice.changes[:rows], 1):
        section = Section(f"{number}. {item.text}{_warning(item)}")
        section.sentences += [f"now {item.now}"] if item.now else []
        section.sentences.append(_effect(advice, item.before, item.after))
        section.sentences.append(
            "conflict-free: no activation is resharded"
            if item.is_conflict_free
            else f"depends on the partitioner: {_reshards(item.effect)}"
        )
        if item.compiled is not None and item.seconds_in_xla is not None:
            section.sentences.append(_in_xla(item.compiled, item.seconds_in_xla, advice.compiler))
        if item.results:
            first, more = item.results[0], len(item.results) - 1
            others = f", and {more} more results otherwise" if more else ""
            spec = first.spec or first.sdy
            section.sentences.append(f"{first.place}, which has no annotation, becomes {spec}{others}")
        if item.after.carried != item.before.carried:
            carried = _change_text("between steps", item.before.carried, item.after.carried, bytes_text)
            section.sentences.append(f"{carried}: results are not sharded as the arguments donated to them")
        section.sentences.append(f"in sdy: {item.annotations[0].sdy}")
        yield section
    if rows is not None and len(advice.changes) > rows:
        yield Section(f"… and {len(advice.changes) - rows} more")
    if advice.together is not None:
        trial, numbers = advice.together, {trial.change.key: at for at, trial in enumerate(advice.changes, 1)}
        parts = [numbers.get(part.key) for part in trial.change.parts]
        section = Section(f"together: {_listed(str(at) if at else 'more' for at in parts)}")
        section.sentences += [text for text, at in zip(trial.texts, parts, strict=True) if at is None]
        section.sentences.append(_effect(advice, trial.before, trial.after))
        yield section
    if advice.contradicted:
        section = Section("left out")
        for item in advice.contradicted:
            section.sentences.append(f"{item.text}: {_contradiction(item)}")
        yield section
    if advice.annotations:
        section = Section("annotations")
        columns = "PartitionSpec", "where"
        section.add_table("by place", columns, 0, [(spec, place) for place, spec in _by_pattern(advice)])
        yield section


def _listed(numbers: Iterable[str]) -> str:
    """`1, 2 and 4`."""
    *most, last = dict.fromkeys(numbers)
    return f"{', '.join(most)} and {last}" if most else last


def _by_pattern(advice: AdviceResult) -> Iterator[tuple[str, str]]:
    """The annotations by place; those of layers with any index in place of their own."""
    numbering: dict[tuple[str, str], int] = {}
    for annotation in advice.annotations:
        key = pattern_of(annotation.place), annotation.spec or annotation.sdy
        numbering[key] = numbering.get(key, 0) + 1
    for (place, spec), count in numbering.items():
        yield f"{place} ({count})" if count > 1 else place, spec


def _reshards(effect: Effect) -> str:
    """What partitioners may do otherwise."""
    before, after = effect.before, effect.after
    if after.conflicts:
        return f"{bytes_text(after.conflicts)} of reshards of activations"
    if after.of_results > before.of_results:
        return f"{bytes_text(after.of_results)} of reshards of results"
    return f"products take slices of {bytes_text(Fraction(after.sliced))} of arguments"


def _warning(trial: Trial) -> str:
    """`; sends 13.0 × as much, saves latency`, for a change that sends much more."""
    before, after = trial.before, trial.after
    if after.wire_bytes < before.wire_bytes * _MUCH_MORE or not after.wire_bytes:
        return ""
    if before.wire_bytes:
        sends = f"sends {float(after.wire_bytes / before.wire_bytes):.1f} × as much"
    else:
        sends = f"sends {bytes_text(after.wire_bytes)} in place of nothing"
    saved = {
        "latency": before.latency - after.latency,
        "computation": before.compute - after.compute,
        "slow links": _seconds_of_bytes(before) - _seconds_of_bytes(after),
    }
    most = max(saved, key=lambda name: saved[name])
    return f"; {sends}, saves {most}" if saved[most] > 0 else f"; {sends}"


def _seconds_of_bytes(figures: Figures) -> Fraction:
    return figures.seconds - figures.compute - figures.latency


def _in_xla(
    compiled: tuple[CompiledCost, CompiledCost], seconds: tuple[Fraction, Fraction], compiler: str
) -> str:
    """What XLA sends, and the time with its communication."""
    before, after = compiled
    sends = _change_text(f"{compiler} sends", before.wire_bytes, after.wire_bytes, bytes_text)
    return f"{sends}, {_change_text('time', *seconds, seconds_text)}"


def _contradiction(trial: Trial) -> str:
    """`XLA sends 1.50 MiB more, and takes 3.00 us longer`."""
    if trial.compiled is None or trial.seconds_in_xla is None:
        return "XLA does not compile it"
    before, after = trial.compiled
    earlier, later = trial.seconds_in_xla
    more = after.wire_bytes - before.wire_bytes
    sends = f"XLA sends {bytes_text(more)} more" if more else "XLA sends as much"
    return f"{sends}, and takes {seconds_text(later - earlier)} longer"


def _has_range(advice: AdviceResult, before: Figures, after: Figures) -> bool:
    """Whether the times that changes are ordered by are not those without reshards of activations."""
    return any(figures.at_most(advice.moves_whole) != figures.seconds for figures in (before, after))


def _effect(advice: AdviceResult, before: Figures, after: Figures) -> str:
    figures = [
        ("on the wire", before.wire_bytes, after.wire_bytes, bytes_text),
        ("peak memory", Fraction(before.peak_bytes), Fraction(after.peak_bytes), bytes_text),
        ("time", before.seconds, after.seconds, seconds_text),
    ]
    if _has_range(advice, before, after):
        most = before.at_most(advice.moves_whole), after.at_most(advice.moves_whole)
        figures.append(("at most", *most, seconds_text))
    parts = [_change_text(*figure) for figure in figures]
    if before.useful_share != after.useful_share and after.useful_share is not None:
        now = "unknown" if before.useful_share is None else share_text(before.useful_share)
        parts.append(f"useful FLOPs {now} → {share_text(after.useful_share)}")
    return ", ".join(parts)


def _change_text(name: str, old: Fraction | int, new: Fraction | int, text: Callable[[Fraction], str]) -> str:
    if old == new:
        return f"{name} {text(Fraction(old))} as before"
    share = f" ({100 * float(Fraction(new) / old - 1):+.1f}%)" if old else ""
    return f"{name} {text(Fraction(old))} → {text(Fraction(new))}{share}".replace("(-", "(−")


def _json(advice: AdviceResult, width: int, rows: int | None) -> str:
    data = {
        "schema": SCHEMA,
        "version": VERSION,
        "assumption": advice.assumption,
        "machine": advice.machine,
        "reason": advice.reason,
        "tried": advice.tried,
        "proposed": advice.proposed,
        "failed": advice.failed,
        "contradicted": [{"text": trial.text, "why": _contradiction(trial)} for trial in advice.contradicted],
        "bytes_above_memory": advice.excess,
        "unverified": advice.unverified,
        "is_sequence": advice.is_sequence,
        "given": None if advice.given is None else _figures_data(advice, advice.given),
        "final": None if advice.final is None else _figures_data(advice, advice.final),
        "annotations": [annotation._asdict() for annotation in advice.annotations],
        "changes": [_change_data(advice, change) for change in advice.changes],
        "together": None if advice.together is None else _change_data(advice, advice.together),
    }
    return printable_json(json.dumps(data, indent=1, ensure_ascii=False)) + "\n"


def _change_data(advice: AdviceResult, trial: Trial) -> dict[str, object]:
    return {
        "text": trial.text,
        "now": trial.now,
        "conflict_free": trial.is_conflict_free,
        "before": _figures_data(advice, trial.before),
        "after": _figures_data(advice, trial.after),
        "xla_wire_bytes": None
        if trial.compiled is None
        else [round(one.wire_bytes) for one in trial.compiled],
        "xla_seconds": None if trial.seconds_in_xla is None else [float(one) for one in trial.seconds_in_xla],
        "annotations": [annotation._asdict() for annotation in trial.annotations],
        "results": [annotation._asdict() for annotation in trial.results],
    }


def _figures_data(advice: AdviceResult, figures: Figures) -> dict[str, object]:
    share = figures.useful_share
    return {
        "seconds": float(figures.seconds),
        "seconds_at_most": float(figures.at_most(advice.moves_whole)),
        "wire_bytes": round(figures.wire_bytes),
        "peak_bytes": figures.peak_bytes,
        "useful_share": None if share is None else float(share),
        "activation_reshard_bytes": round(figures.conflicts),
        "carried_reshard_bytes": figures.carried,
    }


_FORMATS: dict[str, Callable[[AdviceResult, int, int | None], str]] = {
    ".html": _html,
    ".json": _json,
    ".md": _markdown,
    ".txt": _text,
}
