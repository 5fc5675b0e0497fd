"""stablehlo's collective operations: all_gather, all_reduce, reduce_scatter, all_to_all and others."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.stablehlo.dialect import (
    I64_ELEMENTS,
    NON_NEGATIVE_I64,
    POSITIVE_I64,
    integers_of,
    quoted,
    stablehlo,
)
from sdyopt.mlir.dialects.stablehlo.reducer import (
    SINGLE_BLOCK,
    RegionSignatures,
    RegionVerifyingOp,
    check_reducer,
    region_signature,
)
from sdyopt.mlir.dialects.stablehlo.replica_groups import (
    CHANNEL_HANDLE,
    CollectiveOp,
    channel_id,
    check_replica_groups,
)
from sdyopt.mlir.dialects.stablehlo.type_compatibility import (
    COMPATIBLE_TYPES,
    INFERS_COMPATIBLE_TYPES,
    PAIRWISE_SAME_ELEMENT_TYPE,
    most_specific_operand_type,
)
from sdyopt.mlir.dialects.stablehlo.types import TENSOR, bounds_of, encoding_with
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.op_fields import operand_types
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import SAME_ELEMENT_TYPE, are_compatible_sizes
from sdyopt.mlir.ir.traits import ONE_BLOCK, PURE, UNIT_ATTR, Trait
from sdyopt.mlir.ir.types import DYNAMIC, I32, RankedTensor, ShapedType, Type, element_of, tensor

# --- all_gather and all_to_all -----------------------------------------------------------------


@stablehlo.op("all_gather", PAIRWISE_SAME_ELEMENT_TYPE)
class AllGatherOp(CollectiveOp):
    """Concatenates each operand's values from all processes of a replica group along `all_gather_dim`."""

    inputs = op_fields.operands(TENSOR)
    all_gather_dim = op_fields.attr(NON_NEGATIVE_I64)
    use_global_device_ids = op_fields.optional_attr(UNIT_ATTR)
    out = op_fields.results(TENSOR)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        uses_global_ids = bool(signature[AllGatherOp.use_global_device_ids])
        check_replica_groups(signature, has_uniform_size=True, uses_global_ids=uses_global_ids)
        if uses_global_ids and channel_id(signature) < 0:  # all_gather_c5
            raise signature.error_without_op_note(
                "channel_id cannot be negative when useGlobalDeviceIds is set"
            )
        dimension = signature[AllGatherOp.all_gather_dim]
        for input, result in zip(signature.operand_types, signature.result_types, strict=True):
            assert isinstance(input, RankedTensor) and isinstance(result, RankedTensor)
            _check_gathered(signature, input, result, dimension)
            if DYNAMIC in (input.shape[dimension], result.shape[dimension]):
                return  # as in StableHLO's C++ verifier, which then does not check the other operands


def _check_gathered(
    signature: OpSignature, input: RankedTensor, result: RankedTensor, dimension: int
) -> None:
    if dimension >= input.rank:  # all_gather_c1
        raise signature.error_without_op_note("all_gather_dim must be a valid index of operand")
    if input.shape[dimension] == 0:
        raise signature.error_without_op_note("dimension size of operand at 'all_gather_dim' cannot be zero")
    if result.rank != input.rank:  # all_gather_c6
        raise signature.error_without_op_note("operand and result must have the same rank")
    for index, (input_size, result_size) in enumerate(zip(input.shape, result.shape, strict=True)):
        if index != dimension and not are_compatible_sizes(input_size, result_size):  # all_gather_c6
            raise signature.error_without_op_note(
                "operand and result should have the same shape except for the dimension size at "
                "'all_gather_dim'"
            )
    input_size, result_size = input.shape[dimension], result.shape[dimension]
    if DYNAMIC not in (input_size, result_size) and result_size % input_size:  # all_gather_c6
        raise signature.error_without_op_note(
            f"result gather dimension has size {result_size}, expected to be a multiple of operand gather "
            f"dimension size {input_size}"
        )


@stablehlo.op("all_to_all", PAIRWISE_SAME_ELEMENT_TYPE, INFERS_COMPATIBLE_TYPES)
class AllToAllOp(CollectiveOp):
    """Splits each operand, exchanges slices within replica groups, and concatenates the received slices."""

    inputs = op_fields.operands(TENSOR)
    split_dimension = op_fields.attr(NON_NEGATIVE_I64)
    concat_dimension = op_fields.attr(NON_NEGATIVE_I64)
    split_count = op_fields.attr(POSITIVE_I64)
    out = op_fields.results(TENSOR)

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> Sequence[Type]:
        split_count = signature[AllToAllOp.split_count]
        check_replica_groups(signature, has_uniform_size=True, group_size=split_count)
        return [_all_to_all_type(signature, input) for input in signature[AllToAllOp.inputs]]


