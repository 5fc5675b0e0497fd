"""The attributes and types of mhlo, most of which are those of StableHLO under another name."""

from __future__ import annotations

from typing import TypeVar

from sdyopt.mlir.asm.format.attribute_format import (
    Struct,
    attribute_format,
    dialect_attribute,
    integer,
)
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.mhlo.dialect import mhlo
from sdyopt.mlir.dialects.stablehlo import (
    compare_select,
    contraction,
    convolution,
    custom_call,
    elementwise,
    gather,
    numerics,
    precision,
    replica_groups,
    types,
)
from sdyopt.mlir.dialects.stablehlo.assembly_directives import (
    DimensionNumbers,
    dimension_list,
    parse_custom_struct,
    parse_dimensions,
)
from sdyopt.mlir.dialects.stablehlo.contraction import RaggedDimensions
from sdyopt.mlir.dialects.stablehlo.dialect import EnumAttr, enumeration
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.types import (
    IntegerType,
    Signedness,
    Type,
)

A = TypeVar("A", bound=Attribute)


@enumeration(mhlo, "precision", *precision.Precision.cases)
class Precision(precision.Precision):
    """The precision of one operand; its meaning depends on the backend."""


@enumeration(mhlo, "comparison_direction", *compare_select.ComparisonDirection.cases)
class ComparisonDirection(compare_select.ComparisonDirection):
    """The comparison operator."""


@enumeration(mhlo, "comparison_type", *compare_select.ComparisonType.cases)
class ComparisonType(compare_select.ComparisonType):
    """The comparison of elements."""


@enumeration(mhlo, "transpose", *numerics.Transpose.cases)
class Transpose(numerics.Transpose):
    """Whether triangular_solve transposes the matrix."""


@enumeration(mhlo, "fft_type", *numerics.FftType.cases)
class FftType(numerics.FftType):
    """The kind of a Fourier transform."""


@enumeration(mhlo, "rng_distribution", *numerics.RngDistribution.cases, is_bracketed=True)
class RngDistribution(numerics.RngDistribution):
    """The distribution of rng."""


@enumeration(mhlo, "rng_algorithm", *numerics.RngAlgorithm.cases, is_bracketed=True)
class RngAlgorithm(numerics.RngAlgorithm):
    """The algorithm of rng_bit_generator."""


@enumeration(mhlo, "result_accuracy_mode", *elementwise.ResultAccuracyMode.cases, is_bracketed=True)
class ResultAccuracyMode(elementwise.ResultAccuracyMode):
    """The mode of a result accuracy."""


@enumeration(mhlo, "custom_call_schedule", "NONE", "LATEST", "EARLIEST")
class CustomCallSchedule(EnumAttr):
    """When a custom call is scheduled."""


@enumeration(mhlo, "kind", "sharding")
class DomainKind(EnumAttr):
    """The kind of the metadata of a domain."""


@enumeration(mhlo, "fusion_kind", "kLoop", "kInput", "kOutput", "kCustom")
class FusionKind(EnumAttr):
    """The kind of a fusion."""


@enumeration(mhlo, "dequantize_mode", "MIN_COMBINED")
class DequantizeMode(EnumAttr):
    """The mode of a dequantization."""


class ResultAccuracy(elementwise.ResultAccuracy):
    """`#mhlo.result_accuracy<…>`."""

    dialect = "mhlo"


elementwise.register_result_accuracy(mhlo, ResultAccuracy, ResultAccuracyMode)


class ConvDimensions(convolution.ConvDimensions):
    """`#mhlo.conv<…>`."""

    dialect = "mhlo"
    allows_others = True


convolution.register_conv_dimensions(mhlo, ConvDimensions)


class DotAlgorithm(precision.DotAlgorithm):
    """`#mhlo.dot_algorithm<…>`."""

    dialect = "mhlo"


@mhlo.attribute("dot_algorithm")
def parse_algorithm(parser: AsmParser) -> Attribute:
    return precision.parse_algorithm(parser, DotAlgorithm)


mhlo.printer(DotAlgorithm)(precision.print_algorithm)


@dialect_attribute(mhlo, "dot", "MHLO_DotDimensionNumbers")
class DotDimensions(contraction.DotDimensions):
    """`#mhlo.dot<…>`: dot dimension numbers."""

    dialect = "mhlo"
    assembly = attribute_format("<", DimensionNumbers("dot dimension numbers"))


@dialect_attribute(mhlo, "gather", "MHLO_GatherDimensionNumbers")
class GatherDimensions(gather.GatherDimensions):
    """`#mhlo.gather<…>`."""

    dialect = "mhlo"
    assembly = attribute_format("<", DimensionNumbers("gather dimension numbers"))


@dialect_attribute(mhlo, "scatter", "MHLO_ScatterDimensionNumbers")
class ScatterDimensions(gather.ScatterDimensions):
    """`#mhlo.scatter<…>`."""

    dialect = "mhlo"
    assembly = attribute_format("<", DimensionNumbers("scatter dimension numbers"))


@dialect_attribute(mhlo, "channel_handle", "MHLO_ChannelHandle")
class ChannelHandle(replica_groups.ChannelHandle):
    """`#mhlo.channel_handle<…>`."""

    dialect = "mhlo"
    assembly = attribute_format("<", Struct(integer("handle"), integer("type")), ">")


