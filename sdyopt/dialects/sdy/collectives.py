"""sdy's collectives: communication between devices, seen as a change of sharding.

Each has `out_sharding`, which must be what the operation makes of its operand's sharding.
"""

from __future__ import annotations

from sdyopt.asm.format.assembly_format import Assembly, AttrDict, FormatElement, Operand, assembly
from sdyopt.dialects.sdy import canonicalize_collectives as canonicalize
from sdyopt.dialects.sdy import collective_checks as checks
from sdyopt.dialects.sdy.assembly_directives import (
    ANY_SHAPED,
    SHARDING_ATTR,
    KnownType,
    bare_attr,
    kind_of,
    named_attr,
)
from sdyopt.dialects.sdy.axis_lists import (
    AllToAllParams,
    AxesPerDim,
    AxisRefList,
)
from sdyopt.dialects.sdy.dialect import sdy
from sdyopt.dialects.sdy.interfaces import ShardingOwner
from sdyopt.dialects.sdy.ops import operand_type
from sdyopt.dialects.sdy.sharding import TensorSharding
from sdyopt.ir.constraints import AttrKind
from sdyopt.ir.op_fields import attr, operand, result
from sdyopt.ir.shape_traits import SAME_TYPE
from sdyopt.ir.traits import INFERS_TYPES

_AXES: AttrKind[AxisRefList] = kind_of(AxisRefList, "List of axis refs")
_AXES_PER_DIM: AttrKind[AxesPerDim] = kind_of(AxesPerDim, "List of axis ref lists")
_MOVES: AttrKind[AllToAllParams] = kind_of(AllToAllParams, "List of all-to-all parameters")


def _assembly(*before: FormatElement) -> Assembly:
    """`parameter %tensor out_sharding=<…> {…} : type`."""
    return assembly(
        *before,
        Operand("tensor"),
        named_attr("out_sharding", TensorSharding),
        AttrDict(),
        ":",
        KnownType("output", ANY_SHAPED, same=["tensor"]),
    )


class CollectiveOp(ShardingOwner):
    """Base of all collectives."""

    __slots__ = ()

    tensor = operand(ANY_SHAPED)
    out_sharding = attr(SHARDING_ATTR)
    output = result(ANY_SHAPED)

    # An operand without a sharding may count as fully replicated.
    allows_missing_sharding = False
    # The result may speak of another mesh than the operand.
    allows_different_meshes = False
    # The sharding of an operand may be kept far away, at the loop of which it is an argument.
    has_nonlocal_verifier = True

    infer_result_types = staticmethod(operand_type)

    def verify_in_context(self) -> None:
        checks.check_collective(self, self.allows_missing_sharding, self.allows_different_meshes)

    def result_sharding(self, index: int) -> TensorSharding:
        return self.out_sharding


@sdy.op("all_gather", SAME_TYPE, INFERS_TYPES)
class AllGatherOp(CollectiveOp):
    """Puts the chunks along some axes together again: these axes no longer shard the tensor."""

    __slots__ = ()

    gathering_axes = attr(_AXES_PER_DIM)

    assembly = _assembly(bare_attr("gathering_axes", AxesPerDim))
    canonicalizations = (canonicalize.ALL_GATHER_OF_NOTHING,)

    def verify_symbol_uses(self) -> None:
        checks.check_gather(self, self.gathering_axes, "gathering")


@sdy.op("all_slice", SAME_TYPE, INFERS_TYPES)
class AllSliceOp(CollectiveOp):
    """Each device keeps its chunk along some axes: these axes now shard the tensor, too."""

    __slots__ = ()

    slicing_axes = attr(_AXES_PER_DIM)

    allows_missing_sharding = True
    assembly = _assembly(bare_attr("slicing_axes", AxesPerDim))
    canonicalizations = (
        canonicalize.ALL_SLICE_OF_ALL_GATHER,
        canonicalize.ALL_SLICE_OF_NOTHING,
        canonicalize.REDUCE_SCATTER_FUSION,
    )

    def verify_symbol_uses(self) -> None:
        checks.check_slice(self, self.slicing_axes)


@sdy.op("all_to_all", SAME_TYPE, INFERS_TYPES)
class AllToAllOp(CollectiveOp):
    """Moves axes from sharding one dimension to sharding another."""

    __slots__ = ()

    params = attr(_MOVES)

    assembly = _assembly(bare_attr("params", AllToAllParams))
    canonicalizations = (canonicalize.ALL_TO_ALL_OF_ALL_TO_ALL, canonicalize.UNUSED_ALL_TO_ALL)

    def verify_symbol_uses(self) -> None:
        checks.check_all_to_all(self, self.params)


@sdy.op("collective_permute", SAME_TYPE, INFERS_TYPES)
class CollectivePermuteOp(CollectiveOp):
    """Sends each chunk from one device to another: other axes of the same sizes shard the tensor."""

    __slots__ = ()

    allows_different_meshes = True
    assembly = _assembly()
    canonicalizations = (canonicalize.COLLECTIVE_PERMUTE_OF_NOTHING,)

    def verify_symbol_uses(self) -> None:
        checks.check_permute(self)


@sdy.op("all_reduce", SAME_TYPE, INFERS_TYPES)
class AllReduceOp(CollectiveOp):
    """Sums what lies along some axes."""

    __slots__ = ()

    reduction_axes = attr(_AXES)

    allows_missing_sharding = True
    assembly = _assembly(bare_attr("reduction_axes", AxisRefList))
    canonicalizations = (
        canonicalize.ALL_REDUCE_OF_NOTHING,
        canonicalize.ALL_REDUCE_OF_REPLICATED_TO_UNREDUCED,
        canonicalize.ALL_REDUCE_OF_SHARDED_TO_UNREDUCED,
    )

    def verify_symbol_uses(self) -> None:
        checks.check_all_reduce(self, self.reduction_axes)


@sdy.op("reduce_scatter", SAME_TYPE, INFERS_TYPES)
class ReduceScatterOp(CollectiveOp):
    """Sums what lies along some axes, and shards the sum along them."""

    __slots__ = ()

    reduce_scatter_axes = attr(_AXES_PER_DIM)

    allows_missing_sharding = True
    assembly = _assembly(bare_attr("reduce_scatter_axes", AxesPerDim))
    canonicalizations = (canonicalize.REDUCE_SCATTER_OF_NOTHING,)

    def verify_symbol_uses(self) -> None:
        checks.check_slice(self, self.reduce_scatter_axes)


@sdy.op("sharded_to_unreduced", SAME_TYPE, INFERS_TYPES)
class ShardedToUnreducedOp(CollectiveOp):
    """Fills each chunk up with zeros, so that what was sharded is now to be summed."""

    __slots__ = ()

    axes = attr(_AXES_PER_DIM)

    assembly = _assembly(bare_attr("axes", AxesPerDim))

    def verify_symbol_uses(self) -> None:
        checks.check_gather(self, self.axes, "shard-to-unreduce")
        checks.check_unreduced(self, self.axes.axes, "sharded_to_unreduced_axes")


@sdy.op("replicated_to_unreduced", SAME_TYPE, INFERS_TYPES)
class ReplicatedToUnreducedOp(CollectiveOp):
    """Keeps one of several copies and makes the others zero, so that they are to be summed."""

    __slots__ = ()

    axes = attr(_AXES)

    assembly = _assembly(bare_attr("axes", AxisRefList))

    def verify_symbol_uses(self) -> None:
        checks.check_replicated_to_unreduced(self, self.axes)
