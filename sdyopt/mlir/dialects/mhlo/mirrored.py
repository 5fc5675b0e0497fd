"""The operations that mhlo shares with StableHLO and CHLO, with the attributes, types and tokens of mhlo.

`_mirror` declares them from the classes of the other dialect. They have no folds, canonicalizations and
data-flow edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, cast

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.dialects.chlo.operations import ScanOp
from sdyopt.mlir.dialects.mhlo.attributes import (
    TOKEN,
    ChannelHandle,
    ComparisonDirection,
    ComparisonType,
    ConvDimensions,
    CustomCallSchedule,
    DotAlgorithm,
    DotDimensions,
    FftType,
    GatherDimensions,
    OutputOperandAlias,
    Precision,
    ResultAccuracy,
    ResultAccuracyMode,
    RngAlgorithm,
    RngDistribution,
    ScatterDimensions,
    Transpose,
)
from sdyopt.mlir.dialects.mhlo.dialect import mhlo
from sdyopt.mlir.dialects.stablehlo import (
    convolution,
    custom_call,
    elementwise,
    precision,
    shapes,
    types,
)
from sdyopt.mlir.dialects.stablehlo.collectives import AllToAllOp, CollectiveBroadcastOp
from sdyopt.mlir.dialects.stablehlo.control_flow import CompositeOp
from sdyopt.mlir.dialects.stablehlo.convolution import DynamicConvOp
from sdyopt.mlir.dialects.stablehlo.dialect import (
    I64_ELEMENTS,
    NON_NEGATIVE_I64,
    POSITIVE_I64,
    stablehlo,
)
from sdyopt.mlir.dialects.stablehlo.nullary import ConstantOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import (
    COMPATIBLE_TYPES,
    HLO_COMMUTATIVE,
    INFERS_COMPATIBLE_TYPES,
    most_specific_operand_type,
)
from sdyopt.mlir.dialects.stablehlo.types import (
    ANY_TENSOR,
    FLOAT_OR_COMPLEX_TENSOR,
    FLOAT_TENSOR,
    TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR,
    tensor_of,
)
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.attribute import Attribute, DictAttr, StringAttr
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.op_fields import AttrField, Field, ValueField
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op, OpMeta, build
from sdyopt.mlir.ir.traits import (
    BOOL_ARRAY,
    COMMUTATIVE,
    I64_ARRAY,
    NO_MEMORY_EFFECT,
    PURE,
    AttrConstraint,
    Elements,
    Trait,
    TypeConstraint,
    of_class,
)
from sdyopt.mlir.ir.types import (
    I1,
    RankedTensor,
    TupleType,
    Type,
    UnrankedTensor,
)
from sdyopt.mlir.ir.value import LazyLocation

# --- Constraints ----------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _exchange_tokens(type: Type) -> Type:
    """A type with the tokens of mhlo for those of stablehlo, and the other way round."""
    if isinstance(type, TupleType):
        return TupleType(tuple(map(_exchange_tokens, type.types)))
    return types.TOKEN_TYPE if type is TOKEN else TOKEN if type is types.TOKEN_TYPE else type


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


def of_mhlo(constraint: AttrConstraint[Any]) -> AttrConstraint[Any]:
    """The constraint on attributes of mhlo for one on those of stablehlo."""
    mirrored = _ATTRIBUTES.get(constraint)
    if mirrored is None:
        cls = _CLASSES.get(cast(Any, constraint.cls))
        mirrored = constraint if cls is None else of_class(cls, constraint.description)
        _ATTRIBUTES[constraint] = mirrored
    return mirrored


def type_of_mhlo(constraint: TypeConstraint[Any]) -> TypeConstraint[Any]:
    """The constraint on types of mhlo for one on those of stablehlo."""
    mirrored = _TYPES.get(constraint, constraint)
    if mirrored.accepts(types.TOKEN_TYPE) or mirrored.accepts(TupleType((types.TOKEN_TYPE,))):
        accepts = mirrored.accepts
        mirrored = TypeConstraint(mirrored.description, lambda type: accepts(_exchange_tokens(type)))
    return mirrored


def _field_of_mhlo(field: Field) -> Field:
    """The field of mhlo for one of stablehlo."""
    mirrored = _field_of_every_release(field)
    if field.behavior is not None:
        mirrored.since(field.behavior, field.before and _field_of_mhlo(field.before))
    return mirrored


def _field_of_every_release(field: Field) -> Field:
    if isinstance(field, ValueField):
        return type(field)(type_of_mhlo(field.constraint), field.arity)
    if isinstance(field, AttrField):
        default = field.default
        if isinstance(default, elementwise.ResultAccuracy):
            default = DEFAULT_ACCURACY
        return AttrField(of_mhlo(field.constraint), field.name, field.is_optional, default)
    return field


DEFAULT_ACCURACY = ResultAccuracy(0, 0, 0, ResultAccuracyMode("DEFAULT"))

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
    fields = {name: _field_of_mhlo(field) for name, field in op_class.fields_of_all_releases.items()}
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
    mirrored = cast(type[Op], OpMeta(op_class.__name__, (Op,), body))
    return mhlo.op(mnemonic, *(op_class.trait_order if traits is None else traits))(mirrored)


def _inferring_mhlo(infer: Any, rank_1: Sequence[str]) -> Any:
    function = infer.__func__ if isinstance(infer, staticmethod) else infer

    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> Sequence[Type]:
        _check_rank_1(signature, rank_1)
        return [TOKEN if type is types.TOKEN_TYPE else type for type in function(signature, regions)]

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
            type_of_mhlo(types.TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN_OR_TUPLE_OR_BUFFER)
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
