"""stablehlo.convolution and dynamic_conv, and their dimension numbers.

The lists describe input, kernel and output. `b` and `f` mark the batch and feature dimensions, `i`
and `o` the kernel's input and output feature dimensions, and numbers the spatial dimensions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import Attr, directive
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.quant import QuantizedType, UniformQuantizedPerAxis
from sdyopt.mlir.dialects.stablehlo.assembly_directives import (
    EntryParser,
    parse_custom_struct,
    parse_dimensions,
    print_list,
)
from sdyopt.mlir.dialects.stablehlo.contraction import check_quantized_product, check_result_shape
from sdyopt.mlir.dialects.stablehlo.dialect import (
    I64_ELEMENTS,
    POSITIVE_I64,
    is_unique,
    listing,
    quoted,
    stablehlo,
)
from sdyopt.mlir.dialects.stablehlo.precision import PRECISION_CONFIG, check_precision
from sdyopt.mlir.dialects.stablehlo.reducer import (
    Padding,
    checked_window,
    padding_pairs,
    pairs_of,
    window_result_shape,
)
from sdyopt.mlir.dialects.stablehlo.type_compatibility import have_compatible_element_types
from sdyopt.mlir.dialects.stablehlo.types import (
    STATIC_2D_INT_TENSOR,
    TENSOR,
    TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR,
)
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.cse import constant_value
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import BOOL_ARRAY, I64_ARRAY, NO_MEMORY_EFFECT, of_class
from sdyopt.mlir.ir.types import DYNAMIC, RankedTensor


class ConvDimensions(Attribute):
    """`#stablehlo.conv<…>`: the dimension index of each batch, feature and spatial dimension."""

    input_batch_dimension: int
    input_feature_dimension: int
    input_spatial_dimensions: tuple[int, ...]
    kernel_input_feature_dimension: int
    kernel_output_feature_dimension: int
    kernel_spatial_dimensions: tuple[int, ...]
    output_batch_dimension: int
    output_feature_dimension: int
    output_spatial_dimensions: tuple[int, ...]
    dialect = "stablehlo"
    # Whether a tensor may have dimensions that are in no list, written `?`.
    allows_others: ClassVar[bool] = False

    @property
    def input(self) -> tuple[int, ...]:
        """The batch, feature and spatial dimensions of the input."""
        return (self.input_batch_dimension, self.input_feature_dimension, *self.input_spatial_dimensions)

    @property
    def kernel(self) -> tuple[int, ...]:
        """The input feature, output feature and spatial dimensions of the kernel."""
        return (
            self.kernel_input_feature_dimension,
            self.kernel_output_feature_dimension,
            *self.kernel_spatial_dimensions,
        )

    @property
    def output(self) -> tuple[int, ...]:
        """The batch, feature and spatial dimensions of the output."""
        return (self.output_batch_dimension, self.output_feature_dimension, *self.output_spatial_dimensions)

    def print_lists(self) -> str:
        lists = (self.input, "bf"), (self.kernel, "io"), (self.output, "bf")
        return "{}x{}->{}".format(*(_print_one_list(dimensions, letters) for dimensions, letters in lists))

    def check(self, signature: OpSignature, rank: int) -> None:
        spatial = (
            self.input_spatial_dimensions,
            self.kernel_spatial_dimensions,
            self.output_spatial_dimensions,
        )
        counts = [len(dimensions) for dimensions in spatial]
        if len(set(counts)) > 1:  # convolution_c17, convolution_c19
            raise signature.error_without_op_note(
                "expects the same size for input, kernel and output spatial-dimensions, but got "
                f"{counts[0]}, {counts[1]}, and {counts[2]} resp."
            )
        lists = {"input": self.input, "kernel": self.kernel, "output": self.output}
        # convolution_c13, convolution_c18, convolution_c20
        if not all(0 <= dimension < rank for dimensions in lists.values() for dimension in dimensions):
            raise signature.error_without_op_note(
                f"expects input, kernel, and output dimension-numbers to be in-range [0, {rank})."
            )
        for name, dimensions in lists.items():
            if not is_unique(dimensions):
                raise signature.error_without_op_note(
                    f"expects {name} dimension-numbers to be unique, got {{{listing(dimensions)}}}."
                )

    def check_groups(self, signature: OpSignature, lhs: RankedTensor, rhs: RankedTensor) -> None:
        """Checks the group counts against each other and against the batch and feature dimensions."""
        feature_groups = signature[ConvolutionBaseOp.feature_group_count]
        batch_groups = signature[ConvolutionBaseOp.batch_group_count]
        if batch_groups > 1 and feature_groups > 1:  # convolution_c23
            raise signature.error_without_op_note(
                "expects batch_group_count and feature_group_count not to be both greater than 1. "
                f"Got {batch_groups} and {feature_groups} resp."
            )
        input_batch, input_feature = (
            lhs.shape[self.input_batch_dimension],
            lhs.shape[self.input_feature_dimension],
        )
        kernel_input = rhs.shape[self.kernel_input_feature_dimension]
        kernel_output = rhs.shape[self.kernel_output_feature_dimension]
        if input_batch != DYNAMIC and input_batch % batch_groups:  # convolution_c10
            raise signature.error_without_op_note(
                f"expects input batch dimension ({input_batch}) to be divisible by batch_group_count. "
                f"Got batch_group_count = {batch_groups}."
            )
        if input_feature != DYNAMIC and input_feature % feature_groups:  # convolution_c11
            raise signature.error_without_op_note(
                f"expects input feature dimension ({input_feature}) to be a multiple of feature_group_count. "
                f"Got feature_group_count = {feature_groups}."
            )
        if DYNAMIC not in (input_feature, kernel_input) and input_feature // feature_groups != kernel_input:
            raise signature.error_without_op_note(  # convolution_c14
                f"expects input feature dimension ({input_feature}) / feature_group_count = kernel input "
                f"feature dimension ({kernel_input}). Got feature_group_count = {feature_groups}."
            )
        if kernel_output == DYNAMIC:
            return
        if kernel_output % batch_groups:  # convolution_c15
            raise signature.error_without_op_note(
                f"expects output feature dimension size ({kernel_output}) to be a multiple of "
                f"batch_group_count. Got batch_group_count = {batch_groups}."
            )
        if kernel_output % feature_groups:  # convolution_c16
            raise signature.error_without_op_note(
                f"expects kernel output feature dimension ({kernel_output}) to be divisible by "
                f"feature_group_count. For feature_group_count = {feature_groups}."
            )


CONV_DIMENSIONS = of_class(ConvDimensions, "Structure of dimension information for conv op")

_RAW_ENTRIES: dict[str, EntryParser] = {
    "input_batch_dimension": AsmParser.integer,
    "input_feature_dimension": AsmParser.integer,
    "input_spatial_dimensions": parse_dimensions,
    "kernel_input_feature_dimension": AsmParser.integer,
    "kernel_output_feature_dimension": AsmParser.integer,
    "kernel_spatial_dimensions": parse_dimensions,
    "output_batch_dimension": AsmParser.integer,
    "output_feature_dimension": AsmParser.integer,
    "output_spatial_dimensions": parse_dimensions,
}
# The maximum number of missing spatial dimensions that a diagnostic lists.
_MAX_LISTED = 10


@directive("ConvolutionDimensions")
def conv_dimensions_attr(field: str) -> Attr:
    """The dimension numbers without mnemonic and angle brackets."""

    def parse(op_parser: OpAsmParser) -> Attribute:
        declared = op_parser.op_class.fields[field]
        assert isinstance(declared, op_fields.AttrField) and declared.constraint.cls is not None
        return _parse_lists(op_parser, declared.constraint.cls)

    return Attr(field, parse, lambda dims, attribute_printer: dims.print_lists())


def register_conv_dimensions(dialect: Dialect, cls: type[ConvDimensions]) -> None:
    """Registers the parser and printer of the class of a dialect's dimension numbers."""

    @dialect.attribute("conv")
    def parse(parser: AsmParser) -> Attribute:
        parser.expect("<")
        if parser.accept("raw"):
            # As in StableHLO, the diagnostic names dot dimension numbers.
            values = parse_custom_struct(parser, "dot dimension numbers", _RAW_ENTRIES)
            defaults = {name: () if parse is parse_dimensions else 0 for name, parse in _RAW_ENTRIES.items()}
            return cls(*(values.get(name, default) for name, default in defaults.items()))
        dims = _parse_lists(parser, cls)
        parser.expect(">")
        return dims

    @dialect.printer(cls)
    def print(dims: ConvDimensions, attribute_printer: AttributePrinter) -> str:
        text = dims.print_lists()
        if "?" in text and not dims.allows_others:
            values = zip(_RAW_ENTRIES, (getattr(dims, name) for name in cls.__match_args__), strict=True)
            entries = (f"{name} = {list(v) if isinstance(v, tuple) else v}" for name, v in values)
            text = f"raw {', '.join(entries)}"
        return f"conv<{text}>"


