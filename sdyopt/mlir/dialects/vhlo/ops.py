"""The operations of VHLO, from one table, and the attributes that StableHLO leaves out if they are default.

    all_gather_v1 0.9.0-1.4.0(operand) {all_gather_dim replica_groups} -> 1

is an operation that versions 0.9.0 to 1.4.0 of StableHLO have, by default all of them; its operands (`*`: any
number), its attributes, in square brackets its regions, and its results, whose names are written if there are
several. All attributes are required, and nothing is verified but the number of parts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import custom
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter
from sdyopt.mlir.asm.lexical import symbol_text
from sdyopt.mlir.asm.parser.op_parser import Argument, OpAsmParser
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
    TypeV1,
)
from sdyopt.mlir.dialects.vhlo.conversion import i1_elements, i64_elements, to_vhlo
from sdyopt.mlir.dialects.vhlo.types import (
    CURRENT,
    MINIMUM,
    FunctionV1,
    SimpleType,
    Version,
    version_of,
    vhlo,
)
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.builtin_attributes import DenseArray, DenseElements, IntegerAttr
from sdyopt.mlir.ir.op_fields import attr, operand, operands, region, regions, result, results
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import ANY_ATTR, ANY_TYPE, TERMINATOR, Trait

# Operations with one operand and one result.
_UNARY = """
abs_v1 bitcast_convert_v1 ceil_v1 count_leading_zeros_v1 convert_v1 floor_v1 imag_v1 negate_v1 not_v1
popcnt_v1 real_v1 reshape_v1 round_nearest_even_v1 round_nearest_afz_v1 sign_v1 uniform_dequantize_v1
uniform_quantize_v1
"""

# Operations with two operands and one result.
_BINARY = """
add_v1 and_v1 atan2_v1 complex_v1 divide_v1 maximum_v1 minimum_v1 multiply_v1 or_v1 power_v1 remainder_v1
shift_left_v1 shift_right_arithmetic_v1 shift_right_logical_v1 subtract_v1 xor_v1
"""

_OTHERS = """
after_all_v1(*inputs) -> 1
all_gather_v1 0.9.0-1.4.0(operand) {all_gather_dim replica_groups channel_id use_global_device_ids} -> 1
all_gather_v2 1.5.0(*operands) {all_gather_dim replica_groups channel_id use_global_device_ids} -> *
all_reduce_v1 0.9.0-1.4.0(operand) {replica_groups channel_id use_global_device_ids} [computation] -> 1
all_reduce_v2 1.5.0(*operands) {replica_groups channel_id use_global_device_ids} [computation] -> *
all_to_all_v1 0.9.0-1.4.0(operand) {split_dimension concat_dimension split_count replica_groups channel_id}
    -> 1
all_to_all_v2 1.5.0(*operands) {split_dimension concat_dimension split_count replica_groups channel_id} -> *
async_start_v1 1.15.0(*operands) [collective] -> 1
async_done_v1 1.15.0(operand) -> 1
batch_norm_grad_v1(operand scale mean variance grad_output) {epsilon feature_index}
    -> grad_operand grad_scale grad_offset
batch_norm_inference_v1(operand scale offset mean variance) {epsilon feature_index} -> 1
batch_norm_training_v1(operand scale offset) {epsilon feature_index} -> output batch_mean batch_var
broadcast_in_dim_v1(operand) {broadcast_dimensions} -> 1
broadcast_v1(operand) {broadcast_sizes} -> 1
call_v1(*operands) {callee} -> *
case_v1(index) [*branches] -> *
cbrt_v1 0.9.0-1.9.0(operand) -> 1
cbrt_v2 1.10.0(operand) {result_accuracy} -> 1
cholesky_v1(a) {lower} -> 1
clamp_v1(min operand max) -> 1
collective_broadcast_v1 0.16.0-1.19.0(operand) {replica_groups channel_id} -> 1
collective_broadcast_v2 1.20.0(*operands) {replica_groups channel_id has_dynamic_root} -> *
collective_reduce_v1 1.19.0(*operands) {replica_groups channel_id use_global_device_ids has_dynamic_root}
    [computation] -> *