def _all_to_all_type(signature: OpSignature, input: RankedTensor) -> Type:
    split, concat = signature[AllToAllOp.split_dimension], signature[AllToAllOp.concat_dimension]
    count = signature[AllToAllOp.split_count]
    for dimension, name in ((split, "split_dimension"), (concat, "concat_dimension")):
        if dimension >= input.rank:  # all_to_all_c1, all_to_all_c3
            raise signature.error_without_op_note(
                f"AllToAll {name} {dimension} is out-of-bounds for input rank {input.rank}"
            )
    size = input.shape[split]
    if size != DYNAMIC and size % count:  # all_to_all_c2
        raise signature.error_without_op_note(
            f"split dimension has size {size}, expected to be a multiple of split_count {count}"
        )
    shape = _all_to_all_sizes(input.shape, split, concat, count)
    bounds = bounds_of(input)
    result_bounds = _all_to_all_sizes(bounds, split, concat, count) if bounds else ()
    encoding = encoding_with(input.encoding, result_bounds)
    return RankedTensor(tuple(shape), input.element, encoding)


def _all_to_all_sizes(sizes: Sequence[int], split: int, concat: int, count: int) -> list[int]:
    """The sizes or bounds of the result, from those of the operand."""
    result = list(sizes)
    if result[split] != DYNAMIC:
        result[split] //= count
    if result[concat] != DYNAMIC:
        result[concat] *= count
    return result


# --- Reductions --------------------------------------------------------------------------------


@stablehlo.op("all_reduce", INFERS_COMPATIBLE_TYPES, SINGLE_BLOCK)
class AllReduceOp(CollectiveOp, RegionVerifyingOp):
    """Reduces each operand elementwise over the processes of a replica group."""

    inputs = op_fields.operands(TENSOR)
    use_global_device_ids = op_fields.optional_attr(UNIT_ATTR)
    out = op_fields.results(TENSOR)
    computation = op_fields.region(ONE_BLOCK)

    @staticmethod
    def verify_region_signatures(signature: OpSignature, regions: RegionSignatures) -> None:
        uses_global_ids = bool(signature[AllReduceOp.use_global_device_ids])
        check_replica_groups(signature, has_uniform_size=False, uses_global_ids=uses_global_ids)
        _check_channel(signature, uses_global_ids)  # all_reduce_c4
        _check_reduced_values(signature, regions, signature.operand_types)  # all_reduce_c5

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> Sequence[Type]:
        return _reduced_types(signature.operand_types, regions[0])  # all_reduce_c6, all_reduce_c7


def _check_reduced_values(signature: OpSignature, regions: RegionSignatures, inputs: Sequence[Type]) -> None:
    for input in inputs:
        check_reducer(signature, regions[0], [input], [tensor((), element_of(input))], ())


def _reduced_types(inputs: Sequence[Type], computation: Region) -> Sequence[Type]:
    element = element_of(region_signature(computation).returned_types[0]) if inputs else None
    return [
        RankedTensor(input.shape, element, input.encoding)
        for input in inputs
        if isinstance(input, RankedTensor) and element is not None
    ]


def _check_channel(signature: OpSignature, uses_global_ids: bool) -> None:
    if uses_global_ids and channel_id(signature) <= 0:
        raise signature.error_without_op_note(
            f"channel_id must be positive when useGlobalDeviceIds is set but got: {channel_id(signature)}"
        )


