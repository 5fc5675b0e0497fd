"""The base class of passes, their docstrings, and pass statistics."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, dataclass_transform

from sdyopt.base.dataclasses import DataclassField, dataclass, field
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.pipeline.option import Option, declared_options, option, write_options

if TYPE_CHECKING:  # imported when manuals are read
    import ast

    Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def docstring(module: str, names: Sequence[str] = ()) -> str:
    """The docstring of a module, or of a class or function in it, from its source.

    `names` are the names of the enclosing definitions, outermost first, and then its own. Empty if there is
    no source, or no docstring.
    """
    import ast  # noqa: PLC0415  only help needs it

    node = _syntax_tree(module)
    for name in names:
        if node is not None:
            node = _definition(node, name)
    return "" if node is None else ast.get_docstring(node) or ""


@cache
def _syntax_tree(module: str) -> Documented | None:
    """The syntax tree of a module; its loader returns the source, even from an archive."""
    import ast  # noqa: PLC0415

    loader: Any = getattr(sys.modules.get(module), "__loader__", None)
    try:
        source = loader.get_source(module) if hasattr(loader, "get_source") else None
    except (ImportError, OSError):
        return None
    return None if source is None else ast.parse(source)


def _definition(scope: Documented, name: str) -> Documented | None:
    import ast  # noqa: PLC0415

    for node in scope.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            return node
    return None


MODULE = "builtin.module"
FUNCTION = "func.func"

# Runs passes on each operation, with the instruments and verification of the pipeline. After a failure, runs
# them on the remaining operations, then raises PipelineFailure.
RunNested = Callable[[Sequence["Pass"], Sequence[Op]], None]


@dataclass(frozen=True, slots=True)
class Statistic:
    """A counter of a pass. Declared in the class of the pass, printed by `--mlir-pass-statistics`."""

    name: str
    help: str


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(option,))
@dataclass(frozen=True, eq=False)
class Pass:
    """Base class of all passes. A subclass is a frozen dataclass whose fields are the options of the pass.

    `anchor` is the operation that the pass runs on: `builtin.module`, `func.func`, or None for any. `flag` is
    set by `@register`. The manual is the docstring of the class or, without one, of the file.
    """

    flag: ClassVar[str] = ""
    anchor: ClassVar[str | None] = MODULE

    _manual: ClassVar[str] = ""
    _counts: dict[str, int] = field(default_factory=dict, init=False, repr=False)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._manual = cls.__doc__ or sys.modules[cls.__module__].__doc__ or ""
        if cls.__annotations__:  # without fields of its own, a pass inherits the generated __init__
            dataclass(frozen=True, eq=False)(cls)
        for name, value in vars(cls).items():
            if isinstance(value, DataclassField):
                raise TypeError(f"the option {name!r} of {cls.__name__} has no type, as in `{name}: int = …`")

    def run(self, op: Any) -> bool:
        """Transforms `op` and returns whether it changed. To fail, raise DiagnosticError or emit an error."""
        raise NotImplementedError

    def run_with(self, op: Any, run_nested: RunNested) -> bool:
        """Runs the pass. A pass that runs other passes on nested operations overrides this, not `run`."""
        return self.run(op)

    @property
    def writes_files(self) -> bool:
        """Whether the pass writes the program to files: then it must be valid before the pass."""
        return False

    def count(self, statistic: Statistic, by: int = 1) -> None:
        """Adds to a statistic."""
        self._counts[statistic.name] = self._counts.get(statistic.name, 0) + by

    def counted(self, statistic: Statistic) -> int:
        """The value of a statistic."""
        return self._counts.get(statistic.name, 0)

    def __str__(self) -> str:
        return self.flag + write_options(self.options(), self)

    @classmethod
    @cache
    def options(cls) -> tuple[Option, ...]:
        """The options in declaration order."""
        return declared_options(cls)

    @classmethod
    def statistics(cls) -> tuple[Statistic, ...]:
        """The statistics that the class declares."""
        return tuple(value for value in vars(cls).values() if isinstance(value, Statistic))

    @classmethod
    def label(cls) -> str:
        """The name in IR dumps, timing and statistics: like that of a C++ class, such as `CSEPass`."""
        return f"{cls.__name__}Pass"

    @classmethod
    def manual(cls) -> str:
        """The text for `--help-pass`. Its first line is `flag: summary`."""
        names = cls.__qualname__.split(".")
        return manual_text(cls._manual, cls.__module__, names) or manual_text("", cls.__module__)


def manual_text(text: str | None, module: str, names: Sequence[str] = ()) -> str:
    """A docstring for help. Without one, it is read from the source, see `docstring`."""
    from inspect import cleandoc  # noqa: PLC0415  slow to import, and only help needs it

    return cleandoc(text or docstring(module, names))
