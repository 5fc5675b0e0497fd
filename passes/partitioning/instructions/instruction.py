"""Partitioning of one operation: the program of each device becomes the body of a manual computation."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.axes import ManualAxes
from sdyopt.mlir.dialects.sdy.computation_ops import ManualComputationOp
from sdyopt.mlir.dialects.sdy.mesh_op import common_mesh_or_ref
from sdyopt.mlir.dialects.sdy.ops import ReshardOp
from sdyopt.mlir.dialects.sdy.ops import ReturnOp as SdyReturnOp
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_or_replicated
from sdyopt.mlir.dialects.stablehlo.replica_groups import ChannelHandle
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.edit_log import recording
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.pipeline.base import FUNCTION
from sdyopt.shardy.partition.local_builder import Channels
from sdyopt.shardy.partition.local_types import LocalTypes
from sdyopt.shardy.partition.outlining import inputs_of, outline
from sdyopt.shardy.partition.padding import Padder

from ...common.support.call_graph import called_function
from ...common.support.inline_call import inline_call


@dataclass(frozen=True)
class _Shardings:
    """The shardings of an operation's inputs and results, and all axes in them."""

    inputs: Sequence[TensorSharding]
    results: Sequence[TensorSharding]

    @property
    def axes(self) -> ManualAxes:
        """The axes in the order of their first occurrence."""
        refs = (axis for sharding in (*self.inputs, *self.results) for axis in sharding.axis_refs)
        return ManualAxes(tuple(dict.fromkeys(axis.name for axis in refs)))


class InstructionPartitioner:
    """Partitions operations of one module, each by itself."""

    def __init__(self, passes: Sequence[Pass], module: ModuleOp, rewriter: Rewriter) -> None:
        self._passes = passes
        self._rewriter = rewriter
        self._types = LocalTypes(module)
        self._padder = Padder(self._types, rewriter)
        self._channels = Channels(module)

    def partition(self, op: Op) -> None:
        """Replaces an operation by a manual computation whose body is its local program."""
        if isinstance(op, ReshardOp):
            op = self._widened(op)
        inputs = inputs_of(op)
        shardings = self._shardings(op, inputs)
        body = self._local_body(op, inputs, shardings)
        padded = [self._padded(op, *each) for each in zip(inputs, shardings.inputs, strict=True)]
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
            self._cut(op, *each)
            for each in zip(computation.results, op.results, shardings.results, strict=True)
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
        own = [self._types.declared_sharding(value) for value in (*inputs, *op.results)]
        mesh_or_ref = common_mesh_or_ref(own, self._types.find_mesh)
        if mesh_or_ref is None:
            raise op.op_error("cannot be partitioned by itself: its operands and results have several meshes")

        def sharding(value: Value) -> TensorSharding:
            return sharding_or_replicated(value, mesh_or_ref, is_closed=True)

        # Partial results are reduced in the manual computation, so its results have no unreduced axes.
        results = [_reduced(sharding(value)) for value in op.results]
        return _Shardings([sharding(value) for value in inputs], results)

    def _local_body(self, op: Op, inputs: Sequence[Value], shardings: _Shardings) -> Region:
        """Outlines the operation into a function, partitions that function, and returns its body.

        The function is private, because arguments and results of public functions are not padded.
        """
        with recording():
            outlined = outline(op, inputs, shardings.inputs, shardings.results)
            rewriter, function = Rewriter(), outlined.function
            for pass_ in self._passes:
                for each in _anchors(pass_, outlined.module):
                    pass_.run(each)
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


def _anchors(pass_: Pass, module: ModuleOp) -> Sequence[Op]:
    return module.functions if pass_.anchor == FUNCTION else [module]
