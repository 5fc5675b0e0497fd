"""A check as text: at most 14 lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from sdyopt.analysis.changes.effect import Measure
from sdyopt.analysis.changes.outcome import place_of_collective
from sdyopt.analysis.figures.causes import TRANSPOSED_PVARY
from sdyopt.analysis.figures.figures import LIVE_KINDS, Collective, Memory
from sdyopt.analysis.figures.machines import machine_of_mesh
from sdyopt.analysis.figures.source_locations import Phase
from sdyopt.analysis.figures.totals import (
    Total,
    flop_totals,
    recomputed_share,
    time_range,
    useful_share,
    wire_total,
    wire_totals,
)
from sdyopt.analysis.figures.units import (
    bytes_text,
    flops_text,
    left_text,
    seconds_text,
    share_text,
    total_text,
)
from sdyopt.analysis.interface.pages.section import ReportTable
from sdyopt.analysis.report.check.checker import (
    CheckResult,
    CostlyPlace,
    MemoryPlace,
    PlaceCollectives,
    first_untried,
    kind_of,
    part_of,
    sent_as_compiled,
)
from sdyopt.analysis.report.check.trial_text import (
    folded,
    memory_title,
    tight,
    trial_text,
)
from sdyopt.analysis.report.sections import differing_peaks
from sdyopt.base.compilers import COMPILERS
from sdyopt.base.dataclasses import replace
from sdyopt.base.diagnostics.text import counted, replace_unprintable
from sdyopt.base.patterns import constant_pattern
from sdyopt.mlir.value_names import pattern_of
from sdyopt.shardy.notation.partition_spec import specs_of

# The parts of a step that are said, in few words.
_PHASES = {Phase.BACKWARD: "backward", Phase.REMATERIALIZED: "remat", Phase.UPDATE: "update"}
# What is clear from the kind of a collective is left out.
_SHORTER = (
    (r"dimension \d+ of an operand, which is", "a dimension"),
    (r"\breduce reduces over", "a reduction over"),
    (" that is sharded along", " sharded along"),
    (", which is sharded", " sharded"),
    (" on both sides", ""),
)
_NEEDED = constant_pattern(r"(.*?) needs? this sharding(?:.*?: (.*))?")
# What needs the sharding of a value at a boundary, as it is called in JAX.
_BOUNDARIES = (
    (constant_pattern(r"shard_map takes an operand with this sharding"), "in_specs of shard_map"),
    (constant_pattern(r"shard_map yields a value with this sharding"), "out_specs of shard_map"),
    (constant_pattern(r"(?:@\S+) takes an argument with this sharding"), "an argument of a call"),
    (constant_pattern(r"the loop carries a value with this sharding"), "what the loop carries"),
)
_INDENT, _WHY = "   ", "why: "
# A part of what is sent is shown if it is at least this share.
_LEAST_ELSEWHERE = 20
# The columns of a check that is not cut.
FULL_WIDTH = 100
_NO_FUNCTION = "has no function"
_NO_MESH = (
    "nothing is sharded: the program has no mesh; give its arguments shardings, as",
    "jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, P('data')))",
)
_NO_ARGUMENTS = (
    "nothing is sharded: jax.jit drops arguments that the program does not use, and",
    "their shardings; state jax.jit(…, out_shardings=NamedSharding(mesh, P('data')))",
)


def check_text(check: CheckResult, width: int) -> str:
    """The text of a check, in lines of at most `width` columns.

    What to write comes first, then what it saves, and why; then what sends much, and has no change. Lines are
    folded, not cut: places say the same in 80 columns as in 100.
    """
    room = max(width, FULL_WIDTH) - len(_INDENT) - len(_WHY)
    changed, others = split_places(check)
    lines = [*_figures(check, width)]
    is_compiled = check.report.compiled is not None
    if check.elsewhere is not None:
        lines.append(f"best: {trial_text(check.elsewhere, is_compiled)}")
    # Why what saves fewer bytes comes first, or a few of them are worth it.
    gains = [place.best.effect.saved(Measure.WIRE) for place in changed if place.best and not place.shared]
    has_time = check.report.time is not None or gains != sorted(gains, reverse=True)
    first = first_number(check)
    # What makes a program fit comes first.
    if (memory := check.memory_place) is not None and first > 1:
        lines += _memory_lines(memory, 1, is_compiled, has_time)
    alone = [place for place in changed if not place.shared]
    for number, place in enumerate(alone, first):
        # What goes together is said once, and with the numbers of what is above.
        is_all = is_together(check, place)
        lines += [
            f"{number}. {together_text(check) if is_all else change_of(check, place, has_time)}",
            f"{_INDENT}{_WHY}{sent_and_why(check, place, room)}",
        ]
    lines += _shared_lines([place for place in changed if place.shared], first)
    number = first + len(alone) - 1
    if memory is not None and first == 1:
        number += 1
        lines += _memory_lines(memory, number, is_compiled, has_time)
    if check.alternative is not None:
        lines.append(alternative_text(check, has_time))
    if check.together is not None and not any(is_together(check, place) for place in changed):
        lines.append(together_text(check))
    if others:
        lines.append(f"{none_text(check)}; {'the rest' if number else 'most'} is sent by")
        for place in others:
            number += 1
            title = title_of(check, place, room + len(_WHY))
            lines += [f"{number}. {title}", f"{_INDENT}{_WHY}{why(place, room)}"]
    is_tried = check.memory_place is not None or any(place.best is not None for place in check.places)
    if is_compiled:
        lines += _compiled_lines(check, is_tried)
    elif is_tried:
        lines.append("changes were tried, but not compiled: --advise --advise-verify asks XLA")
    if not check.report.mesh and not check.report.collectives:
        if _NO_FUNCTION in check.report.assumption:
            lines.append(f"the program {_NO_FUNCTION}")
        else:
            arguments = check.report.memory
            lines += _NO_ARGUMENTS if arguments.results and not arguments.arguments else _NO_MESH
    shown = map(replace_unprintable, lines)
    return "".join(f"{line}\n" if len(line) <= width else folded(line, width) for line in shown)


def _shared_lines(places: Sequence[CostlyPlace], first: int) -> Iterator[str]:
    """`1 saves at other lines, too: 376.0 MiB of 856.0 MiB at vit.py:17`: what changes above help."""
    saved: dict[int, list[str]] = {}
    for place in places:
        size, sent = bytes_text(place.shared_bytes), total_text(place.total)
        part = f"all {sent}" if size == sent else f"{size} of {sent}"
        saved.setdefault(place.shared + first - 1, []).append(f"{part} at {place.name}")
    texts = [f"{number} saves at other lines, too: {', '.join(parts)}" for number, parts in saved.items()]
    if texts:
        yield "; ".join(texts)


def first_number(check: CheckResult) -> int:
    """The number of the first place that sends: 2 if what makes the program fit comes before it."""
    return 2 if check.memory_place is not None and check.fits is False else 1


def _memory_lines(memory: MemoryPlace, number: int, is_compiled: bool, has_time: bool) -> Iterator[str]:
    yield f"{number}. {trial_text(memory.trial, is_compiled, has_time)}"
    yield f"{_INDENT}{_WHY}{memory_title(memory)}: {memory.reason}"


def _compiled_lines(check: CheckResult, is_tried: bool) -> Iterator[str]:
    """What is sent at lines where nothing is estimated, if that is much, and whose figures these are."""
    report, compiled = check.report, check.report.compiled
    assert compiled is not None
    total = wire_total(compiled.figures).high
    elsewhere = total - sum(compiled.sent.values(), Fraction(0))
    if elsewhere * _LEAST_ELSEWHERE >= total > 0:
        size = f"{bytes_text(elsewhere)} ({share_text(elsewhere / total)})"
        yield f"{size} are sent at lines without an estimate: --report --compiled lists them"
    if check.done:
        first, *more = check.done
        also = f" and {counted(len(more), 'other line')}" if more else ""
        yield f"no change is proposed for what the compiler sends otherwise already, at {first}{also}"
    times = "times and changes" if is_tried else "times"
    estimated = [times] if report.time is not None else ["changes"] if is_tried else []
    text = f"figures of {compiled.compiler} for {compiled.target}"
    if estimated:
        text += f"; {estimated[0]} are estimated"
    yield f"{text}: --advise --compiled compiles the program with changes" if is_tried else text


def split_places(check: CheckResult) -> tuple[list[CostlyPlace], list[CostlyPlace]]:
    """The places for which there is something to write, and the others."""
    untried = first_untried(check.places)
    changed = [place for place in check.places if place.best is not None or place in untried]
    return changed, [place for place in check.places if place not in changed]


def compiled_bytes(check: CheckResult, parts: Sequence[PlaceCollectives]) -> Fraction | None:
    """What the program of the compiler sends for parts of a place; None without a compiler."""
    return sent_as_compiled(check.report.compiled, parts)


def none_text(check: CheckResult) -> str:
    """`no change saves 1% of the time (12 tried, others not)`."""
    if not check.can_try:
        return "no change was tried, as the program is partitioned already"
    if not check.proposed:
        return "no change was found to try"
    more = ", others not" if check.proposed > check.tried else ""
    if check.further:
        return f"--advise lists {counted(check.further, 'more change')}"
    other = "other " if split_places(check)[0] or check.memory_place is not None else ""
    return f"no {other}change saves 1% of the time ({check.tried} tried{more})"


def _figures(check: CheckResult, width: int) -> Iterator[str]:
    yield f"communication  {communication_of(check)}"
    room = width - len("communication  ")
    yield f"memory         {memory_of(check, room)}"
    yield f"compute        {compute_of(check, room)}"
    if idle := machine_of_mesh(check.report.topology, check.report.devices):
        yield f"machine        {idle}"


def communication_of(check: CheckResult) -> str:
    """The bytes that a device sends, and what most of them are."""
    report, wire = check.report.best_known, wire_total(check.report.best_known)
    devices = f"each of {report.devices} devices" if report.devices > 1 else "the device"
    if check.report.compiled is not None:
        devices += _estimated(wire.high, check.wire.high, bytes_text)
    parts = wire_totals(report.collectives, kind_of)
    shares = [
        f": {share_text(part.high / wire.high)} {_unquoted(name)}"
        for name, part in parts.items()
        if wire.high
    ]
    text = f"{total_text(wire)} sent by {devices}" + "".join(shares[:1])
    loop = next(iter(check.report.unknown_loops), None)
    # What × n means.
    return f"{text}; n: --assume-trips={loop.line}=N" if loop is not None and wire.in_loops else text


def memory_of(check: CheckResult, width: int = 1000) -> str:
    """The peak, whether that fits, and what is left, and what most of it is."""
    memory, fits = check.report.best_known.memory, ""
    if check.device_memory is not None:
        fits = f", {'fits' if check.fits else 'does not fit'} in {bytes_text(check.device_memory)}"
    where = f" ({memory.peak_location.file_text})" if memory.peak_location.path_text else ""
    if check.report.compiled is not None:
        where = _estimated(memory.peak, check.report.memory.peak, bytes_text)
    text = f"{bytes_text(memory.peak)} at the peak{where}{_on_others(memory)}{fits}"
    left = "" if check.device_memory is None else f", {left_text(memory.peak, check.device_memory)}"
    text = text + left if len(text + left) <= width else text
    # What most of it is.
    total, (kind, size) = sum(memory.kinds.values()), next(iter(memory.kinds.items()), ("", 0))
    most = f": {share_text(Fraction(size, total))} {LIVE_KINDS[kind]}" if size else ""
    return text + most if len(text + most) <= width else text


def _on_others(memory: Memory) -> str:
    """The estimated peaks on TPU and GPU that differ from that of the report, without a topology."""
    return "".join(
        [f", {bytes_text(peak)} on {COMPILERS[name]}" for name, peak in differing_peaks(memory).items()]
    )


def compute_of(check: CheckResult, width: int = 1000) -> str:
    """The FLOPs, the useful and the recomputed share of them, and estimated times."""
    report = check.report
    flops, share, recomputed = flop_totals(report)[0], useful_share(report), recomputed_share(report)
    text = f"{total_text(flops, flops_text)} per device"
    if report.compiled is not None and (compiled := report.compiled.flops) is not None:
        text = f"{flops_text(compiled)} per device{_estimated(compiled, flops.high, flops_text)}"
    if share is not None:
        text += f", {share_text(share)} of them useful"
    if recomputed:
        text += f", {share_text(recomputed)} recomputed"
    if report.time is not None:
        low, high = map(seconds_text, time_range(report, report.time))
        # The last line of a check with a compiler says that times are estimated.
        text += f"; {low} to {high}{'' if report.compiled is not None else ' estimated'}"
    shorter = (" of them", " per device", " estimated")
    for words in shorter if report.compiled is None else shorter[:-1]:
        text = text.replace(words, "") if len(text) > width else text
    return text


def title_of(check: CheckResult, place: CostlyPlace, width: int = 1000) -> str:
    """`model.py:7: 9.00 MiB (31%) sent in 2 all_reduce along x`, with as many kinds as fit."""
    start = f"{place.name}: {amount_of(check, place)} sent in "
    return start + kinds_of(check, place, width - len(start))


def kinds_of(check: CheckResult, place: CostlyPlace, width: int = 1000) -> str:
    """The kinds of the collectives of a place, as many as fit, and their part of the step, if it is one."""
    end = _phase_text(place)
    parts = sorted(place.parts, key=lambda part: -(compiled_bytes(check, [part]) or 0))
    kinds = [_part_text(check, part, len(parts) > 1) for part in parts]
    for shown in range(len(kinds), 0, -1):
        others = sum(part.total.count for part in parts[shown:])
        text = ", ".join(kinds[:shown]) + (f", {counted(others, 'other')}" if others else "") + end
        if len(text) <= width:
            return text
    # Rather the bytes of the first kind are left out than cut.
    return _part_text(check, parts[0], False)


def _phase_text(place: CostlyPlace) -> str:
    """`, backward`; "" for the forward pass, which is what is thought of, and for several parts of a step."""
    phase = place.phases[0] if len(place.phases) == 1 and place.largest.location.line else Phase.FORWARD
    return f", {_PHASES[phase]}" if phase in _PHASES else ""


def sent_and_why(check: CheckResult, place: CostlyPlace, width: int) -> str:
    """What a place sends where its change saves most, and why: `model.py:7 sends 9.00 MiB (31%) in …: …`."""
    part = _changed_part(place)
    kind, sent = _part_text(check, part, False), compiled_bytes(check, [part])
    size = total_text(part.total) if sent is None else bytes_text(sent)
    if len(place.parts) > 1 and size != total_text(place.total):
        kind = f"{size} of it in {kind}"
    start = f"{_wrong(place)}{place.name}: {amount_of(check, place)} sent, {kind}{_phase_text(place)}: "
    return start + reasons_text(part, 2 * width - len(start))


def _changed_part(place: CostlyPlace) -> PlaceCollectives:
    """The part of a place of which its change saves most; that which sends most without one."""
    if place.best is None or (sent := place.best.sent) is None:
        return place.parts[0]

    def saved(part: PlaceCollectives) -> Fraction:
        return _cost(part) - sent.get(place_of_collective(part.largest), Fraction(0))

    return max(place.parts, key=saved)


def _cost(part: PlaceCollectives) -> Fraction:
    """The bytes that a part sends, those of one iteration for a loop of unknown trip count."""
    return part.total.high + part.total.per_iteration


def amount_of(check: CheckResult, place: CostlyPlace) -> str:
    """`9.00 MiB (31%)`: what a device sends at a place, and the share of all."""
    if not has_share(check, place):
        return total_text(place.total)
    if (sent := compiled_bytes(check, place.parts)) is None:
        return f"{total_text(place.total)} ({share_text(place.total.high / check.wire.high)})"
    total = wire_total(check.report.best_known).high
    share = f" ({share_text(sent / total)})" if total else ""
    return f"{bytes_text(sent)}{_estimated(sent, place.total.high, bytes_text)}{share}"


def _estimated(compiled: Fraction | int, estimate: Fraction | int, text: Callable[[Fraction], str]) -> str:
    """`, 20.0 MiB estimated`; "" if the estimate is the same."""
    shown = text(Fraction(estimate))
    return "" if shown == text(Fraction(compiled)) else f", {shown} estimated"


def _part_text(check: CheckResult, part: PlaceCollectives, is_one_of_several: bool) -> str:
    """`2 all_gather along x`, and what they send if others are at the same line."""
    count = f"{part.total.count} " if part.total.count > 1 else ""
    sent = compiled_bytes(check, [part])
    size = total_text(part.total) if sent is None else bytes_text(sent)
    return f"{count}{_unquoted(part.kind)}{f' {size}' if is_one_of_several else ''}"


def places_table(check: CheckResult, is_tried: bool) -> ReportTable | None:
    """The places as a table, with what was tried there; None without places."""
    columns = ("bytes", "share", "where", "what", "why", *(("change",) if is_tried else ()))
    rows = [
        (
            total_text(place.total),
            share_text(place.total.high / check.wire.high) if has_share(check, place) else "",
            place.name,
            ", ".join(_part_text(check, part, len(place.parts) > 1) for part in place.parts),
            why(place),
            *((change_of(check, place),) if is_tried else ()),
        )
        for place in check.places
    ]
    if (memory := check.memory_place) is not None:
        text, _, share = memory_title(memory).rpartition(" ")
        rows.append((text, share.strip("()"), memory.name, "", memory.reason, trial_text(memory.trial)))
    return ReportTable("where devices send most", columns, 2, rows) if rows else None


def has_share(check: CheckResult, place: CostlyPlace) -> bool:
    """Whether the share of a place is known."""
    return bool(check.wire.high) and not place.total.per_iteration


def why(place: CostlyPlace, width: int = 1000) -> str:
    """What causes the collectives of a place."""
    wrong = _wrong(place)
    return wrong + reasons_text(_changed_part(place), width - len(wrong))


def _wrong(place: CostlyPlace) -> str:
    return f"{place.blocker}; " if place.blocker else ""


def reasons_text(part: PlaceCollectives, width: int = 1000) -> str:
    """The reason for the collectives of a part or, if they differ in it, for those that send most.

    The reason for the others follows if it is one, and there is room.
    """
    first, *others = reasons_of(part)
    if not others:
        return tight(reason_of(first), width)
    # The line above begins with the number of all.
    count, of = "one" if first.total.count == 1 else str(first.total.count), reason_of(first)
    text = f"{count} of them: {of}"
    text = text if len(text) <= width else f"{count}: {of}"
    if len(others) == 1:
        these = "the other" if others[0].total.count == 1 else "the others"
        both = tight(f"{text}; {these}: {reason_of(others[0])}", width)
        text = both if len(both) <= width else text
    return tight(text, width)


def reasons_of(part: PlaceCollectives) -> list[PlaceCollectives]:
    """The collectives of a part in groups of the same reason, those that send most first."""
    groups: dict[str, list[Collective]] = {}
    for collective in part.collectives:
        groups.setdefault(_reason(collective), []).append(collective)
    parts = [part_of(group, wire_totals(group, lambda _: "")[""]) for group in groups.values()]
    return sorted(parts, key=_cost, reverse=True)


def _reason(collective: Collective) -> str:
    """What is equal if two collectives have the same reason, for whichever layers, weights and other uses."""
    return re.sub(r" and \d+ more", "", reason_of(PlaceCollectives(collective, Total(2), ["*"])))


def reason_of(part: PlaceCollectives, most_names: int = 1) -> str:
    """The reason for the largest collective of a part of a place, with shardings as JAX writes them."""
    collective, names = part.largest, part.names
    more = len(names) - most_names
    of = ", ".join(names[:most_names]) + (f" and {more} more" if more > 0 else "")
    needed = _NEEDED.match(collective.cause)
    before, _, after = specs_of(collective.change).partition(" → ")
    resharded, moved = f"resharded from {before} to {after}", f"{of} {'is' if len(names) == 1 else 'are'} "
    if needed is not None and collective.change:
        if collective.updated and needed[1].startswith(collective.updated):
            return f"{resharded} for {of}{f': {needed[2]}' if needed[2] else ''}"
        return f"{moved if collective.moved else ''}{resharded} for {needed[1]}"
    for pattern, needed_by in _BOUNDARIES:
        if collective.change and (at := pattern.match(collective.cause)):
            more_uses = collective.cause[at.end() :]
            return f"{moved if of else ''}{resharded} for {needed_by}{more_uses}"
    for long, short in _SHORTER:
        collective = replace(collective, cause=re.sub(long, short, collective.cause))
    # The collectives of a place are those of several layers.
    cause = pattern_of(collective.cause) if part.total.count > 1 else collective.cause
    if collective.cause == TRANSPOSED_PVARY and part.names:
        # The gradient of what does not vary.
        return f"gradient of {of}: {cause}"
    if not collective.updated:
        return cause
    # A result is the gradient itself.
    return f"{of}: {cause}" if collective.updated.startswith("result") else f"gradient of {of}: {cause}"


def _unquoted(kind: str) -> str:
    return kind.replace('"', "")


def change_of(check: CheckResult, place: CostlyPlace, has_time: bool = False) -> str:
    """The change that was tried with the best effect, or that none helps; `has_time` as in `trial_text`."""
    if place.shared:
        return f"the change of {place.shared} saves {bytes_text(place.shared_bytes)} here, too"
    if place.best is not None:
        text = trial_text(place.best, check.report.compiled is not None, has_time)
        if (more := place.after_best) is None:
            return text
        saves = f": {more.text}" if more.after != more.before else " it saves nothing"
        return f"{text}; after the best change{saves}"
    if place.untried:
        return place.untried
    if place.is_written:
        return "no annotation changes what the program writes itself"
    none = none_text(check)
    return f"no change that is shown helps here; {none}" if check.further else none


def alternative_text(check: CheckResult, has_time: bool = False) -> str:
    """`or: shard the input …: -528.2 MiB sent`: the best change that is not shown above."""
    assert check.alternative is not None
    return f"or: {trial_text(check.alternative, check.report.compiled is not None, has_time)}"


def is_together(check: CheckResult, place: CostlyPlace) -> bool:
    """Whether the change of a place is all those that go together."""
    best, together = place.best, check.together
    if best is None or together is None or place.shared:
        return False
    return best.change.key == together.change.key


def together_text(check: CheckResult) -> str:
    """`best together: 1 and 2: -1.41 MiB sent, -45% time`: places by number, and other changes."""
    trial = check.together
    assert trial is not None
    numbers: dict[object, str] = {}
    first = first_number(check)
    if first > 1 and check.memory_place is not None:
        numbers[check.memory_place.trial.change.key] = "1"
    for number, place in enumerate(split_places(check)[0], first):
        if place.best is not None:
            numbers.setdefault(place.best.change.key, str(number))
    parts = zip(trial.change.parts, trial.texts, strict=True)
    listed = [numbers.get(part.key) or text for part, text in parts]
    listed.sort(key=lambda text: (not text.isdigit(), text if text.isdigit() else ""))
    names = f"{', '.join(listed[:-1])} and {listed[-1]}"
    effect = trial.effect
    # Why it pays, if it sends more.
    faster = "" if "% time" in effect.figures_text else f", -{effect.faster}% time"
    return f"best together: {names}: {effect.figures_text}{faster}"
