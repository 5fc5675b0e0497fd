"""stablehlo.if, case, while, optimization_barrier, tuple, get_tuple_element and composite."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.patterns import constant_pattern
from sdyopt.base.releases import Behavior, ByRelease
from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import custom
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter
from sdyopt.mlir.asm.parser.op_parser import Argument, OpAsmParser, OperandName
from sdyopt.mlir.dialects.func import no_function
from sdyopt.mlir.dialects.stablehlo import types
from sdyopt.mlir.dialects.stablehlo.dialect import listing, quoted, quoted_all, stablehlo
from sdyopt.mlir.dialects.stablehlo.reducer import (
    SINGLE_BLOCK,
    RegionSignatures,
    RegionVerifyingOp,
    region_signature,
)
from sdyopt.mlir.dialects.stablehlo.type_compatibility import (
    INFERS_COMPATIBLE_TYPES,
    PAIRWISE_SAME_TYPE,
    are_all_compatible,
    least_specific_type,
)
from sdyopt.mlir.dialects.stablehlo.types import (
    I32_TENSOR,
    PRED_TENSOR,
    TENSOR,
    TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN,
    TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN_OR_BUFFER,
    TENSOR_OR_TOKEN,
)
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.attribute import EMPTY_DICT
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import DenseElements, element_size, integer
from sdyopt.mlir.ir.cse import constant_value
from sdyopt.mlir.ir.interfaces import BRANCHES, LOOP, OPERANDS_TO_RESULTS
from sdyopt.mlir.ir.op_fields import (
    attr,
    default_valued_optional_attr,
    operand,
    operand_types,
    operands,
    regions,
    result,
    results,
)
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.shape_traits import SAME_SHAPE
from sdyopt.mlir.ir.symbols import lookup_symbol
from sdyopt.mlir.ir.traits import (
    DICT_ATTR,
    FLAT_SYMBOL_ATTR,
    FUNCTION,
    FUNCTION_TYPE_ATTR,
    I32_ATTR,
    I64_ARRAY,
    ONE_BLOCK,
    PURE,
    RECURSIVE_EFFECTS,
    STRING_ATTR,
    TERMINATOR,
    non_negative,
)
from sdyopt.mlir.ir.types import I1, I32, RankedTensor, TupleType, Type, element_of
from sdyopt.mlir.ir.value import BlockArgument, Value


def _fold_constant_case(op: Op, rewriter: Rewriter) -> bool:
    attribute = constant_value(op.operand_at(0).defining_op)
    if not isinstance(attribute, DenseElements):
        return False
    index = int.from_bytes(attribute.data[: element_size(attribute.type.element)], "little", signed=True)
    if not 0 <= index < len(op.regions):
        return False
    block = op.regions[index].blocks[0]
    terminator = block.last
    assert terminator is not None
    mapping: dict[Value, Value] = {}
    for inner in block.ops:
        if inner is not terminator:
            rewriter.insert(rewriter.clone(inner, mapping), before=op)
    rewriter.replace(op, [mapping.get(value, value) for value in terminator.operands])
    return True


FOLD_CONSTANT_CASE = Pattern(_fold_constant_case, name="mlir::stablehlo::FoldConstantCaseOp")


def parse_while(op_parser: OpAsmParser) -> None:
    """Parses what follows the operation name. Both regions have the arguments `%iterArg`, ….

    Raises a DiagnosticError.
    """
    offset = op_parser.skip_trivia()
    names: list[OperandName] = []
    values: list[OperandName] = []
    op_parser.expect("(")
    while not op_parser.accept(")"):
        names.append(op_parser.operand())
        op_parser.expect("=")
        values.append(op_parser.operand())
        if op_parser.accept(")"):
            break
        op_parser.expect(",")
    types = []
    if values:
        op_parser.expect(":")
        types = op_parser.comma_list(op_parser.type)
    op_parser.operands = op_parser.resolve_all(values, types, offset)
    op_parser.result_types = types
    op_parser.attribute_dictionary_with_keyword()
    arguments = [
        Argument(name.name, name.offset, type, None, (op_parser.source, name.offset))
        for name, type in zip(names, types, strict=True)
    ]
    op_parser.expect("cond")
    op_parser.region(arguments)
    op_parser.expect("do")
    op_parser.region(arguments)


def print_while(op: Op, printer: OpAsmPrinter) -> None:
    """Prints what follows the operation name."""
    cond, body = op.regions
    pairs = zip(body.blocks[0].arguments, op.operands, strict=False)
    printer.write(f"({', '.join(f'{printer.name(a)} = {printer.name(v)}' for a, v in pairs)})")
    if op.operands:
        printer.write(f" : {printer.types(op.operand_types)}")
    printer.attribute_dictionary(op, with_keyword=True)
    printer.newline()
    printer.write("cond ")
    printer.region(cond)
    printer.write(" do ")
    printer.region(body)


@stablehlo.op("return", PURE, TERMINATOR)
class ReturnOp(Op):
    """Terminates a region and returns values to the enclosing operation."""

    values = op_fields.operands(TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN_OR_BUFFER)

    assembly = assembly("$values attr-dict (`:` type($values)^)?")


@stablehlo.op("optimization_barrier", PURE, PAIRWISE_SAME_TYPE, INFERS_COMPATIBLE_TYPES)
class OptimizationBarrierOp(Op):
    """Forwards its operands once all of them have been computed."""

    values = op_fields.operands(TENSOR_OR_TOKEN)
    out = op_fields.results(TENSOR_OR_TOKEN)

    assembly = assembly("attr-dict ($values^ `:` custom<PairwiseOpType>) : (`(` `)`)?")
    data_flow = OPERANDS_TO_RESULTS

    infer_result_types = staticmethod(operand_types)


# --- Branches --------------------------------------------------------------------------------


class ConditionalOp(Op):
    """Base of if and case: runs one of several branches and returns its results."""

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> Sequence[Type]:
        selector = signature.operand_types[0]
        assert isinstance(selector, RankedTensor)
        if selector.rank != 0:  # case_i1, if_i1
            raise signature.error_without_op_note(
                f"operand should be rank 0 tensor but got rank {selector.rank}"
            )
        if not regions:  # case_c1
            raise signature.error_without_op_note("expect at least one branch")
        branches = [region_signature(region) for region in regions]
        first = branches[0].returned_types
        for index, branch in enumerate(branches):
            if branch.argument_types:  # case_c2, if_c1
                raise signature.error_without_op_note(
                    f"branch {index} must have 0 arguments, but found {len(branch.argument_types)}"
                )
            if not are_all_compatible(first, branch.returned_types):  # case_c3, if_c2
                raise signature.error_without_op_note(
                    f"branch 0 and branch {index} have mismatched return types: {quoted_all(first)} vs "
                    f"{quoted_all(branch.returned_types)}"
                )
        returned_types = zip(*(branch.returned_types for branch in branches), strict=True)
        return [least_specific_type(signature, types) for types in returned_types]


@stablehlo.op("if", RECURSIVE_EFFECTS, SINGLE_BLOCK, INFERS_COMPATIBLE_TYPES)
class IfOp(ConditionalOp):
    """Runs `true_branch` or `false_branch`."""

    predicate = op_fields.operand(PRED_TENSOR)
    out = op_fields.results(TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN)
    true_branch = op_fields.region(ONE_BLOCK)
    false_branch = op_fields.region(ONE_BLOCK)

    data_flow = ByRelease(Behavior.IF_DATA_FLOW, BRANCHES, None)


@stablehlo.op("case", RECURSIVE_EFFECTS, SINGLE_BLOCK, INFERS_COMPATIBLE_TYPES)
class CaseOp(ConditionalOp):
    """Runs the branch with the given index, or the last branch if the index is out of range."""

    index = op_fields.operand(I32_TENSOR)
    out = op_fields.results(TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN)
    branches = op_fields.regions(ONE_BLOCK)

    canonicalizations = (FOLD_CONSTANT_CASE,)
    data_flow = BRANCHES


# --- Loops -----------------------------------------------------------------------------------


@stablehlo.op("while", RECURSIVE_EFFECTS, SINGLE_BLOCK, INFERS_COMPATIBLE_TYPES)
class WhileOp(RegionVerifyingOp):
    """Runs `body` on the loop-carried values as long as `cond` returns true."""

    values = op_fields.operands(TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN_OR_BUFFER)
    out = op_fields.results(TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN_OR_BUFFER)
    cond = op_fields.region(ONE_BLOCK)
    body = op_fields.region(ONE_BLOCK)

    assembly = assembly("custom<loop>", loop=custom(parse_while, print=print_while))
    data_flow = LOOP

    def name_arguments(self, region: Region) -> list[tuple[BlockArgument, str]]:
        return [(argument, "iterArg") for block in region.blocks[:1] for argument in block.arguments]

    @staticmethod
    def verify_region_signatures(signature: OpSignature, regions: RegionSignatures) -> None:
        cond, body = regions
        operands = signature.operand_types
        _check_loop_types(signature, cond.argument_types, "condition block arguments")  # while_c1
        _check_loop_types(signature, body.argument_types, "body block arguments")  # while_c2
        if not body.has_terminator:
            raise signature.error_without_op_note("The while body-region expected to have a terminator")
        if not are_all_compatible(operands, body.returned_types):  # while_c2
            raise signature.error_without_op_note(
                "expect operands to be compatible with body block return types but got "
                f"{quoted_all(operands)} vs {quoted_all(body.returned_types)}"
            )
        if len(cond.returned_types) != 1:  # while_c1
            raise signature.error_without_op_note(
                f"expect condition body returns a single value but got {len(cond.returned_types)}"
            )
        if not is_boolean_scalar(cond.returned_types[0]):  # while_c1
            raise signature.error_without_op_note(
                "expect condition block return a zero-ranked tensor of i1 but got "
                f"{quoted(cond.returned_types[0])}"
            )

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> Sequence[Type]:
        return signature.operand_types  # while_c3


def _check_loop_types(signature: OpSignature, arguments: Sequence[Type], what: str) -> None:
    if not are_all_compatible(signature.operand_types, arguments):
        raise signature.error_without_op_note(
            f"expect operands to be compatible with {what} but got "
            f"{quoted_all(signature.operand_types)} vs {quoted_all(arguments)}"
        )


def is_boolean_scalar(type: Type) -> bool:
    """Whether the type is `tensor<i1>`, with any encoding."""
    return isinstance(type, RankedTensor) and type.rank == 0 and type.element is I1


# --- map -------------------------------------------------------------------------------------


@stablehlo.op("map", RECURSIVE_EFFECTS, SAME_SHAPE, SINGLE_BLOCK, INFERS_COMPATIBLE_TYPES)
class MapOp(Op):
    """Applies a scalar computation to the operands elementwise."""

    inputs = op_fields.operands(TENSOR)
    dimensions = op_fields.attr(I64_ARRAY)
    out = op_fields.result(TENSOR)
    computation = op_fields.region(ONE_BLOCK)

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> Sequence[Type]:
        body = region_signature(regions[0])
        inputs = signature.operand_types
        if len(inputs) != len(body.argument_types):  # map_c4
            raise signature.error_without_op_note(
                "expects number of operands to match the arity of map computation, but got: "
                f"{len(inputs)} and {len(body.argument_types)}"
            )
        for index, (argument, input) in enumerate(zip(body.argument_types, inputs, strict=True)):
            _check_scalar_argument(signature, index, argument, input)
        if len(body.returned_types) != 1:  # map_c4
            raise signature.error_without_op_note(
                f"computation must return single output, but got: {len(body.returned_types)}"
            )
        (returned,) = body.returned_types
        if not isinstance(returned, RankedTensor) or returned.rank != 0:  # map_c4
            raise signature.error_without_op_note(
                f"computation must return 0-rank tensor, but got: {quoted(returned)}"
            )
        return [RankedTensor(_mapped_shape(signature), returned.element, None)]


def _check_scalar_argument(signature: OpSignature, index: int, argument: Type, input: Type) -> None:
    if not isinstance(argument, RankedTensor) or argument.rank != 0:  # map_c4
        raise signature.error_without_op_note(
            f"computation arguments must be 0-rank tensor, but got: arg #{index} of type {quoted(argument)}"
        )
    if argument.element is not element_of(input):  # map_c4
        raise signature.error_without_op_note(
            "element type of operands and computation arguments must match, but got: "
            f"{quoted(element_of(input))} and {quoted(argument.element)}"
        )


def _mapped_shape(signature: OpSignature) -> tuple[int, ...]:
    """The shape of the last operand. Checks that all dimensions of all operands are mapped, in order."""
    dimensions = signature[MapOp.dimensions]
    if dimensions != tuple(range(len(dimensions))):  # map_c3
        raise signature.error_without_op_note(
            f"requires monotonically increasing dimension numbers, but got: {listing(dimensions)}"
        )
    shape: tuple[int, ...] = ()
    for input in signature.operand_types:
        assert isinstance(input, RankedTensor)
        shape = input.shape
        if len(dimensions) != len(shape):  # map_c3
            raise signature.error_without_op_note(
                "applied to a subset of dimensions currently not supported: operand dimensions = "
                f"{len(shape)}, requested map dimensions size = {len(dimensions)}"
            )
    return shape


# --- Tuples ---------------------------------------------------------------------------------


@stablehlo.op("tuple", PURE, INFERS_COMPATIBLE_TYPES)
class TupleOp(Op):
    """Packs values into a tuple."""

    val = operands(types.TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN_OR_TUPLE_OR_BUFFER)
    out = result(types.TUPLE)

    assembly = assembly("operands attr-dict `:` custom<TupleOpType>")

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [TupleType(signature.operand_types)]


@stablehlo.op("get_tuple_element", PURE, INFERS_COMPATIBLE_TYPES)
class GetTupleElementOp(Op):
    """Extracts one element of a tuple."""

    operand = operand(types.TUPLE)
    index = attr(non_negative(I32_ATTR))
    out = result(types.TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN_OR_TUPLE_OR_BUFFER)

    assembly = assembly(
        "$operand `[` custom<I32>($index) `]` attr-dict `:` functional-type(operands, results)"
    )

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        elements, index = signature[GetTupleElementOp.operand].types, signature[GetTupleElementOp.index]
        if index >= len(elements):  # get_tuple_element_c1
            raise signature.error_without_op_note(
                f"index {index} is out of bounds of operand with size {len(elements)}"
            )
        return [elements[index]]


# --- Composites -----------------------------------------------------------------------------

_NAME = constant_pattern(r"[a-zA-Z][a-zA-Z0-9_]*([.][a-zA-Z0-9_$]+)+")


@stablehlo.op("composite")
class CompositeOp(Op):
    """An operation composed of others: the function `decomposition` defines its semantics."""

    inputs = operands(types.TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN_OR_TUPLE)
    op_name = attr(STRING_ATTR, name="name")
    composite_attributes = default_valued_optional_attr(DICT_ATTR, EMPTY_DICT)
    decomposition = attr(FLAT_SYMBOL_ATTR)
    version = default_valued_optional_attr(I32_ATTR, integer(0, I32))
    composite_regions = regions()
    outputs = results(types.TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN_OR_TUPLE)

    def _print_regions(self, printer: OpAsmPrinter) -> None:
        if not self.regions:
            return
        separator = " ("
        for region in self.regions:
            printer.write(separator)
            printer.region(region, print_arguments=True)
            separator = ", "
        printer.write(")")

    @staticmethod
    def _parse_regions(op_parser: OpAsmParser) -> None:
        """Parses an optional `({ … }, { … })`."""
        if not op_parser.accept("("):
            return
        while op_parser.looking_at("{"):
            op_parser.region()
            if not op_parser.accept(","):
                break
        op_parser.expect(")")

    assembly = assembly(
        "custom<String>($op_name) operands custom<regions> attr-dict `:` functional-type(operands, results)",
        regions=custom(_parse_regions, print=_print_regions),
    )

    def verify_symbol_uses(self) -> None:
        if not _NAME.fullmatch(self.op_name):  # composite_c1
            raise _error(
                self,
                "name must be a valid namespaced op name, i.e. it must match the following regular "
                f'expression: ^{_NAME.pattern}$ e.g. "my_namespace.my_op"',
            )
        function = lookup_symbol(self, self.decomposition)
        if function is None or FUNCTION not in function.traits:  # composite_c2
            raise _error(self, no_function(self.decomposition))
        type = FUNCTION_TYPE_ATTR.value(function.signature.attributes["function_type"])
        self._check_types("operand", self.signature.operand_types, type.inputs)  # composite_c3
        self._check_types("result", self.signature.result_types, type.results)  # composite_c4

    def _check_types(self, what: str, types: Sequence[Type], expected_types: Sequence[Type]) -> None:
        if len(types) != len(expected_types):
            raise _error(self, f"has {len(types)} {what}(s), but decomposition has {len(expected_types)}")
        for index, (type, expected) in enumerate(zip(types, expected_types, strict=True)):
            if type is not expected:
                raise _error(
                    self,
                    f"{what} at index {index} has type {quoted(type)}, but decomposition has type "
                    f"{quoted(expected)}",
                )


def _error(op: Op, message: str) -> DiagnosticError:
    return DiagnosticError.at(op.location, message)