@stablehlo.op("reduce_scatter")
class ReduceScatterOp(CollectiveOp, RegionVerifyingOp):
    """Reduces the operand over the processes of a replica group and scatters the result over them."""

    value = op_fields.operand(TENSOR)
    scatter_dimension = op_fields.attr(NON_NEGATIVE_I64)
    use_global_device_ids = op_fields.optional_attr(UNIT_ATTR)
    out = op_fields.result(TENSOR)
    computation = op_fields.region(ONE_BLOCK)

    @staticmethod
    def verify_region_signatures(signature: OpSignature, regions: RegionSignatures) -> None:
        input, result = signature[ReduceScatterOp.value], signature[ReduceScatterOp.out]
        dimension = signature[ReduceScatterOp.scatter_dimension]
        uses_global_ids = bool(signature[ReduceScatterOp.use_global_device_ids])
        check_replica_groups(signature, has_uniform_size=True, uses_global_ids=uses_global_ids)
        # reduce_scatter_c7
        check_reducer(signature, regions[0], [input], [tensor((), input.element)], ())
        if input.rank != result.rank:  # reduce_scatter_c8
            raise signature.error_without_op_note("operand and result should have same rank")
        if dimension >= input.rank:  # reduce_scatter_c2
            raise signature.error_without_op_note("scatter dim should be less than operand/result rank")
        _check_channel(signature, uses_global_ids)  # reduce_scatter_c6
        if DYNAMIC in (input.shape[dimension], result.shape[dimension]):
            return
        _check_scattered(signature, input, result, dimension)
        accumulator = regions[0].returned_types[0]
        if isinstance(accumulator, ShapedType) and accumulator.element is not result.element:
            raise signature.error_without_op_note(  # reduce_scatter_c9
                f"result element-type is expected to be {quoted(accumulator.element)}, but got "
                f"{quoted(result.element)}"
            )


def _check_scattered(
    signature: OpSignature, input: RankedTensor, result: RankedTensor, dimension: int
) -> None:
    input_size, result_size = input.shape[dimension], result.shape[dimension]
    for size, what in ((result_size, "result"), (input_size, "operand")):
        if size == 0:
            raise signature.error_without_op_note(
                f"{what} dimension size at scatter_dimension cannot be zero"
            )
    if input_size % result_size:  # reduce_scatter_c8
        raise signature.error_without_op_note(
            f"operand scatter dimension has size {input_size}, expected to be a multiple of result scatter "
            f"dimension size {result_size}"
        )
    for index, (input_size, result_size) in enumerate(zip(input.shape, result.shape, strict=True)):
        if index != dimension and not are_compatible_sizes(input_size, result_size):  # reduce_scatter_c8
            raise signature.error_without_op_note(
                f"non scatter dimensions should be same for operand ({input_size}) and result ({result_size})"
            )


@stablehlo.op("cross-replica-sum", PURE, INFERS_COMPATIBLE_TYPES, COMPATIBLE_TYPES)
class CrossReplicaSumOp(Op):
    """Sums the operand over the processes of a replica group (superseded by all_reduce)."""

    value = op_fields.operand(TENSOR)
    replica_groups = op_fields.attr(I64_ELEMENTS)
    out = op_fields.result(TENSOR)

    infer_result_types = staticmethod(most_specific_operand_type)


# --- Collectives with a root -------------------------------------------------------------------


def data_types(signature: OpSignature) -> Sequence[Type]:
    """The types of the operands that a collective with a root sends or reduces.

    With `has_dynamic_root`, one more operand has the index of the root of each of them in the replica group.
    """
    has_root = signature.attributes.get("has_dynamic_root") is not None
    return signature.operand_types[:-1] if has_root else signature.operand_types


def _check_roots(signature: OpSignature) -> None:
    name = signature.name.partition(".")[2]
    count = len(data_types(signature))
    if signature.attributes.get("has_dynamic_root") is None:
        if not count:
            raise signature.error_without_op_note(f"{name} requires at least one data operand")
        return
    if count < 1:
        raise signature.error_without_op_note(
            f"{name} with has_dynamic_root=true requires at least two operands (data + root)"
        )
    roots = signature.operand_types[-1]
    what = f"last operand of {name} with has_dynamic_root=true must"
    if not isinstance(roots, RankedTensor) or roots.rank != 1 or roots.element is not I32:
        raise signature.error_without_op_note(f"{what} be a rank-1 i32 tensor, but got {quoted(roots)}")
    if roots.shape[0] != count:
        raise signature.error_without_op_note(
            f"{what} have the same number of elements as data operands ({count}), but got {roots.shape[0]}"
        )


