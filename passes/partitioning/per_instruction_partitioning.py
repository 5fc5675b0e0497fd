"""sdy-per-instruction-partitioning: partition single operations into manual computations.

Over `sdy.mesh @mesh = <["x"=2]>`,

    %0 = stablehlo.sine %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
becomes
    %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>]
        manual_axes={"x"} (%b: tensor<4xf32>) {
      %1 = stablehlo.sine %b : tensor<4xf32>
      sdy.return %1 : tensor<4xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>

This pass helps to find an operation that is partitioned wrongly. Each selected operation is partitioned by
itself, and the rest of the program is left to another partitioner, such as that of XLA. If the result is
wrong with half of the operations selected, one of them is the culprit. `--bisect` automates a search of this
kind.

An operation is a candidate if it has a sharded operand or result and is not nested in another operation of
its function. Collectives, manual computations, and operations that compute nothing, such as sharding
constraints, are no candidates. Candidates are numbered from 0, in the order of the program. `filter` selects
some of them: `selectLow=3, selectHigh=7` by number, `dot, gather` by parts of their names. Without a filter,
all are partitioned.

An operation runs through `sdy-insert-explicit-reshards` in its full version,
`sdy-resolve-permutation-factors`, `sdy-reshard-to-collectives`, `sdy-pad-for-divisibility` and
`sdy-convert-global-to-local`. Operands whose shards are uneven are padded before the computation, and results
are cut after it. Called functions are inlined.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdyopt.base.dataclasses import dataclass
from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.axes import ManualAxes
from sdyopt.mlir.dialects.sdy.collectives import CollectiveOp
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import common_mesh_or_ref
from sdyopt.mlir.dialects.sdy.ops import (
    ManualComputationOp,
    PropagationBarrierOp,
    ReshardOp,
    ShardingConstraintOp,
    ShardingGroupOp,
)
from sdyopt.mlir.dialects.sdy.ops import ReturnOp as SdyReturnOp
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import (
    DataFlowEdgeOp,
    is_sharded,
    sharding_of,
    sharding_or_replicated,
)
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.dialects.stablehlo.replica_groups import ChannelHandle
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.edit_log import recording
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import Pass, Since, option
from sdyopt.mlir.pipeline.base import FUNCTION
from sdyopt.mlir.registry import register
from sdyopt.shardy.partition.local_builder import Channels
from sdyopt.shardy.partition.local_context import LocalTypes
from sdyopt.shardy.partition.outlining import inputs_of, outline
from sdyopt.shardy.partition.padding import Padder
from sdyopt.shardy.partition.sharded_body import HaloContext

from ..common.inline import inline_call
from ..common.support.call_graph import called_function
from ..exporting.drop_sharding_and_mesh import DropShardingAndMesh
from ..exporting.insert_explicit_reshards import InsertExplicitReshards
from ..exporting.reshard_to_collectives import ReshardToCollectives
from .convert_global_to_local import ConvertGlobalToLocal
from .pad_for_divisibility import PadForDivisibility
from .resolve_permutation_factors import ResolvePermutationFactors

# They change no data, are collectives, or are local already.
_NO_CANDIDATES = (
    CollectiveOp,
    DataFlowEdgeOp,
    ManualComputationOp,
    PropagationBarrierOp,
    ShardingConstraintOp,
    ShardingGroupOp,
)

# Custom calls that are sharding constraints.
_SHARDING_CALLS = ("Sharding", "mhlo.sharding")


@register("sdy-per-instruction-partitioning")
class PerInstructionPartitioning(Pass):
    filter: str = option(
        default="",
        help="operations to partition: parts of names, selectLow=N, selectHigh=N, separated by commas; all "
        "if empty",
    )
    enable_halo_exchange: bool = option(
        default=True,
        help="exchange halos, and keep windows sharded that stay in their shards, instead of replicating",
    )
    replica_count: int = option(default=1, help="number of replicas of the program")
    partition_count: int = option(default=1, help="number of partitions of each replica")
    rng_bit_generator_unsafe: bool = option(
        default=True,
        help="let the random bits of `stablehlo.rng_bit_generator` depend on their sharding, instead of "
        "replicating them",
        since=Since(Behavior.SHARDED_RANDOM_BITS),
    )

    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        selection = parse_filter(self.filter)
        selected = [op for n, op in enumerate(_candidates(module)) if selection.selects(op.name, n)]
        partitioner = InstructionPartitioner(self._passes(), module, rewriter)
        for op in selected:
            partitioner.partition(op)
        return rewriter.changed

    def _passes(self) -> list[Pass]:
        replicas, partitions = self.replica_count, self.partition_count
        return [
            InsertExplicitReshards(enable_full_version=True),
            ResolvePermutationFactors(
                enable_halo_exchange=self.enable_halo_exchange,
                replica_count=replicas,
                partition_count=partitions,
                rng_bit_generator_unsafe=self.rng_bit_generator_unsafe,
            ),
            ReshardToCollectives(),
            PadForDivisibility(),
            ConvertGlobalToLocal(
                enable_rgv3=Behavior.REPLICA_GROUPS_BY_AXES.active,
                replica_count=replicas,
                partition_count=partitions,
            ),
            DropShardingAndMesh(),
        ]


def _candidates(module: ModuleOp) -> Iterator[Op]:
    """The candidates of a module, in the order of the program."""
    for function in module.functions:
        assert isinstance(function, FuncOp)
        for block in function.body.blocks:
            yield from filter(_is_candidate, block.ops)


def _is_candidate(op: Op) -> bool:
    if op.is_terminator or isinstance(op, _NO_CANDIDATES):
        return False
    if isinstance(op, CustomCallOp) and op.call_target_name in _SHARDING_CALLS:
        return False
    return any(map(is_sharded, (*op.operands, *op.results)))


@dataclass(frozen=True)
class _Shardings:
    """The shardings of an operation's inputs and results, and the manual axes of its computation."""

    inputs: Sequence[TensorSharding]
    results: Sequence[TensorSharding]
    mesh: Mesh

    @property
    def axes(self) -> ManualAxes:
        """All axes of the mesh; before, those of the shardings in the order of their occurrence."""
        if Behavior.ALL_AXES_MANUAL.active:
            return ManualAxes(tuple(axis.name for axis in self.mesh.axes))
        refs = (axis for sharding in (*self.inputs, *self.results) for axis in sharding.axis_refs)
        return ManualAxes(tuple(dict.fromkeys(axis.name for axis in refs)))