register_conv_dimensions(stablehlo, ConvDimensions)


def _print_one_list(dimensions: tuple[int, ...], letters: str) -> str:
    entries = ["?"] * (max(dimensions) + 1)
    for dimension, name in zip(dimensions, (*letters, *range(len(dimensions))), strict=False):
        # The raw syntax can contain negative dimensions, which this syntax cannot express.
        if dimension >= 0:
            entries[dimension] = str(name)
    return print_list(entries)


# --- Parsing ------------------------------------------------------------------------------------


def _parse_lists(parser: AsmParser, cls: type[ConvDimensions]) -> ConvDimensions:
    """Parses the lists of input, kernel and output."""
    others = cls.allows_others
    input, input_spatial_dimensions = _parse_one_list(parser, "bf", others)
    parser.expect("x")
    kernel, kernel_spatial_dimensions = _parse_one_list(parser, "io", others)
    parser.expect("->")
    output, output_spatial_dimensions = _parse_one_list(parser, "bf", others)
    return cls(
        *(input["b"], input["f"], input_spatial_dimensions),
        *(kernel["i"], kernel["o"], kernel_spatial_dimensions),
        *(output["b"], output["f"], output_spatial_dimensions),
    )


def _parse_one_list(parser: AsmParser, letters: str, others: bool) -> tuple[dict[str, int], tuple[int, ...]]:
    """Parses one list; returns the dimension index of each letter, and the spatial dimensions."""
    parser.expect("[")
    non_spatial: dict[str, int] = {}
    spatial: dict[int, int] = {}
    index = 0
    while True:
        if not others or not parser.accept("?"):
            _parse_entry(parser, letters, index, non_spatial, spatial)
        index += 1
        if not parser.accept(","):
            break
    missing = [letter for letter in letters if letter not in non_spatial]
    if missing:
        raise parser.error(f"Expected dimensions {', '.join(missing)} not specified")
    parser.expect("]")
    return non_spatial, _spatial_dimensions(parser, spatial)


