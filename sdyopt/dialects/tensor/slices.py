"""tensor.extract_slice and tensor.insert_slice: parts of a tensor at regular distances."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.asm.format.assembly_format import AttrDict, FormatElement, Operand, TypeOf, assembly
from sdyopt.asm.format.dynamic_index_list import DynamicIndexList
from sdyopt.asm.printer.attribute_printer import plain_type
from sdyopt.dialects.arith.folding import splat_of
from sdyopt.dialects.tensor.casts import CastOp, DimOp, KnowsSizes, loses_static_sizes
from sdyopt.dialects.tensor.dialect import INDEX_VALUE, RANKED, constant_index, tensor_dialect
from sdyopt.ir.attribute import Attribute
from sdyopt.ir.constraints import I64_ARRAY
from sdyopt.ir.elements_attributes import DenseArray, DenseElements
from sdyopt.ir.op_fields import attr, operand, operands, result
from sdyopt.ir.op_signature import OpSignature, SignatureError
from sdyopt.ir.operation import Op
from sdyopt.ir.patterns import Pattern
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.traits import ATTR_SIZED_OPERANDS, PURE
from sdyopt.ir.types import DYNAMIC, I32, I64, INDEX, RankedTensor, Type
from sdyopt.ir.value import Value

Mixed = list[Value | int]

_LISTS: tuple[FormatElement | str, ...] = (
    DynamicIndexList("offsets", "static_offsets", INDEX, is_attached=True),
    DynamicIndexList("sizes", "static_sizes", INDEX),
    DynamicIndexList("strides", "static_strides", INDEX),
)


class SliceOp(Op):
    """Base: offset, size and stride of each dimension, numbers or values."""

    __slots__ = ()

    static_offsets = attr(I64_ARRAY)
    static_sizes = attr(I64_ARRAY)
    static_strides = attr(I64_ARRAY)

    def mixed(self, what: str) -> Mixed:
        """Numbers and values of `offsets`, `sizes` or `strides`, in order."""
        values = iter(getattr(self, what))
        return [next(values) if n == DYNAMIC else n for n in getattr(self, f"static_{what}")]


def slice_parts(offsets: Mixed, sizes: Mixed, strides: Mixed) -> tuple[list[Value], dict[str, Attribute]]:
    """The operands and the attributes that say this."""
    values: list[Value] = []
    attributes: dict[str, Attribute] = {}
    counts = []
    for name, mixed in (("offsets", offsets), ("sizes", sizes), ("strides", strides)):
        found = [entry for entry in mixed if isinstance(entry, Value)]
        numbers = [DYNAMIC if isinstance(entry, Value) else entry for entry in mixed]
        values += found
        counts.append(len(found))
        attributes[f"static_{name}"] = DenseArray(I64, tuple(numbers))
    attributes["operandSegmentSizes"] = DenseArray(I32, tuple(counts))
    return values, attributes


def with_segments(attributes: dict[str, Attribute], before: int) -> dict[str, Attribute]:
    """The attributes for an operation that has so many operands before those of the lists."""
    counts = attributes["operandSegmentSizes"]
    assert isinstance(counts, DenseArray)
    return {**attributes, "operandSegmentSizes": DenseArray(I32, (1,) * before + counts.values)}


def _known(mixed: Mixed, are_sizes: bool = False) -> Mixed:
    """The list with values that are constants as numbers."""
    found: Mixed = []
    for entry in mixed:
        number = constant_index(entry) if isinstance(entry, Value) else None
        found.append(entry if number is None or (are_sizes and number < 0) else number)
    return found


def _shape_of(sizes: Mixed) -> tuple[int, ...]:
    return tuple(DYNAMIC if isinstance(size, Value) else size for size in sizes)


def _kept_dimensions(full: tuple[int, ...], reduced: tuple[int, ...]) -> list[int] | None:
    """Which dimensions remain when some of size 1 are left out; None if it cannot be so."""
    kept, position = [], 0
    for dimension, size in enumerate(full):
        if position < len(reduced) and size == reduced[position]:
            kept.append(dimension)
            position += 1
        elif size != 1:
            return None
    return kept if position == len(reduced) else None


def check_slice(signature: OpSignature, source: RankedTensor, part: Type) -> None:
    """Fails unless the lists fit the rank, and the part, with some ones left out, the sizes."""
    counts = {name: len(getattr(signature, f"static_{name}")) for name in ("offsets", "sizes", "strides")}
    if counts["offsets"] != counts["sizes"]:
        raise _rank_error(signature, "offsets", "sizes", counts)
    if counts["sizes"] != counts["strides"]:
        raise _rank_error(signature, "sizes", "strides", counts)
    for name, what in (("offsets", "offset"), ("sizes", "size"), ("strides", "stride")):
        if counts[name] != source.rank:
            raise signature.error(f"expected {source.rank} {what} values, got {counts[name]}")
        if len(getattr(signature, name)) != getattr(signature, f"static_{name}").count(DYNAMIC):
            raise signature.error(
                f"expected {getattr(signature, f'static_{name}').count(DYNAMIC)} dynamic {what} values"
            )
    expected = RankedTensor(signature.static_sizes, source.element, source.encoding)
    assert isinstance(part, RankedTensor)
    if part.element is not source.element:
        raise signature.error(f"expected element type to be '{plain_type(source.element)}'")
    text = f"expected type to be '{plain_type(expected)}' or a rank-reduced version."
    if part.rank > expected.rank:
        raise signature.error(f"{text} (rank mismatch) ")
    if _kept_dimensions(expected.shape, part.shape) is None:
        raise signature.error(f"{text} (size mismatch) ")


def _rank_error(signature: OpSignature, one: str, other: str, counts: dict[str, int]) -> SignatureError:
    return signature.error(
        f"expected mixed {one} rank to match mixed {other} rank ({counts[one]} vs {counts[other]}) so the "
        "rank of the result type is well-formed."
    )


# --- extract_slice ----------------------------------------------------------------------------


def _take_known_numbers(op: ExtractSliceOp, rewriter: Rewriter) -> bool:
    """Values that are constants become numbers, and the result's type knows them."""
    old = (op.mixed("offsets"), op.mixed("sizes"), op.mixed("strides"))
    new = (_known(old[0]), _known(old[1], are_sizes=True), _known(old[2]))
    if new == old:
        return False
    type = op.result_types[0]
    assert isinstance(type, RankedTensor)
    kept = op.kept_dimensions()
    sizes = _shape_of(new[1])
    static = RankedTensor(tuple(sizes[dimension] for dimension in kept), type.element, type.encoding)
    made = extract(rewriter, op.source, *new, static, op)
    if static is not type:
        made = rewriter.create(CastOp, made.results, [type], before=op, location=op.location)
    rewriter.replace(op, made)
    return True


