"""A report as a page: a summary first, then communication, memory, compute, the source and the program.

The summary is HTML. `report.js` makes the tables and charts below it of the data of the page, so
that they can be searched, sorted and grouped.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path, PurePath

import htpy as h

from sdyopt.analysis.figures.figures import Report, axis_sizes
from sdyopt.analysis.figures.source_locations import Phase
from sdyopt.analysis.figures.totals import (
    flop_totals,
    phase_totals,
    recomputed_share,
    seconds_of_runs,
    time_range,
    time_totals,
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
    times_text,
    total_text,
)
from sdyopt.analysis.interface.pages.page import Page, card, fits_badge, program_lines
from sdyopt.analysis.interface.pages.section import ReportTable, Section
from sdyopt.analysis.report.check.check_text import (
    alternative_text,
    change_of,
    compiled_bytes,
    first_number,
    has_share,
    is_together,
    reason_of,
    reasons_of,
    together_text,
)
from sdyopt.analysis.report.check.checker import (
    PLACES,
    CheckResult,
    MemoryPlace,
    PlaceCollectives,
    kind_of,
    places_of,
)
from sdyopt.analysis.report.check.trial_text import memory_title, trial_text
from sdyopt.analysis.report.communication import COLLECTIVES, PHASES, grouping_of
from sdyopt.analysis.report.page_data import (
    add_figures,
    boundary_data,
    files_of,
    live_data,
    loop_of,
)
from sdyopt.analysis.report.sections import (
    BOUND_PRODUCTS,
    bound_text,
    kinds_text,
    most_repeated,
    peaks_text,
    sections_of,
)
from sdyopt.base.diagnostics.text import counted, replace_unprintable
from sdyopt.base.diagnostics.whole_files import source_files

_SCRIPT = Path(__file__).with_name("report.js")

# The maximum number of points of the memory curve. With more operations, a point is the maximum of several.
MAX_POINTS = 600
# Tables that the page has in another form.
_SHOWN_OTHERWISE = (
    *("by kind and axes", COLLECTIVES, "operations by time", "repeated or padded work", BOUND_PRODUCTS),
    "live at the peak",
)
# So many kinds of collectives are at a place, and so many names of weights at each.
_PARTS, _NAMES = 4, 6
# And so many reasons for those of one kind.
_REASONS = 4
# And so many kinds of what is live at the peak in the summary.
_KINDS = 3


def html_report(
    report: Report, program: str, title: str, check: CheckResult | None = None, source_root: str | None = None
) -> str:
    """The page of a report on a program, whose printed text is at its end.

    With a check, the page has the changes that were tried.
    """
    sizes = axis_sizes(report.mesh)
    page = Page(title, list(sizes))
    places = check or CheckResult(report, places_of(report.collectives)[:PLACES], report.device_memory, True)
    add_figures(page, report, program)
    page.add_data("grouping", grouping_of(report.group_by, report.collectives).name)
    files = source_files(files_of(report), title, source_root)
    page.add_data("files", {replace_unprintable(name): program_lines(text) for name, text in files.items()})
    page.add_data("live", live_data(report.timeline(MAX_POINTS), places.device_memory))
    page.add_data("boundary", boundary_data(report))
    page.add_text("text-of-program", "\n".join(program_lines(program)))
    communication, memory, compute, *others = sections_of(report)
    charts = [
        h.h3["by line, module or weight"],
        h.div("#where"),
        h.h3["by module, function or call"],
        h.div("#flame"),
    ]
    body = [
        _header(page, report, sizes),
        h.main("#main", tabindex="-1")[
            _summary(page, report, places, check is not None),
            _section(
                *(page, "communication", communication, _by_axes(page, report), _by_phase(page, report)),
                *(_by_loop(page, report), charts),
            ),
            _section(
                *(page, "memory", memory, h.h3["over the program"], h.div("#curve")),
                *(h.h3["arguments and results"], h.div("#boundary")),
            ),
            _section(page, "compute", compute, h.div("#work")),
            [
                _section(
                    page,
                    "time" if report.time and not position else "accuracy",
                    section,
                    *([h.h3[BOUND_PRODUCTS], h.div("#bound")] if report.time and not position else []),
                )
                for position, section in enumerate(others)
            ],
            h.section("#source")[h.h2["source"], h.div("#lines")],
            h.section("#program")[h.h2["program"], h.div("#text")],
        ],
        h.noscript[h.p["Tables and charts need JavaScript."]],
    ]
    return page.html(body, [_SCRIPT])


def _header(page: Page, report: Report, sizes: dict[str, int]) -> h.Node:
    links = [("summary", "summary"), ("communication", "communication"), ("memory", "memory")]
    links += [("compute", "compute"), *([("time", "time")] if report.time else [])]
    links += [("source", "source"), ("program", "program")]
    return h.header[
        h.h1[replace_unprintable(page.title)],
        h.p[
            counted(report.devices, "device"),
            [", mesh ", page.axis_chips(sizes)] if sizes else ", no mesh",
            f"{'' if sizes else ', '}topology {replace_unprintable(PurePath(report.topology).name)}"
            if report.topology
            else None,
            h.span(".note")[f": {replace_unprintable(report.speeds)}"] if report.speeds else None,
        ],
        h.p(".note")[replace_unprintable(report.assumption)] if report.assumption else None,
        h.nav(aria_label="sections")[(h.a(href=f"#{anchor}")[text] for anchor, text in links)],
    ]


# --- Summary ------------------------------------------------------------------------------------------


def _summary(page: Page, report: Report, check: CheckResult, is_tried: bool) -> h.Node:
    items = [_place(page, check, number, is_tried) for number in range(len(check.places))]
    if check.memory_place is not None:
        # As in the text, so that numbers are the same.
        where = 0 if first_number(check) > 1 else len(items)
        items.insert(where, _memory_place(check.memory_place))
    return h.section("#summary")[
        h.h2(".hidden")["summary"],
        h.div(".cards")[_wire_card(page, report), _memory_card(report, check), _compute_card(report)],
        _bar(page, report),
        h.h2["where devices send most"] if check.places else None,
        _best(check) if is_tried else None,
        h.ol(".places")[items],
        (
            h.p(".note")["no change was tried: --check --report=FILE.html tries some that make these cheaper"]
            if check.places and not is_tried
            else None
        ),
    ]


def _wire_card(page: Page, report: Report) -> h.Node:
    known, estimated = report.best_known, wire_total(report)
    total = wire_total(known)
    most = next(iter(wire_totals(known.collectives, kind_of).items()), None)
    share = (
        [share_text(most[1].high / total.high), " ", page.coloured(most[0])] if most and total.high else ""
    )
    time = ""
    if report.time is not None:
        time = f"{seconds_text(time_totals(report, report.time)[0].high)} estimated"
    parts = sorted(phase_totals(report).items(), key=lambda item: -item[1].high)
    phases = [
        f"{share_text(part.high / estimated.high)} {PHASES[phase]}" for phase, part in parts if estimated.high
    ]
    what = f"sent by each device in {counted(total.count, 'collective')}"
    figure = total_text(total) if total.count else "none"
    return card(
        *("communication", figure, what, share, ", ".join(phases), time),
        _compiled_text(report, total_text(estimated)),
    )


def _compiled_text(report: Report, estimated: str) -> str:
    """Which compiler a figure is of, and what was estimated; "" for an estimate."""
    compiled = report.compiled
    return "" if compiled is None else f"as compiled by {compiled.compiler}; {estimated} estimated"


def _memory_card(report: Report, check: CheckResult) -> h.Node:
    memory, device = report.best_known.memory, check.device_memory
    where = report.memory.peak_location.file_text if report.compiled is None else ""
    if device is None:
        fits: h.Node = h.span(".badge")["unknown whether it fits: give --device-memory or --topology"]
    else:
        share = Fraction(memory.peak, device or 1)
        fits = [
            fits_badge(memory.peak <= device, bytes_text(device)),
            f" {share_text(share)} of it, {left_text(memory.peak, device)}",
            h.meter(
                min="0",
                max="1",
                low="0.9",
                high="0.9999",
                optimum="0",
                value=f"{min(float(share), 1):.3f}",
                aria_label="share of the device memory",
            ),
        ]
    unknown = (
        f"{counted(memory.unknown_values, 'value')} of unknown size not counted"
        if memory.unknown_values
        else ""
    )
    at = f"at the peak{f', {where}' if where else ''}"
    kinds, peaks = kinds_text(memory, _KINDS), peaks_text(memory)
    compiled = _compiled_text(report, bytes_text(report.memory.peak))
    return card("memory", bytes_text(memory.peak), at, fits, kinds, peaks, unknown, compiled)


def _compute_card(report: Report) -> h.Node:
    flops, share = flop_totals(report)[0], useful_share(report)
    work = f"{total_text(flops, flops_text)} per device"
    useful = f"{share_text(share)} of them useful" if share is not None else "useful share unknown"
    if recomputed := recomputed_share(report):
        useful += f", {share_text(recomputed)} recomputed"
    if not flops.count:
        work, useful = "no product", ""
    repeated = most_repeated(report)
    if report.time is None:
        return card(
            "compute",
            total_text(flops, flops_text),
            f"per device in {counted(flops.count, 'product')}",
            useful,
            repeated,
            "time unknown: give --topology",
        )
    least, most = (seconds_text(amount) for amount in time_range(report, report.time))
    return card(
        "time",
        least if least == most else f"{least} to {most}",
        "estimated for one run",
        ", ".join(filter(None, (work, useful))),
        repeated,
        f"{seconds_text(time_totals(report, report.time)[1].high)} of products",
        bound_text(report, report.time),
    )


def _bar(page: Page, report: Report) -> h.Node:
    """One bar of all that is sent, with a part for each kind and axes."""
    total = wire_total(report).high
    if not total:
        return None
    parts = [
        (f"{share_text(part.high / total)} {name}", float(part.high / total))
        for name, part in wire_totals(report.collectives, kind_of).items()
        if part.high
    ]
    return page.bar(parts, "shares of what is sent, by kind and axes")


def _place(page: Page, check: CheckResult, number: int, is_tried: bool) -> h.Node:
    """The place to look at first: a line, what is sent there, why, and what was tried."""
    place = check.places[number]
    largest = place.largest
    is_known = largest.location.line and set(place.phases) != {Phase.UNKNOWN}
    phases = " and ".join(PHASES[phase] for phase in place.phases) if is_known else ""
    sent, total, estimated = place.total.high, check.wire.high, ""
    compiled = compiled_bytes(check, place.parts) if has_share(check, place) else None
    if compiled is not None:
        sent, total = compiled, wire_total(check.report.best_known).high
        is_same = bytes_text(compiled) == total_text(place.total)
        estimated = "" if is_same else f"{total_text(place.total)} estimated"
    share = f"{share_text(sent / total)} of all" if has_share(check, place) and total else ""
    facts = [f"{counted(place.total.count, 'collective')}", share, estimated, phases]
    file, line, more = (
        replace_unprintable(largest.location.file),
        largest.location.line,
        len(place.parts) - _PARTS,
    )
    # What to write comes first, as in the text.
    has_change = place.best is not None or bool(place.untried)
    text = together_text(check) if is_together(check, place) else change_of(check, place)
    change = h.p(".tried" if has_change else ".note")[replace_unprintable(text)]
    return h.li[
        h.p(".line")[
            h.button(type="button", class_="where", data_file=file, data_line=line)[
                replace_unprintable(place.name)
            ],
            h.strong[total_text(place.total) if compiled is None else bytes_text(compiled)],
            h.span(".note")[", ".join(filter(None, facts))],
        ],
        change if is_tried else None,
        h.pre(".code", hidden=True, data_file=file, data_line=line),
        h.ul(".kinds")[(_part(page, part, len(place.parts) > 1) for part in place.parts[:_PARTS])],
        h.p(".note")[f"and {counted(more, 'other kind')}"] if more > 0 else None,
    ]


def _best(check: CheckResult) -> h.Node:
    """The best change, if no line sends less with it, and what goes together, if no line has that."""
    is_compiled = check.report.compiled is not None
    texts = [] if check.elsewhere is None else [f"best: {trial_text(check.elsewhere, is_compiled)}"]
    if check.alternative is not None:
        texts.append(alternative_text(check))
    if check.together is not None and not any(is_together(check, place) for place in check.places):
        texts.append(together_text(check))
    return [h.p(".tried")[replace_unprintable(text)] for text in texts]


def _memory_place(place: MemoryPlace) -> h.Node:
    """What takes more of the peak than it must."""
    return h.li[
        h.p(".line")[
            h.span(".where")[replace_unprintable(place.name)],
            h.strong[memory_title(place)],
        ],
        h.p(".tried")[replace_unprintable(trial_text(place.trial))],
        h.p(".note")[replace_unprintable(place.reason)],
    ]


def _part(page: Page, part: PlaceCollectives, is_one_of_several: bool) -> h.Node:
    """What is sent at a place in collectives of one kind, and why."""
    reasons = reasons_of(part)
    more = len(reasons) - _REASONS
    return h.li[
        [h.strong[total_text(part.total)], " in "] if is_one_of_several else None,
        f"{part.total.count} ",
        h.span(".kind")[page.coloured(part.kind)],
        ": " if len(reasons) == 1 else None,
        _reason(page, reasons[0])
        if len(reasons) == 1
        else h.ul(".kinds")[
            (
                h.li[f"{total_text(reason.total)} in {reason.total.count}: ", _reason(page, reason)]
                for reason in reasons[:_REASONS]
            )
        ],
        h.p(".note")[f"and {counted(more, 'other reason')}"] if more > 0 else None,
    ]


def _reason(page: Page, part: PlaceCollectives) -> h.Node:
    """The reason that collectives have in common, and the weights that it does not name."""
    reason = reason_of(part, _NAMES)
    unsaid = [name for name in part.names if name not in reason]
    names = [replace_unprintable(name) for name in unsaid[:_NAMES]]
    more = len(unsaid) - len(names)
    note = f" of {', '.join(names)}{f' and {more} more' if more > 0 else ''}" if names else ""
    return [page.coloured(reason), h.span(".note")[note] if note else None]


# --- Sections -----------------------------------------------------------------------------------------


def _section(page: Page, anchor: str, section: Section, *children: h.Node) -> h.Node:
    tables = [table for table in section.tables if not _is_shown_otherwise(table)]
    return page.section(anchor, section, tables, *children)


def _is_shown_otherwise(table: ReportTable) -> bool:
    return table.title in _SHOWN_OTHERWISE or (table.title.startswith("by ") and table.has_notes)


def _by_axes(page: Page, report: Report) -> h.Node:
    """The cost of each axis: a table of the axes, with the kinds of collectives along them."""
    groups = [collective.group.strip("{}") for collective in report.collectives]
    return _shares(page, report, "by axis", "axes", groups) if groups else None


def _by_phase(page: Page, report: Report) -> h.Node:
    """The cost of each part of a training step."""
    parts = [PHASES[collective.location.phase] for collective in report.collectives]
    return _shares(page, report, "by part of the step", "part", parts) if phase_totals(report) else None


def _by_loop(page: Page, report: Report) -> h.Node:
    """The cost of each loop, with the number of runs in it."""
    names = []
    for collective in report.collectives:
        runs = times_text(collective.times, collective.per_iteration)
        times = "once" if runs == "1" else f"{runs.removeprefix('1 × ')} times"
        names.append(f"{loop_of(collective)}, {times}")
    has_loops = any(collective.loop is not None for collective in report.collectives)
    return _shares(page, report, "in loops", "loop, runs", names) if has_loops else None


def _shares(page: Page, report: Report, title: str, column: str, names: Sequence[str]) -> h.Node:
    """A table of what is sent in collectives with the same name, `names` being those of all collectives."""
    total = wire_total(report).high
    by_number = {collective.number: name for collective, name in zip(report.collectives, names, strict=True)}
    parts = wire_totals(report.collectives, lambda collective: by_number[collective.number])
    times = report.time.collectives if report.time else []
    columns = [column, "sent", "share", *(["time"] if times else []), "collectives"]
    rows = []
    for name, part in parts.items():
        numbers = {number for number, text in by_number.items() if text == name}
        collectives = [collective for collective in report.collectives if collective.number in numbers]
        kinds = wire_totals(collectives, lambda collective: collective.kind).items()
        timed = (
            [
                seconds_of_runs(times[collective.number].seconds, collective.times)
                for collective in collectives
            ]
            if times
            else []
        )
        known = [seconds for seconds in timed if seconds is not None]
        share = part.high / total if total else None
        rows.append(
            h.tr(style=f"--share:{float(share):.1%}" if share is not None else None)[
                h.th(scope="row")[page.coloured(name)],
                h.td(data_label="sent")[total_text(part)],
                h.td(data_label="share")["unknown" if share is None else share_text(share)],
                h.td(data_label="time")[seconds_text(sum(known, Fraction(0)) if known else None)]
                if times
                else None,
                h.td(data_label="collectives")[
                    ", ".join(f"{total.count} {kind}: {total_text(total)}" for kind, total in kinds)
                ],
            ]
        )
    header = h.thead[h.tr[(h.th(scope="col")[column] for column in columns)]]
    # The compiler's program has figures of its own above.
    title += "" if report.compiled is None else ", estimated"
    return [h.h3[title], h.table(".stack")[header, h.tbody[rows]]]
