"""stablehlo.reduce and reduce_window.

    stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0] : types
    stablehlo.reduce(%0 init: %1) across dimensions = [0] : types
     reducer(%arg0: tensor<f32>, %arg1: tensor<f32>)  { … }

The compact form (`applies`) is for a reducer region that consists of one commutative operation on its
arguments and a return of the result; parsing builds that region.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import custom, visible_attributes
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter, Template
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.parser.op_parser import Argument, OpAsmParser, OperandName
from sdyopt.mlir.dialects.stablehlo.assembly_directives import integer_list
from sdyopt.mlir.dialects.stablehlo.control_flow import is_boolean_scalar
from sdyopt.mlir.dialects.stablehlo.dialect import I64_ELEMENTS, listing, quoted, stablehlo
from sdyopt.mlir.dialects.stablehlo.reducer import (
    SINGLE_BLOCK,
    RegionSignature,
    RegionSignatures,
    RegionVerifyingOp,
    WindowDimension,
    check_reducer,
    checked_window,
    padding_pairs,
    region_signature,
    window_result_shape,
)
from sdyopt.mlir.dialects.stablehlo.type_compatibility import HLO_COMMUTATIVE, INFERS_COMPATIBLE_TYPES
from sdyopt.mlir.dialects.stablehlo.types import TENSOR, bounds_of, encoding_with
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.attribute import EMPTY_DICT, DictAttr
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import FALSE, DenseArray, DenseElements, IntegerAttr
from sdyopt.mlir.ir.op_fields import ONE, OperandField, RegionField
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op, build
from sdyopt.mlir.ir.shape_traits import SAME_SHAPE, are_compatible_shapes
from sdyopt.mlir.ir.traits import (
    BOOL_ATTR,
    COMMUTATIVE,
    I64_ARRAY,
    I64_ATTR,
    ONE_BLOCK,
    RECURSIVE_EFFECTS,
    SAME_SIZE_OPERANDS,
)
from sdyopt.mlir.ir.types import I64, FunctionType, RankedTensor, ShapedType, Type, element_of, tensor

# --- Parsing -----------------------------------------------------------------------------------


def parse_reduce(op_parser: OpAsmParser) -> None:
    """Parses what follows the operation name. Raises a DiagnosticError."""
    op_parser.location_offset = op_parser.skip_trivia()
    inputs, init_values = _parse_operands(op_parser)
    operands = inputs + init_values
    if op_parser.accept("applies"):
        # Parses the name of the reducer's single operation.
        name = op_parser.accept_keyword()
        if name is None:
            raise AsmParser.error(op_parser, "expected bare identifier or keyword")
        dialect = op_parser.name.partition(".")[0]
        op_class = op_parser.dialects.op_class(name)
        if op_class is None or not name.startswith(dialect + ".") or not _is_commutative_binary(op_class):
            raise op_parser.error(
                "expected the inner-op to be a commutative binary-op from the "
                f"{dialect} dialect, with zero region, producing single result",
                op_parser.location_offset,
            )
        type = _parse_dimensions_and_type(op_parser)
        if not type.inputs:
            raise op_parser.error("input types missing in reduce-op function type", op_parser.location_offset)
        op_parser.operands = op_parser.resolve_all(operands, type.inputs, op_parser.location_offset)
        op_parser.add_implied_regions = _CompactReducer(op_class)
    else:
        type = _parse_dimensions_and_type(op_parser)
        op_parser.expect("reducer")
        # Parses `(%a: type, %b: type) (%c: type, %d: type)` into all first arguments, then all second.
        lefts, rights = [], []
        while op_parser.accept("("):
            lefts.append(_parse_argument(op_parser))
            op_parser.expect(",")
            rights.append(_parse_argument(op_parser))
            op_parser.expect(")")
        arguments = lefts + rights
        op_parser.operands = op_parser.resolve_all(operands, type.inputs, op_parser.location_offset)
        op_parser.region(arguments)
    op_parser.result_types = list(type.results)


def _parse_operands(op_parser: OpAsmParser) -> tuple[list[OperandName], list[OperandName]]:
    """Parses `(%0 init: %1), (%2 init: %3)` into inputs and initial values."""
    inputs, init_values = [], []
    while True:
        if op_parser.accept("("):
            inputs.append(op_parser.operand())
            op_parser.expect("init")
            op_parser.expect(":")
            init_values.append(op_parser.operand())
            op_parser.expect(")")
        if not op_parser.accept(","):
            return inputs, init_values


def _parse_dimensions_and_type(op_parser: OpAsmParser) -> FunctionType:
    """Parses `across dimensions = [0] {…} : (types) -> types`."""
    op_parser.expect("across")
    op_parser.expect("dimensions")
    op_parser.expect("=")
    dimensions = op_parser.comma_list(op_parser.integer, "[", "]")
    op_parser.attribute_dictionary()
    op_parser.check_not_in_dictionary("dimensions")
    op_parser.attributes["dimensions"] = integer_list(op_parser, "dimensions", dimensions)
    op_parser.expect(":")
    return op_parser.function_type()


def _parse_argument(op_parser: OpAsmParser) -> Argument:
    name, offset = op_parser.operand()
    op_parser.expect(":")
    type = op_parser.type()
    return Argument(name, offset, type, None, op_parser.location_or_offset(offset))


class _CompactReducer:
    """Builds the reducer region of the compact form: one operation on two scalars, and a return."""

    def __init__(self, op_class: type[Op]) -> None:
        self._applied = op_class
        self._return: type[Op] = op_class.dialect.ops["return"] if op_class.dialect is not None else Op

    def __call__(self, op: Op) -> None:
        location = op.lazy_location
        type = op.signature.cached(_scalar_of_first_input)
        region = Region()
        region.parent = op
        block = region.add_block()
        arguments = [block.add_argument(type, location) for _ in range(2)]
        applied = OpSignature(self._applied, self._applied.name, EMPTY_DICT, (type, type), (type,))
        inner = build(applied, arguments, location=location)
        block.append(inner)
        returned = OpSignature(self._return, self._return.name, EMPTY_DICT, (type,), ())
        block.append(build(returned, inner.results, location=location))
        op.regions = (region,)


def _scalar_of_first_input(signature: OpSignature) -> Type:
    return tensor((), element_of(signature.operand_types[0]))


# --- Printing ----------------------------------------------------------------------------------


def write_reduce(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
    """Adds what follows the operation name to the print template."""
    half = len(signature.operand_types) // 2
    for index in range(half):
        out.text(", (" if index else "(")
        out.parts += [index, " init: ", half + index, ")"]
    out.call(_print_applied)
    dimensions = signature.attributes["dimensions"]
    assert isinstance(dimensions, DenseArray | DenseElements)
    out.text(f" across dimensions = [{listing(dimensions.values)}]")
    out.attribute_dictionary(visible_attributes(signature, attributes, frozenset({"dimensions"})))
    out.text(f" : {out.attribute_printer.function_type(signature.operand_types, signature.result_types)}")
    out.call(_print_reducer)


def _print_applied(op: Op, printer: OpAsmPrinter) -> None:
    inner = applied_op(op)
    if inner is not None:
        printer.write(f" applies {inner.signature.name}")


def _print_reducer(op: Op, printer: OpAsmPrinter) -> None:
    if applied_op(op) is not None:
        return
    body = op.regions[0]
    arguments, half = body.blocks[0].arguments, len(op.operand_types) // 2
    printer.newline()
    printer.write(" reducer")
    for left, right in zip(arguments[:half], arguments[half:], strict=False):
        printer.write("(")
        printer.argument(left)
        printer.write(", ")
        printer.argument(right)
        printer.write(") ")
    printer.write(" ")
    printer.region(body)


def applied_op(op: Op) -> Op | None:
    """The single operation of the reducer region if the compact form can express it, else None."""
    block = op.regions[0].blocks[0]
    inner, last = block.first, block.last
    if inner is None or last is None or inner.next is not last:
        return None
    known, key = op.signature.cached(_compact_reducers), (inner.signature, last.signature)
    if key not in known:
        known[key] = _is_compact(op, inner, last)
    if known[key] and inner.operands == block.arguments and last.operands == list(inner.results):
        return inner
    return None


def _compact_reducers(signature: OpSignature) -> dict[tuple[OpSignature, OpSignature], bool]:
    """The results of `_is_compact` for operations with a signature."""
    return {}


def _is_compact(op: Op, inner: Op, last: Op) -> bool:
    """Whether the compact form can express a reducer of these two operations, if the operands are right."""
    if inner.dialect_name != op.dialect_name or not inner.signature.cached(_has_commutative_binary_class):
        return False
    scalar = op.signature.cached(_scalar_of_inputs)
    if scalar is None or any(type is not scalar for type in (*inner.operand_types, *inner.result_types)):
        return False
    return last.is_terminator and last.signature.name.endswith(".return")


def _scalar_of_inputs(signature: OpSignature) -> Type | None:
    """The rank-0 tensor type with the first input's element type; None without a shaped first input."""
    inputs = signature.operand_types[: len(signature.operand_types) // 2]
    return tensor((), inputs[0].element) if inputs and isinstance(inputs[0], ShapedType) else None


def _has_commutative_binary_class(signature: OpSignature) -> bool:
    return _is_commutative_binary(signature.op_class)


def _is_commutative_binary(op_class: type[Op]) -> bool:
    """Whether the operations of a class are commutative and have two operands and no region."""
    fields = op_class.fields.values()
    operands = [field for field in fields if isinstance(field, OperandField)]
    return (
        (HLO_COMMUTATIVE in op_class.traits or COMMUTATIVE in op_class.traits)
        and [field.arity for field in operands] == [ONE, ONE]
        and not any(isinstance(field, RegionField) for field in fields)
    )


@stablehlo.op("reduce", RECURSIVE_EFFECTS, SAME_SIZE_OPERANDS, INFERS_COMPATIBLE_TYPES, SINGLE_BLOCK)
class ReduceOp(RegionVerifyingOp):
    """Reduces the inputs along some dimensions, starting from the initial values."""

    inputs = op_fields.operands(TENSOR)
    init_values = op_fields.operands(TENSOR)
    dimensions = op_fields.attr(I64_ARRAY)
    out = op_fields.results(TENSOR)
    body = op_fields.region(ONE_BLOCK)

    assembly = assembly("custom<reduce>($dimensions)", reduce=custom(parse_reduce, write_reduce))

    def hides_regions(self) -> bool:
        return applied_op(self) is not None

    @staticmethod
    def verify_region_signatures(signature: OpSignature, regions: RegionSignatures) -> None:
        shape, _ = signature.cached(_kept_dimensions)
        inputs, init_values = signature[ReduceOp.inputs], signature[ReduceOp.init_values]
        check_reducer(signature, regions[0], inputs, init_values, shape)

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> Sequence[Type]:
        shape, bounds = signature.cached(_kept_dimensions)
        inputs = signature[ReduceOp.inputs]
        encoding = encoding_with(inputs[0].encoding, bounds) if bounds else None
        elements = _accumulator_element_types(regions[0], inputs)
        return [RankedTensor(tuple(shape), element, encoding) for element in elements]


def _kept_dimensions(signature: OpSignature) -> tuple[list[int], list[int]]:
    """The sizes and bounds of the first input's dimensions that are not reduced. Raises a SignatureError."""
    inputs = signature[ReduceOp.inputs]
    if not inputs:
        raise signature.error_without_op_note("requires at least 1 input value")
    first = inputs[0]
    check_compatible_inputs(signature, inputs)
    reduced = set()
    for dimension in signature[ReduceOp.dimensions]:
        if not 0 <= dimension < first.rank:  # reduce_c4
            raise signature.error_without_op_note(
                f"Out-of-bounds dimension {dimension}, expected to be in range [0, {first.rank})"
            )
        if dimension in reduced:  # reduce_c5
            raise signature.error_without_op_note(f"Duplicate reduction dimension: {dimension}")
        reduced.add(dimension)
    return _without(first.shape, reduced), _without(bounds_of(first), reduced)


def _without(values: Sequence[int], dropped: set[int]) -> list[int]:
    return [value for index, value in enumerate(values) if index not in dropped]


def check_compatible_inputs(signature: OpSignature, inputs: Sequence[Type]) -> None:
    """Checks that all inputs have shapes compatible with the first one."""
    for index, input in enumerate(inputs):
        if not are_compatible_shapes([inputs[0], input]):  # reduce_c1, reduce_window_c2
            raise signature.error_without_op_note(
                f"expects all inputs to have compatible shapes. Shape at input-index {index} is not "
                "compatible with shape at input-index 0"
            )


def _accumulator_element_types(region: Region, inputs: Sequence[Type]) -> list[Type]:
    """The result element types: those the region returns, or those of the inputs if the region is empty."""
    types = inputs if region.is_empty else region_signature(region).returned_types
    return [element_of(type) for type in types[: len(inputs)]]


@stablehlo.op("reduce_window", RECURSIVE_EFFECTS, SAME_SIZE_OPERANDS, SINGLE_BLOCK, INFERS_COMPATIBLE_TYPES)
class ReduceWindowOp(RegionVerifyingOp):
    """Reduces the inputs over a sliding window."""

    inputs = op_fields.operands(TENSOR)
    init_values = op_fields.operands(TENSOR)
    window_dimensions = op_fields.attr(I64_ARRAY)
    window_strides = op_fields.optional_attr(I64_ARRAY)
    base_dilations = op_fields.optional_attr(I64_ARRAY)
    window_dilations = op_fields.optional_attr(I64_ARRAY)
    padding = op_fields.optional_attr(I64_ELEMENTS)
    out = op_fields.results(TENSOR)
    body = op_fields.region(ONE_BLOCK)

    @staticmethod
    def verify_region_signatures(signature: OpSignature, regions: RegionSignatures) -> None:
        signature.cached(_reduce_window_dimensions)
        check_reducer(
            signature,
            regions[0],
            signature[ReduceWindowOp.inputs],
            signature[ReduceWindowOp.init_values],
            signature[ReduceWindowOp.window_dimensions],
        )

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> Sequence[Type]:
        window = signature.cached(_reduce_window_dimensions)
        inputs = signature[ReduceWindowOp.inputs]
        elements = _accumulator_element_types(regions[0], inputs)
        return [
            _window_result_type(input, element, window)
            for input, element in zip(inputs, elements, strict=True)
        ]


def _reduce_window_dimensions(signature: OpSignature) -> list[WindowDimension]:
    inputs = signature[ReduceWindowOp.inputs]
    if not inputs:  # reduce_window_c1
        raise signature.error_without_op_note("requires at least 1 input value")
    check_compatible_inputs(signature, inputs)
    padding = padding_pairs(signature, signature[ReduceWindowOp.padding])
    sizes = signature[ReduceWindowOp.window_dimensions]
    for input in inputs:
        if input.rank != len(sizes):  # reduce_window_c4
            raise signature.error_without_op_note(
                "expects window-dimensions size == input rank, but got window-dimensions size: "
                f"{len(sizes)} and input: {quoted(input)} with rank = {input.rank}."
            )
    return checked_window(
        signature,
        sizes,
        signature[ReduceWindowOp.window_strides],
        padding,
        signature[ReduceWindowOp.base_dilations],
        signature[ReduceWindowOp.window_dilations],
    )


def _window_result_type(input: RankedTensor, element: Type, window: Sequence[WindowDimension]) -> Type:
    shape = tuple(window_result_shape(input.shape, window))
    bounds = bounds_of(input)
    if not bounds:
        return tensor(shape, element)
    return RankedTensor(shape, element, encoding_with(input.encoding, window_result_shape(bounds, window)))


@stablehlo.op("sort", RECURSIVE_EFFECTS, SAME_SHAPE, INFERS_COMPATIBLE_TYPES)
class SortOp(RegionVerifyingOp):
    """Sorts the inputs together along one dimension.

    The comparator region compares their elements at two positions.
    """

    inputs = op_fields.operands(TENSOR)
    dimension = op_fields.default_valued_optional_attr(I64_ATTR, IntegerAttr(-1, I64))
    is_stable = op_fields.default_valued_optional_attr(BOOL_ATTR, FALSE)
    out = op_fields.results(TENSOR)
    comparator = op_fields.region(ONE_BLOCK)

    @staticmethod
    def verify_region_signatures(signature: OpSignature, regions: RegionSignatures) -> None:
        rank, dimension = signature[SortOp.inputs][0].rank, signature[SortOp.dimension]
        if not -rank <= dimension < rank:  # sort_c4
            raise signature.error_without_op_note(
                f"dimension attribute value must be in range [-{rank}, {rank}), but found {dimension}"
            )
        _check_comparator(signature, regions[0])

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> Sequence[Type]:
        return signature.operand_types  # sort_c2


def _check_comparator(signature: OpSignature, comparator: RegionSignature) -> None:
    inputs = signature.operand_types
    if len(comparator.argument_types) != 2 * len(inputs):  # sort_c5
        raise signature.error_without_op_note(f"comparator block should have {2 * len(inputs)} arguments")
    for index, argument in enumerate(comparator.argument_types):
        expected = tensor((), element_of(inputs[index // 2]))
        if argument is not expected:  # sort_c5
            raise signature.error_without_op_note(
                f"comparator block argument #{index} should be of type {quoted(expected)} but got "
                f"{quoted(argument)}"
            )
    if len(comparator.returned_types) != 1:  # sort_c5
        raise signature.error_without_op_note(
            f"comparator must return single output but got {len(comparator.returned_types)}"
        )
    if not is_boolean_scalar(comparator.returned_types[0]):  # sort_c5
        raise signature.error_without_op_note(
            f"comparator must return tensor<i1> but got {quoted(comparator.returned_types[0])}"
        )
