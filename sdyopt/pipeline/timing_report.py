"""`--mlir-timing`: the timing report in the layout of MLIR, as text or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from sdyopt.pipeline.timing import Timer

RULER = f"==={'-' * 73}===\n"


def header(title: str) -> str:
    """The header of a report, with the title centered in 80 columns."""
    return f"{RULER}{' ' * ((80 - len(title)) // 2)}{title}\n{RULER}"


def timing_report(root: Timer, as_list: bool = False, as_json: bool = False) -> str:
    """The report of a tree of timers; with `as_list`, one row with the total time per name."""
    rows = _list_rows(root) if as_list else list(_tree_rows(root.children.values(), 0))
    rest = root.seconds - sum(child.seconds for child in root.children.values())
    totals = [(0, "Rest", rest), (0, "Total", root.seconds)]
    if as_json:
        return _as_json(rows, totals, root.seconds, is_tree=not as_list)
    lines = (
        f"  {seconds:8.4f} ({_percentage(seconds, root.seconds):5.1f}%)  {'  ' * depth}{name}\n"
        for depth, name, seconds in [*rows, *totals]
    )
    return (
        header("... Execution time report ...")
        + f"  Total Execution Time: {root.seconds:.4f} seconds\n\n"
        + "  ----Wall Time----  ----Name----\n"
        + "".join(lines)
    )


# A row of the report: (depth, name, seconds).
Row = tuple[int, str, float]


def _tree_rows(timers: Iterable[Timer], depth: int) -> Iterator[Row]:
    for timer in timers:
        yield depth, timer.name, timer.seconds
        yield from _tree_rows(timer.children.values(), depth + 1)


def _list_rows(root: Timer) -> list[Row]:
    """One row per name, longest time first."""
    seconds: dict[str, float] = {}
    for _, name, time in [(0, root.name, root.seconds), *_tree_rows(root.children.values(), 0)]:
        seconds[name] = seconds.get(name, 0.0) + time
    return sorted(((0, name, time) for name, time in seconds.items()), key=lambda row: -row[2])


def _percentage(seconds: float, total: float) -> float:
    return 100 * seconds / total if total else 0.0


def _as_json(rows: list[Row], totals: list[Row], total: float, is_tree: bool) -> str:
    """MLIR's layout: one timer per line, nested timers in `passes`, closed by an empty object."""
    lines = ["[\n"]
    open_depths: list[int] = []
    for depth, name, seconds in rows:
        while open_depths and open_depths[-1] >= depth:
            lines.append(f"{'  ' * open_depths.pop()}{{}}]}},\n")
        closing = ', "passes": [\n' if is_tree else "},\n"
        lines.append("  " * depth + _json_timer(name, seconds, total) + closing)
        if is_tree:
            open_depths.append(depth)
    lines.extend(f"{'  ' * depth}{{}}]}},\n" for depth in reversed(open_depths))
    lines.append(",\n".join(_json_timer(name, seconds, total) + "}" for _, name, seconds in totals))
    return "".join(lines) + "\n]\n"


def _json_timer(name: str, seconds: float, total: float) -> str:
    percentage = _percentage(seconds, total)
    wall = f'{{"duration": {seconds:8.4f}, "percentage": {percentage:5.1f}}}'
    return f'{{"wall": {wall}, "name": {json.dumps(name)}'
