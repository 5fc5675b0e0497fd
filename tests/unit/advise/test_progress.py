"""Progress is shown on a terminal, and nowhere else."""

import io
import sys

import pytest

from sdyopt.analysis.advise.analysis import progress
from sdyopt.analysis.hlo_comparison.compiled.analysis import CompileTarget, compiling


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("kind", [Terminal, io.StringIO])
def test_progress_is_for_terminals(monkeypatch: pytest.MonkeyPatch, kind: type[io.StringIO]) -> None:
    stream = kind()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", stream)
    with progress() as show:
        show(3, 84)
        shown = stream.getvalue()
    assert ("changes tried" in shown and "3/84" in shown) == (kind is Terminal)
    assert bool(stream.getvalue()) == (kind is Terminal)


@pytest.mark.parametrize("kind", [Terminal, io.StringIO])
def test_compiling_is_shown_on_terminals(monkeypatch: pytest.MonkeyPatch, kind: type[io.StringIO]) -> None:
    stream = kind()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", stream)
    with compiling(CompileTarget("tpu", "v5e:2x2")):
        pass
    assert ("compiling for" in stream.getvalue()) == (kind is Terminal)
    assert bool(stream.getvalue()) == (kind is Terminal)
