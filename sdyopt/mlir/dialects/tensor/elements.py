"""Operations on elements: bitcast, generate, insert, pad, splat, gather, scatter."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.tensor.values import (
    ANY_TENSOR,
    RANKED,
    TensorOfElements,
    check_dynamic_sizes,
    tensor_dialect,
)
from sdyopt.mlir.ir.interfaces import SINGLE_BLOCK, has_parent
from sdyopt.mlir.ir.op_fields import attr, operand, operands, optional_attr, region, result
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op, result_named
from sdyopt.mlir.ir.shape_traits import are_compatible_shapes
from sdyopt.mlir.ir.traits import (
    ANY_TYPE,
    ATTR_SIZED_OPERANDS,
    I64_ARRAY,
    INDEX_VALUE,
    ONE_BLOCK,
    PURE,
    RECURSIVE_EFFECTS,
    TERMINATOR,
    UNIT_ATTR,
    TypeConstraint,
)
from sdyopt.mlir.ir.types import (
    DYNAMIC,
    INDEX,
    FloatType,
    IndexType,
    IntegerType,
    RankedTensor,
    Type,
    element_of,
)

_NUMBERS = TypeConstraint[Type](
    "tensor of signless integer or unsigned integer or signed integer or floating-point values",
    lambda type: ANY_TENSOR.accepts(type) and isinstance(element_of(type), IntegerType | FloatType),
)
_INDICES = TypeConstraint[RankedTensor](
    "ranked tensor of signless integer or index values",
    lambda type: (
        isinstance(type, RankedTensor)
        and (
            isinstance(type.element, IndexType)
            or (isinstance(type.element, IntegerType) and type.element.is_signless)
        )
    ),
)


@tensor_dialect.op("bitcast", PURE)
class BitcastOp(Op):
    """The bits of the elements as those of another type of the same width."""

    source = operand(_NUMBERS)
    dest = result(_NUMBERS)

    assembly = assembly("$source attr-dict `:` type($source) `to` type($dest)")

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        source, dest = signature[BitcastOp.source], signature[BitcastOp.dest]
        widths = [type.width for type in map(element_of, (source, dest)) if isinstance(type, _WITH_WIDTH)]
        if len(set(widths)) != 1 or not are_compatible_shapes([source, dest]):
            raise signature.op_error(
                f"operand type '{plain_type(source)}' and result type '{plain_type(dest)}' are cast "
                "incompatible"
            )


_WITH_WIDTH = IntegerType | FloatType


@tensor_dialect.op("insert", PURE)
class InsertOp(Op):
    """A tensor with one other element."""

    scalar = operand(ANY_TYPE)
    dest = operand(RANKED)
    indices = operands(INDEX_VALUE)
    out = result(RANKED)

    assembly = assembly(
        "$scalar `into` $dest `[` $indices `]` attr-dict `:` custom<types>($dest)",
        types=lambda field: TensorOfElements(field, "scalar", "out"),
    )

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        dest = signature[InsertOp.dest]
        if signature[InsertOp.out] is not dest:
            raise signature.op_error("failed to verify that result type matches type of dest")
        if signature[InsertOp.scalar] is not dest.element:
            raise signature.op_error("failed to verify that scalar type matches element type of dest")
        if len(signature[InsertOp.indices]) != dest.rank:
            raise signature.op_error("incorrect number of indices")

    name_results = result_named("inserted")


@tensor_dialect.op("splat", PURE)
class SplatOp(Op):
    """A tensor whose elements are all the same."""

    input = operand(ANY_TYPE)
    sizes = operands(INDEX_VALUE)
    aggregate = result(RANKED)

    assembly = assembly(
        "$input (`[` $sizes^ `]`)? attr-dict `:` custom<types>($aggregate)",
        types=lambda field: TensorOfElements(field, "input"),
    )

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        type = signature[SplatOp.aggregate]
        if signature[SplatOp.input] is not type.element:
            raise signature.op_error("failed to verify that operand type matches element type of result")
        check_dynamic_sizes(signature, type, len(signature[SplatOp.sizes]))

    name_results = result_named("splat")


# --- generate and pad ---------------------------------------------------------------------------


@tensor_dialect.op("generate", RECURSIVE_EFFECTS, SINGLE_BLOCK)
class GenerateOp(Op):
    """A tensor whose elements the body computes from their indices."""

    sizes = operands(INDEX_VALUE)
    out = result(RANKED)
    body = region(ONE_BLOCK)

    assembly = assembly("$sizes $body attr-dict `:` type($out)")

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        check_dynamic_sizes(signature, signature[GenerateOp.out], len(signature[GenerateOp.sizes]))

    def verify_regions(self) -> None:
        type, block = self.result_types[0], self.body.blocks[0]
        assert isinstance(type, RankedTensor)
        if len(block.arguments) != type.rank:
            raise self.error("must have one body argument per input dimension")
        if any(argument.type is not INDEX for argument in block.arguments):
            raise self.error("all body arguments must be index")
        last = block.last
        if not isinstance(last, YieldOp) or last.value.type is not type.element:
            raise self.op_error("body must be terminated with a `yield` operation of the tensor element type")

    name_results = result_named("generated")


@tensor_dialect.op("pad", PURE, ATTR_SIZED_OPERANDS, SINGLE_BLOCK)
class PadOp(Op):
    """A tensor with further elements at both ends of each dimension, which the body computes."""

    source = operand(RANKED)
    low = operands(INDEX_VALUE)
    high = operands(INDEX_VALUE)
    static_low = attr(I64_ARRAY)
    static_high = attr(I64_ARRAY)
    nofold = optional_attr(UNIT_ATTR)
    out = result(RANKED)
    body = region(ONE_BLOCK, name="region")

    assembly = assembly(
        "$source custom<UnitKeyword>($nofold) `low` `` custom<DynamicIndexList>($low, $static_low) "
        "`high` `` custom<DynamicIndexList>($high, $static_high) $body attr-dict `:` "
        "type($source) `to` type($out)"
    )

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        source, out = signature[PadOp.source], signature[PadOp.out]
        low, high = signature[PadOp.static_low], signature[PadOp.static_high]
        for name, numbers, values in (
            ("low", low, signature[PadOp.low]),
            ("high", high, signature[PadOp.high]),
        ):
            if numbers.count(DYNAMIC) != len(values):
                raise signature.error(f"expected {numbers.count(DYNAMIC)} dynamic {name} values")
        if len(low) != source.rank or len(high) != source.rank:
            raise signature.error(
                f"failed to infer expectedType from sourceType '{plain_type(source)}', specified resultType "
                f"is '{plain_type(out)}'"
            )
        sizes = tuple(
            [
                DYNAMIC if DYNAMIC in column else sum(column)
                for column in zip(source.shape, low, high, strict=True)
            ]
        )
        is_valid = out.rank == len(sizes) and all(
            expected in (size, DYNAMIC) for size, expected in zip(out.shape, sizes, strict=True)
        )
        if not is_valid:
            inferred = RankedTensor(sizes, source.element)
            raise signature.error(
                f"specified type '{plain_type(out)}' does not match the inferred type "
                f"'{plain_type(inferred)}'"
            )

    def verify_regions(self) -> None:
        type, block = self.result_types[0], self.body.blocks[0]
        assert isinstance(type, RankedTensor)
        if len(block.arguments) != type.rank:
            raise self.error(f"expected the block to have {type.rank} arguments")
        for index, argument in enumerate(block.arguments):
            if argument.type is not INDEX:
                raise self.op_error(f"expected block argument {index + 1} to be an index")
        last = block.last
        if not isinstance(last, YieldOp) or last.value.type is not type.element:
            raise self.op_error("expected yield type to match shape element type")

    name_results = result_named("padded")


@tensor_dialect.op("yield", PURE, has_parent("tensor.generate", "tensor.pad"), TERMINATOR)
class YieldOp(Op):
    """Ends the body of tensor.generate or tensor.pad: the value of an element."""

    value = operand(ANY_TYPE)

    assembly = assembly("$value attr-dict `:` type($value)")


# --- gather and scatter -------------------------------------------------------------------------


def _slices_type(full: RankedTensor, indices: RankedTensor, dims: Sequence[int], is_reduced: bool) -> Type:
    """The type of the slices of a tensor, of size 1 or without a size along `dims`, one for each index."""
    sizes = [
        1 if dimension in dims else size
        for dimension, size in enumerate(full.shape)
        if not is_reduced or dimension not in dims
    ]
    return RankedTensor((*indices.shape[:-1], *sizes), full.element)


def _check_dims(
    signature: OpSignature, dims: Sequence[int], indices: RankedTensor, rank: int, name: str, what: str
) -> None:
    if not dims:
        raise signature.op_error(f"{name} must be non-empty")
    if len(dims) > rank:
        raise signature.op_error(f"{name} overflow {what} rank")
    if indices.rank == 0 or indices.shape[-1] != len(dims):
        raise signature.op_error(f"{name} length must match the size of last dimension of indices")
    for dimension in dims:
        if dimension < 0:
            raise signature.op_error(f"{name} value must be non-negative")
        if dimension >= rank:
            raise signature.op_error(f"{name} value must be smaller than {what} rank")
    if any(first >= second for first, second in pairwise(dims)):
        raise signature.op_error(f"{name} values must be strictly increasing")


def _check_slices(
    signature: OpSignature,
    what: str,
    slices: RankedTensor,
    full: RankedTensor,
    indices: RankedTensor,
    dims: Sequence[int],
) -> None:
    expected, reduced = [_slices_type(full, indices, dims, is_reduced) for is_reduced in (False, True)]
    if slices not in (expected, reduced):
        raise signature.op_error(
            f"{what} type mismatch: expected '{plain_type(expected)}' or its rank-reduced variant "
            f"'{plain_type(reduced)}' (got: '{plain_type(slices)}')"
        )


@tensor_dialect.op("gather", PURE)
class GatherOp(Op):
    """Slices of a tensor at indices."""

    source = operand(RANKED)
    indices = operand(_INDICES)
    gather_dims = attr(I64_ARRAY)
    unique = optional_attr(UNIT_ATTR)
    out = result(RANKED)

    assembly = assembly(
        "$source `[` $indices `]` `gather_dims` `(` $gather_dims `)` custom<UnitKeyword>($unique) attr-dict "
        "`:` functional-type(operands, results)"
    )

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        cls = GatherOp
        source, indices, dims = signature[cls.source], signature[cls.indices], signature[cls.gather_dims]
        _check_dims(signature, dims, indices, source.rank, "gather_dims", "source")
        _check_slices(signature, "result", signature[cls.out], source, indices, dims)

    name_results = result_named("gather")


@tensor_dialect.op("scatter", PURE)
class ScatterOp(Op):
    """A tensor with other slices at indices."""

    source = operand(RANKED)
    dest = operand(RANKED)
    indices = operand(_INDICES)
    scatter_dims = attr(I64_ARRAY)
    unique = optional_attr(UNIT_ATTR)
    out = result(RANKED)

    assembly = assembly(
        "$source `into` $dest `[` $indices `]` `scatter_dims` `(` $scatter_dims `)` "
        "custom<UnitKeyword>($unique) attr-dict `:` functional-type(operands, results)"
    )

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        cls = ScatterOp
        dest, indices, dims = signature[cls.dest], signature[cls.indices], signature[cls.scatter_dims]
        _check_dims(signature, dims, indices, dest.rank, "scatter_dims", "dest")
        if not signature[cls.unique]:
            raise signature.op_error("requires 'unique' attribute to be set")
        _check_slices(signature, "source", signature[cls.source], dest, indices, dims)

    name_results = result_named("scatter")
