"""The operations that only mhlo has. Importing this module declares those of the whole dialect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.mhlo.attributes import (
    UI64,
    AsyncBundle,
    DomainKind,
    FusionKind,
    OutputOperandAlias,
    RaggedDotDimensions,
)
from sdyopt.mlir.dialects.mhlo.dialect import mhlo
from sdyopt.mlir.dialects.mhlo.mirrored import (
    DEFAULT_ACCURACY,
    of_mhlo,
    type_of_mhlo,
)
from sdyopt.mlir.dialects.stablehlo import (
    custom_call,
    elementwise,
    precision,
    types,
)
from sdyopt.mlir.dialects.stablehlo.contraction import check_ragged_dot
from sdyopt.mlir.dialects.stablehlo.dialect import (
    quoted,
)
from sdyopt.mlir.dialects.stablehlo.type_compatibility import (
    COMPATIBLE_TYPES,
    INFERS_COMPATIBLE_TYPES,
    are_compatible,
    bit_width,
    most_specific_operand_type,
)
from sdyopt.mlir.dialects.stablehlo.types import (
    FLOAT_TENSOR,
    INT_TENSOR,
    TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR,
    any_of,
    tensor_of,
)
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.attribute import EMPTY_ARRAY, StringAttr, SymbolRef
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import TRUE
from sdyopt.mlir.ir.op_fields import operand_types
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op, OpMeta
from sdyopt.mlir.ir.shape_traits import ELEMENTWISE, SAME_SHAPE
from sdyopt.mlir.ir.symbols import lookup_symbol
from sdyopt.mlir.ir.traits import (
    BOOL_ATTR,
    COMMUTATIVE,
    FLAT_SYMBOL_ATTR,
    I32_ATTR,
    I64_ATTR,
    ONE_BLOCK,
    PURE,
    RECURSIVE_EFFECTS,
    STRING_ATTR,
    TypeConstraint,
    of_class,
)
from sdyopt.mlir.ir.types import (
    DYNAMIC,
    I32,
    RankedTensor,
    TupleType,
    Type,
    UnrankedTensor,
    tensor,
)
from sdyopt.mlir.ir.verify_signature import infer_and_compare_types

_TENSOR = TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR
_TENSOR_OR_TOKEN = type_of_mhlo(types.TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN)
_TENSOR_TOKEN_OR_TUPLE = type_of_mhlo(types.TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN_OR_TUPLE)
_ANY_TOKEN = any_of(
    type_of_mhlo(types.TOKEN),
    TypeConstraint[Type]("stablehlo token", lambda type: type is types.TOKEN_TYPE),
)
_TENSOR_OR_ANY_TOKEN = any_of(_TENSOR, _ANY_TOKEN)
_VALUE = any_of(_TENSOR, _ANY_TOKEN, type_of_mhlo(types.TUPLE))
_COMPATIBLE = (INFERS_COMPATIBLE_TYPES, COMPATIBLE_TYPES)
_ANY_FLOAT_OR_COMPLEX_TENSOR = types.shaped_of(
    "tensor", (RankedTensor, UnrankedTensor), any_of(types.FLOAT, types.COMPLEX)
)
_SAME_TYPE_ASSEMBLY = assembly("operands attr-dict `:` custom<SameOperandsAndResultType>")
_FUNCTION_TYPE_ASSEMBLY = assembly("operands attr-dict `:` functional-type(operands, results)")


class _UnaryOp(Op):
    """Base of unary operations."""

    assembly = _SAME_TYPE_ASSEMBLY
    infer_result_types = staticmethod(most_specific_operand_type)


class _FloatOrComplexOp(_UnaryOp):
    """Base of the operations that chlo has, too."""

    operand = op_fields.operand(_ANY_FLOAT_OR_COMPLEX_TENSOR)
    out = op_fields.result(_ANY_FLOAT_OR_COMPLEX_TENSOR)


class _TranscendentalOp(_UnaryOp):
    """Base of transcendental functions, which have a result accuracy."""

    operand = op_fields.operand(types.FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)
    out = op_fields.result(types.FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)
    result_accuracy = op_fields.default_valued_optional_attr(
        of_mhlo(elementwise.RESULT_ACCURACY), DEFAULT_ACCURACY
    )


for _mnemonic in ("acos", "acosh", "asin", "asinh", "atanh", "cosh", "sinh"):
    mhlo.op(_mnemonic, *_COMPATIBLE, ELEMENTWISE, SAME_SHAPE)(
        cast(type[Op], OpMeta(f"{_mnemonic.capitalize()}Op", (_FloatOrComplexOp,), {}))
    )
for _mnemonic in ("exp2", "log2"):
    mhlo.op(_mnemonic, PURE, *_COMPATIBLE, ELEMENTWISE, SAME_SHAPE)(
        cast(type[Op], OpMeta(f"{_mnemonic.capitalize()}Op", (_TranscendentalOp,), {}))
    )


@mhlo.op("erf", PURE, *_COMPATIBLE, ELEMENTWISE, SAME_SHAPE)
class ErfOp(_UnaryOp):
    """The error function."""

    operand = op_fields.operand(FLOAT_TENSOR)
    out = op_fields.result(FLOAT_TENSOR)


@mhlo.op("mulhi", COMMUTATIVE, PURE, *_COMPATIBLE, SAME_SHAPE, ELEMENTWISE)
class MulhiOp(Op):
    """The upper half of the bits of an integer product."""

    lhs = op_fields.operand(INT_TENSOR)
    rhs = op_fields.operand(INT_TENSOR)
    out = op_fields.result(INT_TENSOR)
    assembly = _SAME_TYPE_ASSEMBLY
    infer_result_types = staticmethod(most_specific_operand_type)


@mhlo.op("stochastic_convert", PURE)
class StochasticConvertOp(Op):
    """Converts floats to another element type, rounded by random bits."""

    operand = op_fields.operand(FLOAT_TENSOR)
    random = op_fields.operand(tensor_of(types.UINT))
    out = op_fields.result(_TENSOR)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        operand, random = signature[StochasticConvertOp.operand], signature[StochasticConvertOp.random]
        widths = bit_width(random.element), bit_width(operand.element)
        if widths[0] != widths[1]:
            raise signature.op_error(
                f"requires the random's bitwidth to match the operand's, but got: {widths[0]} and {widths[1]}"
            )


@mhlo.op("copy", PURE, ELEMENTWISE, *_COMPATIBLE)
class CopyOp(_UnaryOp):
    """The operand, copied."""

    operand = op_fields.operand(_TENSOR_TOKEN_OR_TUPLE)
    cross_program_prefetch_index = op_fields.optional_attr(I32_ATTR)
    out = op_fields.result(_TENSOR_TOKEN_OR_TUPLE)


@mhlo.op("bitcast", PURE)
class BitcastOp(Op):
    """The bits of the operand in another layout."""

    operand = op_fields.operand(_TENSOR)
    out = op_fields.result(_TENSOR)
    assembly = _FUNCTION_TYPE_ASSEMBLY


@mhlo.op("trace")
class TraceOp(Op):
    """Marks a value with a tag."""

    operand = op_fields.operand(_TENSOR)
    tag = op_fields.attr(STRING_ATTR)
    assembly = assembly("$operand `,` custom<String>($tag) attr-dict `:` type($operand)")


@mhlo.op("domain", PURE, *_COMPATIBLE)
class DomainOp(Op):
    """The border between two domains, such as operations with different shardings."""

    operand = op_fields.operand(_TENSOR_OR_TOKEN)
    kind = op_fields.attr(of_class(DomainKind, "Kind of domain metatdata attached to an HLO domain."))
    entry_metadata = op_fields.attr(STRING_ATTR)
    exit_metadata = op_fields.attr(STRING_ATTR)
    out = op_fields.result(_TENSOR_OR_TOKEN)
    infer_result_types = staticmethod(most_specific_operand_type)


@mhlo.op("add_dependency", PURE, INFERS_COMPATIBLE_TYPES)
class AddDependencyOp(Op):
    """The operand, which is available once the token is."""

    operand = op_fields.operand(_TENSOR_OR_ANY_TOKEN)
    token = op_fields.operand(_ANY_TOKEN)
    out = op_fields.result(_TENSOR_OR_ANY_TOKEN)
    assembly = _FUNCTION_TYPE_ASSEMBLY

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> Sequence[Type]:
        return signature.operand_types[:1]


@mhlo.op("fusion")
class FusionOp(Op):
    """Operations that the backend compiles to one kernel."""

    inputs = op_fields.operands(_TENSOR_OR_TOKEN)
    fusion_kind = op_fields.optional_attr(of_class(FusionKind, "fusion kind"))
    output_operand_aliases = op_fields.default_valued_optional_attr(
        custom_call.aliases_of(OutputOperandAlias, "Fusion"), EMPTY_ARRAY
    )
    out = op_fields.results(any_of(_TENSOR, type_of_mhlo(types.TUPLE)))
    fused_computation = op_fields.region(ONE_BLOCK)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        custom_call.check_aliases(signature, signature[FusionOp.output_operand_aliases])


@mhlo.op("ragged_dot", PURE)
class RaggedDotOp(Op):
    """A dot product with a ragged dimension of lhs; see chlo.ragged_dot."""

    lhs = op_fields.operand(_TENSOR)
    rhs = op_fields.operand(_TENSOR)
    group_sizes = op_fields.operand(_TENSOR)
    ragged_dot_dimension_numbers = op_fields.attr(
        of_class(RaggedDotDimensions, "Attribute that models the dimension information for ragged dot.")
    )
    precision_config = op_fields.optional_attr(of_mhlo(precision.PRECISION_CONFIG))
    result = op_fields.result(_TENSOR)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        dims = signature[RaggedDotOp.ragged_dot_dimension_numbers]
        check_ragged_dot(signature, dims.dimensions, signature[RaggedDotOp.precision_config])


@mhlo.op("topk", RECURSIVE_EFFECTS, INFERS_COMPATIBLE_TYPES)
class TopKOp(Op):
    """The `k` largest or smallest elements along the last dimension, and their indices."""

    operand = op_fields.operand(_TENSOR)
    k = op_fields.attr(I64_ATTR)
    largest = op_fields.default_valued_optional_attr(BOOL_ATTR, TRUE)
    is_stable = op_fields.default_valued_optional_attr(BOOL_ATTR, TRUE)
    values = op_fields.result(_TENSOR)
    indices = op_fields.result(_TENSOR)
    assembly = assembly(
        "`(` $operand `,` `k` `=` custom<Integer>($k) (`,` `largest` `=` custom<Bool>($largest)^)? `)` "
        "attr-dict `:` type($operand) `->` `(` type($values) `,` type($indices) `)`"
    )

    def name_results(self) -> list[tuple[int, str]]:
        return [(0, "values"), (1, "indices")]

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> Sequence[Type]:
        operand, k = signature[TopKOp.operand], signature[TopKOp.k]
        if operand.rank < 1:
            raise signature.error_without_op_note("operand's rank must be at least 1")
        last = operand.shape[-1]
        if last < k and last != DYNAMIC:
            raise signature.error_without_op_note("operand's last dimension must be at least " + str(k))
        shape = (*operand.shape[:-1], k)
        return [tensor(shape, operand.element), tensor(shape, I32)]


@mhlo.op("xla.rng_get_and_update_state", INFERS_COMPATIBLE_TYPES)
class RngGetAndUpdateStateOp(Op):
    """The state of the random number generator, which then advances by `delta`."""

    delta = op_fields.attr(I64_ATTR)
    out = op_fields.result(
        tensor_of(
            TypeConstraint[Type]("64-bit unsigned integer", lambda type: type is UI64),
            kind="statically shaped tensor",
            predicate=lambda type: DYNAMIC not in type.shape,
        )
    )
    assembly = assembly("attr-dict")

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> Sequence[Type]:
        return [tensor((2,), UI64)]


@mhlo.op("minimum_broadcast_shapes", PURE)
class MinimumBroadcastShapesOp(Op):
    """Shapes of the smallest ranks that broadcast like the operands."""

    shapes = op_fields.operands(
        tensor_of(types.INDEX_ELEMENT, kind="1D tensor", predicate=lambda type: len(type.shape) == 1)
    )
    out = op_fields.results(shapes.constraint)
    assembly = assembly("$shapes attr-dict `:` type($shapes) `->` type($out)")

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        counts = len(signature.operand_types), len(signature.result_types)
        if counts[0] != counts[1]:
            raise signature.op_error(
                f"number of operand shapes ({counts[0]}) does not match number of results ({counts[1]})"
            )
        if counts[0] < 2:
            raise signature.op_error(f"number of operand shapes ({counts[0]}) should be >= 2")


# --- Asynchronous operations ----------------------------------------------------------------------


def _is_in_bundle(type: Type) -> bool:
    if isinstance(type, TupleType):
        return all(map(_is_in_bundle, type.types))
    return _TENSOR_OR_ANY_TOKEN.accepts(type)


_BUNDLE = TypeConstraint[AsyncBundle](
    f"async_bundle with any combination of {_TENSOR_OR_ANY_TOKEN.description} values",
    lambda type: isinstance(type, AsyncBundle) and all(map(_is_in_bundle, type.types)),
)


def _callee(op: Op, start: Op) -> FuncOp:
    """The function that an asynchronous operation calls."""
    name = start.signature.attributes["called_computation"]
    assert isinstance(name, SymbolRef)
    callee = lookup_symbol(start, name)
    if not isinstance(callee, FuncOp):
        raise op.op_error(f"can't find function: {name.root}")
    return callee


def _start(op: Op) -> Op:
    """The async_start of a chain of asynchronous operations."""
    definition = op.operand_at(0).defining_op
    if not isinstance(definition, AsyncStartOp | AsyncUpdateOp):
        raise op.op_error("operand must be defined by async-start or async-update op")
    current: Op | None = definition
    while isinstance(current, AsyncUpdateOp):
        current = current.operand_at(0).defining_op
    if not isinstance(current, AsyncStartOp):
        raise op.op_error("can't find a start of async chain")
    return current


def _check_bundle(op: Op, bundle: Type, callee: FuncOp) -> None:
    assert isinstance(bundle, AsyncBundle)
    if len(bundle.types) < 2:
        raise op.op_error(f"bundle is expected to have at least 2 components, but got {len(bundle.types)}")
    type = callee.function_type
    if bundle.types[0] not in (_as_one(type.inputs), TupleType(type.inputs)):
        raise op.op_error("component #0 of async bundle doesn't match callee input types")
    if bundle.types[1] is not _as_one(type.results):
        raise op.op_error("component #1 of async bundle doesn't match callee result types")


def _as_one(types: tuple[Type, ...]) -> Type:
    """A single type that is no tuple, or a tuple of all."""
    return types[0] if len(types) == 1 and not isinstance(types[0], TupleType) else TupleType(types)


@mhlo.op("async_start")
class AsyncStartOp(Op):
    """Starts a function asynchronously."""

    inputs = op_fields.operands(_VALUE)
    called_computation = op_fields.attr(FLAT_SYMBOL_ATTR)
    execution_thread = op_fields.attr(STRING_ATTR)
    out = op_fields.result(_BUNDLE)

    def verify_in_context(self) -> None:
        callee, name = _callee(self, self), self.called_computation
        thread = callee.attribute("execution_thread")
        if not isinstance(thread, StringAttr):
            raise self.op_error("callee must have execution_thread attribute.")
        if thread.value != self.execution_thread:
            raise self.op_error(
                f"execution_thread does not match the execution_thread of {name}. Got: "
                f'"{self.execution_thread}", but expected "{thread.value}".'
            )
        expected, operands = callee.function_type.inputs, self.operand_types
        if len(expected) != len(operands):
            raise self.op_error(
                f"number of operands doesn't match operands for {name}. Got: {len(operands)}, but expected: "
                f"{len(expected)}."
            )
        for index, (operand, input) in enumerate(zip(operands, expected, strict=True)):
            if operand is not input:
                raise self.op_error(
                    f"type mismatch on argument #{index} of {name}. Got: {quoted(operand)}, but expected: "
                    f"{quoted(input)}."
                )
        _check_bundle(self, self.out.type, callee)


@mhlo.op("async_update", INFERS_COMPATIBLE_TYPES)
class AsyncUpdateOp(Op):
    """Waits for a part of an asynchronous function."""

    bundle = op_fields.operand(_BUNDLE)
    out = op_fields.result(_BUNDLE)
    infer_result_types = staticmethod(operand_types)

    def verify_in_context(self) -> None:
        _check_bundle(self, self.out.type, _callee(self, _start(self)))


@mhlo.op("async_done")
class AsyncDoneOp(Op):
    """Waits for an asynchronous function and returns its results."""

    bundle = op_fields.operand(_BUNDLE)
    out = op_fields.results(_VALUE)

    def verify_in_context(self) -> None:
        callee = _callee(self, _start(self))
        infer_and_compare_types(
            self.signature, lambda: callee.function_type.results, are_compatible, plain_type
        )
        _check_bundle(self, self.bundle.type, callee)
