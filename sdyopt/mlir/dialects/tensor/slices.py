"""Slices: `tensor.extract_slice` and `tensor.insert_slice`."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.arith.dialect import Constants, FoldResult
from sdyopt.mlir.dialects.tensor.values import (
    RANKED,
    CastOp,
    DimOp,
    Mixed,
    MixedLists,
    ReifiesShape,
    constant_index,
    loses_static_sizes,
    tensor_dialect,
)
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.builtin_attributes import DenseArray, DenseElements
from sdyopt.mlir.ir.op_fields import OperandField, attr, operand, operands, result
from sdyopt.mlir.ir.op_signature import OpSignature, SignatureError
from sdyopt.mlir.ir.operation import Op, result_named
from sdyopt.mlir.ir.patterns import Pattern
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.traits import ATTR_SIZED_OPERANDS, I64_ARRAY, INDEX_VALUE, PURE
from sdyopt.mlir.ir.types import DYNAMIC, I32, I64, RankedTensor, Type
from sdyopt.mlir.ir.value import Value

_LISTS = (
    "`` custom<DynamicIndexList>($offsets, $static_offsets) custom<DynamicIndexList>($sizes, $static_sizes) "
    "custom<DynamicIndexList>($strides, $static_strides)"
)


class SliceOp(Op):
    """Base of the slice operations: offset, size and stride of each dimension, static or dynamic."""

    static_offsets = attr(I64_ARRAY)
    static_sizes = attr(I64_ARRAY)
    static_strides = attr(I64_ARRAY)

    # Declared by the subclasses, after their tensor operands.
    offsets: OperandField[list[Value], tuple[Type, ...]]
    sizes: OperandField[list[Value], tuple[Type, ...]]
    strides: OperandField[list[Value], tuple[Type, ...]]

    def mixed_lists(self) -> MixedLists:
        """The offsets, sizes and strides."""
        return (
            _mixed(self.static_offsets, self.offsets),
            _mixed(self.static_sizes, self.sizes),
            _mixed(self.static_strides, self.strides),
        )


def _mixed(static: Sequence[int], dynamic: Sequence[Value]) -> Mixed:
    values = iter(dynamic)
    return [next(values) if number == DYNAMIC else number for number in static]


def operands_and_attributes(
    offsets: Mixed, sizes: Mixed, strides: Mixed
) -> tuple[list[Value], dict[str, Attribute]]:
    """The operands and attributes of a slice operation for these lists."""
    values: list[Value] = []
    attributes: dict[str, Attribute] = {}
    counts = []
    for name, mixed in (("offsets", offsets), ("sizes", sizes), ("strides", strides)):
        dynamic = [entry for entry in mixed if isinstance(entry, Value)]
        static = [DYNAMIC if isinstance(entry, Value) else entry for entry in mixed]
        values += dynamic
        counts.append(len(dynamic))
        attributes[f"static_{name}"] = DenseArray(I64, tuple(static))
    attributes["operandSegmentSizes"] = DenseArray(I32, tuple(counts))
    return values, attributes


def with_segments(attributes: dict[str, Attribute], count: int) -> dict[str, Attribute]:
    """Prepends `count` segments of one operand to the segment sizes."""
    counts = attributes["operandSegmentSizes"]
    assert isinstance(counts, DenseArray)
    return {**attributes, "operandSegmentSizes": DenseArray(I32, (1,) * count + counts.values)}


def _fold_constants(mixed: Mixed, is_stride: bool) -> Mixed:
    """Replaces constant values with numbers, except for negative offsets and sizes, which are invalid."""
    folded: Mixed = []
    for entry in mixed:
        constant = constant_index(entry) if isinstance(entry, Value) else None
        folded.append(entry if constant is None or (constant < 0 and not is_stride) else constant)
    return folded


def _static(sizes: Mixed) -> tuple[int, ...]:
    return tuple(DYNAMIC if isinstance(size, Value) else size for size in sizes)


def _kept_dimensions(full: tuple[int, ...], reduced: tuple[int, ...]) -> list[int] | None:
    """The dimensions of `full` that `reduced` keeps; None unless `reduced` only drops unit dimensions."""
    kept, position = [], 0
    for dimension, size in enumerate(full):
        if position < len(reduced) and size == reduced[position]:
            kept.append(dimension)
            position += 1
        elif size != 1:
            return None
    return kept if position == len(reduced) else None


def check_slice(signature: OpSignature, full: RankedTensor, slice: RankedTensor) -> None:
    """Raises unless each list has an entry per dimension of `full`, and `slice` has the listed sizes.

    `slice` may be rank-reduced.
    """
    op_class = signature.op_class
    assert issubclass(op_class, SliceOp)
    dynamic = [signature[field] for field in (op_class.offsets, op_class.sizes, op_class.strides)]
    offsets, sizes, strides = (
        signature[SliceOp.static_offsets],
        signature[SliceOp.static_sizes],
        signature[SliceOp.static_strides],
    )
    if len(offsets) != len(sizes):
        raise _rank_error(signature, ("offsets", len(offsets)), ("sizes", len(sizes)))
    if len(sizes) != len(strides):
        raise _rank_error(signature, ("sizes", len(sizes)), ("strides", len(strides)))
    for name, static, types in zip(
        ("offset", "size", "stride"), (offsets, sizes, strides), dynamic, strict=True
    ):
        if len(static) != full.rank:
            raise signature.error(f"expected {full.rank} {name} values, got {len(static)}")
        if len(types) != static.count(DYNAMIC):
            raise signature.error(f"expected {static.count(DYNAMIC)} dynamic {name} values")
    for name, static in (("offsets", offsets), ("sizes", sizes)):
        for number in static:
            if number < 0 and number != DYNAMIC:
                raise signature.error(f"expected {name} to be non-negative, but got {number}")
    expected = RankedTensor(sizes, full.element, full.encoding)
    if slice.rank > expected.rank:
        raise signature.error("expected rank to be smaller or equal to the other rank. ")
    if _kept_dimensions(expected.shape, slice.shape) is None:
        text = f"expected type to be '{plain_type(expected)}' or a rank-reduced version."
        raise signature.error(f"{text} (size mismatch) ")
    if slice.element is not full.element:
        raise signature.error(f"expected element type to be '{plain_type(full.element)}'")
    message = _out_of_bounds(full, offsets, sizes, strides)
    if message is not None:
        raise signature.error(message)


def _out_of_bounds(full: RankedTensor, *lists: Sequence[int]) -> str | None:
    """The error for a slice that ends outside of a tensor, as far as numbers are static; None for others."""
    for dimension, (size, offset, count, stride) in enumerate(zip(full.shape, *lists, strict=True)):
        if DYNAMIC in (size, offset):
            continue
        if offset >= size:
            return f"offset {dimension} is out-of-bounds: {offset} >= {size}"
        last = offset + (count - 1) * stride
        if DYNAMIC not in (count, stride) and last >= size:
            return f"slice along dimension {dimension} runs out-of-bounds: {last} >= {size}"
    return None


def _rank_error(signature: OpSignature, one: tuple[str, int], other: tuple[str, int]) -> SignatureError:
    return signature.error(
        f"expected mixed {one[0]} rank to match mixed {other[0]} rank ({one[1]} vs {other[1]}) so the "
        "rank of the result type is well-formed."
    )


# --- extract_slice ----------------------------------------------------------------------------


def extract(
    rewriter: Rewriter,
    source: Value,
    offsets: Mixed,
    sizes: Mixed,
    strides: Mixed,
    type: RankedTensor,
    before: Op,
) -> Op:
    """Creates an extract_slice before an operation, at its location."""
    values, attributes = operands_and_attributes(offsets, sizes, strides)
    return rewriter.create(
        ExtractSliceOp,
        [source, *values],
        [type],
        with_segments(attributes, 1),
        before=before,
        location=before.location,
    )


@tensor_dialect.op("extract_slice", PURE, ATTR_SIZED_OPERANDS)
class ExtractSliceOp(SliceOp, ReifiesShape):
    """Extracts a slice of a tensor; the result may omit unit dimensions of the slice."""

    source = operand(RANKED)
    offsets = operands(INDEX_VALUE)
    sizes = operands(INDEX_VALUE)
    strides = operands(INDEX_VALUE)
    out = result(RANKED)

    assembly = assembly(f"$source {_LISTS} attr-dict `:` type($source) `to` type($out)")

    def _fold_constant_lists(self, rewriter: Rewriter) -> bool:
        """Makes constant offsets static, or else sizes and with them the result type, or else strides."""
        old = self.mixed_lists()
        new = list(old)
        for index, mixed in enumerate(old):
            new[index] = _fold_constants(mixed, is_stride=index == 2)
            if new[index] != mixed:
                break
        type, source_type = self.result_types[0], self.source.type
        assert isinstance(type, RankedTensor) and isinstance(source_type, RankedTensor)
        if tuple(new) == old or _out_of_bounds(source_type, *map(_static, new)):
            return False
        sizes = _static(new[1])
        static = RankedTensor(
            tuple(sizes[dimension] for dimension in self.kept_dimensions()), type.element, type.encoding
        )
        new_op = extract(rewriter, self.source, new[0], new[1], new[2], static, self)
        if static is not type:
            new_op = rewriter.create(CastOp, new_op.results, [type], before=self, location=self.location)
        rewriter.replace(self, new_op)
        return True

    def _slice_cast_source(self, rewriter: Rewriter) -> bool:
        """Slices the source of a cast that only loses static sizes."""
        cast = self.source.defining_op
        lists = self.mixed_lists()
        # `_fold_constant_lists` applies first.
        if any(isinstance(e, Value) and constant_index(e) is not None for mixed in lists for e in mixed):
            return False
        if not isinstance(cast, CastOp) or not loses_static_sizes(cast):
            return False
        type, source_type = self.result_types[0], cast.source.type
        assert isinstance(type, RankedTensor) and isinstance(source_type, RankedTensor)
        if _out_of_bounds(source_type, *map(_static, lists)):
            return False
        rewriter.replace(self, extract(rewriter, cast.source, *lists, type, self))
        return True

    canonicalizations = (Pattern(_fold_constant_lists), Pattern(_slice_cast_source))

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        cls = ExtractSliceOp
        check_slice(signature, signature[cls.source], signature[cls.out])

    def kept_dimensions(self) -> list[int]:
        """The dimensions of the source that the result has."""
        type = self.result_types[0]
        assert isinstance(type, RankedTensor)
        kept = _kept_dimensions(self.static_sizes, type.shape)
        assert kept is not None
        return kept

    def dynamic_size(self, dimension: int) -> Value | None:
        _, sizes, _ = self.mixed_lists()
        size = sizes[self.kept_dimensions()[dimension]]
        return size if isinstance(size, Value) else None

    def fold(self, constants: Constants) -> FoldResult:
        source_type, slice_type = self.source.type, self.result_types[0]
        assert isinstance(slice_type, RankedTensor) and isinstance(source_type, RankedTensor)
        constant = constants[0]
        if isinstance(constant, DenseElements) and constant.is_splat and slice_type.has_static_shape:
            return [DenseElements(slice_type, constant.data)]
        if source_type is not slice_type or not source_type.has_static_shape:
            return None
        is_identity = all(n == 0 for n in self.static_offsets) and all(n == 1 for n in self.static_strides)
        return [self.source] if is_identity and self.static_sizes == source_type.shape else None

    name_results = result_named("extracted_slice")


# --- insert_slice -----------------------------------------------------------------------------


def _use_dest(op: DimOp, rewriter: Rewriter) -> bool:
    """Queries the destination of an insert_slice instead of the result, which has the same shape."""
    insert = op.source.defining_op
    if not isinstance(insert, InsertSliceOp):
        return False
    rewriter.set_operand(op.operand_uses[0], insert.dest)
    return True


@tensor_dialect.op("insert_slice", PURE, ATTR_SIZED_OPERANDS)
class InsertSliceOp(SliceOp):
    """Inserts a slice into a tensor."""

    source = operand(RANKED)
    dest = operand(RANKED)
    offsets = operands(INDEX_VALUE)
    sizes = operands(INDEX_VALUE)
    strides = operands(INDEX_VALUE)
    out = result(RANKED)

    assembly = assembly(f"$source `into` $dest {_LISTS} attr-dict `:` type($source) `into` type($dest, $out)")

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        cls = InsertSliceOp
        check_slice(signature, signature[cls.dest], signature[cls.source])

    name_results = result_named("inserted_slice")


@tensor_dialect.op("parallel_insert_slice", ATTR_SIZED_OPERANDS)
class ParallelInsertSliceOp(SliceOp):
    """Inserts a slice into an output of the parallel loop that it ends."""

    source = operand(RANKED)
    dest = operand(RANKED)
    offsets = operands(INDEX_VALUE)
    sizes = operands(INDEX_VALUE)
    strides = operands(INDEX_VALUE)

    assembly = assembly(f"$source `into` $dest {_LISTS} attr-dict `:` type($source) `into` type($dest)")
    updated_destinations = staticmethod(lambda op: [op.dest])

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        cls = ParallelInsertSliceOp
        check_slice(signature, signature[cls.dest], signature[cls.source])

    def verify_in_context(self) -> None:
        parent = self.parent_op
        if parent is None or parent.signature.name != "scf.forall.in_parallel":
            raise self.error("expected InParallelOpInterface parent, got:")


DimOp.canonicalizations = (*DimOp.canonicalizations, Pattern(_use_dest))