def _parse_entry(
    parser: AsmParser, letters: str, index: int, non_spatial: dict[str, int], spatial: dict[int, int]
) -> None:
    offset = parser.skip_trivia()
    number = parser.accept_integer()
    if number is not None:
        if number < 0:
            raise parser.error(f"Unexpected dimension {number}", offset)
        if number in spatial:
            raise parser.error(f"Duplicate entries for spatial dimension {number}", offset)
        spatial[number] = index
        return
    word = parser.keyword()
    expected = [letter for letter in letters if letter not in non_spatial]
    if word not in expected:
        raise _unexpected(parser, word, expected, offset)
    non_spatial[word] = index


def _unexpected(parser: AsmParser, word: str, expected: list[str], offset: int) -> DiagnosticError:
    if len(word) != 1 or not expected:
        return parser.error(f"Unexpected keyword {word}", offset)
    return parser.error(f"Unexpected dimension {word}, expecting {', '.join(expected)}", offset)


def _spatial_dimensions(parser: AsmParser, spatial: Mapping[int, int]) -> tuple[int, ...]:
    """The dimension indices of spatial dimensions 0, 1, …. Raises a DiagnosticError if one is missing."""
    count = max(spatial, default=-1) + 1
    if count != len(spatial):
        missing = [n for n in range(len(spatial) + _MAX_LISTED) if n < count and n not in spatial]
        listed = ", ".join(map(str, missing[:_MAX_LISTED]))
        raise parser.error(f"Expected spatial dimensions {listed} not specified")
    return tuple(spatial[n] for n in range(count))


