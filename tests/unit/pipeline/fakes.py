"""Fake passes and operations for tests of pipelines."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from sdyopt.base.diagnostics import DiagnosticError, FileLoc
from sdyopt.mlir.ir.traits import ISOLATED, Trait
from sdyopt.mlir.pipeline import FUNCTION, Pass, Pipeline, Statistic, UsageError, option
from sdyopt.mlir.registry import PassEntry, PipelineEntry


class FakeOp:
    """The part of the interface of operations that running a pipeline uses."""

    def __init__(self, name: str, children: tuple[FakeOp, ...] = (), symbol: str = "") -> None:
        self.signature = SimpleNamespace(name=name)
        self.symbol = symbol
        self.location = FileLoc("f", 1, 1)
        self.regions = [SimpleNamespace(blocks=[SimpleNamespace(ops=list(children))])]

    def has_trait(self, trait: Trait) -> bool:
        return trait is ISOLATED and self.signature.name != "not.isolated"

    def error(self, message: str) -> DiagnosticError:
        return DiagnosticError.at(self.location, message)

    def op_error(self, message: str) -> DiagnosticError:
        return self.error(f"'{self.signature.name}' op {message}")


LOG: list[str] = []


class Logging(Pass):
    """Logs the operations that it runs on."""

    def run(self, op: Any) -> bool:
        LOG.append(f"{self.flag} {op.signature.name}{op.symbol}")
        return False


def declare(flag: str, anchor: str | None) -> PassEntry:
    """A pass that logs the operations that it runs on, and is not registered."""
    cls = type(flag.title().replace("-", ""), (Logging,), {"anchor": anchor, "flag": flag})
    return PassEntry(flag, cls)


class Counting(Pass):
    """Counts the operations that it runs on; its option has no effect."""

    flag = "counting"
    anchor = None
    limit: int = option(default=3, help="a number")
    seen = Statistic("seen", "operations seen")

    def run(self, op: Any) -> bool:
        self.count(self.seen)
        return False


def two_passes() -> list[Pass | Pipeline]:
    """Two passes on different operations."""
    return [*ENTRIES["on-module"].build(""), *ENTRIES["on-function"].build("")]


ENTRIES: dict[str, PassEntry | PipelineEntry] = {
    "on-module": declare("on-module", "builtin.module"),
    "on-function": declare("on-function", FUNCTION),
    "on-any": declare("on-any", None),
    "counting": PassEntry("counting", Counting),
    "two-passes": PipelineEntry("two-passes", two_passes),
}


def lookup(flag: str) -> PassEntry | PipelineEntry:
    if flag not in ENTRIES:
        raise UsageError(f"'{flag}' does not refer to a registered pass or pass pipeline")
    return ENTRIES[flag]