def _look_through(op: ExtractSliceOp, rewriter: Rewriter) -> bool:
    """A part of a tensor that a cast knows less of is a part of what is cast."""
    cast = op.source.defining_op
    lists = (op.mixed("offsets"), op.mixed("sizes"), op.mixed("strides"))
    if any(isinstance(e, Value) and constant_index(e) is not None for mixed in lists for e in mixed):
        return False
    if not isinstance(cast, CastOp) or not loses_static_sizes(cast):
        return False
    type = op.result_types[0]
    assert isinstance(type, RankedTensor)
    rewriter.replace(op, extract(rewriter, cast.source, *lists, type, op))
    return True


def extract(
    rewriter: Rewriter,
    source: Value,
    offsets: Mixed,
    sizes: Mixed,
    strides: Mixed,
    type: RankedTensor,
    before: Op,
) -> Op:
    """Makes an extract_slice."""
    values, attributes = slice_parts(offsets, sizes, strides)
    return rewriter.create(
        ExtractSliceOp,
        [source, *values],
        [type],
        with_segments(attributes, 1),
        before=before,
        location=before.location,
    )


@tensor_dialect.op("extract_slice", PURE, ATTR_SIZED_OPERANDS)
class ExtractSliceOp(SliceOp, KnowsSizes):
    """A part of a tensor; dimensions of size 1 may be left out of the result."""

    __slots__ = ()

    source = operand(RANKED)
    offsets = operands(INDEX_VALUE)
    sizes = operands(INDEX_VALUE)
    strides = operands(INDEX_VALUE)
    out = result(RANKED)

    assembly = assembly(Operand("source"), *_LISTS, AttrDict(), ":", TypeOf("source"), "to", TypeOf("out"))
    canonicalizations = (Pattern(_take_known_numbers), Pattern(_look_through))

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        check_slice(signature, signature.source, signature.out)

    def kept_dimensions(self) -> list[int]:
        """The dimensions that the result has."""
        type = self.result_types[0]
        assert isinstance(type, RankedTensor)
        kept = _kept_dimensions(self.static_sizes, type.shape)
        assert kept is not None
        return kept

    def size_of(self, dimension: int) -> Value | None:
        size = self.mixed("sizes")[self.kept_dimensions()[dimension]]
        return size if isinstance(size, Value) else None

    def fold(self, constants: Sequence[Attribute | None]) -> Sequence[Value | Attribute] | None:
        whole, part = self.source.type, self.result_types[0]
        assert isinstance(part, RankedTensor) and isinstance(whole, RankedTensor)
        source = constants[0]
        if isinstance(source, DenseElements) and splat_of(source) is not None and part.has_static_shape:
            return [DenseElements(part, source.data)]
        if whole is not part or not whole.has_static_shape:
            return None
        is_all = all(n == 0 for n in self.static_offsets) and all(n == 1 for n in self.static_strides)
        return [self.source] if is_all and self.static_sizes == whole.shape else None

    def name_results(self) -> list[tuple[int, str]]:
        return [(0, "extracted_slice")]