class ConvolutionBaseOp(Op):
    """Base of convolution, where `padding` is an attribute, and dynamic_conv, where it is an operand."""

    lhs = op_fields.operand(TENSOR)
    rhs = op_fields.operand(TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)
    window_strides = op_fields.optional_attr(I64_ARRAY)
    lhs_dilation = op_fields.optional_attr(I64_ARRAY)
    rhs_dilation = op_fields.optional_attr(I64_ARRAY)
    window_reversal = op_fields.optional_attr(BOOL_ARRAY)
    dimension_numbers = op_fields.attr(CONV_DIMENSIONS)
    feature_group_count = op_fields.attr(POSITIVE_I64)
    batch_group_count = op_fields.attr(POSITIVE_I64)
    precision_config = op_fields.optional_attr(PRECISION_CONFIG)
    out = op_fields.result(TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)


@stablehlo.op("convolution", NO_MEMORY_EFFECT)
class ConvolutionOp(ConvolutionBaseOp):
    """Slides a kernel over the spatial dimensions of a tensor and sums the products."""

    padding = op_fields.optional_attr(I64_ELEMENTS)

    assembly = assembly(
        "`(` $lhs `,` $rhs `)` `dim_numbers` `=` custom<ConvolutionDimensions>($dimension_numbers) `,` "
        "`window` `=` `{` custom<WindowAttributes> `}` attr-dict `:` functional-type(operands, results)"
    )

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        _check_operands(signature)
        _check_rank(signature)
        _check_result(signature)
        _check_quantized(signature)


@stablehlo.op("dynamic_conv", NO_MEMORY_EFFECT)
class DynamicConvOp(ConvolutionBaseOp):
    """A convolution with padding given by an operand."""

    rhs = op_fields.operand(TENSOR)
    padding = op_fields.operand(STATIC_2D_INT_TENSOR)
    out = op_fields.result(TENSOR)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        _check_operands(signature)
        _check_rank(signature)
        shape = list(signature[DynamicConvOp.padding].shape)
        expected = [signature[DynamicConvOp.lhs].rank - 2, 2]
        if shape != expected:  # dynamic_conv_c4
            raise signature.error_without_op_note(
                f"expects padding to be of shape {expected}, but got {shape}"
            )

    def verify_in_context(self) -> None:
        padding = constant_value(self.padding.defining_op)
        if isinstance(padding, DenseElements):
            # Checks the window. As in StableHLO's C++ verifier, the result may have another shape.
            convolution_shape(self.signature, pairs_of(padding))
        _check_quantized(self.signature)


# --- Operands -------------------------------------------------------------------------------------


