"""What devices in a shard_map have the same of, although each is to have its own, or do in too many steps.

A weight is gathered along an axis of a shard_map for a batch that is sharded along this axis, too: else all
devices along it compute the same. What devices exchange along an axis is different on each of them. And a
loop sums the gradient over devices in each step if it gathers a weight in each. A change would change the
shapes in the body, so that none is tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from sdyopt.analysis.changes.axes import Axes, axes_of_sharding, with_axis
from sdyopt.analysis.figures.boundary import carried_results
from sdyopt.analysis.figures.causes import producer
from sdyopt.analysis.figures.collective_traffic import traffic_of
from sdyopt.analysis.figures.figures import axis_names
from sdyopt.analysis.figures.local_shapes import LocalShapes
from sdyopt.analysis.figures.manual_devices import Varying
from sdyopt.analysis.figures.source_locations import source_location
from sdyopt.analysis.figures.tensor_origins import TensorOrigins
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.collectives import AllGatherOp as SdyAllGatherOp
from sdyopt.mlir.dialects.sdy.collectives import CollectiveOp
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import find_mesh
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.dialects.stablehlo.collectives import (
    AllGatherOp,
    AllToAllOp,
    CollectivePermuteOp,
    ReduceScatterOp,
)
from sdyopt.mlir.dialects.stablehlo.compare_select import ConvertOp
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import BlockArgument, Value
from sdyopt.mlir.value_names import name_of
from sdyopt.shardy.notation.partition_spec import annotation_spec
from sdyopt.shardy.notation.sharding_on_mesh import ShardingOnMesh

# Why a change of a shard_map is not tried.
_NOT_TRIED = "not tried: the shapes in the body change"


class SameBatch(NamedTuple):
    """An axis that a weight is gathered along, but that no input has that the step does not return.

    `inputs` are the names of those inputs, `now` and `wanted` the specs of the first one.
    """

    gather: Op
    axis: str
    size: int
    weight: str
    inputs: Sequence[str]
    now: str
    wanted: str

    @property
    def reason(self) -> str:
        """What is wrong, and what would be right."""
        more = f" and {len(self.inputs) - 1} more" if len(self.inputs) > 1 else ""
        return (
            f'the devices along "{self.axis}" have the same of the batch: {self.inputs[0]}{more}: '
            f"{self.now} → {self.wanted} for in_specs of shard_map"
        )


class SameExchange(NamedTuple):
    """An exchange along an axis, or a product, of what all devices along it have, because in_specs gather it.

    `gathers` are the collectives that do, `now` and `wanted` the specs in the shard_map and before it. `at`
    is ` at model.py:12`, or "" if the shard_map has no line.
    """

    exchange: Op
    gathers: Sequence[Op]
    axis: str
    now: str
    wanted: str
    at: str

    @property
    def reason(self) -> str:
        """What is wrong."""
        is_product = isinstance(self.exchange, DotGeneralOp)
        what = "compute the same" if is_product else "exchange what all of them have"
        return f'the devices along "{self.axis}" {what}: in_specs={self.now} gather what is {self.wanted}'

    @property
    def help(self) -> str:
        """What would be right."""
        is_product = isinstance(self.exchange, DotGeneralOp)
        then = "use the part in the body" if is_product else "in out_specs of what has its shape"
        return f"write {self.wanted} in in_specs of the shard_map{self.at}, and {then}; {_NOT_TRIED}"


class ScatteredInSteps(NamedTuple):
    """A sum of a gradient over devices in each step of a loop, which adds it to those of other steps.

    JAX transposes an all_gather in the loop to that. `at` is where the loop is, as above.
    """

    scatter: Op
    at: str

    @property
    def reason(self) -> str:
        """What is wrong."""
        return "each step of the loop sends its part of one gradient"

    @property
    def help(self) -> str:
        """What would be right."""
        return (
            f"write the all_gather before the loop{self.at}: its gradient is summed once, not in each step; "
            f"{_NOT_TRIED}"
        )


def scattered_in_steps(module: Op) -> Iterator[ScatteredInSteps]:
    """The sums over devices that loops only add up."""
    for op in module.walk():
        if not isinstance(op, ReduceScatterOp) or not isinstance(loop := op.parent_op, WhileOp):
            continue
        value = op.results[0]
        while value.has_one_use and isinstance(user := next(iter(value.users)), ConvertOp):
            value = user.results[0]
        added = next(iter(value.users), None)
        if value.has_one_use and isinstance(added, AddOp) and added.results[0].has_one_use:
            (use,) = added.results[0].uses
            other = next((operand for operand in added.operands if operand is not value), None)
            is_carried = isinstance(other, BlockArgument) and other.has_one_use and use.index == other.index
            if is_carried and use.owner is loop.body.blocks[0].last:
                yield ScatteredInSteps(op, _at(loop))


def same_exchanges(module: Op, shapes: LocalShapes) -> Iterator[SameExchange]:
    """The exchanges in each shard_map of what its devices have the same of."""
    for computation in module.walk():
        if not isinstance(computation, ManualComputationOp) or not (gathered := _gathered(computation)):
            continue
        mesh = find_mesh(computation.in_shardings.shardings[0].mesh_or_ref, module)
        exchanges = [
            op for op in computation.walk() if isinstance(op, AllToAllOp | CollectivePermuteOp | DotGeneralOp)
        ]
        if not exchanges or mesh is None:
            continue
        varying = Varying(computation, mesh)
        for op in exchanges:
            is_product = isinstance(op, DotGeneralOp)
            manual = (axis.name for axis in mesh.axes if axis.name in computation.manual_axes)
            for axis in manual if is_product else axis_names(traffic_of(op, mesh).axes):
                if mesh.axis_size(axis) == 1 or axis in varying.joined(op.operands):
                    continue
                chains = [
                    (number, chain)
                    for number, chain, axes in gathered
                    if axis in axes and (not is_product or computation.block.arguments[number] in op.operands)
                ]
                if not chains:
                    continue
                number, chain = max(chains, key=lambda item: shapes.bytes(item[1][0].operands[0]) or 0)
                before = shapes.sharding(producer(chain[0]))
                now = computation.in_shardings.shardings[number]
                if before is not None:
                    texts = [annotation_spec(ShardingOnMesh(sharding, mesh)) for sharding in (now, before)]
                    yield SameExchange(op, chain, axis, texts[0], texts[1], _at(computation))
                    break


def _at(op: Op) -> str:
    location = source_location(op.location)
    return f" at {location.file_text}" if location.line else ""


def _gathered(computation: ManualComputationOp) -> list[tuple[int, list[Op], set[str]]]:
    """(number, collectives, axes) of the operands that are gathered for a manual computation."""
    result = []
    for number, value in enumerate(computation.operands):
        chain: list[Op] = []
        while isinstance(op := value.defining_op, CollectiveOp):
            chain.append(op)
            value = op.operands[0]
        axes = {
            axis.name
            for op in chain
            if isinstance(op, SdyAllGatherOp)
            for dim in op.gathering_axes
            for axis in dim.axes
        }
        if axes:
            result.append((number, chain, axes))
    return result


def same_batches(module: Op, origins: TensorOrigins) -> Iterator[SameBatch]:
    """The batches that devices have the same of, for each gather of a weight for them."""
    for op in module.walk():
        computation = op.parent_of_type(ManualComputationOp) if isinstance(op, AllGatherOp) else None
        function = None if computation is None else computation.parent_op
        weight = None if computation is None else origins.argument(op.operands[0])
        if not isinstance(computation, ManualComputationOp) or not isinstance(function, FuncOp):
            continue
        kept = carried_results(function)
        if weight is None or weight.index not in kept or not name_of(weight):
            continue
        inputs = [
            (value, sharding)
            for value, sharding in zip(computation.operands, computation.in_shardings, strict=True)
            if isinstance(value, BlockArgument) and value.index not in kept and _rank(value)
        ]
        mesh = next((find_mesh(sharding.mesh_or_ref, module) for _, sharding in inputs), None)
        names = [] if mesh is None else axis_names(traffic_of(op, mesh).axes)
        specs = [(value, axes_of_sharding(sharding, _rank(value))) for value, sharding in inputs]
        used = {name for _, axes in specs for of_dim in axes or () for name in of_dim}
        for name in names:
            if mesh is not None and name not in used and mesh.has_axis(name):
                yield from _along(op, name, weight, specs, mesh)


def _along(
    op: Op, name: str, weight: Value, specs: Sequence[tuple[BlockArgument, Axes | None]], mesh: Mesh
) -> Iterator[SameBatch]:
    fitting = []
    for value, axes in specs:
        wanted = None if axes is None else with_axis(axes, 0, name)
        assert isinstance(value.type, RankedTensor)
        if wanted is not None and value.type.shape[0] % prod(map(mesh.axis_size, wanted[0])) == 0:
            fitting.append((name_of(value) or f"argument {value.index}", axes or (), wanted))
    if fitting and mesh.axis_size(name) > 1:
        _, now, wanted = fitting[0]
        listed = [text for text, *_ in fitting]
        yield SameBatch(
            op, name, mesh.axis_size(name), name_of(weight), listed, _spec(now, mesh), _spec(wanted, mesh)
        )


def _rank(value: Value) -> int:
    return value.type.rank if isinstance(value.type, RankedTensor) else 0


def _spec(axes: Axes, mesh: Mesh) -> str:
    dims = tuple([DimensionSharding(tuple(map(AxisRef, names))) for names in axes])
    return annotation_spec(ShardingOnMesh(TensorSharding(mesh, dims), mesh))
