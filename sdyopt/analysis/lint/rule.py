"""The base class of lint rules, and the table of them.

    @rule("unused-mesh-axis", Severity.WARNING, Looks.WITH_COLLECTIVES)
    class UnusedMeshAxis(Rule):
        def check(self, subject: Subject) -> Iterator[Finding]:
            …

The docstring of the file is the page of the rule: `id: what it reports`, then an example, the reason and
what to do.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from fractions import Fraction
from inspect import cleandoc
from typing import ClassVar, Protocol, TypeVar

from sdyopt.analysis.figures.units import Dimension
from sdyopt.analysis.lint.finding import Finding
from sdyopt.analysis.lint.program import LintedProgram
from sdyopt.analysis.trials.trials import Trials
from sdyopt.base.dataclasses import dataclass
from sdyopt.base.diagnostics.diagnostic import Severity
from sdyopt.base.diagnostics.ids import describe_rule
from sdyopt.mlir.pipeline.docstring import docstring


class Looks(StrEnum):
    """What a rule analyzes, in the words of its page."""

    AS_READ = "the program as it is read"
    WITH_COLLECTIVES = "the program with collectives"
    TRIALS = "changed copies of the program, which it partitions again"


class Subject(Protocol):
    """What a rule may analyze. The program is partitioned when its collectives are first needed."""

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


@dataclass(frozen=True, slots=True)
class Limit:
    """A number below which a rule reports nothing; `default` is written as in a configuration file."""

    dimension: Dimension
    default: str
    help: str


class Rule:
    """Base class of lint rules. An instance has values for the limits of its class.

    `cost` describes the costs of findings, in `unit`: "bytes" or "flops".
    """

    id: ClassVar[str] = ""
    severity: ClassVar[Severity] = Severity.WARNING
    looks_at: ClassVar[Looks] = Looks.WITH_COLLECTIVES
    limits: ClassVar[Mapping[str, Limit]] = {}
    cost: ClassVar[str] = ""
    unit: ClassVar[str] = "bytes"

    def __init__(self, limits: Mapping[str, Fraction]) -> None:
        """Takes a value for each limit of the class."""
        self._limits = limits

    def limit(self, name: str) -> Fraction:
        """The value of a limit."""
        return self._limits[name]

    def check(self, subject: Subject) -> Iterator[Finding]:
        """The findings in a program."""
        raise NotImplementedError

    @classmethod
    def manual(cls) -> str:
        """The page of the rule; its first line is `id: summary`."""
        return cleandoc(sys.modules[cls.__module__].__doc__ or docstring(cls.__module__))

    @classmethod
    def summary(cls) -> str:
        """What the rule reports, in one line."""
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
