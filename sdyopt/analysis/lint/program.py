"""A program that rules look at, with the figures of its report, and where the text of annotations is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from sdyopt.analysis.changes.effect import CostedProgram
from sdyopt.analysis.figures.causes import consumers
from sdyopt.analysis.figures.execution_counts import (
    NONE_ASSUMED,
    AssumedTrips,
    CallLocations,
    ExecutionCounts,
    entry_functions,
    functions_in,
)
from sdyopt.analysis.figures.figures import Collective, Product
from sdyopt.analysis.figures.manual_devices import ManualDevices
from sdyopt.analysis.figures.memory_figures import ValueTexts
from sdyopt.analysis.figures.product_collectives import counted_collectives, counted_products
from sdyopt.analysis.figures.source_locations import source_location
from sdyopt.analysis.figures.tensor_origins import TensorOrigins
from sdyopt.analysis.figures.topology import Topology
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.diagnostic import handling
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp, CollectiveOp, ReduceScatterOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING, Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.error_help.table import Narrowing, argument, attribute, result
from sdyopt.mlir.ir.attribute import Attribute, DictAttr, nested_attributes
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import Type
from sdyopt.mlir.value_names import argument_text, result_text
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule_of


class LintedProgram(CostedProgram):
    """A module that no longer changes. Everything is computed when it is first needed."""

    def __init__(
        self, module: Op, machine: Topology | None = None, assumed: AssumedTrips = NONE_ASSUMED
    ) -> None:
        super().__init__(module, machine, assumed)
        self._manual_axes: dict[FuncOp, frozenset[str]] = {}

    @cached_property
    def counts(self) -> ExecutionCounts:
        return ExecutionCounts(self.module)

    @cached_property
    def collectives(self) -> Mapping[Op, Collective]:
        """The figures of each collective, in program order."""
        return dict(zip(counted_collectives(self.module), self.report.collectives, strict=True))

    @cached_property
    def products(self) -> Mapping[Op, Product]:
        """The figures of each product, in program order."""
        return dict(zip(counted_products(self.module), self.report.products, strict=True))

    @cached_property
    def texts(self) -> ValueTexts:
        """The descriptions of values in the report."""
        mesh = max(self.meshes, key=lambda mesh: mesh.total_size, default=None)
        # Without names: findings show lines.
        return ValueTexts(
            {},
            AttributePrinter(),
            self.shapes,
            mesh,
            CallLocations(self.counts).completed,
            TensorOrigins(self.counts),
            ManualDevices(self.counts, self.shapes).devices,
        )

    def manual_axes(self, op: Op) -> frozenset[str]:
        """The axes along which an operation is manual, in any of the calls of its function."""
        names: set[str] = set()
        for parent in op.ancestors():
            if isinstance(parent, ManualComputationOp):
                names.update(parent.manual_axes)
            elif isinstance(parent, FuncOp):
                names |= self._manual_axes_of_calls(parent)
        return frozenset(names)

    def _manual_axes_of_calls(self, function: FuncOp) -> frozenset[str]:
        """The axes along which the calls of a function are manual, in any of its callers."""
        if function not in self._manual_axes:
            self._manual_axes[function] = frozenset()  # for recursion
            names = [self.manual_axes(call) for call in self.counts.call_sites(function)]
            self._manual_axes[function] = frozenset().union(*names)
        return self._manual_axes[function]

    @cached_property
    def meshes(self) -> list[Mesh]:
        """The named meshes."""
        return [op.mesh for op in self.module.walk() if isinstance(op, MeshOp)]

    @cached_property
    def entries(self) -> list[FuncOp]:
        """The functions where the program starts."""
        return entry_functions(functions_in(self.module))


def op_to_show(op: Op) -> Op:
    """The operation whose line a finding about `op` shows.

    For an sdy collective other than a reduction, it is a user of the result with a line, if there is one.
    """
    if not isinstance(op, CollectiveOp) or isinstance(op, (AllReduceOp, ReduceScatterOp)):
        return op
    users = (user for user in consumers(op) if not user.is_terminator)
    return next((user for user in users if source_location(user.location).line), op)


def has_sharding_rule(op: Op) -> bool:
    """Whether an operation has a sharding rule. Emits no warning if it has none."""
    with handling(lambda _: None):
        return sharding_rule_of(op) is not None


class LocatedSharding(NamedTuple):
    """A sharding at an operation. `what` describes the value of this `type` that it shards.

    `steps` lead to the text of the sharding in the statement of `op`.
    """

    op: Op
    what: str
    type: Type
    sharding: TensorSharding
    steps: tuple[Narrowing, ...] = ()


def boundary_annotations(functions: list[FuncOp]) -> Iterator[LocatedSharding]:
    """The shardings of the arguments and results of functions."""
    for function in functions:
        lists = (
            (argument_text, function.argument_attributes, function.function_type.inputs, argument),
            (result_text, function.result_attributes, function.function_type.results, result),
        )
        for text, attributes, types, step in lists:
            for number, (dictionary, type) in enumerate(zip(attributes, types, strict=True)):
                sharding = dictionary.get(SHARDING)
                if isinstance(sharding, TensorSharding):
                    steps = (step(number), attribute(SHARDING))
                    yield LocatedSharding(function, text(function, number), type, sharding, steps)


def constraints(module: Op) -> Iterator[LocatedSharding]:
    """The shardings of constraints."""
    for op in module.walk():
        if isinstance(op, ShardingConstraintOp):
            yield LocatedSharding(op, "the constrained value", op.input.type, op.sharding)


def shardings_in(module: Op) -> Iterator[TensorSharding]:
    """The shardings in the attributes of all operations, arguments and function results, in program order."""
    shardings_by_dictionary: dict[DictAttr, tuple[TensorSharding, ...]] = {}
    for op in module.walk():
        for attributes in _dictionaries(op):
            if attributes not in shardings_by_dictionary:
                shardings_by_dictionary[attributes] = tuple(
                    op for op in _nested(attributes) if isinstance(op, TensorSharding)
                )
            yield from shardings_by_dictionary[attributes]


def _dictionaries(op: Op) -> Iterator[DictAttr]:
    yield op.signature.attributes
    yield op.attributes
    if isinstance(op, FuncOp):
        yield from op.argument_attributes
        yield from op.result_attributes


def _nested(attributes: DictAttr) -> Iterator[Attribute]:
    for _, value in attributes.entries:
        yield from nested_attributes(value)