collective_permute_v1(operand) {source_target_pairs channel_id} -> 1
compare_v1(lhs rhs) {comparison_direction compare_type} -> 1
composite_v1 0.19.0-1.13.0(*inputs) {name composite_attributes decomposition version} -> *
composite_v2 1.14.0(*inputs) {name composite_attributes decomposition version} [*composite_regions] -> *
concatenate_v1(*inputs) {dimension} -> 1
constant_v1() {value} -> 1
convolution_v1(lhs rhs) {window_strides padding lhs_dilation rhs_dilation window_reversal $conv
    feature_group_count batch_group_count precision_config} -> 1
cosine_v1 0.9.0-1.9.0(operand) -> 1
cosine_v2 1.10.0(operand) {result_accuracy} -> 1
create_token_v1() -> 1
cross-replica-sum_v1(operand) {replica_groups} -> 1
custom_call_v1 0.9.0-1.17.0(*inputs) {call_target_name has_side_effect backend_config api_version
    called_computations operand_layouts result_layouts output_operand_aliases} -> *
custom_call_v2 1.18.0(*inputs) {call_target_name has_side_effect backend_config api_version
    called_computations operand_layouts result_layouts output_operand_aliases result_tilings} -> *
dot_general_v1 0.9.0-1.5.0(lhs rhs) {$dot precision_config} -> 1
dot_general_v2 1.6.0(lhs rhs) {$dot precision_config lhs_precision_type rhs_precision_type accumulation_type
    lhs_component_count rhs_component_count num_primitive_operations allow_imprecise_accumulation} -> 1
dot_v1(lhs rhs) {precision_config} -> 1
dynamic_broadcast_in_dim_v1(operand output_dimensions) {broadcast_dimensions known_expanding_dimensions
    known_nonexpanding_dimensions} -> 1
dynamic_conv_v1 0.9.0-0.19.0(lhs rhs d_padding) {window_strides padding lhs_dilation rhs_dilation
    window_reversal $conv feature_group_count batch_group_count precision_config} -> 1
dynamic_conv_v2 0.20.0(lhs rhs padding) {window_strides lhs_dilation rhs_dilation window_reversal $conv
    feature_group_count batch_group_count precision_config} -> 1
dynamic_gather_v1 0.9.0-1.0.0(operand start_indices slice_sizes) {offset_dims collapsed_slice_dims
    start_index_map index_vector_dim indices_are_sorted} -> 1
dynamic_gather_v2 1.1.0(operand start_indices slice_sizes) {offset_dims collapsed_slice_dims
    operand_batching_dims start_indices_batching_dims start_index_map index_vector_dim indices_are_sorted}
    -> 1
dynamic_iota_v1(output_shape) {iota_dimension} -> 1
dynamic_pad_v1(operand padding_value edge_padding_low edge_padding_high interior_padding) -> 1
dynamic_reshape_v1(operand output_shape) -> 1
dynamic_slice_v1(operand *start_indices) {slice_sizes} -> 1
dynamic_update_slice_v1(operand update *start_indices) -> 1
einsum_v1(lhs rhs) {einsum_config} -> 1
exponential_minus_one_v1 0.9.0-1.9.0(operand) -> 1
exponential_minus_one_v2 1.10.0(operand) {result_accuracy} -> 1
exponential_v1 0.9.0-1.8.0(operand) -> 1
exponential_v2 1.9.0(operand) {result_accuracy} -> 1
fft_v1(operand) {fft_type fft_length} -> 1
func_v1() {sym_name function_type sym_visibility arg_attrs res_attrs} [body]
gather_v1 0.9.0-1.0.0(operand start_indices) {offset_dims collapsed_slice_dims start_index_map
    index_vector_dim slice_sizes indices_are_sorted} -> 1
gather_v2 1.1.0(operand start_indices) {offset_dims collapsed_slice_dims operand_batching_dims
    start_indices_batching_dims start_index_map index_vector_dim slice_sizes indices_are_sorted} -> 1
