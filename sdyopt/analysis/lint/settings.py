"""The settings of a lint run: the selected rules, their severities and limits.

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

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from sdyopt.analysis.figures.located_files import TomlFile
from sdyopt.analysis.figures.units import parse_quantity
from sdyopt.analysis.interface.flag import STDIN
from sdyopt.analysis.lint.rule import Rule, all_rules, rule_ids
from sdyopt.base.dataclasses import dataclass, field
from sdyopt.base.diagnostics.diagnostic import Severity
from sdyopt.base.diagnostics.text import from_native, native_path, real_path
from sdyopt.base.diagnostics.usage import UsageError, nearest, nearest_or_all
from sdyopt.base.diagnostics.whole_files import read_regular_file

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