def _check_operands(signature: OpSignature) -> None:
    """Checks ranks, element types, dimension numbers, group counts and precision."""
    lhs, rhs = signature[ConvolutionBaseOp.lhs], signature[ConvolutionBaseOp.rhs]
    got = f"Got: {quoted(lhs)} and {quoted(rhs)}."
    if lhs.rank < 2:  # convolution_c13
        raise signature.error_without_op_note(f"expects convolution arguments to have >= 2 dimensions. {got}")
    if lhs.rank != rhs.rank:  # convolution_c1
        raise signature.error_without_op_note(
            f"expects convolution arguments to have same number of dimensions. {got}"
        )
    is_quantized = any(isinstance(type.element, QuantizedType) for type in (lhs, rhs))
    if not is_quantized and not have_compatible_element_types(lhs.element, rhs.element):  # convolution_c27
        raise signature.error_without_op_note(
            "expects lhs and rhs to have compatible element type. "
            f"Got: {quoted(lhs.element)} and {quoted(rhs.element)}"
        )
    dims = signature[ConvolutionBaseOp.dimension_numbers]
    dims.check(signature, lhs.rank)
    dims.check_groups(signature, lhs, rhs)
    check_precision(signature, signature[ConvolutionBaseOp.precision_config])  # convolution_c24


def _check_rank(signature: OpSignature) -> None:
    lhs, dims = signature[ConvolutionBaseOp.lhs], signature[ConvolutionBaseOp.dimension_numbers]
    rank = len(dims.input_spatial_dimensions) + 2
    if lhs.rank != rank:  # convolution_c12
        raise signature.error_without_op_note(
            f"expects convolution arguments to have {rank} dimensions. Got: {lhs.rank}"
        )


def check_mhlo_convolution(signature: OpSignature) -> None:
    """Checks mhlo.convolution, whose operands may have dimensions that are neither spatial nor others."""
    _check_operands(signature)
    _check_result(signature)


# --- Result ---------------------------------------------------------------------------------------


def convolution_shape(signature: OpSignature, padding: Padding) -> list[int]:
    """Checks the window and infers the shape of the result."""
    lhs, rhs = signature[ConvolutionBaseOp.lhs], signature[ConvolutionBaseOp.rhs]
    dims = signature[ConvolutionBaseOp.dimension_numbers]
    window = checked_window(
        signature,
        [rhs.shape[dimension] for dimension in dims.kernel_spatial_dimensions],
        signature[ConvolutionBaseOp.window_strides],
        padding,
        signature[ConvolutionBaseOp.lhs_dilation],
        signature[ConvolutionBaseOp.rhs_dilation],
        signature[ConvolutionBaseOp.window_reversal],
    )
    positions = window_result_shape(
        [lhs.shape[dimension] for dimension in dims.input_spatial_dimensions], window
    )
    shape = [DYNAMIC] * lhs.rank
    for dimension, size in zip(dims.output_spatial_dimensions, positions, strict=True):
        shape[dimension] = size
    batch, batch_groups = (
        lhs.shape[dims.input_batch_dimension],
        signature[ConvolutionBaseOp.batch_group_count],
    )
    shape[dims.output_batch_dimension] = DYNAMIC if batch == DYNAMIC else batch // batch_groups
    shape[dims.output_feature_dimension] = rhs.shape[dims.kernel_output_feature_dimension]
    return shape


def _check_result(signature: OpSignature) -> None:
    padding = padding_pairs(signature, signature[ConvolutionOp.padding])
    check_result_shape(signature, convolution_shape(signature, padding))


def _check_quantized(signature: OpSignature) -> None:
    lhs, rhs = signature[ConvolutionBaseOp.lhs].element, signature[ConvolutionBaseOp.rhs].element
    out = signature[ConvolutionBaseOp.out].element
    if not any(isinstance(element, QuantizedType) for element in (lhs, rhs, out)):
        return
    dims = signature[ConvolutionBaseOp.dimension_numbers]
    if isinstance(rhs, UniformQuantizedPerAxis) and rhs.axis != dims.kernel_output_feature_dimension:
        raise signature.error_without_op_note(  # convolution_c29
            "quantization dimension of rhs should be same with kernel_output_feature_dimension"
        )
    if (
        isinstance(out, UniformQuantizedPerAxis) and out.axis != dims.output_feature_dimension
    ):  # convolution_c30
        raise signature.error_without_op_note(
            "quantization dimension of result should be same with output_feature_dimension"
        )
    check_quantized_product(signature, lhs, rhs, out)
