"""Operation traits and their verifiers.

The verifiers of an operation's traits run in the order in which its class lists the traits: as in MLIR,
`verify_structure` before the checks of the declared fields, the others after them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.ir.types import Type


@dataclass(frozen=True, eq=False)
class Trait:
    """A named property of an operation class. Compared by identity.

    `verify_signature(signature)` raises SignatureError; `verify_in_context(op)` and, after the nested
    operations are verified, `verify_regions(op)` raise DiagnosticError. `verify_structure(op)` runs before
    all others, and only on operations that have or declare regions. `terminator` is the name of the last
    operation of each region, if it must be one, and `implies_terminator` whether the text may omit it.
    """

    name: str
    verify_signature: Callable[[Any], None] | None = None
    verify_in_context: Callable[[Any], None] | None = None
    verify_regions: Callable[[Any], None] | None = None
    verify_structure: Callable[[Any], None] | None = None
    terminator: str = ""
    implies_terminator: bool = False


@dataclass(frozen=True, eq=False)
class InfersTypes(Trait):
    """The result types must match those that `infer_result_types` returns: `accepts(inferred, actual)`."""

    accepts: Callable[[Type, Type], bool] = lambda inferred, actual: inferred is actual


def _check_is_last(op: Any) -> None:
    if op.parent is None or op.parent.last is not op:
        error = op.op_error("must be the last operation in the parent block")
        raise error.help("remove what follows it in the block, or move it to the end")


def _check_symbol(op: Any) -> None:
    """Checks the visibility and the parent of a symbol."""
    if op.fields["sym_name"].is_optional and op.attribute("sym_name") is None:
        return
    visibility = op.attribute("sym_visibility")
    visible = "public" if visibility is None else visibility.value
    if visible not in _VISIBILITIES:
        raise op.op_error(
            f'visibility expected to be one of ["public", "private", "nested"], but got "{visible}"'
        )
    if visible == "public" and getattr(op, "is_declaration", False):
        error = op.op_error("symbol declaration cannot have public visibility")
        raise error.help("write `private` before the name, or give the function a body")
    parent = op.parent_op
    if parent is not None and parent.name and all(t.name != "symbol-table" for t in parent.traits):
        raise op.op_error("symbol's parent must have the SymbolTable trait")


_VISIBILITIES = ("public", "private", "nested")
# No memory effects and speculatable: may be erased when unused, merged by CSE, and hoisted.
PURE = Trait("pure")
# No memory effects, but undefined for some operand values, so not speculatable.
NO_MEMORY_EFFECT = Trait("no-memory-effect")
# Has the memory effects of the operations in its regions.
RECURSIVE_EFFECTS = Trait("recursive-memory-effects")
# A constant: no operands, one result, folds to its `value` attribute.
CONSTANT_LIKE = Trait("constant-like")
# Operands commute; folding moves constants to the right.
COMMUTATIVE = Trait("commutative")
# Regions use no values defined outside the operation.
ISOLATED = Trait("isolated-from-above")
# The region arguments stand for the operands with the same indices, and have the shardings of these.
RENAMES_OPERANDS = Trait("renames-operands")
# Must be the last operation of its block.
TERMINATOR = Trait("terminator", verify_in_context=_check_is_last)
# Blocks of its regions need no terminator.
NO_TERMINATOR = Trait("no-terminator")
# Regions are graph regions: uses may precede definitions.
GRAPH_REGION = Trait("graph-region")
# Defines a symbol with its `sym_name` attribute.
SYMBOL = Trait("symbol", verify_in_context=_check_symbol)
# A function-like operation: callable, with a body region.
FUNCTION = Trait("function")
# A scope for affine dimensions and symbols.
AFFINE_SCOPE = Trait("affine-scope")
# The segment sizes attribute has the number of operands (results) of each field.
ATTR_SIZED_OPERANDS = Trait("attr-sized-operand-segments")
ATTR_SIZED_RESULTS = Trait("attr-sized-result-segments")
# All variadic groups of operands have the same size.
SAME_SIZE_OPERANDS = Trait("same-variadic-operand-size")
# Result types are inferred, and must equal the inferred ones.
INFERS_TYPES = InfersTypes("infer-type-op-interface")
