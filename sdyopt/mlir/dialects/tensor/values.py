"""Operations on whole tensors, sizes and elements."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import ClassVar

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.directives import RankedTensorTypeOf
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.arith.compare import make_constant
from sdyopt.mlir.dialects.arith.dialect import Constants, FoldResult, element_at, scalar
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import DenseElements, IntegerAttr, integer
from sdyopt.mlir.ir.cse import constant_value
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.op_fields import VARIADIC, ValueField, operand, operands, result
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op, result_named
from sdyopt.mlir.ir.patterns import Pattern
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.shape_traits import are_compatible_shapes
from sdyopt.mlir.ir.traits import ANY_TYPE, INDEX_VALUE, PURE, TypeConstraint
from sdyopt.mlir.ir.types import (
    DYNAMIC,
    INDEX,
    FloatType,
    IndexType,
    IntegerType,
    RankedTensor,
    Type,
    UnrankedTensor,
    element_of,
)
from sdyopt.mlir.ir.value import Value

tensor_dialect = Dialect("tensor", is_partial=True)
tensor_dialect.is_inlinable = True
tensor_dialect.materialize_constant = make_constant

ANY_TENSOR = TypeConstraint[Type](
    "tensor of any type values", lambda type: isinstance(type, RankedTensor | UnrankedTensor)
)
RANKED = TypeConstraint[RankedTensor](
    "ranked tensor of any type values", lambda type: isinstance(type, RankedTensor)
)


_STATIC = TypeConstraint[RankedTensor](
    "statically shaped tensor of any type values",
    lambda type: isinstance(type, RankedTensor) and type.has_static_shape,
)


class TensorOfElements(RankedTensorTypeOf):
    """The type of a tensor; the operands `elements` have that of its elements."""

    def __init__(self, field: str, elements: str, *same: str) -> None:
        super().__init__(field, *same)
        self.elements = elements

    @property
    def typed_fields(self) -> tuple[str, ...]:
        return (*super().typed_fields, self.elements)

    def parse(self, op_parser: OpAsmParser) -> None:
        super().parse(op_parser)
        (type,) = op_parser.types[self.field]
        assert isinstance(type, RankedTensor)
        field = op_parser.op_class.fields[self.field]
        assert isinstance(field, ValueField)
        if not field.constraint.accepts(type):
            raise op_parser.error(
                f"'result' must be {field.constraint.description}, but got '{plain_type(type)}'",
                op_parser.offset,
            )
        elements = op_parser.op_class.fields[self.elements]
        is_list = isinstance(elements, ValueField) and elements.arity == VARIADIC
        count = type.num_elements if is_list else 1
        # A type may have more elements than a list, which is only made if there are as many operands.
        op_parser.check_operand_count(
            op_parser.operand_names.get(self.elements, ()),
            range(min(count, sys.maxsize)),
            op_parser.operand_group_offsets.get(self.elements, op_parser.offset),
        )
        op_parser.types[self.elements] = [type.element] * count


def constant_index(value: Value) -> int | None:
    """The number of a constant integer; None for any other value."""
    constant = constant_value(value.defining_op)
    return constant.value if isinstance(constant, IntegerAttr) else None


_WITH_DIMENSIONS = TypeConstraint[UnrankedTensor](
    "non-0-ranked or unranked tensor",
    lambda type: isinstance(type, UnrankedTensor) or (isinstance(type, RankedTensor) and type.rank > 0),
)


def join_shapes(*types: Type) -> tuple[int, ...] | None:
    """The shape with the static sizes of all ranked types; None if no type is ranked or shapes conflict."""
    shapes = [type.shape for type in types if isinstance(type, RankedTensor)]
    if not shapes or len(set(map(len, shapes))) > 1:
        return None
    joined = []
    for sizes in zip(*shapes, strict=True):
        static = {size for size in sizes if size != DYNAMIC}
        if len(static) > 1:
            return None
        joined.append(static.pop() if static else DYNAMIC)
    return tuple(joined)


@tensor_dialect.op("cast", PURE)
class CastOp(Op):
    """Casts a tensor between types of compatible shapes."""

    source = operand(ANY_TENSOR)
    dest = result(ANY_TENSOR)

    assembly = assembly("$source attr-dict `:` type($source) `to` type($dest)")

    def _merge_casts(self, rewriter: Rewriter) -> bool:
        """Merges two casts, unless the type between has static sizes that neither source nor result has."""
        inner = self.source.defining_op
        if not isinstance(inner, CastOp):
            return False
        source_type, inner_type, dest_type = inner.source.type, inner.dest.type, self.dest.type
        joined = join_shapes(source_type, inner_type, dest_type)
        if joined is None or joined != join_shapes(source_type, dest_type):
            return False
        cast = rewriter.create(CastOp, [inner.source], [dest_type], before=self, location=self.location)
        rewriter.replace(self, cast)
        return True

    canonicalizations: ClassVar[tuple[Pattern, ...]] = (Pattern(_merge_casts),)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        source, dest = signature[CastOp.source], signature[CastOp.dest]
        if element_of(source) is not element_of(dest) or not are_compatible_shapes([source, dest]):
            raise signature.op_error(
                f"operand type '{plain_type(source)}' and result type '{plain_type(dest)}' are cast "
                "incompatible"
            )

    def fold(self, constants: Constants) -> FoldResult:
        return [self.source] if self.source.type is self.dest.type else None

    name_results = result_named("cast")

    def merge_into_empty(self, rewriter: Rewriter) -> bool:
        """Replaces the cast of an empty tensor with an empty tensor of the cast's result type."""
        empty, dest_type = self.source.defining_op, self.dest.type
        if not isinstance(empty, EmptyOp) or not isinstance(dest_type, RankedTensor):
            return False
        type = empty.tensor_type
        values = iter(empty.sizes)
        sizes: list[Value] = []
        for old, new in zip(type.shape, dest_type.shape, strict=True):
            value = next(values) if old == DYNAMIC else None
            if new == DYNAMIC:
                if value is None:
                    # A static size that the cast makes dynamic would need a constant.
                    return False
                sizes.append(value)
        new_op = rewriter.create(EmptyOp, sizes, [dest_type], before=self, location=self.location)
        rewriter.replace(self, new_op)
        return True


