"""Passes: what transforms a program, or says something about it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from inspect import cleandoc
from typing import Any, ClassVar, dataclass_transform

from sdyopt.ir.operation import Op
from sdyopt.pipeline.docstring import docstring
from sdyopt.pipeline.option import Option, declared_options, option, write_options

MODULE = "builtin.module"
FUNCTION = "func.func"

# Runs passes on each of some operations, watched and verified like those of the pipeline; or raises.
RunInside = Callable[[Sequence["Pass"], Sequence[Op]], None]


@dataclass(frozen=True, slots=True)
class Statistic:
    """Something that a pass counts. Declared in the pass's class, shown by `--mlir-pass-statistics`."""

    name: str
    help: str


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(option,))
@dataclass(frozen=True, eq=False)
class Pass:
    """Base of all passes. A subclass is a frozen dataclass, its fields the options of the pass.

    `anchor` is the operation it runs on: `builtin.module`, `func.func`, or None for any. `flag` is
    what `@register` was given. The docstring of the file, or of the class, is the manual.
    """

    flag: ClassVar[str] = ""
    anchor: ClassVar[str | None] = MODULE

    _manual: ClassVar[str] = ""
    _counts: dict[str, int] = field(default_factory=dict, init=False, repr=False)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._manual = cleandoc(cls.__doc__ or sys.modules[cls.__module__].__doc__ or "")

    def run(self, op: Any) -> bool:
        """Transforms `op`. Returns whether anything changed; raises, or emits an error, to fail."""
        raise NotImplementedError

    def run_with(self, op: Any, run_inside: RunInside) -> bool:
        """What is called: `run`, unless the pass runs others on parts of `op`, by `run_inside`."""
        return self.run(op)

    def count(self, statistic: Statistic, by: int = 1) -> None:
        """Adds to what is counted."""
        self._counts[statistic.name] = self._counts.get(statistic.name, 0) + by

    def counted(self, statistic: Statistic) -> int:
        return self._counts.get(statistic.name, 0)

    def __str__(self) -> str:
        return self.flag + write_options(self.options(), self)

    @classmethod
    @cache
    def options(cls) -> tuple[Option, ...]:
        """The declared options, in the order of declaration."""
        return declared_options(cls)

    @classmethod
    def statistics(cls) -> tuple[Statistic, ...]:
        return tuple(value for value in vars(cls).values() if isinstance(value, Statistic))

    @classmethod
    def label(cls) -> str:
        """The name that IR dumps, timing and statistics show: that of the class in C++."""
        return f"{cls.__name__}Pass"

    @classmethod
    def manual(cls) -> str:
        """The text for `--help-pass`, its first line `flag: purpose`."""
        manual = cls._manual or docstring(cls.__module__, cls.__qualname__.split("."))
        return manual or docstring(cls.__module__)
