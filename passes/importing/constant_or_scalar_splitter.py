"""sdy-constant-or-scalar-splitter: give every use of a constant a constant of its own.

    %c = stablehlo.constant dense<1.0> : tensor<8xf32>
    %0 = stablehlo.add %a, %c : tensor<8xf32>
    %1 = stablehlo.multiply %b, %c : tensor<8xf32>
becomes
    %c = sdy.constant dense<1.0> : tensor<8xf32>
    %d = sdy.constant dense<1.0> : tensor<8xf32>
    %0 = stablehlo.add %a, %d : tensor<8xf32>
    %1 = stablehlo.multiply %b, %c : tensor<8xf32>

That two operations use the same constant is no reason to shard them alike; without this pass propagation
would go from one to the other through it. Constant is what is computed from constants and iotas alone by
broadcasts, reshapes, slices and pure elementwise operations, and by named computations and calls of
functions in which there is nothing else. All of such a computation is copied for each operation outside it
that uses it; inside it, values may have several uses. A broadcast of a scalar is copied in the same way.
Scalars cannot be sharded, so they stay shared.

Copies are in the sharding groups of their originals. The copy of a call gets a copy of the function, with
copies of all the functions that this calls. Constants become `sdy.constant`, which nobody merges again
until `sdy-constant-or-scalar-merger` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.func import CallOp, FuncOp
from sdyopt.dialects.sdy.computation_ops import NamedComputationOp
from sdyopt.dialects.sdy.ops import ShardingGroupOp
from sdyopt.dialects.stablehlo.broadcast import BroadcastInDimOp
from sdyopt.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.dialects.stablehlo.slicing import SliceOp
from sdyopt.ir.block import Region
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.types import RankedShape
from sdyopt.ir.value import Value
from sdyopt.pipeline import Pass
from sdyopt.registry import register
from sdyopt.sharding.elementwise import is_elementwise

from ..common.support.call_graph import CopyBudget, called_function, callees_first
from ..common.support.clone_functions import FunctionCopies, original_name
from ..common.support.constants import (
    SOURCES,
    ComputationCopier,
    grouped_values,
    is_pure,
    protect_constants,
)

_RESHAPING = (BroadcastInDimOp, ReshapeOp, SliceOp)


@register("sdy-constant-or-scalar-splitter")
class ConstantOrScalarSplitter(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        protect_constants(module, rewriter)
        splitter = _Splitter(module, rewriter)
        for function in callees_first(module):
            for op in function.walk_post_order():
                if isinstance(op, NamedComputationOp):
                    splitter.split(op.body, function)
            splitter.split(function.body, function)
        return rewriter.changed


@dataclass(frozen=True, slots=True)
class _Role:
    """What becomes of an operation that stands where constants may be used."""

    is_ignored: bool
    # Constant whatever its operands are.
    is_source: bool
    # Constant if all operands are.
    keeps_constants: bool
    is_expansion: bool
    is_end: bool


class _Splitter:
    """Knows of the bodies seen so far which are not constant even if all that goes in is."""

    def __init__(self, module: ModuleOp, rewriter: Rewriter) -> None:
        self._module = module
        self._rewriter = rewriter
        self._functions = FunctionCopies(module, rewriter)
        self._copier = ComputationCopier(rewriter, _is_scalar, grouped_values(module), self._copied)
        # The roles that follow from the form.
        self._roles: dict[OpSignature, _Role] = {}
        self._impure_computations: set[str] = set()
        self._impure_functions: set[str] = set()

    def split(self, region: Region, function: FuncOp) -> None:
        """Copies the constants of a region for all their users in it."""
        constants: list[Op] = []
        expansions: list[Op] = []
        # Their results; `copied` are those that users get copies of.
        constant_values: set[Value] = set()
        copied: set[Value] = set()
        is_marked = False
        for op in _outside_named_computations(region):
            role = self._roles.get(op.signature) or self._role(op)
            if role.is_ignored:
                continue
            if role.is_source or (role.keeps_constants and constant_values.issuperset(op.operands)):
                constants.append(op)
                constant_values.update(op.results)
                copied.update([result for result in op.results if not _is_scalar(result)])
                continue
            if not (is_marked or role.keeps_constants or role.is_end):
                self._mark(region, function)
                is_marked = True
            if role.is_expansion:
                expansions.append(op)
                copied.update([result for result in op.results if not _is_scalar(result)])
                continue
            for use in op.operand_uses:
                if use.value in copied:
                    self._rewriter.set_operand(use, self._copier.copy(use.value))
        # What was copied for all its users has none left. What uses a constant is gone before it.
        self._erase_unused([*expansions, *reversed(constants)])

    def _role(self, op: Op) -> _Role:
        role = _Role(
            is_ignored=isinstance(op, FuncOp | ShardingGroupOp),
            is_source=isinstance(op, SOURCES),
            keeps_constants=self._keeps_constants(op),
            is_expansion=isinstance(op, BroadcastInDimOp) and _is_scalar(op.operand_at(0)),
            is_end=op.is_terminator,
        )
        if not (op.regions or isinstance(op, CallOp)):
            self._roles[op.signature] = role
        return role

    def _keeps_constants(self, op: Op) -> bool:
        """Whether the results are constant if all operands are."""
        if isinstance(op, CallOp):
            return original_name(called_function(op)) not in self._impure_functions
        if isinstance(op, NamedComputationOp):
            return op.computation_name not in self._impure_computations
        return (isinstance(op, _RESHAPING) or is_elementwise(op.signature)) and is_pure(op)

    def _mark(self, region: Region, function: FuncOp) -> None:
        """Remembers that there is more in a region, and so in its function, than a constant computation."""
        if isinstance(region.parent, NamedComputationOp):
            self._impure_computations.add(region.parent.computation_name)
        self._impure_functions.add(original_name(function))

    @cached_property
    def _budget(self) -> CopyBudget:
        return CopyBudget(callees_first(self._module))

    def _copied(self, op: Op) -> None:
        if isinstance(op, CallOp):
            self._budget.spend(op, self._functions.original(op))
            self._functions.copy_for(op)

    def _erase_unused(self, ops: list[Op]) -> None:
        for op in ops:
            users = [user for result in op.results if result.has_uses for user in result.users]
            if all(isinstance(user, ShardingGroupOp) for user in users):
                for user in users:
                    self._rewriter.erase(user)
                self._rewriter.erase(op)


def _outside_named_computations(region: Region) -> Iterator[Op]:
    """All operations in a region but those inside named computations, in pre-order."""
    for block in region.blocks:
        op = block.first
        while op is not None:
            yield op
            if op.regions and not isinstance(op, NamedComputationOp):
                for inner in op.regions:
                    yield from _outside_named_computations(inner)
            op = op.next


def _is_scalar(value: Value) -> bool:
    return isinstance(value.type, RankedShape) and value.type.rank == 0