class InstructionPartitioner:
    """Partitions operations of one module, each by itself."""

    def __init__(self, passes: Sequence[Pass], module: ModuleOp, rewriter: Rewriter) -> None:
        self._passes = passes
        self._rewriter = rewriter
        self._types = LocalTypes(module)
        self._channels = Channels(module)
        self._padder = Padder(HaloContext(self._types, rewriter, self._channels, replica_count=1))

    def partition(self, op: Op) -> None:
        """Replaces an operation by a manual computation whose body is its local program."""
        if isinstance(op, ReshardOp):
            op = self._widened(op)
        inputs = inputs_of(op)
        shardings = self._shardings(op, inputs)
        body = self._local_body(op, inputs, shardings)
        padded = [self._padded(op, *pair) for pair in zip(inputs, shardings.inputs, strict=True)]
        types = [
            self._types.padded_type(result.type, sharding)
            for result, sharding in zip(op.results, shardings.results, strict=True)
        ]
        attributes = {
            "in_shardings": ShardingPerValue(tuple(shardings.inputs)),
            "out_shardings": ShardingPerValue(tuple(shardings.results)),
            "manual_axes": shardings.axes,
        }
        builder = self._padder.builder(op)
        computation = builder.create(ManualComputationOp, padded, types, attributes, [body])
        cut = [
            self._cut(op, *part)
            for part in zip(computation.results, op.results, shardings.results, strict=True)
        ]
        self._rewriter.replace(op, cut)

    def _widened(self, reshard: ReshardOp) -> ReshardOp:
        """Replaces a reshard whose source and target shardings pad the shape to different sizes.

        The value is padded to the larger size of each dimension, resharded, and sliced. Returns the new
        reshard, or the old one if the sizes are the same.
        """
        value = reshard.input
        from_type = self._types.padded_type(value.type, self._types.sharding(value))
        to_type = self._types.padded_type(value.type, reshard.sharding)
        if from_type is to_type or not (
            isinstance(from_type, RankedTensor) and isinstance(to_type, RankedTensor)
        ):
            return reshard
        shape = tuple(map(max, from_type.shape, to_type.shape))
        wide = self._padder.pad(reshard, value, shape)
        moved = self._padder.builder(reshard).create(
            ReshardOp, [wide], [wide.type], {"sharding": reshard.sharding}
        )
        assert isinstance(moved, ReshardOp)
        self._rewriter.replace(reshard, [self._cut(reshard, moved.result, reshard.result, reshard.sharding)])
        return moved

    def _padded(self, op: Op, value: Value, sharding: TensorSharding) -> Value:
        type = self._types.padded_type(value.type, sharding)
        return self._padder.pad(op, value, type.shape) if isinstance(type, RankedTensor) else value

    def _cut(self, op: Op, value: Value, like: Value, sharding: TensorSharding) -> Value:
        type = like.type
        return self._padder.cut(op, value, type.shape, sharding) if isinstance(type, RankedTensor) else value

    def _shardings(self, op: Op, inputs: Sequence[Value]) -> _Shardings:
        own = [sharding_of(value) for value in (*inputs, *op.results)]
        mesh_or_ref = common_mesh_or_ref(own, self._types.find_mesh)
        if mesh_or_ref is None:
            raise op.op_error("cannot be partitioned by itself: its operands and results have several meshes")

        def sharding(value: Value) -> TensorSharding:
            return sharding_or_replicated(value, mesh_or_ref, is_closed=True)

        # Partial results are reduced in the manual computation, so its results have no unreduced axes.
        results = [_reduced(sharding(value)) for value in op.results]
        mesh = self._types.find_mesh(mesh_or_ref)
        assert mesh is not None
        return _Shardings([sharding(value) for value in inputs], results, mesh)

    def _local_body(self, op: Op, inputs: Sequence[Value], shardings: _Shardings) -> Region:
        """Outlines the operation into a function, partitions that function, and returns its body.

        The function is private, because arguments and results of public functions are not padded.
        """
        with recording():
            outlined = outline(op, inputs, shardings.inputs, shardings.results)
            rewriter, function = Rewriter(), outlined.function
            for pass_ in self._passes:
                for anchor in outlined.module.functions if pass_.anchor == FUNCTION else [outlined.module]:
                    pass_.run(anchor)
            while calls := [inner for inner in function.walk() if isinstance(inner, CallOp)]:
                for call in calls:
                    inline_call(call, called_function(call), rewriter, move_body=False)
            returned = function.entry.last
            assert returned is not None
            rewriter.create(SdyReturnOp, returned.operands, before=returned, location=returned.lazy_location)
            rewriter.erase(returned)
            self._number_channels(function, rewriter)
            body = Region()
            rewriter.take_body(function.body, body)
        return body

    def _number_channels(self, function: FuncOp, rewriter: Rewriter) -> None:
        """Gives each operation that has a channel handle a new one, unique in the whole program."""
        for op in function.walk():
            if isinstance(op.attribute("channel_handle"), ChannelHandle):
                rewriter.set_attribute(op, "channel_handle", self._channels.new())


