"""The operations, attributes and types of mhlo.

Most operations are those of StableHLO with the attributes, types and tokens of mhlo: `_mirror` declares them
from the classes of stablehlo. They have no folds, canonicalizations and data-flow edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, TypeVar, cast

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.attribute_format import (
    Struct,
    attribute_format,
    dialect_attribute,
    integer,
)
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter, plain_type
from sdyopt.mlir.dialects.chlo.scan import ScanOp
from sdyopt.mlir.dialects.func import FuncOp
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
    random,
    replica_groups,
    shapes,
    types,
)
from sdyopt.mlir.dialects.stablehlo.assembly_directives import (
    DimensionNumbers,
    dimension_list,
    parse_custom_struct,
    parse_dimensions,
)
from sdyopt.mlir.dialects.stablehlo.collectives import AllToAllOp, CollectiveBroadcastOp
from sdyopt.mlir.dialects.stablehlo.contraction import RaggedDimensions, check_ragged_dot
from sdyopt.mlir.dialects.stablehlo.convolution import DynamicConvOp
from sdyopt.mlir.dialects.stablehlo.dialect import (
    I64_ELEMENTS,
    NON_NEGATIVE_I64,
    POSITIVE_I64,
    quoted,
    stablehlo,
)
from sdyopt.mlir.dialects.stablehlo.enums import EnumAttr, enumeration
from sdyopt.mlir.dialects.stablehlo.nullary import ConstantOp
from sdyopt.mlir.dialects.stablehlo.tuple_composite import CompositeOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import (
    COMPATIBLE_TYPES,
    HLO_COMMUTATIVE,
    INFERS_COMPATIBLE_TYPES,
    are_compatible,
    bit_width,
    most_specific_operand_type,
)
from sdyopt.mlir.dialects.stablehlo.types import (
    ANY_TENSOR,
    FLOAT_OR_COMPLEX_TENSOR,
    FLOAT_TENSOR,
    INT_TENSOR,
    TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR,
    any_of,
    tensor_of,
)
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.attribute import EMPTY_ARRAY, Attribute, DictAttr, StringAttr, SymbolRef
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import TRUE, DenseElements
from sdyopt.mlir.ir.constraints import (
    BOOL_ARRAY,
    BOOL_ATTR,
    FLAT_SYMBOL_ATTR,
    I32_ATTR,
    I64_ARRAY,
    I64_ATTR,
    ONE_BLOCK,
    STRING_ATTR,
    AttrConstraint,
    Elements,
    TypeConstraint,
    of_class,
)
from sdyopt.mlir.ir.dialect import fields_of_all_releases
from sdyopt.mlir.ir.op_fields import AttrField, Field, ValueField, operand_types
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op, OpMeta, build
from sdyopt.mlir.ir.shape_traits import ELEMENTWISE, SAME_SHAPE
from sdyopt.mlir.ir.symbols import lookup_symbol
from sdyopt.mlir.ir.traits import COMMUTATIVE, NO_MEMORY_EFFECT, PURE, RECURSIVE_EFFECTS, Trait
from sdyopt.mlir.ir.types import (
    DYNAMIC,
    I1,
    I32,
    IntegerType,
    RankedTensor,
    Signedness,
    TupleType,
    Type,
    UnrankedTensor,
    tensor,
)
from sdyopt.mlir.ir.value import LazyLocation
from sdyopt.mlir.ir.verify_signature import infer_and_compare_types

# --- Attributes -----------------------------------------------------------------------------------

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


@enumeration(mhlo, "rng_distribution", *random.RngDistribution.cases, is_bracketed=True)
class RngDistribution(random.RngDistribution):
    """The distribution of rng."""


@enumeration(mhlo, "rng_algorithm", *random.RngAlgorithm.cases, is_bracketed=True)
class RngAlgorithm(random.RngAlgorithm):
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
def _parse_algorithm(parser: AsmParser) -> Attribute:
    return precision.parse_algorithm(parser, DotAlgorithm)


mhlo.printer(DotAlgorithm)(precision.print_algorithm)


@dialect_attribute(mhlo, "dot", "MHLO_DotDimensionNumbers")
class DotDimensions(contraction.DotDimensions):
    """`#mhlo.dot<…>`: dot dimension numbers."""

    dialect = "mhlo"
    assembly = attribute_format("<", DimensionNumbers("dot dimension numbers", "_dimensions"))


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
    lhs_ragged: tuple[int, ...] = ()
    rhs_group: tuple[int, ...] = ()
    dialect = "mhlo"

    @property
    def dimensions(self) -> RaggedDimensions:
        """The dimension numbers, in the representation shared with chlo."""
        dot = self.dot or DotDimensions()
        dot_dimensions = dot.lhs_batching, dot.rhs_batching, dot.lhs_contracting, dot.rhs_contracting
        return RaggedDimensions(*dot_dimensions, self.lhs_ragged, self.rhs_group)


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
def _parse_ragged_dot(parser: AsmParser) -> Attribute:
    parser.expect("<")
    entries = parse_custom_struct(parser, "ragged dot dimension numbers", _RAGGED_ENTRIES)
    lhs_ragged, rhs_group = (entries.get(name, ()) for name in _LIST_NAMES)
    return RaggedDotDimensions(entries.get("dot_dimension_numbers"), lhs_ragged, rhs_group)


@mhlo.printer(RaggedDotDimensions)
def _print_ragged_dot(dims: RaggedDotDimensions, attribute_printer: AttributePrinter) -> str:
    entries = [] if dims.dot is None else [f"dot_dimension_numbers = {attribute_printer.attribute(dims.dot)}"]
    lists = zip(_LIST_NAMES, (dims.lhs_ragged, dims.rhs_group), strict=True)
    entries += [f"{name} = {list(numbers)}" for name, numbers in lists if numbers]
    return f"ragged_dot<{', '.join(entries)}>"


class TypeExtensions(types.Bounds):
    """`#mhlo.type_extensions<bounds = [8, ?]>`: the encoding of a tensor type with bounded dimensions."""

    dialect = "mhlo"


@mhlo.attribute("type_extensions")
def _parse_type_extensions(parser: AsmParser) -> Attribute:
    parser.expect("<")
    parser.expect("bounds")
    parser.expect("=")
    bounds = parse_dimensions(parser)
    parser.expect(">")
    return TypeExtensions(bounds)


@mhlo.printer(TypeExtensions)
def _print_type_extensions(attribute: TypeExtensions, attribute_printer: AttributePrinter) -> str:
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


_TOKEN = TokenType()


@mhlo.type("token")
def _parse_token(parser: AsmParser) -> Type:
    return _TOKEN


@mhlo.printer(TokenType)
def _print_token(type: TokenType, attribute_printer: AttributePrinter) -> str:
    return "token"


@mhlo.type("async_bundle")
def _parse_async_bundle(parser: AsmParser) -> Type:
    return AsyncBundle(tuple(parser.comma_list(parser.type, "<", ">")))


@mhlo.printer(AsyncBundle)
def _print_async_bundle(type: AsyncBundle, attribute_printer: AttributePrinter) -> str:
    return f"async_bundle<{', '.join(map(attribute_printer.type, type.types))}>"


_UI64 = IntegerType(64, Signedness.UNSIGNED)

# --- Constraints ----------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _exchange_tokens(type: Type) -> Type:
    """A type with the tokens of mhlo for those of stablehlo, and the other way round."""
    if isinstance(type, TupleType):
        return TupleType(tuple(map(_exchange_tokens, type.types)))
    return types.TOKEN_TYPE if type is _TOKEN else _TOKEN if type is types.TOKEN_TYPE else type


def _with_mhlo_tokens(constraint: TypeConstraint[Any]) -> TypeConstraint[Any]:
    accepts = constraint.accepts
    return TypeConstraint(constraint.description, lambda type: accepts(_exchange_tokens(type)))


_FLOAT_VECTOR = tensor_of(types.FLOAT, kind="1D tensor", predicate=lambda type: len(type.shape) == 1)
_I32_TENSOR = types.shaped_of("tensor", (RankedTensor, UnrankedTensor), types.I32_ELEMENT)
_ANY_QUANTIZED = (types.QUANTIZED, types.PER_AXIS_QUANTIZED)

# The constraints of mhlo for those of stablehlo.
_TYPES: dict[TypeConstraint[Any], TypeConstraint[Any]] = {
    types.TENSOR: TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR,
    types.NON_QUANTIZED_TENSOR: TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR,
    types.SCALAR_TENSOR: TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR,
    types.STATIC_TENSOR: types.STATIC_TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR,
    types.STATIC_DIMENSION_TENSOR: types.DIMENSION_TENSOR,
    types.I32_TENSOR: _I32_TENSOR,
    types.INT_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR: tensor_of(
        types.INT, types.FLOAT, types.COMPLEX, *_ANY_QUANTIZED
    ),
    types.SIGNED_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR: tensor_of(
        types.SIGNED, types.FLOAT, types.COMPLEX, *_ANY_QUANTIZED
    ),
    types.SIGNED_FLOAT_OR_QUANTIZED_TENSOR: tensor_of(types.SIGNED, types.FLOAT, *_ANY_QUANTIZED),
    types.TENSOR_OR_TOKEN: types.TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN,
    types.FLOAT_OR_QUANTIZED_VECTOR: _FLOAT_VECTOR,
}

_I64_ELEMENTS: AttrConstraint[tuple[int, ...]] = AttrConstraint(
    I64_ELEMENTS.description, I64_ELEMENTS.accepts, lambda a: a.values, I64_ELEMENTS.accepts_storage
)
_BOOL_ELEMENTS: AttrConstraint[tuple[bool, ...]] = AttrConstraint(
    "constant boolean vector/tensor attribute",
    lambda a: isinstance(a, DenseElements) and a.type.element is I1,
    lambda a: tuple(map(bool, a.values)),
    lambda a: isinstance(a, DenseElements),
)
_ALIASES = custom_call.aliases_of(OutputOperandAlias, "CustomCall")

_CLASSES: dict[type[Attribute], type[Attribute]] = {
    cls.__bases__[0]: cls
    for cls in (
        *(ComparisonDirection, ComparisonType, Transpose, FftType, RngDistribution, RngAlgorithm),
        *(ResultAccuracy, ConvDimensions, DotAlgorithm, DotDimensions, GatherDimensions),
        *(ScatterDimensions, ChannelHandle),
    )
}
_ATTRIBUTES: dict[AttrConstraint[Any], AttrConstraint[Any]] = {
    I64_ARRAY: _I64_ELEMENTS,
    BOOL_ARRAY: _BOOL_ELEMENTS,
    precision.PRECISION_CONFIG: precision.precision_config_of(Precision),
    custom_call.ALIASES: _ALIASES,
}


def _of_mhlo(constraint: AttrConstraint[Any]) -> AttrConstraint[Any]:
    found = _ATTRIBUTES.get(constraint)
    if found is None:
        cls = _CLASSES.get(cast(Any, constraint.cls))
        found = constraint if cls is None else of_class(cls, constraint.description)
        _ATTRIBUTES[constraint] = found
    return found


def _type_of_mhlo(constraint: TypeConstraint[Any]) -> TypeConstraint[Any]:
    found = _TYPES.get(constraint, constraint)
    if found.accepts(types.TOKEN_TYPE) or found.accepts(TupleType((types.TOKEN_TYPE,))):
        found = _with_mhlo_tokens(found)
    return found


def _field_of_mhlo(field: Field) -> Field:
    """The field of mhlo for one of stablehlo."""
    found = _field_of_every_release(field)
    if field.behavior is not None:
        found.since(field.behavior, field.before and _field_of_mhlo(field.before))
    return found


def _field_of_every_release(field: Field) -> Field:
    if isinstance(field, ValueField):
        return type(field)(_type_of_mhlo(field.constraint), field.arity)
    if isinstance(field, AttrField):
        default = field.default
        if isinstance(default, elementwise.ResultAccuracy):
            default = _DEFAULT_ACCURACY
        return AttrField(_of_mhlo(field.constraint), field.name, field.is_optional, default)
    return field


_DEFAULT_ACCURACY = ResultAccuracy(0, 0, 0, ResultAccuracyMode("DEFAULT"))

# --- Mirrored operations --------------------------------------------------------------------------

# Mnemonic -> the lists that are tensors of rank 1, checked when types are inferred and by the verifier.
# Other lists may have any rank.
_RANK_1_TO_INFER = {
    "broadcast": ("broadcast_sizes",),
    "dynamic_slice": ("slice_sizes",),
    "fft": ("fft_length",),
    "gather": ("slice_sizes",),
    "map": ("dimensions",),
    "pad": ("edge_padding_low", "edge_padding_high", "interior_padding"),
    "slice": ("start_indices", "limit_indices", "strides"),
    "transpose": ("permutation",),
}
_RANK_1 = {
    "broadcast_in_dim": ("broadcast_dimensions",),
    "reduce": ("dimensions",),
    "reduce_window": ("window_dimensions", "window_strides", "base_dilations", "window_dilations"),
    "reverse": ("dimensions",),
    "select_and_scatter": ("window_dimensions", "window_strides"),
}


def _check_rank_1(signature: OpSignature, names: Sequence[str]) -> None:
    for name in names:
        elements = signature.attributes.get(name)
        if isinstance(elements, DenseElements) and elements.type.rank != 1:
            raise signature.error_without_op_note(
                f"{name} has rank {elements.type.rank} instead of required rank 1."
            )


# What stablehlo has and mhlo has not, beside what the class `Op` declares.
_NOT_MIRRORED = ("canonicalizations", "data_flow", "fold")


def _mirror(
    op_class: type[Op],
    *,
    has_assembly: bool = True,
    traits: Iterable[Trait] | None = None,
    **changes: Any,
) -> type[Op]:
    """Declares the operation of mhlo that corresponds to one of another dialect.

    It has the fields, the assembly and the verifiers of the other class, except for `changes`, but is no
    subclass of it: what holds of operations of the other dialect does not hold of those of mhlo.
    """
    mnemonic = op_class.name.partition(".")[2]
    body: dict[str, Any] = {}
    for base in reversed(op_class.__mro__):
        if issubclass(base, Op) and base is not Op:
            body.update(vars(base))
    for inherited in (*_NOT_MIRRORED, *("__weakref__", "__dict__", "__slots__")):
        body.pop(inherited, None)
    declared_fields = fields_of_all_releases(op_class)
    fields = {name: _field_of_mhlo(field) for name, field in declared_fields.items()}
    for declared in [name for name, value in body.items() if isinstance(value, Field)]:
        body.pop(declared)
    body.update(fields)
    infer = body.get("infer_result_types")
    if infer is not None:
        body["infer_result_types"] = _inferring_mhlo(infer, _RANK_1_TO_INFER.get(mnemonic, ()))
    if not has_assembly:
        body["assembly"] = None
    body.update(changes)
    body["__module__"] = __name__
    mirrored: type[Op] = OpMeta(op_class.__name__, (Op,), body)  # type: ignore[assignment]
    return mhlo.op(mnemonic, *(op_class.trait_order if traits is None else traits))(mirrored)


def _inferring_mhlo(infer: Any, rank_1: Sequence[str]) -> Any:
    function = infer.__func__ if isinstance(infer, staticmethod) else infer

    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> Sequence[Type]:
        _check_rank_1(signature, rank_1)
        return [_TOKEN if type is types.TOKEN_TYPE else type for type in function(signature, regions)]

    return staticmethod(infer_result_types)


# The operations with an assembly format, which is that of stablehlo.
_WITH_ASSEMBLY = frozenset(
    (
        *("abs", "add", "after_all", "and", "atan2", "bitcast_convert", "cbrt", "ceil", "clamp", "compare"),
        *("complex", "constant", "convert", "convolution", "cosine", "count_leading_zeros", "create_token"),
        *("custom_call", "divide", "dynamic_pad", "dynamic_reshape", "dynamic_update_slice", "exponential"),
        *("exponential_minus_one", "floor", "get_tuple_element", "imag", "is_finite", "log", "log_plus_one"),
        *("logistic", "maximum", "minimum", "multiply", "negate", "not", "optimization_barrier", "or"),
        *("partition_id", "popcnt", "power", "real", "real_dynamic_slice", "reduce", "reduce_precision"),
        *("remainder", "replica_id", "reshape", "return", "round_nearest_afz", "round_nearest_even"),
        *("rsqrt", "select", "shift_left", "shift_right_arithmetic", "shift_right_logical", "sign"),
        *("sine", "sqrt", "subtract", "tan", "tanh", "tuple", "uniform_dequantize", "uniform_quantize"),
        *("while", "xor"),
    )
)


def _check_custom_call(signature: OpSignature) -> None:
    layouts = [signature[custom_call.CustomCallOp.operand_layouts]]
    layouts.append(signature[custom_call.CustomCallOp.result_layouts])
    custom_call.check_layouts(signature, *layouts)
    custom_call.check_aliases(signature, signature[custom_call.CustomCallOp.output_operand_aliases])
    config = signature[custom_call.CustomCallOp.backend_config]
    is_typed = signature[custom_call.CustomCallOp.api_version] == custom_call.TYPED_FFI
    if is_typed and isinstance(config, StringAttr):
        raise signature.op_error(
            "unsupported user-encoded backend config, backend config must be a dictionary attribute."
        )
    if not is_typed and isinstance(config, DictAttr):
        raise signature.op_error(
            "unsupported dictionary attribute backend config, backend config must be a user-encoded string "
            "attribute."
        )


def _infer_all_to_all(signature: OpSignature, regions: Sequence[Region]) -> Sequence[Type]:
    if signature.attributes.get("split_dimension") is None:
        return signature.operand_types
    return AllToAllOp.infer_result_types(signature, regions)


def _only_ranked(check: Any) -> Any:
    """A verifier of ranked tensors, which ignores other tensors."""

    def verify_signature(signature: OpSignature) -> None:
        if all(
            isinstance(type, RankedTensor) for type in (*signature.operand_types, *signature.result_types)
        ):
            check(signature)

    return staticmethod(verify_signature)


_OPTIONAL_I64 = op_fields.optional_attr(I64_ATTR)
_MAPPED_TRAITS = {HLO_COMMUTATIVE: COMMUTATIVE, NO_MEMORY_EFFECT: PURE}
_FLOAT = {"operand": op_fields.operand(FLOAT_TENSOR), "out": op_fields.result(FLOAT_TENSOR)}
_FLOAT_OR_COMPLEX = {
    "a": op_fields.operand(FLOAT_OR_COMPLEX_TENSOR),
    "out": op_fields.result(FLOAT_OR_COMPLEX_TENSOR),
}
# Mnemonic -> what differs from stablehlo, beside the constraints.
_CHANGES: dict[str, dict[str, Any]] = {
    "add": {"verify_signature": None},
    "convolution": {"verify_signature": staticmethod(convolution.check_mhlo_convolution)},
    "all_to_all": {
        "split_dimension": op_fields.optional_attr(NON_NEGATIVE_I64),
        "concat_dimension": op_fields.optional_attr(NON_NEGATIVE_I64),
        "split_count": op_fields.optional_attr(POSITIVE_I64),
        "infer_result_types": staticmethod(_infer_all_to_all),
    },
    "batch_norm_grad": {
        "operand": op_fields.operand(FLOAT_TENSOR),
        "grad_output": op_fields.operand(FLOAT_TENSOR),
        "grad_operand": op_fields.result(FLOAT_TENSOR),
    },
    "batch_norm_inference": _FLOAT,
    "batch_norm_training": {
        "operand": op_fields.operand(FLOAT_TENSOR),
        "output": op_fields.result(FLOAT_TENSOR),
    },
    "cholesky": _FLOAT_OR_COMPLEX,
    "custom_call": {
        "custom_call_schedule": op_fields.default_valued_optional_attr(
            of_class(CustomCallSchedule, "Specifies the desired schedule for the custom-call."),
            CustomCallSchedule("NONE"),
        ),
        "verify_signature": staticmethod(_check_custom_call),
    },
    "dynamic_iota": {"verify_signature": None, "verify_in_context": None},
    "dynamic_reshape": {
        "operand": op_fields.operand(ANY_TENSOR),
        "out": op_fields.result(ANY_TENSOR),
    },
    "is_finite": {"x": op_fields.operand(FLOAT_TENSOR)},
    "reduce_precision": _FLOAT,
    "reshape": {
        "operand": op_fields.operand(ANY_TENSOR),
        "verify_signature": _only_ranked(shapes.ReshapeOp.verify_signature),
    },
    "return": {
        "values": op_fields.operands(
            _type_of_mhlo(types.TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN_OR_TUPLE_OR_BUFFER)
        )
    },
    "round_nearest_afz": _FLOAT,
    "round_nearest_even": _FLOAT,
}
_OWN = (
    "async_done",
    "async_start",
    "collective_broadcast",
    "composite",
    "constant",
    "dynamic_conv",
    "unary_einsum",
)


def _traits_of_mhlo(mnemonic: str, op_class: type[Op]) -> list[Trait]:
    traits = [_MAPPED_TRAITS.get(trait, trait) for trait in op_class.trait_order]
    names = _RANK_1.get(mnemonic)
    if names is not None:
        traits.insert(0, Trait("rank-1-lists", lambda signature: _check_rank_1(signature, names)))
    return [*traits, COMPATIBLE_TYPES] if mnemonic == "add" else traits


for _mnemonic, _op_class in stablehlo.ops.items():
    if _mnemonic not in _OWN:
        _mirror(
            _op_class,
            has_assembly=_mnemonic in _WITH_ASSEMBLY,
            traits=_traits_of_mhlo(_mnemonic, _op_class),
            **_CHANGES.get(_mnemonic, {}),
        )
_mirror(ConstantOp, name_results=None)
_mirror(
    CollectiveBroadcastOp,
    has_assembly=False,
    traits=[COMPATIBLE_TYPES, INFERS_COMPATIBLE_TYPES],
    inputs=op_fields.operand(TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR),
    out=op_fields.result(TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR),
    has_dynamic_root=None,
    infer_result_types=staticmethod(most_specific_operand_type),
)
_mirror(
    CompositeOp,
    composite_regions=None,
    assembly=assembly("custom<String>($op_name) operands attr-dict `:` functional-type(operands, results)"),
)
_mirror(
    DynamicConvOp,
    rhs=op_fields.operand(TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR),
    padding=None,
    d_padding=op_fields.operand(TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR),
    padding_attribute=op_fields.optional_attr(_I64_ELEMENTS, "padding"),
    verify_signature=None,
    verify_in_context=None,
    traits=[PURE],
)
_mirror(ScanOp)


def _materialize(value: Attribute, type: Type, location: LazyLocation) -> Op | None:
    if not isinstance(value, Elements):
        return None
    op_class = mhlo.ops["constant"]
    signature = OpSignature(op_class, op_class.name, DictAttr((("value", value),)), (), (type,))
    return build(signature, (), location=location)


mhlo.materialize_constant = _materialize

# --- Operations of mhlo only ----------------------------------------------------------------------

_TENSOR = TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR
_TENSOR_OR_TOKEN = _type_of_mhlo(types.TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN)
_TENSOR_TOKEN_OR_TUPLE = _type_of_mhlo(types.TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN_OR_TUPLE)
_ANY_TOKEN = any_of(
    _type_of_mhlo(types.TOKEN),
    TypeConstraint[Type]("stablehlo token", lambda type: type is types.TOKEN_TYPE),
)
_TENSOR_OR_ANY_TOKEN = any_of(_TENSOR, _ANY_TOKEN)
_VALUE = any_of(_TENSOR, _ANY_TOKEN, _type_of_mhlo(types.TUPLE))
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
        _of_mhlo(elementwise.RESULT_ACCURACY), _DEFAULT_ACCURACY
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
    out = op_fields.results(any_of(_TENSOR, _type_of_mhlo(types.TUPLE)))
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
    precision_config = op_fields.optional_attr(_of_mhlo(precision.PRECISION_CONFIG))
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
            TypeConstraint[Type]("64-bit unsigned integer", lambda type: type is _UI64),
            kind="statically shaped tensor",
            predicate=lambda type: DYNAMIC not in type.shape,
        )
    )
    assembly = assembly("attr-dict")

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> Sequence[Type]:
        return [tensor((2,), _UI64)]


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


def _is_async_bundle(type: Type) -> bool:
    return isinstance(type, AsyncBundle) and all(map(_is_in_bundle, type.types))


def _is_in_bundle(type: Type) -> bool:
    if isinstance(type, TupleType):
        return all(map(_is_in_bundle, type.types))
    return _TENSOR_OR_ANY_TOKEN.accepts(type)


_BUNDLE = TypeConstraint[AsyncBundle](
    f"async_bundle with any combination of {_TENSOR_OR_ANY_TOKEN.description} values", _is_async_bundle
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
    found: Op | None = definition
    while isinstance(found, AsyncUpdateOp):
        found = found.operand_at(0).defining_op
    if not isinstance(found, AsyncStartOp):
        raise op.op_error("can't find a start of async chain")
    return found


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
    has_nonlocal_verifier = True

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
    has_nonlocal_verifier = True

    def verify_in_context(self) -> None:
        _check_bundle(self, self.out.type, _callee(self, _start(self)))


@mhlo.op("async_done")
class AsyncDoneOp(Op):
    """Waits for an asynchronous function and returns its results."""

    bundle = op_fields.operand(_BUNDLE)
    out = op_fields.results(_VALUE)
    has_nonlocal_verifier = True

    def verify_in_context(self) -> None:
        callee = _callee(self, _start(self))
        infer_and_compare_types(
            self.signature, lambda: callee.function_type.results, are_compatible, plain_type
        )
        _check_bundle(self, self.bundle.type, callee)
