"""Operations of chlo that are neither elementwise nor broadcast: top_k, ragged_dot and scan."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.base.releases import Behavior
from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.attribute_format import attribute_format, dialect_attribute
from sdyopt.mlir.asm.format.format_elements import custom
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser, segments
from sdyopt.mlir.dialects.chlo.elementwise import chlo
from sdyopt.mlir.dialects.stablehlo.assembly_directives import DimensionNumbers
from sdyopt.mlir.dialects.stablehlo.contraction import RaggedDimensions, check_ragged_dot
from sdyopt.mlir.dialects.stablehlo.dialect import NON_NEGATIVE_I64, EnumAttr, enumeration
from sdyopt.mlir.dialects.stablehlo.precision import precision_config_of
from sdyopt.mlir.dialects.stablehlo.reducer import (
    RegionSignatures,
    RegionVerifyingOp,
    region_signature,
)
from sdyopt.mlir.dialects.stablehlo.type_compatibility import INFERS_COMPATIBLE_TYPES, are_compatible
from sdyopt.mlir.dialects.stablehlo.types import ANY_TENSOR, INT_TENSOR, bounds_of, encoding_with
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.attribute import Attribute, dictionary
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import FALSE, TRUE, IntegerAttr
from sdyopt.mlir.ir.op_fields import OPERAND_SEGMENTS, RESULT_SEGMENTS
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import are_compatible_shapes
from sdyopt.mlir.ir.traits import (
    ATTR_SIZED_OPERANDS,
    ATTR_SIZED_RESULTS,
    BOOL_ATTR,
    I64_ATTR,
    ISOLATED,
    ONE_BLOCK,
    PURE,
    RECURSIVE_EFFECTS,
    InfersTypes,
    of_class,
)
from sdyopt.mlir.ir.types import DYNAMIC, I32, I64, FunctionType, RankedTensor, Type, UnrankedTensor
from sdyopt.mlir.ir.value import BlockArgument

_TYPES = (
    "attr-dict `:` custom<AnyTensorType>($operand) `->` `(` custom<AnyTensorType>($values) `,` "
    "custom<AnyTensorType>($indices) `)`"
)


@chlo.op("top_k", PURE, INFERS_COMPATIBLE_TYPES)
class TopKOp(Op):
    """The k largest elements along the last dimension, and their indices."""

    operand = op_fields.operand(ANY_TENSOR)
    k = op_fields.attr(I64_ATTR)
    is_stable = op_fields.default_valued_optional_attr(BOOL_ATTR, TRUE).since(Behavior.UNSTABLE_TOP_K)
    values = op_fields.result(ANY_TENSOR)
    indices = op_fields.result(ANY_TENSOR)

    assembly = assembly(
        "`(` $operand `,` `k` `=` custom<Integer>($k) (`,` `is_stable` `=` custom<Bool>($is_stable)^)? `)` "
        f"{_TYPES}",
        since=Behavior.UNSTABLE_TOP_K,
        before=assembly(f"`(` $operand `,` `k` `=` custom<Integer>($k) `)` {_TYPES}"),
    )

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        operand, k = signature[TopKOp.operand], signature[TopKOp.k]
        if not isinstance(operand, RankedTensor):
            return [UnrankedTensor(operand.element), UnrankedTensor(I32)]
        if operand.rank < 1:
            raise signature.error_without_op_note("operand's rank must be at least 1")
        if operand.shape[-1] != DYNAMIC and operand.shape[-1] < k:
            raise signature.error_without_op_note(f"operand's last dimension must be at least {k}")
        bounds = bounds_of(operand)
        encoding = encoding_with(operand.encoding, (*bounds[:-1], DYNAMIC) if bounds else ())
        shape = (*operand.shape[:-1], k)
        return [RankedTensor(shape, element, encoding) for element in (operand.element, I32)]

    def name_results(self) -> list[tuple[int, str]]:
        return [(0, "values"), (1, "indices")]


@enumeration(chlo, "precision", "DEFAULT", "HIGH", "HIGHEST")
class Precision(EnumAttr):
    """The precision of one operand; its meaning depends on the backend."""


@dialect_attribute(chlo, "ragged_dot", "CHLO_RaggedDotDimensionNumbers")
class RaggedDotDimensions(Attribute):
    """`#chlo.ragged_dot<…>`: dot dimension numbers, and the ragged and group dimensions."""

    lhs_batching_dimensions: tuple[int, ...] = ()
    rhs_batching_dimensions: tuple[int, ...] = ()
    lhs_contracting_dimensions: tuple[int, ...] = ()
    rhs_contracting_dimensions: tuple[int, ...] = ()
    lhs_ragged_dimensions: tuple[int, ...] = ()
    rhs_group_dimensions: tuple[int, ...] = ()
    dialect = "chlo"
    assembly = attribute_format("<", DimensionNumbers("ragged dot dimension numbers"))

    @property
    def dimensions(self) -> RaggedDimensions:
        """The dimension numbers, in the representation shared with mhlo."""
        dot_dimensions = (
            self.lhs_batching_dimensions,
            self.rhs_batching_dimensions,
            self.lhs_contracting_dimensions,
            self.rhs_contracting_dimensions,
        )
        return RaggedDimensions(*dot_dimensions, self.lhs_ragged_dimensions, self.rhs_group_dimensions)


@chlo.op("ragged_dot", PURE)
class RaggedDotOp(Op):
    """A dot product in which one dimension of lhs is ragged: divided into groups of `group_sizes`.

    A ragged non-contracting dimension selects a slice of rhs per group: [m, k], [g, k, n], [g] -> [m, n].
    A ragged contracting dimension gives a result per group: [m, k], [k, n], [g] -> [g, m, n]. A ragged
    batching dimension is like any batching dimension: [b, m, k], [b, k, n], [g] -> [b, m, n].
    """

    lhs = op_fields.operand(ANY_TENSOR)
    rhs = op_fields.operand(ANY_TENSOR)
    group_sizes = op_fields.operand(INT_TENSOR)
    ragged_dot_dimension_numbers = op_fields.attr(
        of_class(RaggedDotDimensions, "Attribute that models the dimension information for ragged dot.")
    )
    precision_config = op_fields.optional_attr(precision_config_of(Precision))
    result = op_fields.result(ANY_TENSOR)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        dims = signature[RaggedDotOp.ragged_dot_dimension_numbers]
        check_ragged_dot(signature, dims.dimensions, signature[RaggedDotOp.precision_config])


_INFERS_SHAPES = InfersTypes(
    "infer-shapes", accepts=lambda inferred, actual: are_compatible_shapes([inferred, actual])
)
_ELIDED = ("dimension", OPERAND_SEGMENTS, RESULT_SEGMENTS)


def _parse(op_parser: OpAsmParser) -> None:
    """Parses `(%inputs) inits (%inits) dimension=0 attributes {…} {…} : (types) -> types`."""
    inputs = op_parser.comma_list(op_parser.operand, "(", ")")
    op_parser.expect("inits")
    inits = op_parser.comma_list(op_parser.operand, "(", ")")
    op_parser.expect("dimension")
    op_parser.expect("=")
    dimension = op_parser.integer()
    op_parser.attribute_dictionary_with_keyword()
    op_parser.region()
    op_parser.expect(":")
    offset = op_parser.skip_trivia()
    type = op_parser.type()
    if not isinstance(type, FunctionType):
        raise op_parser.error("invalid kind of type specified", offset)
    if len(type.inputs) != len(inputs) + len(inits):
        raise op_parser.error("operand types must match the number of inputs and inits", op_parser.offset)
    outputs = len(type.results) - len(inits)
    if outputs < 0:
        raise op_parser.error("not enough result types to cover the required carries", op_parser.offset)
    op_parser.operands = op_parser.resolve_all([*inputs, *inits], type.inputs, op_parser.offset)
    op_parser.result_types = list(type.results)
    op_parser.attributes["dimension"] = IntegerAttr(dimension, I64)
    op_parser.attributes[OPERAND_SEGMENTS] = segments([len(inputs), len(inits)])
    op_parser.attributes[RESULT_SEGMENTS] = segments([outputs, len(inits)])


@chlo.op("scan", ATTR_SIZED_OPERANDS, ATTR_SIZED_RESULTS, _INFERS_SHAPES, ISOLATED, RECURSIVE_EFFECTS)
class ScanOp(RegionVerifyingOp):
    """Applies the body to consecutive slices of the inputs along `dimension`, with carried values."""

    inputs = op_fields.operands(ANY_TENSOR)
    inits = op_fields.operands(ANY_TENSOR)
    dimension = op_fields.attr(NON_NEGATIVE_I64)
    scan_dim_size = op_fields.optional_attr(NON_NEGATIVE_I64)
    is_reverse = op_fields.default_valued_optional_attr(BOOL_ATTR, FALSE)
    is_associative = op_fields.optional_attr(BOOL_ATTR)
    outputs = op_fields.results(ANY_TENSOR)
    carries = op_fields.results(ANY_TENSOR)
    body = op_fields.region(ONE_BLOCK)

    def _print(self, printer: OpAsmPrinter) -> None:
        printer.write(f"({printer.name_list(self.inputs)}) inits ({printer.name_list(self.inits)}) ")
        printer.write(f"dimension={self.dimension} ")
        # Unlike declarative formats, this one prints default values.
        entries = [entry for entry in self.signature.attributes if entry[0] not in _ELIDED]
        printer.dictionary(dictionary([*entries, *self.attributes]), with_keyword=True)
        printer.write(" ")
        printer.region(self.body, print_arguments=True)
        printer.write(" : " + printer.function_type(self.operand_types, self.result_types))

    assembly = assembly("custom<format>", format=custom(_parse, print=_print))

    def name_arguments(self, region: Region) -> list[tuple[BlockArgument, str]]:
        arguments = region.blocks[0].arguments if region.blocks else []
        inputs = len(self.inputs)
        return [(a, "input" if index < inputs else "carry") for index, a in enumerate(arguments)]

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        carries = len(signature[ScanOp.inits])
        returned = region_signature(regions[0]).returned_types
        if len(returned) < carries:
            raise signature.error_without_op_note(
                f"ScanOp body must return at least {carries} values (carries)"
            )
        size = _infer_size(signature)
        results: list[Type] = []
        for index, type in enumerate(returned):
            if not isinstance(type, RankedTensor):
                raise signature.error_without_op_note(f"terminator operand {index} is not ranked")
            shape = list(type.shape)
            if index < len(returned) - carries:
                shape.insert(signature[ScanOp.dimension], size)
            results.append(RankedTensor(tuple(shape), type.element))
        return results

    @staticmethod
    def verify_region_signatures(signature: OpSignature, regions: RegionSignatures) -> None:
        inputs, dimension = signature[ScanOp.inputs], signature[ScanOp.dimension]
        if not inputs and not signature[ScanOp.outputs]:
            raise signature.op_error("at least one of inputs or outputs must be present")
        _check_sizes(signature)
        arguments = regions[0].argument_types
        count = len(signature.operand_types)
        if len(arguments) != count:
            raise signature.op_error(f"expects {count} arguments in the body, but got {len(arguments)}")
        for index, (type, argument) in enumerate(zip(signature.operand_types, arguments, strict=True)):
            if not isinstance(type, RankedTensor):
                raise signature.op_error(f"operand {index} is not ranked")
            if index < len(inputs):
                shape = type.shape[:dimension] + type.shape[dimension + 1 :]
                type = RankedTensor(shape, type.element, type.encoding)
            if not are_compatible(type, argument):
                raise signature.op_error(f"operand and body argument {index} are incompatible")


def _infer_size(signature: OpSignature) -> int:
    """The number of slices: `scan_dim_size`, else the first static input size, else `DYNAMIC`."""
    dimension, size = signature[ScanOp.dimension], signature[ScanOp.scan_dim_size]
    if size is None:
        size = DYNAMIC
    for index, type in enumerate(signature[ScanOp.inputs]):
        if not isinstance(type, RankedTensor):
            raise signature.error_without_op_note(f"operand {index} is not ranked")
        if dimension >= type.rank:
            raise signature.error_without_op_note(f"scan dimension of operand {index} is out of bounds")
        if size == DYNAMIC:
            size = type.shape[dimension]
    return size


def _check_sizes(signature: OpSignature) -> None:
    """Checks that all static input sizes along `dimension`, and `scan_dim_size` if present, are equal."""
    dimension, size = signature[ScanOp.dimension], signature[ScanOp.scan_dim_size]
    for index, type in enumerate(signature[ScanOp.inputs]):
        if not isinstance(type, RankedTensor):
            raise signature.op_error(f"operand {index} is not ranked")
        if dimension >= type.rank:
            raise signature.op_error(f"scan dimension of operand {index} is out of bounds")
        input_size = type.shape[dimension]
        if input_size == DYNAMIC:
            continue
        if size not in (None, input_size):
            raise signature.op_error(f"invalid scan dimension size of operand {index}")
        size = input_size
