"""sdy's collectives: communication between devices, described by the shardings before and after it."""

from __future__ import annotations

from sdyopt.mlir.asm.format.assembly_format import Assembly, AttrDict, FormatElement, Operand, assembly
from sdyopt.mlir.dialects.sdy import collective_checks as checks
from sdyopt.mlir.dialects.sdy.assembly_directives import (
    ANY_SHAPED,
    ConstrainedTypeOf,
    bare_attr,
    named_attr,
)
from sdyopt.mlir.dialects.sdy.axis_lists import (
    AllToAllParams,
    AxesPerDim,
    AxisRefList,
)
from sdyopt.mlir.dialects.sdy.collective_base import CollectiveOp
from sdyopt.mlir.dialects.sdy.dialect import sdy
from sdyopt.mlir.dialects.sdy.reduction_kind import OptionalReduction, reduction_attr
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.ir.constraints import of_class
from sdyopt.mlir.ir.op_fields import attr
from sdyopt.mlir.ir.shape_traits import SAME_TYPE
from sdyopt.mlir.ir.traits import INFERS_TYPES

_AXES = of_class(AxisRefList, "List of axis refs")
_AXES_PER_DIM = of_class(AxesPerDim, "List of axis ref lists")
_ALL_TO_ALL_PARAMS = of_class(AllToAllParams, "List of all-to-all parameters")


def _assembly(*before: FormatElement) -> Assembly:
    """`parameter %tensor out_sharding=<…> {…} : type`."""
    return assembly(
        *before,
        Operand("tensor"),
        named_attr("out_sharding", TensorSharding),
        AttrDict(),
        ":",
        ConstrainedTypeOf("output", ANY_SHAPED, same=["tensor"]),
    )


@sdy.op("all_gather", SAME_TYPE, INFERS_TYPES)
class AllGatherOp(CollectiveOp):
    """Gathers the chunks of a tensor along axes, which no longer shard the result."""

    __slots__ = ()

    gathering_axes = attr(_AXES_PER_DIM)

    assembly = _assembly(bare_attr("gathering_axes", AxesPerDim))

    def verify_symbol_uses(self) -> None:
        checks.check_gather(self, self.gathering_axes, "gathering")


@sdy.op("all_slice", SAME_TYPE, INFERS_TYPES)
class AllSliceOp(CollectiveOp):
    """Slices a tensor along axes, which shard the result, without communication."""

    __slots__ = ()

    slicing_axes = attr(_AXES_PER_DIM)

    allows_missing_sharding = True
    assembly = _assembly(bare_attr("slicing_axes", AxesPerDim))

    def verify_symbol_uses(self) -> None:
        checks.check_slice(self, self.slicing_axes)


@sdy.op("all_to_all", SAME_TYPE, INFERS_TYPES)
class AllToAllOp(CollectiveOp):
    """Moves axes from dimensions to other dimensions."""

    __slots__ = ()

    params = attr(_ALL_TO_ALL_PARAMS)

    assembly = _assembly(bare_attr("params", AllToAllParams))

    def verify_symbol_uses(self) -> None:
        checks.check_all_to_all(self, self.params)


@sdy.op("collective_permute", SAME_TYPE, INFERS_TYPES)
class CollectivePermuteOp(CollectiveOp):
    """Permutes the chunks of a tensor between devices: each dimension keeps its sharded size, but its axes,
    their order or the device order of the mesh may change."""

    __slots__ = ()

    allows_different_meshes = True
    assembly = _assembly()

    def verify_symbol_uses(self) -> None:
        checks.check_permute(self)


@sdy.op("all_reduce", SAME_TYPE, INFERS_TYPES)
class AllReduceOp(CollectiveOp):
    """Reduces the chunks of a tensor along axes: sums them, or takes the maximum or minimum."""

    __slots__ = ()

    reduction_axes = attr(_AXES)
    reduction_op = reduction_attr()

    allows_missing_sharding = True
    assembly = _assembly(OptionalReduction(), bare_attr("reduction_axes", AxisRefList))

    def verify_symbol_uses(self) -> None:
        checks.check_all_reduce(self, self.reduction_axes)
        checks.check_reduction(self, self.reduction_op)


@sdy.op("reduce_scatter", SAME_TYPE, INFERS_TYPES)
class ReduceScatterOp(CollectiveOp):
    """Reduces the chunks of a tensor along axes, which shard the result."""

    __slots__ = ()

    reduce_scatter_axes = attr(_AXES_PER_DIM)
    reduction_op = reduction_attr()

    allows_missing_sharding = True
    assembly = _assembly(OptionalReduction(), bare_attr("reduce_scatter_axes", AxesPerDim))

    def verify_symbol_uses(self) -> None:
        checks.check_reduction(self, self.reduction_op)
        checks.check_slice(self, self.reduce_scatter_axes)


@sdy.op("sharded_to_unreduced", SAME_TYPE, INFERS_TYPES)
class ShardedToUnreducedOp(CollectiveOp):
    """Pads each chunk with zeros, so that axes that shard a dimension become unreduced axes."""

    __slots__ = ()

    axes = attr(_AXES_PER_DIM)

    assembly = _assembly(bare_attr("axes", AxesPerDim))

    def verify_symbol_uses(self) -> None:
        checks.check_reduction_of_unreduced(self)
        checks.check_gather(self, self.axes, "shard-to-unreduce")
        checks.check_unreduced(self, self.axes.axes, "sharded_to_unreduced_axes")


@sdy.op("replicated_to_unreduced", SAME_TYPE, INFERS_TYPES)
class ReplicatedToUnreducedOp(CollectiveOp):
    """Keeps one replica and sets the others to zero, so that replicated axes become unreduced axes."""

    __slots__ = ()

    axes = attr(_AXES)

    assembly = _assembly(bare_attr("axes", AxisRefList))

    def verify_symbol_uses(self) -> None:
        checks.check_reduction_of_unreduced(self)
        checks.check_replicated_to_unreduced(self, self.axes)
