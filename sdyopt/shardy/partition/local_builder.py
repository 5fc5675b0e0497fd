"""Creation of StableHLO operations on local values, before the operation that is being lowered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.sharding import MeshOrRef, ShardingPerValue, fully_replicated
from sdyopt.mlir.dialects.stablehlo.collectives import AllGatherOp, AllReduceOp
from sdyopt.mlir.dialects.stablehlo.compare_select import (
    ClampOp,
    CompareOp,
    ComparisonDirection,
    ConvertOp,
    SelectOp,
)
from sdyopt.mlir.dialects.stablehlo.control_flow import ReturnOp
from sdyopt.mlir.dialects.stablehlo.nullary import ConstantOp, IotaOp
from sdyopt.mlir.dialects.stablehlo.replica_groups import DEVICE_TO_DEVICE, ChannelHandle
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp, ReshapeOp, TransposeOp
from sdyopt.mlir.dialects.stablehlo.slicing import ConcatenateOp, DynamicSliceOp, PadOp, SliceOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import ranked
from sdyopt.mlir.ir.attribute import Attribute, UnitAttr
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.builtin_attributes import (
    DenseElements,
    can_be_negative,
    dense,
    dense_array,
    element_size,
    integer,
)
from sdyopt.mlir.ir.operation import Op, OpT
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import I1, I64, IntegerType, RankedTensor, Type, tensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.combiners import exact_sum_identity

SCALAR_I64 = tensor((), I64)


class LocalBuilder:
    """Creates operations at the location of an operation: before it, or at the end of a block."""

    def __init__(self, before: Op, rewriter: Rewriter, at_end_of: Block | None = None) -> None:
        self.before = before
        self.rewriter = rewriter
        self._block = at_end_of

    def create(
        self,
        op_class: type[Op],
        operands: Sequence[Value],
        result_types: Sequence[Type],
        attributes: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
    ) -> Op:
        """Creates an operation with these inherent and discardable attributes."""
        return self.rewriter.create(
            op_class,
            operands,
            result_types,
            attributes,
            before=self.before if self._block is None else None,
            at_end_of=self._block,
            location=self.before.lazy_location,
            regions=regions,
        )

    def build(self, op_class: type[OpT], /, **fields: Any) -> OpT:
        """Creates an operation with these values of its fields, as `Rewriter.build` does."""
        return self.rewriter.build(
            op_class,
            before=self.before if self._block is None else None,
            at_end_of=self._block,
            location=self.before.lazy_location,
            **fields,
        )

    # --- Constants and indices ----------------------------------------------------------------

    def constant(self, value: DenseElements) -> Value:
        """A constant tensor."""
        return self.create(ConstantOp, (), [value.type], {"value": value}).result

    def splat(self, type: RankedTensor, element: bytes) -> Value:
        """A constant tensor whose elements all have these bytes."""
        return self.constant(DenseElements(type, element))

    def zero(self, type: RankedTensor) -> Value:
        """A constant tensor of zeros, or of `false`."""
        return self.splat(type, bytes(element_size(type.element)))

    def sum_identity(self, type: RankedTensor) -> Value:
        """A constant tensor whose sum with any tensor is that tensor, to the bit.

        Floats are negative zeros, because -0.0 + 0.0 is 0.0.
        """
        return self.splat(type, exact_sum_identity(type.element))

    def integers(self, type: RankedTensor, values: Sequence[int]) -> Value:
        """A constant tensor of integers, in row-major order."""
        return self.constant(dense_integers(type, values))

    def index(self, value: int, element: Type = I64) -> Value:
        """A scalar constant."""
        return self.integers(tensor((), element), [value])

    def look_up(self, table: Sequence[int], element: Type, index: Value) -> Value:
        """The element of a constant table at an index, as a tensor of one element."""
        return self.dynamic_slice(self.integers(tensor((len(table),), element), table), [index], [1])

    def iota(self, type: RankedTensor, dimension: int) -> Value:
        """A tensor of the indices along one dimension."""
        return self.create(IotaOp, (), [type], {"iota_dimension": integer(dimension, I64)}).result

    # --- Shapes -------------------------------------------------------------------------------

    def reshape(self, value: Value, shape: Sequence[int]) -> Value:
        """The elements of a tensor, in row-major order, in another shape."""
        return self.create(ReshapeOp, [value], [_reshaped(value, shape)]).result

    def transpose(self, value: Value, permutation: Sequence[int]) -> Value:
        """A tensor whose dimension i is dimension `permutation[i]` of `value`."""
        shape = [shape_of(value)[dim] for dim in permutation]
        attributes = {"permutation": dense_array(I64, permutation)}
        return self.create(TransposeOp, [value], [_reshaped(value, shape)], attributes).result

    def broadcast(
        self,
        value: Value,
        type: RankedTensor,
        dimensions: Sequence[int] = (),
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Value:
        """A tensor whose dimension `dimensions[i]` is dimension i of `value`."""
        attributes = {"broadcast_dimensions": dense_array(I64, dimensions), **(attributes or {})}
        return self.create(BroadcastInDimOp, [value], [type], attributes).result

    def slice(
        self, value: Value, starts: Sequence[int], limits: Sequence[int], strides: Sequence[int] | None = None
    ) -> Value:
        """The elements from start to before limit in each dimension, with stride 1 by default."""
        strides = [1] * len(starts) if strides is None else strides
        shape = [
            -((start - limit) // step) for start, limit, step in zip(starts, limits, strides, strict=True)
        ]
        attributes = {
            "start_indices": dense_array(I64, starts),
            "limit_indices": dense_array(I64, limits),
            "strides": dense_array(I64, strides),
        }
        return self.create(SliceOp, [value], [_reshaped(value, shape)], attributes).result

    def dynamic_slice(self, value: Value, starts: Sequence[Value], sizes: Sequence[int]) -> Value:
        """`sizes` elements of each dimension, from run-time start indices on."""
        attributes = {"slice_sizes": dense_array(I64, sizes)}
        return self.create(DynamicSliceOp, [value, *starts], [_reshaped(value, sizes)], attributes).result

    def pad(
        self,
        value: Value,
        padding_value: Value,
        low: Sequence[int],
        high: Sequence[int],
        interior: Sequence[int] | None = None,
    ) -> Value:
        """A tensor with padding around its elements, and between them."""
        interior = [0] * len(low) if interior is None else interior
        shape = [
            before + size + max(0, size - 1) * between + after
            for size, before, after, between in zip(shape_of(value), low, high, interior, strict=True)
        ]
        attributes = {
            "edge_padding_low": dense_array(I64, low),
            "edge_padding_high": dense_array(I64, high),
            "interior_padding": dense_array(I64, interior),
        }
        return self.create(PadOp, [value, padding_value], [_reshaped(value, shape)], attributes).result

    def concatenate(self, values: Sequence[Value], dimension: int) -> Value:
        """The values one after the other along a dimension."""
        shape = list(shape_of(values[0]))
        shape[dimension] = sum(shape_of(value)[dimension] for value in values)
        attributes = {"dimension": integer(dimension, I64)}
        return self.create(ConcatenateOp, values, [_reshaped(values[0], shape)], attributes).result

    # --- Elementwise --------------------------------------------------------------------------

    def binary(self, op_class: type[Op], lhs: Value, rhs: Value) -> Value:
        """An elementwise operation on two tensors of the same type, which is also that of the result."""
        return self.create(op_class, [lhs, rhs], [lhs.type]).result

    def convert(self, value: Value, element: Type) -> Value:
        """A tensor with its elements converted to another type, or to the same one."""
        return self.create(ConvertOp, [value], [tensor(shape_of(value), element)]).result

    def compare(self, lhs: Value, rhs: Value, direction: str) -> Value:
        """An elementwise comparison: `EQ`, `NE`, `GE`, `GT`, `LE` or `LT`."""
        attributes = {"comparison_direction": ComparisonDirection(direction)}
        return self.create(CompareOp, [lhs, rhs], [tensor(shape_of(lhs), I1)], attributes).result

    def select(self, mask: Value, on_true: Value, on_false: Value) -> Value:
        """The elements of `on_true` where the mask is true, else those of `on_false`."""
        return self.create(SelectOp, [mask, on_true, on_false], [on_true.type]).result

    # --- Collectives --------------------------------------------------------------------------

    def all_gather(
        self, value: Value, dim: int, groups: Attribute, group_size: int, channel: ChannelHandle
    ) -> Value:
        """The values of the devices of a group one after the other along a dimension."""
        shape = list(shape_of(value))
        shape[dim] *= group_size
        attributes = {
            "all_gather_dim": integer(dim, I64),
            "replica_groups": groups,
            "channel_handle": channel,
            "use_global_device_ids": UnitAttr(),
        }
        return self.create(AllGatherOp, [value], [_reshaped(value, shape)], attributes).result

    def all_reduce(
        self, value: Value, groups: Attribute, channel: ChannelHandle, combiner: type[Op] | Region
    ) -> Value:
        """The values of the devices of a group, combined by a binary operation or a region."""
        attributes = {
            "replica_groups": groups,
            "channel_handle": channel,
            "use_global_device_ids": UnitAttr(),
        }
        element = ranked(value).element
        body = combiner if isinstance(combiner, Region) else self.reducer(element, combiner)
        return self.create(AllReduceOp, [value], [value.type], attributes, [body]).result

    # --- Bodies -------------------------------------------------------------------------------

    def reducer(self, element: Type, op_class: type[Op]) -> Region:
        """A region that combines two scalars by a binary operation."""
        region, type = Region(), tensor((), element)
        block = region.add_block()
        location = self.before.lazy_location
        arguments = [block.add_argument(type, location) for _ in range(2)]
        combined = self.rewriter.create(op_class, arguments, [type], at_end_of=block, location=location)
        self.rewriter.create(ReturnOp, combined.results, at_end_of=block, location=location)
        return region


def dense_integers(type: RankedTensor, values: Sequence[int]) -> DenseElements:
    """The attribute of a tensor of integers, in row-major order; a splat where all are equal."""
    size = element_size(type.element)
    if len(set(values)) == 1:
        values = values[:1]
    mask = (1 << 8 * size) - 1
    return dense(type, b"".join([(value & mask).to_bytes(size, "little") for value in values]))


def shape_of(value: Value) -> tuple[int, ...]:
    """The shape of a tensor."""
    return ranked(value).shape


def scalar_type(value: Value) -> RankedTensor:
    """The type of a scalar with the elements of a tensor."""
    return tensor((), ranked(value).element)


def _reshaped(value: Value, shape: Sequence[int]) -> RankedTensor:
    return tensor(tuple(shape), ranked(value).element)


def clamp_index(builder: LocalBuilder, index: Value, largest: int) -> Value:
    """An index, or a tensor of them, clamped to 0 … largest."""
    type = ranked(index)
    lower = builder.integers(type, [0])
    upper = builder.integers(type, [largest_index(type.element, largest)])
    return builder.create(ClampOp, [lower, index, upper], [type]).result


def largest_index(element: Type, largest: int) -> int:
    """`largest`, or the largest number of the element type of indices if that is smaller."""
    assert isinstance(element, IntegerType)
    return min(largest, (1 << (element.width - can_be_negative(element))) - 1)


def broadcast_components(
    builder: LocalBuilder,
    components: Sequence[Value],
    type: RankedTensor,
    vector_dim: int,
    mesh: MeshOrRef | None = None,
) -> Value:
    """A tensor of index vectors along `vector_dim`, all with these scalar components.

    With a mesh, it has a sharding on it, since jaxlib 0.12.0.1.
    """
    attributes: dict[str, Attribute] = {}
    if mesh is not None and Behavior.SHARDED_INDEX_VECTORS.active:
        sharding = fully_replicated(type.rank, mesh, is_closed=True)
        attributes[SHARDING] = ShardingPerValue((sharding,))
    if len(components) == 1:
        return builder.broadcast(components[0], type, attributes=attributes)
    rows = [builder.reshape(component, (1,)) for component in components]
    return builder.broadcast(builder.concatenate(rows, 0), type, [vector_dim], attributes)


class Channels:
    """Numbers new channels, starting after the largest number in the module."""

    def __init__(self, module: Op) -> None:
        self._module = module
        self._next: int | None = None

    def new(self) -> ChannelHandle:
        """A channel handle that is not used yet."""
        if self._next is None:
            handles = (op.attribute("channel_handle") for op in self._module.walk())
            largest_channel = max(
                (handle.handle for handle in handles if isinstance(handle, ChannelHandle)), default=0
            )
            self._next = largest_channel + 1
        self._next += 1
        return ChannelHandle(self._next - 1, DEVICE_TO_DEVICE)


# Replacements that are applied after all operations have been visited.
#
# Until then, users find the original definition of each operand, with its sharding.


class DeferredReplacements:
    """Operations that are to be replaced by values."""

    def __init__(self, rewriter: Rewriter) -> None:
        self._rewriter = rewriter
        self._values: dict[Op, Sequence[Value]] = {}

    def add(self, op: Op, values: Sequence[Value]) -> None:
        """Replaces the results of an operation later, and erases it. `values` may be replaced results too."""
        self._values[op] = values

    def apply(self) -> None:
        """Applies all replacements. Raises DiagnosticError if operations are to replace each other."""
        replacements = {
            result: value
            for op, values in self._values.items()
            for result, value in zip(op.results, values, strict=True)
        }
        for result, value in replacements.items():
            visited = {result}
            while value in replacements:
                if value in visited:
                    assert value.defining_op is not None
                    error = value.defining_op.op_error("has a result that depends on nothing but itself")
                    raise error.help("give an operation of the circle another operand")
                visited.add(value)
                value = replacements[value]
            self._rewriter.replace_all_uses(result, value)
        for op in reversed(self._values):
            self._rewriter.erase(op)
