"""Instrumentation of passes: IR printing, action logs, timing and statistics.

`--log-actions-to` logs begin and end of each pass, greedy rewrite iteration and pattern attempt.

The timing is a tree of timers for the phases of a run, nested pipelines, and passes. Its report has the
layout of MLIR, as text or JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter

from sdyopt.base.dataclasses import dataclass, field
from sdyopt.mlir.ir.attribute import StringAttr
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.pipeline.base import Pass, Statistic
from sdyopt.mlir.pipeline.run import Instrument
from sdyopt.mlir.pipeline.tree import Pipeline


@dataclass(frozen=True, slots=True)
class IRPrintingOptions:
    """The passes that dump the IR, and the form of the dumps.

    `before` and `after` are flags of passes; None means all passes. `only_on_change` and `only_on_failure`
    restrict the dumps after passes.
    """

    before: frozenset[str] | None = frozenset()
    after: frozenset[str] | None = frozenset()
    only_on_change: bool = False
    only_on_failure: bool = False
    module_scope: bool = False
    # If not empty, dumps are files in this directory instead of text on stderr.
    tree_directory: str = ""
    # Whether headers are those of mlir-opt, `CSE (cse)`, and not those of jaxlib's LLVM, `CSEPass: cse`.
    are_headers_of_mlir_opt: bool = False

    @property
    def is_needed(self) -> bool:
        """Whether any pass dumps the IR."""
        return self.before != frozenset() or self.after != frozenset()


class IRPrinter(Instrument):
    """Dumps the IR around passes, to `write` or, as (path, text), to `write_file`."""

    def __init__(
        self,
        options: IRPrintingOptions,
        print: Callable[[Op], str],
        write: Callable[[str], None],
        write_file: Callable[[str, str], None],
        ran: set[str],
    ) -> None:
        self._options = options
        self._print = print
        self._write = write
        self._write_file = write_file
        # Receives the flags of the passes that run.
        self._ran = ran
        # The number of dumps of each operation, for file names.
        self._counters: dict[Op, int] = {}

    def before_pass(self, pass_: Pass, op: Op) -> None:
        self._ran.add(pass_.flag)
        if _is_selected(self._options.before, pass_):
            self._dump("Before", "", pass_, op)

    def after_pass(self, pass_: Pass, op: Op, changed: bool) -> None:
        if self._options.only_on_failure or (self._options.only_on_change and not changed):
            return
        if _is_selected(self._options.after, pass_):
            self._dump("After", "", pass_, op)

    def after_pass_failed(self, pass_: Pass, op: Op) -> None:
        if _is_selected(self._options.after, pass_):
            self._dump("After", " Failed", pass_, op)

    def _dump(self, moment: str, outcome: str, pass_: Pass, op: Op) -> None:
        dumped, suffix = op, ""
        if self._options.module_scope:
            dumped = [op, *op.ancestors()][-1]
            suffix = f" ('{op.signature.name}' operation{_at_symbol(op)})"
        name = f"{pass_.label()}{outcome}: {pass_}"
        if self._options.are_headers_of_mlir_opt:
            name = f"{pass_.label().removesuffix('Pass')}{outcome} ({pass_.flag})"
        head = f"// -----// IR Dump {moment} {name}{suffix} //----- //\n"
        text = head + self._print(dumped).rstrip("\n") + "\n\n"
        if self._options.tree_directory:
            self._write_file(self._path(pass_, op), text)
        else:
            self._write(text)

    def _path(self, pass_: Pass, op: Op) -> str:
        """`folder/builtin_module_no-symbol-name/func_func_main/1_0_cse.mlir`."""
        self._counters[op] = self._counters.get(op, -1) + 1
        path = [op, *op.ancestors()][::-1]
        folders = [
            f"{part.signature.name.replace('.', '_')}_{_sanitized(_symbol_name(part) or 'no-symbol-name')}"
            for part in path
        ]
        numbers = "_".join(str(self._counters.setdefault(part, 0)) for part in path)
        return "/".join([self._options.tree_directory, *folders, f"{numbers}_{pass_.flag}.mlir"])


def _is_selected(flags: frozenset[str] | None, pass_: Pass) -> bool:
    return flags is None or pass_.flag in flags


def _symbol_name(op: Op) -> str:
    name = op.attribute("sym_name")
    return name.value if isinstance(name, StringAttr) else ""


def _at_symbol(op: Op) -> str:
    name = _symbol_name(op)
    return f": @{name}" if name else ""


def _sanitized(name: str) -> str:
    return name.replace("/", "_").replace("\\", "_").replace("\0", "_")


_THREAD = "[thread sdy-opt]"


class ActionLog(Instrument):
    """Writes the log. `show` prints an operation without its regions."""

    def __init__(self, write: Callable[[str], None], show: Callable[[Op], str]) -> None:
        self._write = write
        self._show = show

    def before_pass(self, pass_: Pass, op: Op) -> None:
        shown = f"running `{pass_.label()}` on Operation `{op.signature.name}` ({self._show(op)})`"
        self._write(f"{_THREAD} begins (no breakpoint) Action `pass-execution` {shown}\n")

    def after_pass(self, pass_: Pass, op: Op, changed: bool) -> None:
        self._write(f"{_THREAD} completed `pass-execution`\n")

    def after_pass_failed(self, pass_: Pass, op: Op) -> None:
        self._write(f"{_THREAD} completed `pass-execution`\n")

    @contextmanager
    def observe(self, tag: str, description: str, op: Op) -> Iterator[None]:
        """Logs an action inside a pass. `%s` in the description stands for the operation."""
        self._write(f"{_THREAD} begins (no breakpoint) Action {description.replace('%s', self._show(op))}`\n")
        try:
            yield
        finally:
            self._write(f"{_THREAD} completed `{tag}`\n")


@dataclass(slots=True, eq=False)
class Timer:
    """The total wall time of a phase, pipeline or pass in seconds, with nested timers."""

    name: str
    seconds: float = 0.0
    children: dict[Hashable, Timer] = field(default_factory=dict)

    def child(self, key: Hashable, name: str) -> Timer:
        """The nested timer of a key, created on first use."""
        if key not in self.children:
            self.children[key] = Timer(name)
        return self.children[key]

    def list_rows(self) -> list[Row]:
        """One row per name, longest time first."""
        seconds: dict[str, float] = {}
        for _, name, time in [(0, self.name, self.seconds), *_tree_rows(self.children.values(), 0)]:
            seconds[name] = seconds.get(name, 0.0) + time
        return sorted(((0, name, time) for name, time in seconds.items()), key=lambda row: -row[2])


class TimingRecorder(Instrument):
    """Times phases and, as an instrument, nested pipelines and passes."""

    def __init__(self) -> None:
        self.root = Timer("root")
        self._active: list[tuple[Timer, float]] = []
        self._start = perf_counter()

    def finish(self) -> Timer:
        """The tree of timers; the root has the time since the recorder was created."""
        self.root.seconds = perf_counter() - self._start
        return self.root

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Times the `with` block."""
        self._begin(name, name)
        try:
            yield
        finally:
            self._end()

    def before_pass(self, pass_: Pass, op: Op) -> None:
        self._begin(pass_, pass_.label())

    def after_pass(self, pass_: Pass, op: Op, changed: bool) -> None:
        self._end()

    def after_pass_failed(self, pass_: Pass, op: Op) -> None:
        self._end()

    def before_pipeline(self, pipeline: Pipeline) -> None:
        self._begin(pipeline, f"'{pipeline.anchor}' Pipeline")

    def after_pipeline(self, pipeline: Pipeline) -> None:
        self._end()

    def _begin(self, key: Hashable, name: str) -> None:
        parent = self._active[-1][0] if self._active else self.root
        self._active.append((parent.child(key, name), perf_counter()))

    def _end(self) -> None:
        timer, start = self._active.pop()
        timer.seconds += perf_counter() - start


