"""The warning for a discardable attribute whose name resembles one that propagation reads.

MLIR accepts any discardable attribute of a dialect that does not reject it, so `sdy.shardng` would be ignored
silently.
"""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity, emit, is_first_occurrence
from sdyopt.base.diagnostics.ids import UNKNOWN_ATTRIBUTE
from sdyopt.base.diagnostics.usage import closest
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy import dialect
from sdyopt.mlir.dialects.sdy.dialect import SHARDING, SHARDING_RULE
from sdyopt.mlir.ir.attribute import DictAttr
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import FunctionOpInterface

from .missing_shardings import discardable_attributes

_PREFIX = "sdy."
_KNOWN = frozenset(name for name in vars(dialect).values() if isinstance(name, str))


def warn_of_mistyped_attributes(module: ModuleOp) -> None:
    """Emits a warning for the first use of each name that resembles `sdy.sharding` or `sdy.sharding_rule`."""
    # Attributes are interned: few dictionaries are distinct, and fewer have such a name.
    dictionaries = {op.attributes for op in module.walk()}
    dictionaries.update(
        *[discardable_attributes(function) for function in module.nested(FunctionOpInterface)]
    )
    suggestions = {attributes: list(_suggestions(attributes)) for attributes in dictionaries}
    if not any(suggestions.values()):
        return
    for op in module.walk():
        for attributes in discardable_attributes(op):
            for name, meant in suggestions[attributes]:
                if is_first_occurrence(f"mistyped {name}"):
                    _warn(op, name, meant)


def _warn(op: Op, name: str, meant: str) -> None:
    message, help = f"attribute `{name}` is unknown and has no effect", f"did you mean `{meant}`?"
    emit(Diagnostic(Severity.WARNING, op.location, message, operation=op, help=help, id=UNKNOWN_ATTRIBUTE))


def _suggestions(attributes: DictAttr) -> Iterator[tuple[str, str]]:
    """The unknown names of sdy attributes, each with the known name that it resembles."""
    for name in attributes.names:
        if name.startswith(_PREFIX) and name not in _KNOWN:
            meant = closest(name, (SHARDING, SHARDING_RULE))
            if meant is not None:
                yield name, meant