def loses_static_sizes(op: CastOp) -> bool:
    """Whether a cast only makes static sizes dynamic, so that its users can use the source."""
    source, dest = op.source.type, op.dest.type
    if not isinstance(source, RankedTensor) or not isinstance(dest, RankedTensor):
        return False
    if source.rank != dest.rank or source.encoding is not dest.encoding:
        return False
    return all(old != DYNAMIC or new == DYNAMIC for old, new in zip(source.shape, dest.shape, strict=True))


@tensor_dialect.op("dim", PURE)
class DimOp(Op):
    """The size of a dimension of a tensor."""

    source = operand(_WITH_DIMENSIONS)
    index = operand(INDEX_VALUE)
    out = result(INDEX_VALUE)

    assembly = assembly("attr-dict $source `,` $index `:` type($source)")

    def _use_cast_source(self, rewriter: Rewriter) -> bool:
        """Queries the source of a cast instead of its result."""
        cast = self.source.defining_op
        if not isinstance(cast, CastOp):
            return False
        rewriter.set_operand(self.operand_uses[0], cast.source)
        return True

    canonicalizations: ClassVar[tuple[Pattern, ...]] = (Pattern(_use_cast_source),)

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [INDEX]

    def fold(self, constants: Constants) -> FoldResult:
        type, index = self.source.type, constants[1]
        if not isinstance(index, IntegerAttr) or not isinstance(type, RankedTensor):
            return None
        if not 0 <= index.value < type.rank:
            return None
        size = type.shape[index.value]
        if size != DYNAMIC:
            return [integer(size, INDEX)]
        source = self.source.defining_op
        value = source.dynamic_size(index.value) if isinstance(source, ReifiesShape) else None
        return None if value is None else [value]

    name_results = result_named("dim")


@tensor_dialect.op("from_elements", PURE)
class FromElementsOp(Op):
    """A tensor of these elements."""

    elements = operands(ANY_TYPE)
    out = result(_STATIC)

    assembly = assembly(
        "$elements attr-dict `:` custom<types>($out)", types=lambda field: TensorOfElements(field, "elements")
    )

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        type = signature[FromElementsOp.out]
        given = signature.operand_types
        if len(given) != type.num_elements or any(item is not type.element for item in given):
            raise signature.op_error("failed to verify that operand types match result element type")

    name_results = result_named("from_elements")