RULER = f"==={'-' * 73}===\n"


def header(title: str) -> str:
    """The header of a report, with the title centered in 80 columns."""
    return f"{RULER}{' ' * ((80 - len(title)) // 2)}{title}\n{RULER}"


def timing_report(root: Timer, as_list: bool = False, as_json: bool = False) -> str:
    """The report of a tree of timers; with `as_list`, one row with the total time per name."""
    rows = root.list_rows() if as_list else list(_tree_rows(root.children.values(), 0))
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
    import json  # noqa: PLC0415  slow to import, and rarely used

    percentage = _percentage(seconds, total)
    wall = f'{{"duration": {seconds:8.4f}, "percentage": {percentage:5.1f}}}'
    return f'{{"wall": {wall}, "name": {json.dumps(name)}'


def statistics_report(pipeline: Pipeline, as_list: bool = False) -> str:
    """The statistics of each pass in the pipeline, or with `as_list` the sums per pass label."""
    lines = _as_list(pipeline) if as_list else _as_pipeline(pipeline, 0)
    return header("... Pass statistics report ...") + "".join(lines) + "\n"


def _as_pipeline(pipeline: Pipeline, indent: int) -> Iterator[str]:
    for element in pipeline.elements:
        if isinstance(element, Pass):
            counts = {statistic: element.counted(statistic) for statistic in element.statistics()}
            yield from _pass_lines(element.label(), counts, indent)
        else:
            yield f"{' ' * indent}'{element.anchor}' Pipeline\n"
            yield from _as_pipeline(element, indent + 2)


def _as_list(pipeline: Pipeline) -> Iterator[str]:
    sums: dict[str, dict[Statistic, int]] = {}
    for pass_ in pipeline.passes():
        for statistic in pass_.statistics():
            counts = sums.setdefault(pass_.label(), {})
            counts[statistic] = counts.get(statistic, 0) + pass_.counted(statistic)
    for label in sorted(sums):
        yield from _pass_lines(label, sums[label], 2)


def _pass_lines(label: str, counts: Mapping[Statistic, int], indent: int) -> Iterator[str]:
    yield f"{' ' * indent}{label}\n"
    name_width = max((len(statistic.name) for statistic in counts), default=0)
    count_width = max((len(str(count)) for count in counts.values()), default=0)
    for statistic in sorted(counts, key=lambda statistic: statistic.name):
        count = f"{counts[statistic]:{count_width}}"
        yield f"{' ' * indent}  (S) {count} {statistic.name:{name_width}} - {statistic.help}\n"
