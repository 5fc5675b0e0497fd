"""Timing: a tree of timers for the phases of a run, nested pipelines, and passes."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from time import perf_counter

from sdyopt.dataclasses import dataclass, field
from sdyopt.ir.operation import Op
from sdyopt.pipeline.base import Pass
from sdyopt.pipeline.run import Instrument
from sdyopt.pipeline.tree import Pipeline


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
