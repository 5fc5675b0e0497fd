"""Operations on shapes: concat, rank, reshape, expand_shape, collapse_shape."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.arith.dialect import Constants, FoldResult
from sdyopt.mlir.dialects.tensor.values import ANY_TENSOR, RANKED, join_shapes, tensor_dialect
from sdyopt.mlir.ir.attribute import ArrayAttr, Attribute
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr, integer
from sdyopt.mlir.ir.op_fields import attr, operand, operands, result
from sdyopt.mlir.ir.op_signature import OpSignature, SignatureError
from sdyopt.mlir.ir.operation import Op, result_named
from sdyopt.mlir.ir.traits import I64_ARRAY, I64_ATTR, INDEX_VALUE, PURE, AttrConstraint, TypeConstraint
from sdyopt.mlir.ir.types import DYNAMIC, I64, INDEX, IndexType, IntegerType, RankedTensor, Type, element_of


@tensor_dialect.op("rank", PURE)
class RankOp(Op):
    """The number of dimensions of a tensor."""

    tensor = operand(ANY_TENSOR)
    out = result(INDEX_VALUE)

    assembly = assembly("$tensor attr-dict `:` type($tensor)")

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [INDEX]

    def fold(self, constants: Constants) -> FoldResult:
        type = self.tensor.type
        return [integer(type.rank, INDEX)] if isinstance(type, RankedTensor) else None

    name_results = result_named("rank")


@tensor_dialect.op("concat", PURE)
class ConcatOp(Op):
    """Tensors one after the other along a dimension."""

    dim = attr(I64_ATTR)
    inputs = operands(RANKED)
    out = result(RANKED)

    assembly = assembly("`dim` `(` $dim `)` $inputs attr-dict `:` functional-type(operands, results)")

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        inputs, out, dim = signature[ConcatOp.inputs], signature[ConcatOp.out], signature[ConcatOp.dim]
        if not inputs:
            raise signature.op_error("requires at least one input")
        if any(type.rank != out.rank for type in inputs):
            raise signature.op_error("rank of concatenated inputs must match result rank")
        if not 0 <= dim < out.rank:
            raise signature.op_error("concatenation dim must be less than the tensor rank")
        if any(type.element is not out.element for type in inputs):
            raise signature.op_error("inputs and result element type must match")
        sizes = []
        for dimension, column in enumerate(zip(*[type.shape for type in inputs], strict=True)):
            if dimension == dim:
                sizes.append(DYNAMIC if DYNAMIC in column else sum(column))
                continue
            static = {size for size in column if size != DYNAMIC}
            if len(static) > 1:
                raise signature.op_error(
                    f"static concatenation size mismatch along non-concatenated dimension {dimension}"
                )
            sizes.append(static.pop() if static else DYNAMIC)
        inferred = RankedTensor(tuple(sizes), out.element)
        if join_shapes(inferred, out) is None:
            raise signature.op_error(
                f"result type '{plain_type(out)}'does not match inferred shape '{plain_type(inferred)}' "
                "static sizes"
            )

    def fold(self, constants: Constants) -> FoldResult:
        is_copy = len(self.inputs) == 1 and self.inputs[0].type is self.result_types[0]
        return [self.inputs[0]] if is_copy else None

    name_results = result_named("concat")


_SHAPE = TypeConstraint[RankedTensor](
    "1D tensor of signless integer or index values",
    lambda type: (
        isinstance(type, RankedTensor)
        and type.rank == 1
        and (
            isinstance(type.element, IndexType)
            or (isinstance(type.element, IntegerType) and type.element.is_signless)
        )
    ),
)


@tensor_dialect.op("reshape", PURE)
class ReshapeOp(Op):
    """A tensor with the shape that another one lists."""

    source = operand(ANY_TENSOR)
    shape = operand(_SHAPE)
    out = result(ANY_TENSOR)

    assembly = assembly("$source `(` $shape `)` attr-dict `:` functional-type(operands, results)")

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        source, out = signature[ReshapeOp.source], signature[ReshapeOp.out]
        if element_of(source) is not element_of(out):
            raise signature.op_error(
                "element types of source and destination tensor types should be the same"
            )
        if not isinstance(out, RankedTensor):
            return
        (length,) = signature[ReshapeOp.shape].shape
        if not isinstance(source, RankedTensor) or not (source.has_static_shape and out.has_static_shape):
            is_valid = True
        else:
            is_valid = source.num_elements == out.num_elements
        if not is_valid:
            raise signature.op_error("source and destination tensor should have the same number of elements")
        if length == DYNAMIC:
            raise signature.op_error(
                "cannot use shape operand with dynamic length to reshape to statically-ranked tensor type"
            )
        if length != out.rank:
            raise signature.op_error("length of shape operand differs from the result's tensor rank")

    name_results = result_named("reshape")


# --- expand_shape and collapse_shape ------------------------------------------------------------

Groups = tuple[tuple[int, ...], ...]


def _is_index_list(attribute: Attribute) -> bool:
    return isinstance(attribute, ArrayAttr) and all(
        isinstance(group, ArrayAttr)
        and all(isinstance(e, IntegerAttr) and e.type is I64 for e in group.elements)
        for group in attribute.elements
    )


def _groups(attribute: ArrayAttr) -> Groups:
    return tuple(
        [
            tuple([e.value for e in group.elements if isinstance(e, IntegerAttr)])
            for group in attribute.elements
            if isinstance(group, ArrayAttr)
        ]
    )


_REASSOCIATION = AttrConstraint[Groups](
    "Array of 64-bit integer array attributes",
    _is_index_list,
    _groups,
    lambda attribute: isinstance(attribute, ArrayAttr),
)


def _check_reassociation(signature: OpSignature, expanded: Type, collapsed: Type, groups: Groups) -> None:
    """Raises unless each group of dimensions of `expanded` is a dimension of `collapsed`."""
    ranks = [type.rank if isinstance(type, RankedTensor) else -1 for type in (expanded, collapsed)]
    if -1 in ranks or ranks[0] < ranks[1]:
        raise signature.op_error(
            f"expected the expanded type, '{plain_type(expanded)}' to have a higher (or same) rank than the "
            f"collapsed type, '{plain_type(collapsed)}'."
        )
    assert isinstance(expanded, RankedTensor) and isinstance(collapsed, RankedTensor)
    if collapsed.rank == 0:
        if any(size != 1 for size in expanded.shape):
            raise signature.op_error(
                "invalid to reshape tensor/memref with non-unit extent dimensions to zero-rank tensor/memref"
            )
        return
    if collapsed.rank != len(groups):
        raise signature.op_error(
            f"expected collapsed rank ({collapsed.rank}) to equal the number of reassociation maps "
            f"({len(groups)})."
        )
    size = max([dimension for group in groups for dimension in group], default=-1) + 1
    if size != expanded.rank:
        raise signature.op_error(
            f"expected reassociation map #0 to have size equal to the expanded rank ({expanded.rank}), but "
            f"it is  {size}."
        )
    start = 0
    for index, group in enumerate(groups):
        if group != tuple(range(start, start + len(group))):
            raise signature.op_error(f"expected reassociation map #{index} to be valid and contiguous")
        start += len(group)
    _check_sizes(signature, expanded, collapsed, groups)


def _check_sizes(
    signature: OpSignature, expanded: RankedTensor, collapsed: RankedTensor, groups: Groups
) -> None:
    sizes = []
    for index, group in enumerate(groups):
        product, given = 1, collapsed.shape[index]
        for dimension in group:
            size = expanded.shape[dimension]
            product = DYNAMIC if DYNAMIC in (size, product) else product * size
        if product == DYNAMIC and given != DYNAMIC:
            raise signature.op_error(
                f"expected dimension {index} of collapsed type to be dynamic since one or more of the "
                "corresponding dimensions in the expanded type is dynamic"
            )
        if product != given:
            raise signature.op_error(
                f"expected dimension {index} of collapsed type to be static value of {product}"
            )
        sizes.append(product)
    if expanded.element is not collapsed.element:
        raise _wrong_collapsed(signature, RankedTensor(tuple(sizes), expanded.element), collapsed)


def _wrong_collapsed(signature: OpSignature, expected: Type, collapsed: Type) -> SignatureError:
    return signature.op_error(
        f"expected collapsed type to be '{plain_type(expected)}', but got '{plain_type(collapsed)}'"
    )


@tensor_dialect.op("expand_shape", PURE)
class ExpandShapeOp(Op):
    """A tensor some of whose dimensions are split into several."""

    src = operand(ANY_TENSOR)
    output_shape = operands(INDEX_VALUE)
    reassociation = attr(_REASSOCIATION)
    static_output_shape = attr(I64_ARRAY)
    out = result(ANY_TENSOR)

    assembly = assembly(
        "$src $reassociation `output_shape` custom<DynamicIndexList>($output_shape, $static_output_shape) "
        "attr-dict `:` type($src) `into` type($out)"
    )

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        cls = ExpandShapeOp
        out, static = signature[cls.out], signature[cls.static_output_shape]
        rank = out.rank if isinstance(out, RankedTensor) else -1
        if len(static) != rank:
            raise signature.op_error(
                f"expected number of static shape dims to be equal to the output rank ({rank}) but found "
                f"{len(static)} inputs instead"
            )
        values = len(signature[cls.output_shape])
        if static.count(DYNAMIC) != values:
            raise signature.op_error(
                "mismatch in dynamic dims in output_shape and static_output_shape: static_output_shape has "
                f"{static.count(DYNAMIC)} dynamic dims while output_shape has {values} values"
            )
        _check_reassociation(signature, out, signature[cls.src], signature[cls.reassociation])

    name_results = result_named("expanded")


@tensor_dialect.op("collapse_shape", PURE)
class CollapseShapeOp(Op):
    """A tensor some of whose dimensions are merged into one."""

    src = operand(ANY_TENSOR)
    reassociation = attr(_REASSOCIATION)
    out = result(ANY_TENSOR)

    assembly = assembly("$src $reassociation attr-dict `:` type($src) `into` type($out)")

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        cls = CollapseShapeOp
        if not all(signature[cls.reassociation]):
            raise signature.op_error("reassociation indices must not be empty")
        _check_reassociation(signature, signature[cls.src], signature[cls.out], signature[cls.reassociation])

    name_results = result_named("collapsed")
