"""The base class of lint rules, and the table of them.

    @rule("unused-mesh-axis", Severity.WARNING, Looks.WITH_COLLECTIVES)
    class UnusedMeshAxis(Rule):
        def check(self, programs: LintedPrograms) -> Iterator[Finding]:
            …

The docstring of the file is the page of the rule: `id: what it reports`, then an example, the reason and
what to do.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from fractions import Fraction
from functools import cache
from importlib import import_module
from inspect import cleandoc
from pkgutil import iter_modules
from typing import ClassVar, Protocol, TypeVar

from sdyopt.analysis.changes.edits import Change
from sdyopt.analysis.changes.effect import Measure
from sdyopt.analysis.changes.search import Search
from sdyopt.analysis.changes.trials import Trials
from sdyopt.analysis.figures.figures import Collective, RunTimes
from sdyopt.analysis.figures.source_locations import SourceLocation, source_location
from sdyopt.analysis.figures.totals import along
from sdyopt.analysis.figures.units import BYTES, FLOPS, Dimension, bytes_text, flops_text
from sdyopt.analysis.lint import rules as package
from sdyopt.analysis.lint.program import LintedProgram
from sdyopt.analysis.report.check.checker import CheckResult
from sdyopt.base.dataclasses import dataclass, field
from sdyopt.base.diagnostics.diagnostic import Severity
from sdyopt.base.diagnostics.ids import describe_rule
from sdyopt.mlir.error_help.table import Narrowing
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline.base import docstring
from sdyopt.shardy.notation.partition_spec import jax_type


class Looks(StrEnum):
    """The program that a rule analyzes, in the words of its page."""

    AS_READ = "the program as it is read"
    WITH_COLLECTIVES = "the program with collectives"
    TRIALS = "changed copies of the program, which it partitions again"


class LintedPrograms(Protocol):
    """The programs that a rule may analyze. They are partitioned when collectives are first needed."""

    @property
    def as_read(self) -> LintedProgram:
        """The program as it is read."""

    @property
    def with_collectives(self) -> LintedProgram:
        """The program after its pipeline, with explicit collectives.

        Raises NotCompleted if a pass fails.
        """

    @property
    def trials(self) -> Trials:
        """Changed copies of the program."""

    @property
    def search(self) -> Search:
        """The changes of the program that pay."""

    @property
    def check(self) -> CheckResult:
        """The check of the program."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A number below which a rule reports nothing; `default` is written as in a configuration file."""

    dimension: Dimension
    default: str
    help: str


class Rule:
    """Base class of lint rules. An instance has values for the limits of its class.

    `cost` describes the costs of findings, in `unit`: "bytes" or "flops". `measures` are the figures that a
    change has to reduce, at least one of them.
    """

    id: ClassVar[str] = ""
    severity: ClassVar[Severity] = Severity.WARNING
    looks_at: ClassVar[Looks] = Looks.WITH_COLLECTIVES
    limits: ClassVar[Mapping[str, Limit]] = {}
    cost: ClassVar[str] = ""
    unit: ClassVar[str] = "bytes"
    measures: ClassVar[tuple[Measure, ...]] = (Measure.WIRE,)

    def __init__(self, limits: Mapping[str, Fraction]) -> None:
        """Takes a value for each limit of the class."""
        self._limits = limits

    def limit(self, name: str) -> Fraction:
        """The value of a limit."""
        return self._limits[name]

    @property
    def least(self) -> Fraction:
        """The least that a change has to save."""
        return next(iter(self._limits.values()), Fraction(1))

    def check(self, programs: LintedPrograms) -> Iterator[Finding]:
        """The findings in a program."""
        raise NotImplementedError

    @classmethod
    def manual(cls) -> str:
        """The page of the rule; its first line is `id: summary`."""
        return cleandoc(sys.modules[cls.__module__].__doc__ or docstring(cls.__module__))

    @classmethod
    def summary(cls) -> str:
        """A summary of the rule, in one line."""
        return cls.manual().partition("\n")[0].partition(": ")[2].removesuffix(".")


R = TypeVar("R", bound=type[Rule])

# Id -> class, filled when the modules of the rules are imported.
rules: dict[str, type[Rule]] = {}


def rule(id: str, severity: Severity, looks_at: Looks) -> Callable[[R], R]:
    """Class decorator: registers a rule."""

    def add(cls: R) -> R:
        assert id not in rules, f"two rules have the id {id!r}"
        cls.id, cls.severity, cls.looks_at = id, severity, looks_at
        rules[id] = cls
        describe_rule(id, cls.summary())
        return cls

    return add


@dataclass(frozen=True, slots=True)
class Note:
    """Another operation that belongs to a finding."""

    message: str
    op: Op


def first_use(value: Value) -> tuple[Note, ...]:
    """Where a program of JAX uses an argument first, as the line where it is made is not known."""
    # The most recent use comes first.
    located = ((source_location(user.location), user) for user in value.users)
    used = [user for location, user in located if location.line and location.name_stack]
    return tuple(Note("first used here", user) for user in used[-1:])


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of a rule. `steps` lead to the piece of the statement of `op` that the excerpt underlines.

    `cost` is what the finding costs on each device in one run of the program, in the unit of the rule; None
    if it has no cost, or an unknown one. `collectives` are those that the cost is of: it is reported once.

    `place` is the line of a place of a check, which the finding has, too.

    In place of `help` it has the best change for its collectives, or of `proposals`, which are tried, too. A
    finding for which none saves anything is dropped, unless `is_kept`; if there are no trials, all are kept.
    """

    op: Op
    message: str
    help: str = ""
    notes: tuple[Note, ...] = ()
    steps: tuple[Narrowing, ...] = field(default=())
    cost: Fraction | None = None
    collectives: tuple[Op, ...] = ()
    proposals: Iterable[Change] = ()
    is_kept: bool = False
    place: SourceLocation | None = None


MIN_WIRE_BYTES: Mapping[str, Limit] = {
    "min_bytes": Limit(BYTES, "64 KiB", "the fewest wire bytes of one device, over all runs")
}
MIN_VALUE_BYTES: Mapping[str, Limit] = {
    "min_bytes": Limit(BYTES, "16 MiB", "the fewest bytes of the value on one device")
}
MIN_FLOPS: Mapping[str, Limit] = {
    "min_flops": Limit(FLOPS, "1 GFLOP", "the fewest FLOPs that a device repeats, over all runs")
}

MAX_OPERANDS = 2
# The cost of a finding that is what its change saves.
SAVED = "saved"

# The text of a cost in the unit of a rule.
UNIT_TEXTS = {"bytes": bytes_text, "flops": flops_text}


def collective_text(collective: Collective) -> str:
    """`all_gather along "x" of f32[8,16]`, with the local types of its operands."""
    types = ", ".join(map(jax_type, collective.local_operands[:MAX_OPERANDS]))
    more = len(collective.local_operands) - MAX_OPERANDS
    return f"{collective.kind} {along(collective.group)} of {types}{f' and {more} more' if more > 0 else ''}"


def runs_text(times: RunTimes | None) -> str:
    """` in 24 runs`; empty for a single run or an unknown number."""
    return "" if times is None or times.high == 1 else f" in {times.high} runs"


@cache
def all_rules() -> tuple[type[Rule], ...]:
    """All rules, sorted by id."""
    for module in iter_modules(package.__path__, package.__name__ + "."):
        import_module(module.name)
    return tuple(rules[id] for id in sorted(rules))


@cache
def rule_ids() -> tuple[str, ...]:
    """The ids of all rules, sorted."""
    return tuple(cls.id for cls in all_rules())
