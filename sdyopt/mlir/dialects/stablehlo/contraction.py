"""stablehlo's contractions: dot, dot_general, einsum and unary_einsum, and their dimension numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.attribute_format import attribute_format, dialect_attribute
from sdyopt.mlir.asm.format.format_elements import Custom, directive
from sdyopt.mlir.asm.format.print_template import Template
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.quant import QuantizedType, UniformQuantized, UniformQuantizedPerAxis
from sdyopt.mlir.dialects.stablehlo.assembly_directives import (
    DimensionNumbers,
    parse_integer_list,
    print_list,
)
from sdyopt.mlir.dialects.stablehlo.dialect import (
    Dimensions,
    EnumAttr,
    are_shapes_compatible,
    check_distinct,
    check_within,
    listing,
    quoted,
    stablehlo,
)
from sdyopt.mlir.dialects.stablehlo.precision import (
    DOT_ALGORITHM,
    PRECISION_CONFIG,
    check_precision,
    verify_algorithm,
)
from sdyopt.mlir.dialects.stablehlo.type_compatibility import dimensions_of, most_specific_dimension
from sdyopt.mlir.dialects.stablehlo.types import (
    TENSOR,
    TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR,
    print_dimension_size,
)
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.attribute import Attribute, DictAttr
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import are_compatible_sizes
from sdyopt.mlir.ir.traits import NO_MEMORY_EFFECT, PURE, STRING_ATTR, of_class
from sdyopt.mlir.ir.types import RankedTensor, Type, element_of

_WRONG_SIZES = ErrorKind(
    "{word} dimension sizes must match for lhs/rhs",
    at="attribute {word}_dims | attribute dot_dimension_numbers",
    help="pair dimensions of equal size: {word}_dims = [of the left operand] x [of the right operand]",
)
_WRONG_SHAPE = ErrorKind(
    "inferred shape '[{sizes}]' is incompatible with return type of operation {type}",
    at="result_type 0",
    help="write `{written}`",
)


@dialect_attribute(stablehlo, "dot", "StableHLO_DotDimensionNumbers")
class DotDimensions(Attribute):
    """`#stablehlo.dot<…>`: the batching and contracting dimensions of both operands."""

    lhs_batching_dimensions: tuple[int, ...] = ()
    rhs_batching_dimensions: tuple[int, ...] = ()
    lhs_contracting_dimensions: tuple[int, ...] = ()
    rhs_contracting_dimensions: tuple[int, ...] = ()
    dialect = "stablehlo"
    assembly = attribute_format("<", DimensionNumbers("dot dimension numbers"))

    @property
    def batching(self) -> list[tuple[int, int]]:
        """Pairs of (lhs, rhs) batching dimensions."""
        return list(zip(self.lhs_batching_dimensions, self.rhs_batching_dimensions, strict=True))

    @property
    def contracting(self) -> list[tuple[int, int]]:
        """Pairs of (lhs, rhs) contracting dimensions."""
        return list(zip(self.lhs_contracting_dimensions, self.rhs_contracting_dimensions, strict=True))


DOT_DIMENSIONS = of_class(DotDimensions, "Attribute that models the dimension information for dot.")


# --- Assembly of dot_general ------------------------------------------------------------------


@directive("DotDimensionNumbers")
def dot_dimensions_directive() -> Custom:
    """`batching_dims = [0] x [0], contracting_dims = [2] x [1]`; empty batching dimensions are omitted."""
    return Custom(_parse_directive, _write_directive, elides=["dot_dimension_numbers"])


def _parse_directive(op_parser: OpAsmParser) -> None:
    batching: tuple[tuple[int, ...], tuple[int, ...]] = (), ()
    if op_parser.accept("batching_dims"):
        op_parser.expect("=")
        batching = _parse_pair(op_parser)
        op_parser.expect(",")
    op_parser.expect("contracting_dims")
    op_parser.expect("=")
    op_parser.attributes["dot_dimension_numbers"] = DotDimensions(*batching, *_parse_pair(op_parser))


def _parse_pair(op_parser: OpAsmParser) -> tuple[tuple[int, ...], tuple[int, ...]]:
    lhs = parse_integer_list(op_parser)
    op_parser.expect("x")
    return lhs, parse_integer_list(op_parser)


def _write_directive(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
    dims = signature.attributes["dot_dimension_numbers"]
    assert isinstance(dims, DotDimensions)
    batching = dims.lhs_batching_dimensions, dims.rhs_batching_dimensions
    contracting = dims.lhs_contracting_dimensions, dims.rhs_contracting_dimensions
    if any(batching):
        out.text(f" batching_dims = {' x '.join(map(print_list, batching))},")
    out.text(f" contracting_dims = {' x '.join(map(print_list, contracting))}")


# --- Checks and inference ---------------------------------------------------------------------


class DotDimensionNumbers(Protocol):
    """The dot dimension numbers of stablehlo, chlo or mhlo."""

    @property
    def lhs_batching_dimensions(self) -> tuple[int, ...]: ...
    @property
    def rhs_batching_dimensions(self) -> tuple[int, ...]: ...
    @property
    def lhs_contracting_dimensions(self) -> tuple[int, ...]: ...
    @property
    def rhs_contracting_dimensions(self) -> tuple[int, ...]: ...


def check_dot_dimensions(
    signature: OpSignature, lhs: RankedTensor, rhs: RankedTensor, dims: DotDimensionNumbers
) -> None:
    """Checks that the dimension numbers are distinct, in range, and form pairs of compatible sizes."""
    if len(dims.lhs_batching_dimensions) != len(dims.rhs_batching_dimensions):  # dot_general_c1
        raise signature.error_without_op_note(
            "lhs and rhs should have the same number of batching dimensions"
        )
    if len(dims.lhs_contracting_dimensions) != len(dims.rhs_contracting_dimensions):  # dot_general_c2
        raise signature.error_without_op_note(
            "lhs and rhs should have the same number of contracting dimensions"
        )
    sides = (
        ("lhs", lhs, dims.lhs_batching_dimensions, dims.lhs_contracting_dimensions),
        ("rhs", rhs, dims.rhs_batching_dimensions, dims.rhs_contracting_dimensions),
    )
    for side, _, batching, contracting in sides:  # dot_general_c3, dot_general_c4
        names = f"{side}_batching_dimensions", f"{side}_contracting_dimensions"
        check_distinct(signature, batching, contracting, *names)
    for side, type, batching, contracting in sides:  # dot_general_c5 to dot_general_c8
        _check_in_range(signature, type.rank, batching, f"{side}_batching_dimensions")
        _check_in_range(signature, type.rank, contracting, f"{side}_contracting_dimensions")
    for kind, pairs in (  # dot_general_c9, dot_general_c10
        ("batching", zip(dims.lhs_batching_dimensions, dims.rhs_batching_dimensions, strict=True)),
        ("contracting", zip(dims.lhs_contracting_dimensions, dims.rhs_contracting_dimensions, strict=True)),
    ):
        for left, right in pairs:
            if not are_compatible_sizes(lhs.shape[left], rhs.shape[right]):
                raise signature.error_without_op_note(_WRONG_SIZES(word=kind))


def _check_in_range(signature: OpSignature, rank: int, dimensions: Dimensions, name: str) -> None:
    for dimension in dimensions:
        if not 0 <= dimension < rank:
            raise signature.error_without_op_note(f"{name} value: {dimension} is out of range: [0, {rank})")


def dot_result_shape(
    signature: OpSignature, lhs: RankedTensor, rhs: RankedTensor, dims: DotDimensions
) -> list[int]:
    """The sizes of the batching dimensions, then of the free dimensions of lhs and of rhs."""
    lefts, rights = dimensions_of(lhs), dimensions_of(rhs)
    shape = [
        most_specific_dimension(signature, index, lefts[left], rights[right])[0]
        for index, (left, right) in enumerate(dims.batching)
    ]
    shape += free_sizes(lhs, dims.lhs_batching_dimensions, dims.lhs_contracting_dimensions)
    return shape + free_sizes(rhs, dims.rhs_batching_dimensions, dims.rhs_contracting_dimensions)


def free_sizes(type: RankedTensor, *lists: Dimensions) -> list[int]:
    """The sizes of the dimensions that are in none of the lists."""
    listed = {dimension for dimensions in lists for dimension in dimensions}
    return [size for dimension, size in enumerate(type.shape) if dimension not in listed]


class RaggedDimensions(NamedTuple):
    """Batching, contracting, lhs ragged and rhs group dimensions."""

    lhs_batching_dimensions: tuple[int, ...]
    rhs_batching_dimensions: tuple[int, ...]
    lhs_contracting_dimensions: tuple[int, ...]
    rhs_contracting_dimensions: tuple[int, ...]
    lhs_ragged_dimensions: tuple[int, ...]
    rhs_group_dimensions: tuple[int, ...]

    def group_batching_dimensions(self, ragged: int) -> list[int]:
        """The lhs dimensions whose indices may have group sizes of their own.

        They are the dimensions before the ragged dimension that are of its kind (batching, contracting or
        free) and, unless the ragged dimension is a batching dimension, all batching dimensions.
        """
        batching, contracting = list(self.lhs_batching_dimensions), list(self.lhs_contracting_dimensions)
        if ragged in batching:
            return batching[: batching.index(ragged)]
        if ragged in contracting:
            return batching + contracting[: contracting.index(ragged)]
        return batching + [d for d in range(ragged) if d not in (*batching, *contracting)]

    def check_group_sizes(
        self, signature: OpSignature, lhs: RankedTensor, group_sizes: RankedTensor, ragged: int
    ) -> None:
        """Checks that group_sizes is a list of sizes, or one per index along `group_batching_dimensions`."""
        if group_sizes.rank == 1:
            return
        prefix = [lhs.shape[dimension] for dimension in self.group_batching_dimensions(ragged)]
        if group_sizes.rank != len(prefix) + 1:
            raise signature.error_without_op_note(
                f"expected group_sizes to have rank {len(prefix) + 1}, got {group_sizes.rank}"
            )
        if prefix != list(group_sizes.shape[:-1]):
            raise signature.error_without_op_note(
                f"group_sizes is expected to have shape [{listing([*prefix, group_sizes.shape[-1]])}], "
                f"got [{listing(group_sizes.shape)}]"
            )

    def check_group_dimension(
        self, signature: OpSignature, rhs: RankedTensor, count: int, ragged: int
    ) -> None:
        """Checks that rhs has one group dimension, of size `count`, if `ragged` is free, else none."""
        group = self.rhs_group_dimensions
        for dimension in group:
            check_within(signature, dimension, rhs.rank, "rhs_group_dim", "rhs_rank")
        name = "rhs_group_dimensions"
        check_distinct(signature, group, self.rhs_batching_dimensions, name, "rhs_batching_dimensions")
        check_distinct(signature, group, self.rhs_contracting_dimensions, name, "rhs_contracting_dimensions")
        if ragged in self.lhs_batching_dimensions or ragged in self.lhs_contracting_dimensions:
            if group:
                raise signature.error_without_op_note(
                    "There must be zero group dimensions in the rhs when the ragged dimension is batch or "
                    "contracting."
                )
            return
        if len(group) != 1:
            raise signature.error_without_op_note(
                "There must be exactly one group dimension in the rhs when the lhs ragged dimension is "
                "non-contracting."
            )
        size = rhs.shape[group[0]]
        if not are_compatible_sizes(count, size):
            raise signature.error_without_op_note(
                f"rhs group dimension is expected to have size={count}, got {size}"
            )


def check_ragged_dot(
    signature: OpSignature, dims: RaggedDimensions, precision_config: Sequence[EnumAttr] | None
) -> None:
    """Checks a ragged dot with the operands lhs, rhs and group_sizes. Raises a SignatureError."""
    lhs, rhs, group_sizes = signature.operand_types
    check_precision(signature, precision_config)
    if not isinstance(lhs, RankedTensor) or not isinstance(rhs, RankedTensor):
        raise signature.op_error("expects lhs and rhs to be ranked tensors")
    assert isinstance(group_sizes, RankedTensor)
    check_dot_dimensions(signature, lhs, rhs, dims)
    if len(dims.lhs_ragged_dimensions) != 1:
        raise signature.error_without_op_note("There must be exactly one ragged dimension in the lhs.")
    (ragged,) = dims.lhs_ragged_dimensions
    check_within(signature, ragged, lhs.rank, "lhs_ragged_dim", "lhs_rank")
    dims.check_group_sizes(signature, lhs, group_sizes, ragged)
    dims.check_group_dimension(signature, rhs, group_sizes.shape[-1], ragged)
    check_result_shape(signature, ragged_dot_result_shape(lhs, rhs, group_sizes, dims))


def ragged_dot_result_shape(
    lhs: RankedTensor, rhs: RankedTensor, group_sizes: RankedTensor, dims: RaggedDimensions
) -> list[int]:
    """The group dimension if a contracting dimension is ragged, then batching, lhs and rhs dimensions."""
    groups = (
        [group_sizes.shape[-1]] if dims.lhs_ragged_dimensions[0] in dims.lhs_contracting_dimensions else []
    )
    batches = [lhs.shape[dimension] for dimension in dims.lhs_batching_dimensions]
    rows = free_sizes(lhs, dims.lhs_batching_dimensions, dims.lhs_contracting_dimensions)
    columns = free_sizes(
        rhs, dims.rhs_batching_dimensions, dims.rhs_contracting_dimensions, dims.rhs_group_dimensions
    )
    return [*groups, *batches, *rows, *columns]


@stablehlo.op("dot", PURE)
class DotOp(Op):
    """Vector and matrix products: out[m, n] = sum over k of lhs[m, k] * rhs[k, n]."""

    lhs = op_fields.operand(TENSOR)
    rhs = op_fields.operand(TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)
    precision_config = op_fields.optional_attr(PRECISION_CONFIG)
    out = op_fields.result(TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)

    assembly = assembly("$lhs `,` $rhs custom<Precision> attr-dict `:` functional-type(operands, results)")

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        check_precision(signature, signature[DotOp.precision_config])
        lhs, rhs = signature[DotOp.lhs], signature[DotOp.rhs]
        if not {lhs.rank, rhs.rank} <= {1, 2} or not are_compatible_sizes(lhs.shape[-1], rhs.shape[0]):
            raise signature.error_without_op_note("expected both lhs/rhs ranks to be either 1 or 2")
        check_result_shape(signature, [*lhs.shape[:-1], *rhs.shape[1:]])


@stablehlo.op("dot_general", NO_MEMORY_EFFECT)
class DotGeneralOp(Op):
    """Computes dot products over the contracting dimensions, for each index of the batching dimensions.

    For batches of matrices: out[b, m, n] = sum over k of lhs[b, m, k] * rhs[b, k, n].
    """

    lhs = op_fields.operand(TENSOR)
    rhs = op_fields.operand(TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)
    dot_dimension_numbers = op_fields.attr(DOT_DIMENSIONS)
    precision_config = op_fields.optional_attr(PRECISION_CONFIG)
    algorithm = op_fields.optional_attr(DOT_ALGORITHM)
    out = op_fields.result(TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)

    assembly = assembly(
        "$lhs `,` $rhs `,` custom<DotDimensionNumbers> custom<PrecisionAndAlgorithm> attr-dict `:` "
        "functional-type(operands, results)"
    )

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        algorithm = signature[DotGeneralOp.algorithm]
        if algorithm is not None and (message := verify_algorithm(algorithm)) is not None:
            raise signature.error(message)
        precision = signature[DotGeneralOp.precision_config]
        check_precision(signature, precision)  # dot_general_c11
        lhs, rhs, out = signature[DotGeneralOp.lhs], signature[DotGeneralOp.rhs], signature[DotGeneralOp.out]
        dims = signature[DotGeneralOp.dot_dimension_numbers]
        check_dot_dimensions(signature, lhs, rhs, dims)
        check_result_shape(signature, dot_result_shape(signature, lhs, rhs, dims))
        if algorithm is not None and any(p.value != "DEFAULT" for p in precision or ()):  # dot_general_c21
            raise signature.error_without_op_note(
                "must specify DEFAULT precision config when algorithm is set."
            )
        if any(isinstance(type.element, QuantizedType) for type in (lhs, rhs, out)):
            _check_quantized_dot(signature)


def check_result_shape(signature: OpSignature, inferred: list[int]) -> None:
    """Checks that the single result type is ranked and compatible with the inferred shape."""
    (type,) = signature.result_types
    if not isinstance(type, RankedTensor) or not are_shapes_compatible(inferred, type.shape):
        sizes = ", ".join(map(print_dimension_size, inferred))
        written = plain_type(RankedTensor(tuple(inferred), element_of(type), getattr(type, "encoding", None)))
        raise signature.error_without_op_note(_WRONG_SHAPE(sizes=sizes, type=quoted(type), written=written))


def _check_quantized_dot(signature: OpSignature) -> None:
    element = signature[DotGeneralOp.rhs].element
    if isinstance(element, UniformQuantized) and element.zero_point != 0:  # dot_general_c15
        raise signature.error_without_op_note("Zero point of rhs should be 0")
    if isinstance(element, UniformQuantizedPerAxis):
        if any(element.all_zero_points):  # dot_general_c15
            raise signature.error_without_op_note("Zero points of rhs should be 0")
        if (
            element.axis in signature[DotGeneralOp.dot_dimension_numbers].rhs_contracting_dimensions
        ):  # dot_general_c16
            raise signature.error_without_op_note(
                "Quantization dimension of rhs should not be in the contracting dimension of rhs"
            )
    lhs, out = signature[DotGeneralOp.lhs], signature[DotGeneralOp.out]
    check_quantized_product(signature, lhs.element, element, out.element)


def check_quantized_product(signature: OpSignature, lhs: Type, rhs: Type, out: Type) -> None:
    """Checks the element types of a product, at least one of which is quantized."""
    if not isinstance(rhs, QuantizedType) or isinstance(lhs, QuantizedType) != isinstance(
        out, QuantizedType
    ):  # convolution_c28, dot_general_c14
        raise signature.error_without_op_note(
            "rhs should be quantized for quantized operations and is_quantized(lhs)=is_quantized(result) "
            "should hold"
        )
    if not isinstance(lhs, QuantizedType) or not isinstance(out, QuantizedType):
        if lhs is not rhs.expressed or lhs is not out:  # convolution_c34, dot_general_c20
            raise signature.error_without_op_note(
                "mismatched rhs quantization expressed type and lhs and result element type"
            )
        return
    if lhs.storage is not rhs.storage:  # convolution_c31, dot_general_c17
        raise signature.error_without_op_note("mismatched lhs and rhs quantization storage types")
    if not lhs.expressed is rhs.expressed is out.expressed:  # convolution_c32, dot_general_c18
        raise signature.error_without_op_note("mismatched lhs, rhs and result quantization expressed types")
    if isinstance(rhs, UniformQuantized) and not isinstance(out, UniformQuantized):
        raise signature.error_without_op_note(  # convolution_c33, dot_general_c19
            "mismatched rhs and result quantization granularity"
        )


@stablehlo.op("einsum", PURE)
class EinsumOp(Op):
    """A product in Einstein summation notation, as in numpy.einsum."""

    lhs = op_fields.operand(TENSOR)
    rhs = op_fields.operand(TENSOR)
    einsum_config = op_fields.attr(STRING_ATTR)
    out = op_fields.result(TENSOR)

    assembly = assembly(
        "$lhs `,` $rhs `,` `config` `=` custom<String>($einsum_config) attr-dict `:` "
        "functional-type(operands, results)"
    )


@stablehlo.op("unary_einsum", PURE)
class UnaryEinsumOp(Op):
    """Einstein summation on a single operand: sums, diagonals and transposes."""

    operand = op_fields.operand(TENSOR)
    einsum_config = op_fields.attr(STRING_ATTR)
    out = op_fields.result(TENSOR)

    assembly = assembly(
        "$operand `,` `config` `=` custom<String>($einsum_config) attr-dict `:` functional-type(operands, "
        "results)"
    )
