"""Attributes that VHLO always has and StableHLO leaves out if they have their default value."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.stablehlo.convolution import ConvDimensions
from sdyopt.mlir.dialects.stablehlo.dialect import integers_of
from sdyopt.mlir.dialects.vhlo.attributes import (
    ArrayV1,
    BoolV1,
    ComparisonTypeV1,
    CustomCallApiVersionV1,
    DictV1,
    IntegerV1,
    PrecisionV1,
    ResultAccuracyModeV1,
    ResultAccuracyV1,
    StringV1,
    TensorV1,
)
from sdyopt.mlir.dialects.vhlo.conversion import i1_elements, i64_elements, to_vhlo
from sdyopt.mlir.dialects.vhlo.types import SimpleType
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.builtin_attributes import DenseArray, DenseElements, IntegerAttr

# The attributes of an operation of StableHLO by name.
Attributes = Mapping[str, Attribute]


class Default(NamedTuple):
    """Whether an attribute of VHLO is the default, and how to make it for an operation of StableHLO."""

    accepts: Callable[[Attribute], bool]
    make: Callable[[Attributes], Attribute]


def constant(value: Attribute) -> Default:
    """The default that is always this attribute."""
    return Default(lambda attribute: attribute is value, lambda attributes: value)


def _integer(value: int) -> Default:
    default = IntegerV1(SimpleType("i64_v1"), value)
    return Default(
        lambda attribute: isinstance(attribute, IntegerV1) and attribute.value == value,
        lambda attributes: default,
    )


def _splat(value: int, width: int, rank_of: Callable[[Attributes], int]) -> Default:
    """A tensor in which all numbers are `value`: `width` per dimension, of rank 1 if it is 0."""

    def make(attributes: Attributes) -> Attribute:
        rank = rank_of(attributes)
        shape = (rank, width) if width else (rank,)
        return to_vhlo(i64_elements([value] * (rank * max(1, width)), shape))

    return Default(lambda attribute: _is_splat(attribute, value), make)


def _is_splat(attribute: Attribute, value: int) -> bool:
    if not isinstance(attribute, TensorV1):
        return False
    data = attribute.data
    return bool(data.data) and data.is_splat and integers_of(DenseElements(data.type, data.data))[0] == value


def _spatial_rank(attributes: Attributes) -> int:
    dimensions = attributes.get("dimension_numbers")
    return len(dimensions.input_spatial_dimensions) if isinstance(dimensions, ConvDimensions) else 0


def _window_rank(attributes: Attributes) -> int:
    window = attributes.get("window_dimensions")
    if isinstance(window, DenseArray):
        return len(window.values)
    return window.type.num_elements if isinstance(window, DenseElements) else 0


def _is_empty_tensor(attribute: Attribute) -> bool:
    return isinstance(attribute, TensorV1) and not attribute.data.data


def _no_backend_config(attributes: Attributes) -> Attribute:
    version = attributes.get("api_version")
    is_typed = isinstance(version, IntegerAttr) and version.value == _TYPED_FFI
    return DictV1(()) if is_typed else StringV1("")


_TYPED_FFI = CustomCallApiVersionV1.cases.index("API_VERSION_TYPED_FFI")
_FALSE, _EMPTY, _NO_TEXT = constant(BoolV1(False)), constant(ArrayV1(())), constant(StringV1(""))
_DEFAULT_PRECISION = PrecisionV1("DEFAULT")
_PRECISIONS = Default(
    lambda attribute: (
        isinstance(attribute, ArrayV1)
        and all(element is _DEFAULT_PRECISION for element in attribute.elements)
    ),
    lambda attributes: ArrayV1((_DEFAULT_PRECISION, _DEFAULT_PRECISION)),
)
NO_INTEGERS = Default(_is_empty_tensor, lambda attributes: to_vhlo(i64_elements(())))
_NO_REVERSAL = Default(
    lambda attribute: _is_splat(attribute, 0),
    lambda attributes: to_vhlo(i1_elements([0] * _spatial_rank(attributes))),
)
_NO_ACCURACY = constant(ResultAccuracyV1(0, 0, 0, ResultAccuracyModeV1("DEFAULT")))
_COLLECTIVE = {"channel_id": _integer(0), "use_global_device_ids": _FALSE}
_CONVOLUTION = {
    "window_strides": _splat(1, 0, _spatial_rank),
    "padding": _splat(0, 2, _spatial_rank),
    "lhs_dilation": _splat(1, 0, _spatial_rank),
    "rhs_dilation": _splat(1, 0, _spatial_rank),
    "window_reversal": _NO_REVERSAL,
    "precision_config": _PRECISIONS,
}
_TRANSFER = {"is_host_transfer": _FALSE, "source_target_pairs": NO_INTEGERS}

# By the name of the operation in VHLO without its version, and the name of the attribute.
DEFAULTS: dict[str, dict[str, Default]] = {
    "func": {"sym_visibility": _NO_TEXT, "arg_attrs": _EMPTY, "res_attrs": _EMPTY},
    "all_gather": _COLLECTIVE,
    "all_reduce": _COLLECTIVE,
    "reduce_scatter": _COLLECTIVE,
    "all_to_all": {"channel_id": _integer(0)},
    "collective_permute": {"channel_id": _integer(0)},
    "collective_broadcast": {"channel_id": _integer(0), "has_dynamic_root": _FALSE},
    "collective_reduce": {**_COLLECTIVE, "has_dynamic_root": _FALSE},
    "cholesky": {"lower": _FALSE},
    "compare": {"compare_type": constant(ComparisonTypeV1("NOTYPE"))},
    "composite": {"version": _integer(0), "composite_attributes": constant(DictV1(()))},
    "convolution": _CONVOLUTION,
    "dynamic_conv": {name: default for name, default in _CONVOLUTION.items() if name != "padding"},
    "custom_call": {
        "has_side_effect": _FALSE,
        "backend_config": Default(
            lambda attribute: attribute in (StringV1(""), DictV1(())), _no_backend_config
        ),
        "api_version": constant(CustomCallApiVersionV1("API_VERSION_ORIGINAL")),
        "called_computations": _EMPTY,
        "operand_layouts": _EMPTY,
        "result_layouts": _EMPTY,
        "output_operand_aliases": _EMPTY,
        "result_tilings": _EMPTY,
    },
    "dot_general": {"precision_config": _PRECISIONS},
    "dot": {"precision_config": _PRECISIONS},
    "dynamic_broadcast_in_dim": {
        "known_expanding_dimensions": NO_INTEGERS,
        "known_nonexpanding_dimensions": NO_INTEGERS,
    },
    "dynamic_gather": {"indices_are_sorted": _FALSE},
    "gather": {"indices_are_sorted": _FALSE},
    "infeed": {"infeed_config": _NO_TEXT, "layout": _EMPTY},
    "outfeed": {"outfeed_config": _NO_TEXT},
    "recv": _TRANSFER,
    "send": _TRANSFER,
    "reduce_window": {
        "window_strides": _splat(1, 0, _window_rank),
        "base_dilations": _splat(1, 0, _window_rank),
        "window_dilations": _splat(1, 0, _window_rank),
        "padding": _splat(0, 2, _window_rank),
    },
    "scatter": {"indices_are_sorted": _FALSE, "unique_indices": _FALSE},
    "select_and_scatter": {
        "window_strides": _splat(1, 0, _window_rank),
        "padding": _splat(0, 2, _window_rank),
    },
    "sort": {"dimension": _integer(-1), "is_stable": _FALSE},
    **{
        name: {"result_accuracy": _NO_ACCURACY}
        for name in (
            *("cbrt", "cosine", "exponential", "exponential_minus_one", "log", "log_plus_one"),
            *("logistic", "rsqrt", "sine", "sqrt", "tan", "tanh"),
        )
    },
}
