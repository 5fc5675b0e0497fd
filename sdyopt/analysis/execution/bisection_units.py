"""Units: operations that can be cut out of a program and partitioned by themselves.

All units go into one program, each with arguments and results of its own, so that one run of the passes and
one execution test all of them. A unit may be several operations: partial results are not reduced until the
all-reduce after the operation that computes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp, ReturnOp
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp, ReduceScatterOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, NamedComputationOp, ReshardOp
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import DataFlowEdgeOp, FuncDataFlowEdgeOp, sharding_of
from sdyopt.mlir.ir.attribute import Attribute, SymbolRef, TypeAttr, nested_attributes, string
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import FunctionType, RankedTensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.local_context import LocalTypes
from sdyopt.shardy.partition.outlining import MAIN, called_functions, empty_module

_REDUCING = (AllReduceOp, ReduceScatterOp)
_NO_UNITS = (DataFlowEdgeOp, FuncDataFlowEdgeOp, FuncOp, MeshOp, ModuleOp, NamedComputationOp)


@dataclass(frozen=True, eq=False)
class Unit:
    """Operations of one block, in order. The results of the last one are those of the unit."""

    ops: tuple[Op, ...]

    @property
    def root(self) -> Op:
        """The last operation."""
        return self.ops[-1]

    @property
    def inputs(self) -> list[Value]:
        """The values from outside that the operations use."""
        inside: set[Value] = set()
        values: dict[Value, None] = {}
        for op in self.ops:
            for inner in op.walk():
                values |= dict.fromkeys(value for value in inner.operands if value not in inside)
                inside.update(inner.results)
                for region in inner.regions:
                    for block in region.blocks:
                        inside.update(block.arguments)
        return list(values)

    def with_producers(self, depth: int) -> Unit:
        """This unit with the operations of its block that define its inputs, up to a depth."""
        block, chosen = self.root.parent, dict.fromkeys(self.ops)
        for _ in range(depth):
            for value in Unit(_in_order(chosen)).inputs:
                producer = value.defining_op
                if producer is not None and producer.parent is block:
                    # The operation, after the one whose partial results it reduces.
                    operand = producer.operands[0].defining_op if isinstance(producer, _REDUCING) else None
                    with_partial_results = [producer] if operand is None else [operand, producer]
                    chosen |= dict.fromkeys(with_partial_results)
        return Unit(_in_order(chosen))

    @property
    def key(self) -> object:
        """Equal for units with the same operations and shardings; with regions, the unit itself."""
        if any(op.regions for op in self.ops):
            return self
        ops = tuple([(op.signature, op.attributes) for op in self.ops])
        return ops, tuple(map(sharding_of, (*self.inputs, *self.root.results)))


def _in_order(ops: dict[Op, None]) -> tuple[Op, ...]:
    block = next(iter(ops)).parent
    assert block is not None
    return tuple([op for op in block.ops if op in ops])


def units_of(module: ModuleOp) -> list[Unit]:
    """The units of a program, outer before inner ones. Of equal ones there is only the first."""
    units: dict[object, Unit] = {}
    for op in _outside_manual_computations(module):
        if isinstance(op, _NO_UNITS) or op.is_terminator or not op.results:
            continue
        if isinstance(op, _REDUCING) and _defines_partial_results(op.operands[0].defining_op):
            continue
        users = [use.owner for result in op.results for use in result.uses]
        reducing = [user for user in users if isinstance(user, _REDUCING)]
        unit = Unit((op, reducing[0])) if len(users) == 1 and reducing else Unit((op,))
        if any(map(_is_sharded, (*unit.inputs, *unit.root.results))):
            units.setdefault(unit.key, unit)
    return list(units.values())


def _outside_manual_computations(module: ModuleOp) -> Iterator[Op]:
    """The operations that neither are in manual computations nor contain any."""
    local: set[Op] = set()
    for op in module.walk():
        if isinstance(op, ManualComputationOp):
            local.update(op.walk())
            local.update(op.ancestors())
    return (op for op in module.walk() if op not in local)


def _defines_partial_results(op: Op | None) -> bool:
    return op is not None and op.dialect_name != "sdy"


def _is_sharded(value: Value) -> bool:
    sharding = sharding_of(value)
    return sharding is not None and any(True for _ in sharding.axis_refs)


@dataclass(frozen=True)
class UnitsProgram:
    """A program that consists of units, and the unit of each of its results."""

    module: ModuleOp
    units: Sequence[Unit]


def program_of_units(module: ModuleOp, units: Sequence[Unit]) -> UnitsProgram:
    """A program whose function @main has units of another one, each with its own arguments and results."""
    builder = _Builder(module)
    for unit in units:
        builder.add(unit)
    return builder.finish()


class _Builder:
    def __init__(self, source: ModuleOp) -> None:
        self._source = source
        self._types = LocalTypes(source)
        self._rewriter = Rewriter()
        self._module = empty_module(source)
        self._body = Region()
        self._block = self._body.add_block()
        self._arguments: list[TensorSharding | None] = []
        self._results: list[tuple[Value, TensorSharding | None, Unit]] = []
        # In the order in which they are first referred to.
        self._functions: dict[FuncOp, None] = {}

    def add(self, unit: Unit) -> None:
        """Copies a unit to the end of the function."""
        mapping = {value: self._argument(value) for value in unit.inputs}
        for op in unit.ops:
            self._functions |= dict.fromkeys(called_functions(op))
            self._rewriter.insert(self._rewriter.clone(op, mapping), at_end_of=self._block)
        for result in unit.root.results:
            sharding = sharding_of(result)
            returned = mapping[result]
            even = self._even(result, sharding)
            if even is not sharding:
                returned = self._reshard(returned, even)
            self._results.append((returned, even, unit))

    def _argument(self, value: Value) -> Value:
        """A new argument. It is resharded if it cannot have uneven shards."""
        sharding = sharding_of(value)
        even = self._even(value, sharding)
        argument = self._block.add_argument(value.type, value.lazy_location)
        self._arguments.append(even)
        return argument if even is sharding else self._reshard(argument, sharding)

    def _even(self, value: Value, sharding: TensorSharding | None) -> TensorSharding | None:
        """The sharding for an input or result of @main: replicated if sizes of shards differ."""
        type = value.type
        if sharding is None or not isinstance(type, RankedTensor) or sharding.rank != type.rank:
            return sharding
        if self._types.padded_type(type, sharding) is type:
            return sharding
        return sharding.with_dims([DimensionSharding()] * sharding.rank)

    def _reshard(self, value: Value, sharding: TensorSharding | None) -> Value:
        assert sharding is not None
        attributes = {"sharding": sharding}
        return self._rewriter.create(
            ReshardOp, [value], [value.type], attributes, at_end_of=self._block
        ).results[0]

    def finish(self) -> UnitsProgram:
        """The program."""
        rewriter, block = self._rewriter, self._block
        rewriter.create(ReturnOp, [value for value, _, _ in self._results], at_end_of=block)
        type = FunctionType(
            tuple([argument.type for argument in block.arguments]),
            tuple([value.type for value, _, _ in self._results]),
        )
        attributes: dict[str, Attribute] = {"sym_name": string(MAIN), "function_type": TypeAttr(type)}
        main = rewriter.create(
            FuncOp, attributes=attributes, at_end_of=self._module.block, regions=[self._body]
        )
        for index, argument in enumerate(self._arguments):
            rewriter.set_argument_attribute(main, index, SHARDING, argument)
        for index, (_, result, _) in enumerate(self._results):
            rewriter.set_result_attribute(main, index, SHARDING, result)
        for function in self._functions:
            if function.sym_name != MAIN:
                rewriter.insert(rewriter.clone(function), at_end_of=self._module.block)
        self._add_meshes()
        return UnitsProgram(self._module, [unit for _, _, unit in self._results])

    def _add_meshes(self) -> None:
        """Copies the meshes that are referred to."""
        names = {
            reference.root
            for op in self._module.walk()
            for attribute in (
                op.signature.attributes,
                op.attributes,
                *(op.attribute(name) for name in op.mutable_attributes),
            )
            if attribute is not None
            for reference in nested_attributes(attribute)
            if isinstance(reference, SymbolRef)
        }
        first = next(iter(self._module.block.ops))
        for op in self._source.block.ops:
            if isinstance(op, MeshOp) and op.sym_name in names:
                self._rewriter.insert(self._rewriter.clone(op), before=first)