# --- insert_slice -----------------------------------------------------------------------------


def _size_is_that_of_the_whole(op: DimOp, rewriter: Rewriter) -> bool:
    """What a part was put into has the sizes it had."""
    insert = op.source.defining_op
    if not isinstance(insert, InsertSliceOp):
        return False
    rewriter.set_operand(op.operand_uses[0], insert.dest)
    return True


@tensor_dialect.op("insert_slice", PURE, ATTR_SIZED_OPERANDS)
class InsertSliceOp(SliceOp):
    """A tensor with a part of it put in from another."""

    __slots__ = ()

    source = operand(RANKED)
    dest = operand(RANKED)
    offsets = operands(INDEX_VALUE)
    sizes = operands(INDEX_VALUE)
    strides = operands(INDEX_VALUE)
    out = result(RANKED)

    assembly = assembly(
        Operand("source"),
        "into",
        Operand("dest"),
        *_LISTS,
        AttrDict(),
        ":",
        TypeOf("source"),
        "into",
        TypeOf("dest", same=["out"]),
    )

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        check_slice(signature, signature.dest, signature.source)

    def name_results(self) -> list[tuple[int, str]]:
        return [(0, "inserted_slice")]


def insert(
    rewriter: Rewriter, source: Value, dest: Value, offsets: Mixed, sizes: Mixed, strides: Mixed, before: Op
) -> Op:
    """Makes an insert_slice."""
    values, attributes = slice_parts(offsets, sizes, strides)
    return rewriter.create(
        InsertSliceOp,
        [source, dest, *values],
        [dest.type],
        with_segments(attributes, 2),
        before=before,
        location=before.location,
    )


DimOp.canonicalizations = (*DimOp.canonicalizations, Pattern(_size_is_that_of_the_whole))