def _reduced(sharding: TensorSharding) -> TensorSharding:
    return TensorSharding(sharding.mesh_or_ref, sharding.dims, sharding.replicated_axes)


_LOW, _HIGH = "selectLow=", "selectHigh="


@dataclass(frozen=True)
class OpFilter:
    """Selects operations by a range of numbers and by parts of names; a criterion left out selects all."""

    low: int | None = None
    high: int | None = None
    names: tuple[str, ...] = ()

    def selects(self, name: str, number: int) -> bool:
        """Whether the filter selects an operation."""
        if self.low is not None and number < self.low:
            return False
        if self.high is not None and number > self.high:
            return False
        return not self.names or any(part in name for part in self.names)


def parse_filter(text: str) -> OpFilter:
    """Parses `selectLow=0, selectHigh=10, dot`, with or without quotes around it.

    As in Shardy, a limit that is negative or no number is ignored.
    """
    text = text.strip()
    if text[:1] in ("'", '"') and text[-1:] == text[:1]:
        text = text[1:-1]
    limits: dict[str, int] = {}
    names = []
    for part in filter(None, map(str.strip, text.split(","))):
        prefix = next((start for start in (_LOW, _HIGH) if part.startswith(start)), None)
        if prefix is None:
            names.append(part)
            continue
        number = part.removeprefix(prefix).strip()
        if number.isascii() and number.isdigit() and len(number) < 20:
            limits[prefix] = int(number)
    return OpFilter(limits.get(_LOW), limits.get(_HIGH), tuple(names))