get_dimension_size_v1(operand) {dimension} -> 1
get_tuple_element_v1(operand) {index} -> 1
if_v1(pred) [true_branch false_branch] -> *
infeed_v1(token) {infeed_config layout} -> *
iota_v1() {iota_dimension} -> 1
is_finite_v1(x) -> 1
log_plus_one_v1 0.9.0-1.9.0(operand) -> 1
log_plus_one_v2 1.10.0(operand) {result_accuracy} -> 1
logistic_v1 0.9.0-1.9.0(operand) -> 1
logistic_v2 1.10.0(operand) {result_accuracy} -> 1
log_v1 0.9.0-1.9.0(operand) -> 1
log_v2 1.10.0(operand) {result_accuracy} -> 1
map_v1(*inputs) {dimensions} [computation] -> 1
optimization_barrier_v1(*operand) -> *
outfeed_v1(*inputs token) {outfeed_config} -> 1
pad_v1(operand padding_value) {edge_padding_low edge_padding_high interior_padding} -> 1
partition_id_v1() -> 1
real_dynamic_slice_v1(operand start_indices limit_indices strides) -> 1
recv_v1 0.9.0-1.11.0(token) {channel_id channel_type is_host_transfer} -> *
recv_v2 1.12.0(token) {channel_id channel_type is_host_transfer source_target_pairs} -> *
reduce_v1(*inputs *init_values) {dimensions} [body] -> *
reduce_precision_v1(operand) {exponent_bits mantissa_bits} -> 1
reduce_scatter_v1(operand) {scatter_dimension replica_groups channel_id use_global_device_ids} [computation]
    -> 1
reduce_window_v1(*inputs *init_values) {window_dimensions window_strides base_dilations window_dilations
    padding} [body] -> *
replica_id_v1() -> 1
return_v1(*results)
reverse_v1(operand) {dimensions} -> 1
rng_bit_generator_v1(initial_state) {rng_algorithm} -> output_state output
rng_v1(a b shape) {rng_distribution} -> 1
rsqrt_v1 0.9.0-1.9.0(operand) -> 1
rsqrt_v2 1.10.0(operand) {result_accuracy} -> 1
scatter_v1 0.9.0-1.0.0(*inputs scatter_indices *updates) {update_window_dims inserted_window_dims
    scatter_dims_to_operand_dims index_vector_dim indices_are_sorted unique_indices} [update_computation] ->
    *
scatter_v2 1.1.0(*inputs scatter_indices *updates) {update_window_dims inserted_window_dims
    input_batching_dims scatter_indices_batching_dims scatter_dims_to_operand_dims index_vector_dim
    indices_are_sorted unique_indices} [update_computation] -> *
select_and_scatter_v1(operand source init_value) {window_dimensions window_strides padding} [select scatter]
    -> 1