@dialect_attribute(mhlo, "output_operand_alias", "MHLO_OutputOperandAlias")
class OutputOperandAlias(custom_call.OutputOperandAlias):
    """`#mhlo.output_operand_alias<…>`."""

    dialect = "mhlo"
    assembly = attribute_format(
        "<",
        *("output_tuple_indices", " = ", dimension_list("output_tuple_indices", "outputTupleIndices"), ", "),
        *("operand_index", " = ", integer("operand_index", "operandIndex"), ", "),
        *("operand_tuple_indices", " = ", dimension_list("operand_tuple_indices", "operandTupleIndices")),
        ">",
    )


class RaggedDotDimensions(Attribute):
    """`#mhlo.ragged_dot<dot_dimension_numbers = #mhlo.dot<…>, …>`."""

    dot: DotDimensions | None = None
    lhs_ragged_dimensions: tuple[int, ...] = ()
    rhs_group_dimensions: tuple[int, ...] = ()
    dialect = "mhlo"

    @property
    def dimensions(self) -> RaggedDimensions:
        """The dimension numbers, in the representation shared with chlo."""
        dot = self.dot or DotDimensions()
        dot_dimensions = (
            dot.lhs_batching_dimensions,
            dot.rhs_batching_dimensions,
            dot.lhs_contracting_dimensions,
            dot.rhs_contracting_dimensions,
        )
        return RaggedDimensions(*dot_dimensions, self.lhs_ragged_dimensions, self.rhs_group_dimensions)


def _parse_dot_attribute(parser: AsmParser) -> DotDimensions:
    attribute = parser.attribute()
    if not isinstance(attribute, DotDimensions):
        raise parser.error("expected #mhlo.dot attribute")
    return attribute


_LIST_NAMES = ("lhs_ragged_dimensions", "rhs_group_dimensions")
_RAGGED_ENTRIES = {
    "dot_dimension_numbers": _parse_dot_attribute,
    **dict.fromkeys(_LIST_NAMES, parse_dimensions),
}


@mhlo.attribute("ragged_dot")
def parse_ragged_dot(parser: AsmParser) -> Attribute:
    parser.expect("<")
    entries = parse_custom_struct(parser, "ragged dot dimension numbers", _RAGGED_ENTRIES)
    lhs_ragged_dimensions, rhs_group_dimensions = (entries.get(name, ()) for name in _LIST_NAMES)
    return RaggedDotDimensions(
        entries.get("dot_dimension_numbers"), lhs_ragged_dimensions, rhs_group_dimensions
    )


@mhlo.printer(RaggedDotDimensions)
def print_ragged_dot(dims: RaggedDotDimensions, attribute_printer: AttributePrinter) -> str:
    entries = [] if dims.dot is None else [f"dot_dimension_numbers = {attribute_printer.attribute(dims.dot)}"]
    lists = zip(_LIST_NAMES, (dims.lhs_ragged_dimensions, dims.rhs_group_dimensions), strict=True)
    entries += [f"{name} = {list(numbers)}" for name, numbers in lists if numbers]
    return f"ragged_dot<{', '.join(entries)}>"


class TypeExtensions(types.Bounds):
    """`#mhlo.type_extensions<bounds = [8, ?]>`: the encoding of a tensor type with bounded dimensions."""

    dialect = "mhlo"


@mhlo.attribute("type_extensions")
def parse_type_extensions(parser: AsmParser) -> Attribute:
    parser.expect("<")
    parser.expect("bounds")
    parser.expect("=")
    bounds = parse_dimensions(parser)
    parser.expect(">")
    return TypeExtensions(bounds)


@mhlo.printer(TypeExtensions)
def print_type_extensions(attribute: TypeExtensions, attribute_printer: AttributePrinter) -> str:
    return f"type_extensions<bounds = [{', '.join(map(types.print_dimension_size, attribute.bounds))}]>"


mhlo.verify_encoding = types.verify_bounds

# --- Types ----------------------------------------------------------------------------------------


class TokenType(types.TokenType):
    """`!mhlo.token`: orders operations with side effects."""

    dialect = "mhlo"


class AsyncBundle(Type):
    """`!mhlo.async_bundle<…>`: the operands, results and contexts of an asynchronous operation."""

    types: tuple[Type, ...]
    dialect = "mhlo"


TOKEN = TokenType()


@mhlo.type("token")
def parse_token(parser: AsmParser) -> Type:
    return TOKEN


@mhlo.printer(TokenType)
def print_token(type: TokenType, attribute_printer: AttributePrinter) -> str:
    return "token"


@mhlo.type("async_bundle")
def parse_async_bundle(parser: AsmParser) -> Type:
    return AsyncBundle(tuple(parser.comma_list(parser.type, "<", ">")))


@mhlo.printer(AsyncBundle)
def print_async_bundle(type: AsyncBundle, attribute_printer: AttributePrinter) -> str:
    return f"async_bundle<{', '.join(map(attribute_printer.type, type.types))}>"


UI64 = IntegerType(64, Signedness.UNSIGNED)
