"""The warning for a program without shardings of Shardy, in which nothing propagates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity, emit, is_first_occurrence
from sdyopt.base.diagnostics.ids import GSPMD_SHARDING, NO_SHARDING, UNKNOWN_ATTRIBUTE
from sdyopt.base.diagnostics.usage import closest
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy import dialect
from sdyopt.mlir.dialects.sdy.dialect import SHARDING, SHARDING_RULE
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, TensorSharding
from sdyopt.mlir.ir.attribute import Attribute, DictAttr
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import FunctionOpInterface
from sdyopt.shardy.notation.hlo_programs import HloShardings, hlo_shardings

# The attribute with which JAX annotates shardings for GSPMD.
GSPMD_ATTRIBUTE = "mhlo.sharding"
USE_SHARDY = 'lower from JAX with jax.config.update("jax_use_shardy_partitioner", True)'


def warn_of_missing_shardings(module: ModuleOp) -> None:
    """Emits a warning for a program without a mesh and without shardings."""
    ops = [op for op in module.walk() if op is not module]
    # There is nothing to shard if no operation has results, as in a module of declarations.
    if not any(op.results for op in ops) or any(map(_has_sharding, ops)):
        return
    annotated = next((op for op in ops if _has_attribute(op, GSPMD_ATTRIBUTE)), None)
    if annotated is not None:
        message = f"the program has shardings of HLO only (`{GSPMD_ATTRIBUTE}`), which do not propagate"
        kind = hlo_shardings(module) or HloShardings.BY_DEVICES
        op, help, id = annotated, f"import them before, with {kind.flag}", GSPMD_SHARDING
    else:
        message = "the program has no mesh and no shardings, so that nothing propagates"
        op, help, id = module, f"annotate inputs with `sdy.sharding`, or {USE_SHARDY}", NO_SHARDING
    emit(Diagnostic(Severity.WARNING, op.location, message, operation=op, help=help, id=id))


def _has_sharding(op: Op) -> bool:
    if isinstance(op, MeshOp) or _has_attribute(op, SHARDING):
        return True
    values = [value for _, value in op.signature.attributes.entries]
    return any(isinstance(value, TensorSharding) or _is_non_empty(value) for value in values)


def _is_non_empty(attribute: Attribute) -> bool:
    return isinstance(attribute, ShardingPerValue) and bool(attribute.shardings)


def _has_attribute(op: Op, name: str) -> bool:
    return any(name in attributes for attributes in discardable_attributes(op))


def discardable_attributes(op: Op) -> Sequence[DictAttr]:
    """The discardable attributes of an operation, and of the arguments and results if it is a function."""
    if not isinstance(op, FunctionOpInterface):
        return (op.attributes,)
    return (op.attributes, *op.argument_attributes, *op.result_attributes)


# The warning for a discardable attribute whose name resembles one that propagation reads.
#
# MLIR accepts any discardable attribute of a dialect that does not reject it, so `sdy.shardng` would be
# ignored silently.


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