@tensor_dialect.op("extract", PURE)
class ExtractOp(Op):
    """The element of a tensor at an index per dimension."""

    tensor = operand(RANKED)
    indices = operands(INDEX_VALUE)
    out = result(ANY_TYPE)

    assembly = assembly("$tensor `[` $indices `]` attr-dict `:` type($tensor)")

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [element_of(signature[ExtractOp.tensor])]

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        if signature[ExtractOp.tensor].rank != len(signature[ExtractOp.indices]):
            raise signature.op_error("incorrect number of indices for extract_element")

    def fold(self, constants: Constants) -> FoldResult:
        tensor, *indices = constants
        if not isinstance(element_of(self.tensor.type), IntegerType | IndexType | FloatType):
            # A constant of a complex type is one of the dialect `complex`.
            tensor = None
        if isinstance(tensor, DenseElements) and tensor.is_splat:
            return [scalar(element_at(tensor, 0), tensor.type.element)]
        type, offset = self.tensor.type, 0
        assert isinstance(type, RankedTensor)
        positions = [index.value for index in indices if isinstance(index, IntegerAttr)]
        is_inside = len(positions) == type.rank and all(
            0 <= position < size for position, size in zip(positions, type.shape, strict=True)
        )
        if not is_inside:
            return None
        for position, size in zip(positions, type.shape, strict=True):
            offset = offset * size + position
        source = self.tensor.defining_op
        if isinstance(source, FromElementsOp):
            return [source.elements[offset]]
        if not isinstance(tensor, DenseElements):
            return None
        return [scalar(element_at(tensor, offset), tensor.type.element)]

    name_results = result_named("extracted")


def check_dynamic_sizes(signature: OpSignature, type: RankedTensor, count: int) -> None:
    """Raises unless there are `count` dynamic sizes."""
    expected = type.shape.count(DYNAMIC)
    if expected != count:
        raise signature.op_error(f"incorrect number of dynamic sizes, has {count}, expected {expected}")


class ReifiesShape(Op):
    """Base of the operations whose operands define the shape of their result."""

    def dynamic_size(self, dimension: int) -> Value | None:
        """The operand that defines a size of the result; None if the size is static."""
        raise NotImplementedError


@tensor_dialect.op("empty", PURE)
class EmptyOp(ReifiesShape):
    """A tensor with undefined elements, and an operand per dynamic size."""

    sizes = operands(INDEX_VALUE)
    out = result(RANKED)

    assembly = assembly("`(` $sizes `)` attr-dict `:` type($out)")

    def _fold_constant_sizes(self, rewriter: Rewriter) -> bool:
        """Makes constant sizes static."""
        type = self.tensor_type
        values = iter(self.sizes)
        sizes: list[Value] = []
        shape = list(type.shape)
        for dimension, size in enumerate(type.shape):
            if size != DYNAMIC:
                continue
            value = next(values)
            constant = constant_index(value)
            if constant is None or constant < 0:
                sizes.append(value)
            else:
                shape[dimension] = constant
        if tuple(shape) == type.shape:
            return False
        static = RankedTensor(tuple(shape), type.element, type.encoding)
        empty = rewriter.create(EmptyOp, sizes, [static], before=self, location=self.location)
        cast = rewriter.create(CastOp, empty.results, [type], before=self, location=self.location)
        rewriter.replace(self, cast)
        return True

    canonicalizations = (Pattern(_fold_constant_sizes),)

    @property
    def tensor_type(self) -> RankedTensor:
        type = self.out.type
        assert isinstance(type, RankedTensor)
        return type

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        check_dynamic_sizes(signature, signature[EmptyOp.out], len(signature[EmptyOp.sizes]))

    def dynamic_size(self, dimension: int) -> Value | None:
        shape = self.tensor_type.shape
        if shape[dimension] != DYNAMIC:
            return None
        return self.sizes[shape[:dimension].count(DYNAMIC)]


CastOp.canonicalizations = (*CastOp.canonicalizations, Pattern(CastOp.merge_into_empty))


# Static and dynamic offsets, sizes or strides, one per dimension.
Mixed = list[Value | int]
MixedLists = tuple[Mixed, Mixed, Mixed]
