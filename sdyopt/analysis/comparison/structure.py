"""The structure of a program: numbers for each value, equal for values that are computed or used alike.

`defined` stands for the operations that a value is computed from, `used` for those that it is used by. After
a change of an operation, the values before it keep `defined`, and those after it keep `used`. Names,
locations and shardings do not count, and neither do operations that only move data: reshards, collectives of
sdy and sharding constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from sdyopt.analysis.figures.execution_counts import constant_of
from sdyopt.mlir.dialects.sdy.axes import ManualAxes
from sdyopt.mlir.dialects.sdy.collectives import CollectiveOp
from sdyopt.mlir.dialects.sdy.ops import PropagationBarrierOp, ReshardOp, ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import DataFlowEdgeOp, FuncDataFlowEdgeOp
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.ir.attribute import Attribute, SymbolRef
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import FunctionOpInterface
from sdyopt.mlir.ir.value import BlockArgument, Value

# What sharding passes insert and remove: a result stands for the operand.
_TRANSPARENT = (ReshardOp, CollectiveOp, PropagationBarrierOp, DataFlowEdgeOp, FuncDataFlowEdgeOp)
_GSPMD_CONSTRAINT = "Sharding"


def is_transparent(op: Op) -> bool:
    """Whether an operation computes its operand, maybe sharded differently, and is no constraint."""
    return isinstance(op, _TRANSPARENT)


def is_constraint(op: Op) -> bool:
    """Whether an operation is a sharding constraint, of sdy or of GSPMD."""
    if isinstance(op, CustomCallOp):
        return op.call_target_name == _GSPMD_CONSTRAINT
    return isinstance(op, ShardingConstraintOp)


class Structure:
    """The structure of the functions that are added, in full and in outline.

    The outline has the names of operations alone: it is the same if a size that all types depend on changes.
    `constants` are the operations that compute with nothing but constants: passes copy and merge these.
    """

    def __init__(self) -> None:
        self.full = StructureHashes(label_of)
        self.outline = StructureHashes(lambda op: op.signature.name)
        self.constants: set[Op] = set()
        self._returned: dict[Op, Sequence[Value]] = {}

    def returned(self, function: Op) -> Sequence[Value]:
        """The values that a function returns; none for a declaration."""
        return self._returned.get(function, ())

    def add_function(
        self, function: FunctionOpInterface, arguments: Sequence[str], results: Sequence[str]
    ) -> None:
        """Adds the values in a function. An argument or result without a name counts by its index."""
        entry = function.regions[0].entry
        if entry is None:
            return
        ops = [op for op in function.walk() if op is not function]
        for op in ops:
            if constant_of(op) is not None or self._computes_with_constants(op):
                self.constants.add(op)
        for hashes in (self.full, self.outline):
            hashes.add_arguments(entry.arguments, arguments)
            hashes.add(ops)
            if entry.last is not None:
                hashes.add_results(entry.last, results)
            hashes.add_uses(ops)
        if entry.last is not None:
            self._returned[function] = entry.last.operands

    def _computes_with_constants(self, op: Op) -> bool:
        return not op.regions and all(use.value.defining_op in self.constants for use in op.operand_uses)


class StructureHashes:
    """Numbers for values, by labels of the operations that they are computed from, and used by.

    `alive` has the labels: they are compared by identity, so they must not be freed.
    """

    def __init__(self, label_of: Callable[[Op], Hashable]) -> None:
        self.defined: dict[Value, int] = {}
        self.used: dict[Value, int] = {}
        self.alive: set[Hashable] = set()
        self._label_of = label_of
        self._terminators: set[Op] = set()

    def add_arguments(self, arguments: Sequence[BlockArgument], names: Sequence[str]) -> None:
        """Defines the arguments of a function, before the operations are added."""
        for argument, name in zip(arguments, names, strict=True):
            self.defined[argument] = hash(("argument", name or argument.index))

    def add_results(self, terminator: Op, names: Sequence[str]) -> None:
        """Adds the uses of the values that a function returns, before the uses by operations."""
        self._terminators.add(terminator)
        for use, name in zip(terminator.operand_uses, names, strict=False):
            self.used[use.value] = self.used.get(use.value, 0) + hash(("result", name or use.index))

    def add(self, ops: Sequence[Op]) -> None:
        """Defines the results of the operations in a function, which are in pre-order."""
        for op in ops:
            self._define(op)

    def add_uses(self, ops: Sequence[Op]) -> None:
        """Adds the uses of values by the same operations."""
        for op in reversed(ops):
            if op not in self._terminators:
                self._use(op)

    def _define(self, op: Op) -> None:
        defined, uses = self.defined, op.operand_uses
        if uses and (is_transparent(op) or is_constraint(op)):
            for result in op.results:
                defined[result] = defined.get(uses[0].value, 0)
            return
        label = self._label_of(op)
        self.alive.add(label)
        key = hash((label, *[defined.get(use.value, 0) for use in uses]))
        for result in op.results:
            defined[result] = hash((key, result.index))
        for number, region in enumerate(op.regions):
            for block_number, block in enumerate(region.blocks):
                for argument in block.arguments:
                    defined[argument] = hash((key, number, block_number, argument.index))

    def _use(self, op: Op) -> None:
        used, uses = self.used, op.operand_uses
        if uses and (is_transparent(op) or is_constraint(op)):
            value = uses[0].value
            used[value] = used.get(value, 0) + sum([used.get(result, 0) for result in op.results])
            return
        key = hash((self._label_of(op), *[used.get(result, 0) for result in op.results]))
        for use in uses:
            # A sum, because the order of uses is no structure.
            used[use.value] = used.get(use.value, 0) + hash((key, use.index))


# Symbols may be renamed; shardings are what is compared.
_IGNORED: tuple[type[Attribute], ...] = (
    SymbolRef,
    TensorSharding,
    ShardingPerValue,
    ManualAxes,
    OpShardingRule,
)


def label_of(op: Op) -> Hashable:
    """The label of an operation: its signature without symbols and shardings."""
    return op.signature.cached(_label)


def _label(signature: OpSignature) -> Hashable:
    kept = [(name, value) for name, value in signature.attributes if not isinstance(value, _IGNORED)]
    if len(kept) == len(signature.attributes):
        return signature
    return signature.name, tuple(kept), signature.operand_types, signature.result_types
