"""Traits: what classes of operations have in common.

A trait may check forms and places. The checks of an operation run in the order in which its class
lists its traits, after the checks of the declared fields, as in MLIR.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class Trait:
    """A named property of an operation class. Compared by identity.

    `verify_signature(form)` raises SignatureError; `verify_in_context(op)` and, once its regions have been
    verified, `verify_regions(op)` raise DiagnosticError. `verify_structure(op)` comes before all
    others, and is asked of operations with regions only.
    """

    name: str
    verify_signature: Callable[[Any], None] | None = None
    verify_in_context: Callable[[Any], None] | None = None
    verify_regions: Callable[[Any], None] | None = None
    verify_structure: Callable[[Any], None] | None = None


@dataclass(frozen=True, eq=False)
class InfersTypes(Trait):
    """The class's `infer_result_types` says what the results must be, up to `accepts(inferred, actual)`."""

    accepts: Callable[[Any, Any], bool] = lambda inferred, actual: inferred is actual


def _check_is_last(op: Any) -> None:
    if op.parent is None or op.parent.last is not op:
        raise op.op_error("must be the last operation in the parent block")


def _check_symbol(op: Any) -> None:
    """A symbol has a name and a visibility, and stands in a symbol table."""
    if op.fields["sym_name"].is_optional and op.attribute("sym_name") is None:
        return
    visibility = op.attribute("sym_visibility")
    visible = "public" if visibility is None else visibility.value
    if visible not in _VISIBILITIES:
        raise op.op_error(
            f'visibility expected to be one of ["public", "private", "nested"], but got "{visible}"'
        )
    if visible == "public" and getattr(op, "is_declaration", False):
        raise op.op_error("symbol declaration cannot have public visibility")
    parent = op.parent_op
    if parent is not None and parent.name and all(t.name != "symbol-table" for t in parent.traits):
        raise op.op_error("symbol's parent must have the SymbolTable trait")


_VISIBILITIES = ("public", "private", "nested")
# No memory effect, and safe to run at any time: may be removed when unused, merged, moved.
PURE = Trait("pure")
# No memory effect, but may be undefined for some inputs, so not to be hoisted.
NO_MEMORY_EFFECT = Trait("no-memory-effect")
# Has the effects of what its regions hold.
RECURSIVE_EFFECTS = Trait("recursive-memory-effects")
# A constant: no operands, one result, folds to its `value`.
CONSTANT_LIKE = Trait("constant-like")
# Operands commute; constants move to the right.
COMMUTATIVE = Trait("commutative")
# Regions hold no value from outside; SSA names start anew.
ISOLATED = Trait("isolated-from-above")
# The arguments of its region are its operands, under other names.
RENAMES_OPERANDS = Trait("renames-operands")
# Ends its block.
TERMINATOR = Trait("terminator", verify_in_context=_check_is_last)
# Blocks of its regions need no terminator.
NO_TERMINATOR = Trait("no-terminator")
# Regions may be graphs: uses before definitions are fine.
GRAPH_REGION = Trait("graph-region")
# Has a `sym_name` by which others refer to it.
SYMBOL = Trait("symbol", verify_in_context=_check_symbol)
# Is called, and holds a function's body.
FUNCTION = Trait("function")
# New locals and constants belong to it.
AFFINE_SCOPE = Trait("affine-scope")
# Several groups of operands (results) of unknown size; an attribute holds the sizes.
ATTR_SIZED_OPERANDS = Trait("attr-sized-operand-segments")
ATTR_SIZED_RESULTS = Trait("attr-sized-result-segments")
# Several groups of operands (results) of unknown size, all of the same size.
SAME_SIZE_OPERANDS = Trait("same-variadic-operand-size")
SAME_SIZE_RESULTS = Trait("same-variadic-result-size")
# Result types follow from the rest and are checked against it.
INFERS_TYPES = InfersTypes("infer-type-op-interface")
