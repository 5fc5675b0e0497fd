"""sdy-constant-or-scalar-splitter: split constants and scalar broadcasts for each use.

    %c = stablehlo.constant dense<1.0> : tensor<8xf32>
    %0 = stablehlo.add %a, %c : tensor<8xf32>
    %1 = stablehlo.multiply %b, %c : tensor<8xf32>
becomes
    %c = sdy.constant dense<1.0> : tensor<8xf32>
    %d = sdy.constant dense<1.0> : tensor<8xf32>
    %0 = stablehlo.add %a, %c : tensor<8xf32>
    %1 = stablehlo.multiply %b, %d : tensor<8xf32>

Two operations that use the same constant need not be sharded alike; without this pass, shardings would
propagate from one to the other through the constant. A constant computation consists of constants and iotas,
broadcasts, reshapes, slices and pure elementwise operations on them, and named computations and calls of
functions that contain nothing else. The whole computation is copied for each use by another operation; values
inside it may have several uses. A broadcast of a scalar is copied in the same way. Scalars cannot be sharded
and stay shared.

Copies join the sharding groups of their originals. The copy of a call calls a copy of the function, with
copies of all its callees. Constants become `sdy.constant`, so that folding does not merge them before
`sdy-constant-or-scalar-merger`. This is a dialect conversion, which also folds operations that compute an
existing value.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.ops import NamedComputationOp, ShardingGroupOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp, ReshapeOp
from sdyopt.mlir.dialects.stablehlo.slicing import SliceOp
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import RankedShapedType
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register
from sdyopt.shardy.sharding.op_sharding_rule_builder import is_elementwise

from ..common.support.call_graph import CallGraph, CopyBudget, FunctionCopies, called_function, original_name
from ..common.support.constants import (
    SOURCES,
    ComputationCopier,
    convert_to_sdy_constants,
    grouped_values,
    is_pure,
)

_RESHAPING = (BroadcastInDimOp, ReshapeOp, SliceOp)


@register("sdy-constant-or-scalar-splitter")
class ConstantOrScalarSplitter(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        convert_to_sdy_constants(module, rewriter)
        splitter = _Splitter(module, rewriter)
        for function in CallGraph(module).callees_first():
            for op in function.nested(NamedComputationOp):
                splitter.split(op.body, function)
            splitter.split(function.body, function)
        return rewriter.changed or splitter.has_split


class _OpKind(NamedTuple):
    """The class of an operation to the splitter."""

    is_ignored: bool
    # Constant by itself.
    is_source: bool
    # Constant if all operands are.
    preserves_constants: bool
    is_scalar_broadcast: bool
    is_terminator: bool


class _Splitter:
    """Splits region by region. Records the named computations and functions that are not constant."""

    def __init__(self, module: ModuleOp, rewriter: Rewriter) -> None:
        self._module = module
        self._rewriter = rewriter
        self._functions = FunctionCopies(module, rewriter)
        self._copier = ComputationCopier(rewriter, _is_scalar, grouped_values(module), self._after_copy)
        # For operations whose kind depends on the signature only.
        self._kinds: dict[OpSignature, _OpKind] = {}
        self._non_constant_computations: set[str] = set()
        self._non_constant_functions: set[str] = set()
        # Whether there were uses to split, which C++ counts as a change, even if only copies are different.
        self.has_split = False

    def split(self, region: Region, function: FuncOp) -> None:
        """Copies the constant computations and scalar broadcasts of a region for each of their uses in it.

        The last use needs no copy: it keeps the original.
        """
        constants: list[Op] = []
        scalar_broadcasts: list[Op] = []
        constant_values: set[Value] = set()
        # The results, except scalars, of constant operations and of scalar broadcasts.
        split_values: set[Value] = set()
        is_non_constant = False
        for op in _outside_named_computations(region):
            kind = self._kinds.get(op.signature) or self._kind_of(op)
            if kind.is_ignored:
                continue
            if kind.is_source or (kind.preserves_constants and constant_values.issuperset(op.operands)):
                constants.append(op)
                constant_values.update(op.results)
                split_values.update([result for result in op.results if not _is_scalar(result)])
                continue
            if not (is_non_constant or kind.preserves_constants or kind.is_terminator):
                self._mark_not_constant(region, function)
                is_non_constant = True
            if kind.is_scalar_broadcast:
                scalar_broadcasts.append(op)
                split_values.update([result for result in op.results if not _is_scalar(result)])
                continue
            for use in op.operand_uses:
                if use.value in split_values:
                    self.has_split = True
                    self._rewriter.set_operand(use, self._copier.copy_unless_used_once(use.value))
        # Users before definitions, because erasing a user may leave its operands unused.
        self._erase_unused([*scalar_broadcasts, *reversed(constants)])

    def _kind_of(self, op: Op) -> _OpKind:
        kind = _OpKind(
            is_ignored=isinstance(op, FuncOp | ShardingGroupOp),
            is_source=isinstance(op, SOURCES),
            preserves_constants=self._preserves_constants(op),
            is_scalar_broadcast=isinstance(op, BroadcastInDimOp) and _is_scalar(op.operand_at(0)),
            is_terminator=op.is_terminator,
        )
        if not (op.regions or isinstance(op, CallOp)):
            self._kinds[op.signature] = kind
        return kind

    def _preserves_constants(self, op: Op) -> bool:
        """Whether the results are constant if all operands are."""
        if isinstance(op, CallOp):
            return original_name(called_function(op)) not in self._non_constant_functions
        if isinstance(op, NamedComputationOp):
            return op.computation_name not in self._non_constant_computations
        return (isinstance(op, _RESHAPING) or is_elementwise(op.signature)) and is_pure(op)

    def _mark_not_constant(self, region: Region, function: FuncOp) -> None:
        """Records that a region, and so its function, is not a constant computation."""
        if isinstance(region.parent, NamedComputationOp):
            self._non_constant_computations.add(region.parent.computation_name)
        self._non_constant_functions.add(original_name(function))

    @cached_property
    def _budget(self) -> CopyBudget:
        return CopyBudget(CallGraph(self._module))

    def _after_copy(self, op: Op) -> None:
        if isinstance(op, CallOp):
            self._budget.spend(op, self._functions.callee(op))
            self._functions.copy_for(op)

    def _erase_unused(self, ops: list[Op]) -> None:
        for op in ops:
            users = [user for result in op.results if result.has_uses for user in result.users]
            if all(isinstance(user, ShardingGroupOp) for user in users):
                for user in users:
                    self._rewriter.erase(user)
                self._rewriter.erase(op)


def _outside_named_computations(region: Region) -> Iterator[Op]:
    """The operations in a region except those nested in named computations, in pre-order."""
    # The next operations of the regions around, innermost last; nested generators would take time per level.
    following = [_ops_in(region)]
    while following:
        op = next(following[-1], None)
        if op is None:
            following.pop()
            continue
        yield op
        if not isinstance(op, NamedComputationOp):
            following += [_ops_in(inner) for inner in reversed(op.regions)]


def _ops_in(region: Region) -> Iterator[Op]:
    for block in region.blocks:
        op = block.first
        while op is not None:
            yield op
            op = op.next


def _is_scalar(value: Value) -> bool:
    return isinstance(value.type, RankedShapedType) and value.type.rank == 0
