"""The base class of lint rules, the table of them, and the settings of a run.

    @rule("unused-mesh-axis", Severity.WARNING, Looks.WITH_COLLECTIVES)
    class UnusedMeshAxis(Rule):
        def check(self, programs: LintedPrograms) -> Iterator[Finding]:
            …

The docstring of the file is the page of the rule: `id: what it reports`, then an example, the reason and
what to do. Settings are those of a file:

    select = ["all"]             # or the ids of rules
    ignore = ["size-one-axis"]
    fail_on = "warning"          # "error", "warning", "remark" or "never"

    [severity]
    redundant-compute = "error"  # "error", "warning" or "remark"

    [limits.replicated-value]
    min_bytes = "64 MiB"

    [allow]                      # rules that are allowed where the file or the name stack contains a text
    "attention.py" = ["redundant-compute"]

In `pyproject.toml`, the tables are below `[tool.sdy-lint]`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from functools import cache
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, ClassVar, Protocol, TypeVar

from sdyopt.analysis.changes.edits import Change
from sdyopt.analysis.changes.effect import Measure
from sdyopt.analysis.changes.search import Search
from sdyopt.analysis.changes.trials import Trials
from sdyopt.analysis.figures.figures import Collective, RunTimes
from sdyopt.analysis.figures.located_files import TomlFile
from sdyopt.analysis.figures.source_locations import SourceLocation, source_location
from sdyopt.analysis.figures.totals import along
from sdyopt.analysis.figures.units import BYTES, FLOPS, Dimension, bytes_text, flops_text, parse_quantity
from sdyopt.analysis.interface.flag import STDIN
from sdyopt.analysis.lint import rules as package
from sdyopt.analysis.lint.program import LintedProgram
from sdyopt.analysis.report.check.checker import CheckResult
from sdyopt.base.dataclasses import dataclass, field
from sdyopt.base.diagnostics.diagnostic import Severity
from sdyopt.base.diagnostics.ids import describe_rule
from sdyopt.base.diagnostics.text import from_native, native_path, real_path
from sdyopt.base.diagnostics.usage import UsageError, nearest, nearest_or_all
from sdyopt.base.diagnostics.whole_files import read_regular_file
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


ALL = "all"
SEVERITIES = {"error": Severity.ERROR, "warning": Severity.WARNING, "remark": Severity.REMARK}
FAIL_ON = (*SEVERITIES, "never")
_KEYS = ("select", "ignore", "fail_on", "severity", "limits", "allow")
_PYPROJECT, _TOOL = "pyproject.toml", "tool.sdy-lint"


@dataclass(slots=True)
class LintSettings:
    """The rules to run in the order of their ids, and how their findings count.

    `allowed` are pairs of a text and the ids that are allowed where the file or the name stack contains it.
    """

    selected: tuple[str, ...] = field(default_factory=rule_ids)
    fail_on: str = "error"
    severities: dict[str, Severity] = field(default_factory=dict)
    limits: dict[tuple[str, str], Fraction] = field(default_factory=dict)
    allowed: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    def severity(self, rule: type[Rule]) -> Severity:
        """The severity of the findings of a rule."""
        return self.severities.get(rule.id, rule.severity)

    def rules(self) -> list[Rule]:
        """The selected rules, with their limits."""
        return [rule(self._limits(rule)) for rule in all_rules() if rule.id in self.selected]

    def _limits(self, rule: type[Rule]) -> Mapping[str, Fraction]:
        defaults = {
            name: parse_quantity(limit.default, limit.dimension) or Fraction(0)
            for name, limit in rule.limits.items()
        }
        return {name: self.limits.get((rule.id, name), default) for name, default in defaults.items()}


def select(texts: Sequence[str]) -> tuple[str, ...]:
    """The ids of the rules that `--lint=…` selects. Raises UsageError for an unknown rule.

    `-RULE` leaves a rule out: from all rules if every text is of this form.
    """
    chosen = {ALL} if all(text.startswith("-") for text in texts) else set()
    dropped: set[str] = set()
    for text in texts:
        id = text.removeprefix("-")
        if id != ALL and id not in rule_ids():
            help = nearest(id, rule_ids()) or "--help-lint lists the rules"
            raise UsageError(f"for the --lint option: unknown rule '{id}'", help)
        (dropped if text.startswith("-") else chosen).add(id)
    return tuple(id for id in rule_ids() if (ALL in chosen or id in chosen) and id not in dropped)


def read_settings(name: str, text: str) -> LintSettings:
    """The settings of a configuration file. Raises DiagnosticError, located in the file, for invalid ones."""
    return _Reader(TomlFile(name, text)).settings()


class _Reader:
    def __init__(self, file: TomlFile) -> None:
        self._file = file
        self._prefix = ""
        self._values: dict[str, Any] = file.values
        if file.source.name.endswith(_PYPROJECT):
            self._prefix = f"{_TOOL}."
            for part in _TOOL.split("."):
                self._values = self._values.get(part, {})
                if not isinstance(self._values, dict):
                    raise file.error(f"'{part}' is not a table", "", "tool").help(f"write [{_TOOL}]")

    def settings(self) -> LintSettings:
        values = self._values
        self._check(list(values), _KEYS, self._prefix.rstrip("."))
        settings = LintSettings()
        chosen = self._ids(values.get("select", [ALL]), "", "select", (ALL, *rule_ids()))
        dropped = self._ids(values.get("ignore", []), "", "ignore", rule_ids())
        settings.selected = tuple(
            id for id in rule_ids() if (ALL in chosen or id in chosen) and id not in dropped
        )
        settings.fail_on = self._choice(
            values.get("fail_on", settings.fail_on), "a severity or 'never'", "", "fail_on", FAIL_ON
        )
        for id, value in self._table("severity").items():
            self._check([id], rule_ids(), f"{self._prefix}severity")
            settings.severities[id] = SEVERITIES[
                self._choice(value, "a severity", "severity", id, tuple(SEVERITIES))
            ]
        for id in self._table("limits"):
            self._check([id], rule_ids(), f"{self._prefix}limits")
            self._read_limits(id, settings)
        for part, ids in self._table("allow").items():
            settings.allowed.append((part, self._ids(ids, "allow", part, rule_ids())))
        return settings

    def _read_limits(self, id: str, settings: LintSettings) -> None:
        table = f"{self._prefix}limits.{id}"
        limits = next(rule for rule in all_rules() if rule.id == id).limits
        values = self._table("limits")[id]
        if not isinstance(values, dict):
            error = self._file.error(f"'{id}' is not a table", f"{self._prefix}limits", id)
            raise error.help(f"write [{table}]")
        self._check(list(values), tuple(limits), table)
        for name, value in values.items():
            settings.limits[id, name] = self._file.quantity(value, limits[name].dimension, table, name)

    def _table(self, name: str) -> dict[str, Any]:
        value = self._values.get(name, {})
        if not isinstance(value, dict):
            where = (self._prefix.rstrip("."), name)
            raise self._file.error(f"'{name}' is not a table", *where).help(f"write [{self._prefix}{name}]")
        return value

    def _ids(self, value: object, table: str, key: str, known: tuple[str, ...]) -> tuple[str, ...]:
        where = f"{self._prefix}{table}".rstrip(".")
        if not isinstance(value, list) or not all(isinstance(id, str) for id in value):
            error = self._file.error(f"'{key}' is not a list of lint rules", where, key)
            raise error.help(f'write {_key(key)} = ["{rule_ids()[0]}"]')
        for id in value:
            if id not in known:
                help = nearest(id, known) or "`sdy-opt --help-lint` lists the rules"
                raise self._file.error(f"unknown lint rule '{id}'", where, key).help(help)
        return tuple(value)

    def _choice(self, value: object, what: str, table: str, key: str, choices: tuple[str, ...]) -> str:
        if isinstance(value, str) and value in choices:
            return value
        error = self._file.error(f"'{key}' is not {what}", f"{self._prefix}{table}".rstrip("."), key)
        raise error.help(nearest_or_all(str(value), choices))

    def _check(self, names: list[str], known: tuple[str, ...], table: str) -> None:
        self._file.check_keys(names, known, table)


def _key(text: str) -> str:
    """A key as TOML writes it, with quotes if it needs them."""
    return text if text.replace("-", "_").isidentifier() else f'"{text}"'


FILE, PYPROJECT, TABLE = "sdy-lint.toml", "pyproject.toml", b"[tool.sdy-lint"

# A larger pyproject.toml is none.
_MAX_BYTES = 2**24


def find_config(input: str) -> str | None:
    """The configuration file in the folder of an input, or in the nearest parent folder that has one.

    None if there is none. A `pyproject.toml` counts if it is a regular file with the table of the tool.
    """
    folder = real_path(Path() if input == STDIN else native_path(input).parent)
    for parent in (folder, *folder.parents):
        if (parent / FILE).is_file():
            return _relative(parent / FILE)
        if _has_table(parent / PYPROJECT):
            return _relative(parent / PYPROJECT)
    return None


def _has_table(path: Path) -> bool:
    try:
        return TABLE in (read_regular_file(path, _MAX_BYTES) or b"")
    except OSError:
        return False


def _relative(path: Path) -> str:
    """A path as people write it: relative if it is below the current folder."""
    current = real_path(Path.cwd())
    return from_native(str(path.relative_to(current) if path.is_relative_to(current) else path))