@stablehlo.op("collective_reduce", INFERS_COMPATIBLE_TYPES, SINGLE_BLOCK, since=Behavior.COLLECTIVE_REDUCE)
class CollectiveReduceOp(CollectiveOp, RegionVerifyingOp):
    """Reduces each operand elementwise over the processes of a replica group; the root has the result."""

    inputs = op_fields.operands(TENSOR)
    use_global_device_ids = op_fields.optional_attr(UNIT_ATTR)
    has_dynamic_root = op_fields.optional_attr(UNIT_ATTR)
    out = op_fields.results(TENSOR)
    computation = op_fields.region(ONE_BLOCK)

    @staticmethod
    def verify_region_signatures(signature: OpSignature, regions: RegionSignatures) -> None:
        uses_global_ids = bool(signature[CollectiveReduceOp.use_global_device_ids])
        check_replica_groups(signature, has_uniform_size=False, uses_global_ids=uses_global_ids)
        _check_channel(signature, uses_global_ids)
        _check_roots(signature)
        _check_reduced_values(signature, regions, data_types(signature))

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> Sequence[Type]:
        return _reduced_types(data_types(signature), regions[0])


def _check_one_element_type(signature: OpSignature) -> None:
    if not Behavior.BROADCASTS_OF_SEVERAL_VALUES.active:
        assert SAME_ELEMENT_TYPE.verify_signature is not None
        SAME_ELEMENT_TYPE.verify_signature(signature)


@stablehlo.op(
    "collective_broadcast",
    Trait("same-element-type-of-one-value", _check_one_element_type),
    INFERS_COMPATIBLE_TYPES,
)
class CollectiveBroadcastOp(CollectiveOp):
    """Sends each operand of the root of each replica group to all processes of the group.

    The root is the first process of the group, unless an operand has its index.
    """

    inputs = op_fields.operands(TENSOR).since(
        Behavior.BROADCASTS_OF_SEVERAL_VALUES, before=op_fields.operand(TENSOR)
    )
    has_dynamic_root = op_fields.optional_attr(UNIT_ATTR).since(Behavior.BROADCASTS_OF_SEVERAL_VALUES)
    out = op_fields.results(TENSOR).since(
        Behavior.BROADCASTS_OF_SEVERAL_VALUES, before=op_fields.result(TENSOR)
    )

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        _check_broadcast_groups(signature)
        _check_roots(signature)

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> Sequence[Type]:
        return data_types(signature)


def _check_broadcast_groups(signature: OpSignature) -> None:
    groups = signature[CollectiveOp.replica_groups]
    if not isinstance(groups, DenseElements):
        return
    rank = len(groups.type.shape)
    if rank != 2:
        raise signature.error_without_op_note(
            f"replica groups should be a rank 2 tensor,but instead it is of rank {rank}"
        )
    replica_ids = set()
    for replica in integers_of(groups):
        if replica < 0:  # collective_broadcast_c2
            raise signature.error_without_op_note(
                f"replica_groups values must be positive, but was given {replica}"
            )
        if replica in replica_ids:  # collective_broadcast_c1
            raise signature.error_without_op_note(f"replica id #{replica} seen more than once")
        replica_ids.add(replica)


# --- collective_permute ------------------------------------------------------------------------


@stablehlo.op("collective_permute", SAME_ELEMENT_TYPE, INFERS_COMPATIBLE_TYPES)
class CollectivePermuteOp(Op):
    """Sends the operand of each source process to its target process."""

    value = op_fields.operand(TENSOR)
    source_target_pairs = op_fields.attr(I64_ELEMENTS)
    channel_handle = op_fields.optional_attr(CHANNEL_HANDLE)
    out = op_fields.result(TENSOR)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        pairs = signature[CollectivePermuteOp.source_target_pairs]
        shape = pairs.type.shape
        if len(shape) != 2:
            raise signature.error_without_op_note(
                f"expect source_target_pairs attribute to be of rank 2, but got rank {len(shape)}"
            )
        if shape[1] != 2:  # collective_permute_c1
            raise signature.error_without_op_note(
                "expect source_target_pairs attribute of shape (N, 2), but got "
                f"({', '.join(map(str, shape))})"
            )
        _check_pairs(signature, integers_of(pairs))

    infer_result_types = staticmethod(operand_types)


def _check_pairs(signature: OpSignature, replicas: Sequence[int]) -> None:
    sources: set[int] = set()
    targets: set[int] = set()
    for index, replica in enumerate(replicas):
        if replica < 0:  # collective_permute_c4
            raise signature.error_without_op_note("replica ids in source_target_pairs must be >= 0.")
        replica_ids, what = (targets, "targets") if index % 2 else (sources, "sources")
        if replica in replica_ids:  # collective_permute_c2, collective_permute_c3
            raise signature.error_without_op_note(f"duplicate {what} not allowed.")
        replica_ids.add(replica)