select_v1(pred on_true on_false) -> 1
send_v1 0.9.0-1.11.0(*inputs token) {channel_id channel_type is_host_transfer} -> 1
send_v2 1.12.0(*inputs token) {channel_id channel_type is_host_transfer source_target_pairs} -> 1
set_dimension_size_v1(operand size) {dimension} -> 1
sine_v1 0.9.0-1.9.0(operand) -> 1
sine_v2 1.10.0(operand) {result_accuracy} -> 1
slice_v1(operand) {start_indices limit_indices strides} -> 1
sort_v1(*inputs) {dimension is_stable} [comparator] -> *
sqrt_v1 0.9.0-1.9.0(operand) -> 1
sqrt_v2 1.10.0(operand) {result_accuracy} -> 1
tan_v1 1.4.0-1.9.0(operand) -> 1
tan_v2 1.10.0(operand) {result_accuracy} -> 1
tanh_v1 0.9.0-1.9.0(operand) -> 1
tanh_v2 1.10.0(operand) {result_accuracy} -> 1
torch_index_select_v1(operand index) {dim batch_dims} -> 1
transpose_v1(operand) {permutation} -> 1
triangular_solve_v1(a b) {left_side lower unit_diagonal transpose_a} -> 1
tuple_v1(*val) -> 1
unary_einsum_v1(operand) {einsum_config} -> 1
while_v1(*operand) [cond body] -> *
"""

# Attributes that several operations have.
_SHORT = {
    "$conv": """
        input_batch_dimension input_feature_dimension input_spatial_dimensions
        kernel_input_feature_dimension kernel_output_feature_dimension kernel_spatial_dimensions
        output_batch_dimension output_feature_dimension output_spatial_dimensions
    """,
    "$dot": """
        lhs_batching_dimensions rhs_batching_dimensions lhs_contracting_dimensions rhs_contracting_dimensions
    """,
}

_ROW = re.compile(
    r"([\w-]+)(?: ([\d.]+))?(?:-([\d.]+))?\(([^)]*)\)(?: \{([^}]*)\})?(?: \[([^]]*)\])?(?: -> (.*))?"
)


class VhloOp(Op):
    """Base of the operations of VHLO, which versions from `first` to `last` of StableHLO have."""

    # The name without the version, and the number of the form.
    base: ClassVar[str]
    form: ClassVar[int]
    first: ClassVar[Version] = MINIMUM
    last: ClassVar[Version] = CURRENT


def _define(row: str) -> None:
    """Defines the operation of a row of the table."""
    match = _ROW.fullmatch(" ".join(row.split()))
    assert match is not None, row
    name, first, last, operand_names, attributes, region_names, result_words = match.groups()
    base, _, form = name.rpartition("_v")
    namespace: dict[str, Any] = {"__doc__": f"`vhlo.{name}`.", "base": base, "form": int(form)}
    for word in operand_names.split():
        namespace[f"operand_{word.lstrip('*')}"] = (operands if word[0] == "*" else operand)(ANY_TYPE)
    for word in (attributes or "").split():
        for attribute in _SHORT.get(word, word).split():
            namespace[f"attribute_{attribute}"] = attr(ANY_ATTR, attribute)
    for word in (region_names or "").split():
        namespace[f"region_{word.lstrip('*')}"] = regions() if word[0] == "*" else region()
    result_names = (result_words or "").split()
    for index, word in enumerate(result_names):
        namespace[f"result_{index}"] = (results if word == "*" else result)(ANY_TYPE)
    if len(result_names) > 1:
        names = list(enumerate(result_names))
        namespace["name_results"] = lambda op: names
    if first:
        namespace["first"] = version_of(first)
    if last:
        namespace["last"] = version_of(last)
    namespace |= _ASSEMBLIES.get(name, {})
    traits: tuple[Trait, ...] = (TERMINATOR,) if name == "return_v1" else ()
    vhlo.op(name, *traits)(type(name, (VhloOp,), namespace))


# --- The assembly of functions ----------------------------------------------------------------------


def _parse_function(op_parser: OpAsmParser) -> None:
    op_parser.attributes["sym_name"] = StringV1(op_parser.symbol())
    inputs: list[Argument] = op_parser.comma_list(op_parser.argument, "(", ")")
    op_parser.expect("->")
    outputs = op_parser.comma_list(op_parser.type, "(", ")")
    type = FunctionV1(tuple(argument.type for argument in inputs), tuple(outputs))
    op_parser.attributes["function_type"] = TypeV1(type)
    op_parser.operands, op_parser.result_types = [], []
    op_parser.region(inputs)


def _print_function(op: Any, printer: OpAsmPrinter) -> None:
    attributes = op.signature.attributes
    name, type = attributes.get("sym_name"), attributes.get("function_type")
    function_type = type.type if isinstance(type, TypeV1) else None
    if not isinstance(name, StringV1) or not isinstance(function_type, FunctionV1):
        raise op.op_error("has no assembly format without a string as name and a function type").help(
            "print it with --mlir-print-op-generic"
        )
    printer.write(f" {symbol_text(name.value)}(")
    for index, argument in enumerate(op.regions[0].blocks[0].arguments if op.regions[0].blocks else ()):
        printer.write(", " if index else "")
        printer.argument(argument)
    printer.write(f") -> ({', '.join(map(printer.type, function_type.outputs))}) ")
    printer.region(op.regions[0])


_ASSEMBLIES: dict[str, dict[str, Any]] = {
    "func_v1": {
        "assembly": assembly(
            "custom<function>($sym_name, $function_type) attr-dict",
            function=custom(_parse_function, print=_print_function),
        )
    }
}

for _name in _UNARY.split():
    _define(f"{_name}(operand) -> 1")
for _name in _BINARY.split():
    _define(f"{_name}(lhs rhs) -> 1")
for _text in re.split(r"\n(?! )", _OTHERS.strip()):
    _define(_text)


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
