"""Converts programs from VHLO to StableHLO."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sdyopt.mlir.asm.parser.ssa_scope import replace_all_uses
from sdyopt.mlir.asm.printer.asm_printer import legalization_error
from sdyopt.mlir.dialects.builtin import UnrealizedConversionCastOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp, ReturnOp
from sdyopt.mlir.dialects.stablehlo import DIALECT as STABLEHLO
from sdyopt.mlir.dialects.stablehlo.contraction import DotDimensions
from sdyopt.mlir.dialects.stablehlo.convolution import ConvDimensions
from sdyopt.mlir.dialects.stablehlo.dialect import integers_of
from sdyopt.mlir.dialects.stablehlo.gather import GatherDimensions, ScatterDimensions
from sdyopt.mlir.dialects.stablehlo.precision import DotAlgorithm
from sdyopt.mlir.dialects.stablehlo.replica_groups import ChannelHandle
from sdyopt.mlir.dialects.vhlo.attributes import NO_TYPE, BoolV1, IntegerV1, StringV1, TensorV1, TypeV1
from sdyopt.mlir.dialects.vhlo.conversion import NotConvertible, from_vhlo, from_vhlo_type, string_of
from sdyopt.mlir.dialects.vhlo.ops import DEFAULTS, VhloOp
from sdyopt.mlir.dialects.vhlo.types import CURRENT
from sdyopt.mlir.ir.attribute import UNIT, ArrayAttr, Attribute, DictAttr, StringAttr, SymbolRef, dictionary
from sdyopt.mlir.ir.builtin_attributes import DenseArray, DenseElements
from sdyopt.mlir.ir.dialect import complete_attributes, inherent_names
from sdyopt.mlir.ir.op_fields import AttrField
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op, build
from sdyopt.mlir.ir.traits import FUNCTION_TYPE_ATTR
from sdyopt.mlir.ir.types import I1, I64, IntegerType, Type
from sdyopt.mlir.ir.value import make_most_recent

# The operations of VHLO that are not operations of StableHLO.
_FUNCTIONS: dict[str, type[Op]] = {"func": FuncOp, "call": CallOp}

# --- Attributes that are one in StableHLO -----------------------------------------------------------

# The attributes of an operation of VHLO by name.
Attributes = dict[str, Attribute]


def _number(attribute: Attribute) -> int:
    if not isinstance(attribute, IntegerV1):
        raise NotConvertible
    return attribute.value


def _numbers(attribute: Attribute) -> tuple[int, ...]:
    elements = from_vhlo(attribute) if isinstance(attribute, TensorV1) else None
    if not isinstance(elements, DenseElements) or not isinstance(elements.type.element, IntegerType):
        raise NotConvertible
    return tuple(integers_of(elements))


def _truth(attribute: Attribute) -> bool:
    if not isinstance(attribute, BoolV1):
        raise NotConvertible
    return attribute.value


def _type(attribute: Attribute) -> Type:
    if not isinstance(attribute, TypeV1):
        raise NotConvertible
    return from_vhlo_type(attribute.type)


Read = Callable[[Attribute], Any]

_CONVOLUTION: dict[str, Read] = {
    "input_batch_dimension": _number,
    "input_feature_dimension": _number,
    "input_spatial_dimensions": _numbers,
    "kernel_input_feature_dimension": _number,
    "kernel_output_feature_dimension": _number,
    "kernel_spatial_dimensions": _numbers,
    "output_batch_dimension": _number,
    "output_feature_dimension": _number,
    "output_spatial_dimensions": _numbers,
}
_GATHER: dict[str, Read] = {
    **dict.fromkeys(
        (
            *("offset_dims", "collapsed_slice_dims", "operand_batching_dims"),
            *("start_indices_batching_dims", "start_index_map"),
        ),
        _numbers,
    ),
    "index_vector_dim": _number,
}
_SCATTER: dict[str, Read] = {
    **dict.fromkeys(
        (
            *("update_window_dims", "inserted_window_dims", "input_batching_dims"),
            *("scatter_indices_batching_dims", "scatter_dims_to_operand_dims"),
        ),
        _numbers,
    ),
    "index_vector_dim": _number,
}
_DOT: dict[str, Read] = dict.fromkeys(
    (
        *("lhs_batching_dimensions", "rhs_batching_dimensions"),
        *("lhs_contracting_dimensions", "rhs_contracting_dimensions"),
    ),
    _numbers,
)
_ALGORITHM: dict[str, Read] = {
    **dict.fromkeys(("lhs_precision_type", "rhs_precision_type", "accumulation_type"), _type),
    **dict.fromkeys(("lhs_component_count", "rhs_component_count", "num_primitive_operations"), _number),
    "allow_imprecise_accumulation": _truth,
}
_CHANNEL: dict[str, Read] = {"channel_id": _number, "channel_type": _number}

# By the name of the operation without its version: the attribute of StableHLO, its class, and the attributes
# of VHLO that are its fields, in their order.
COMBINED: dict[str, tuple[tuple[str, type[Any], dict[str, Read]], ...]] = {
    "convolution": (("dimension_numbers", ConvDimensions, _CONVOLUTION),),
    "dynamic_conv": (("dimension_numbers", ConvDimensions, _CONVOLUTION),),
    "dot_general": (("dot_dimension_numbers", DotDimensions, _DOT), ("algorithm", DotAlgorithm, _ALGORITHM)),
    "dynamic_gather": (("dimension_numbers", GatherDimensions, _GATHER),),
    "gather": (("dimension_numbers", GatherDimensions, _GATHER),),
    "scatter": (("scatter_dimension_numbers", ScatterDimensions, _SCATTER),),
    "recv": (("channel_handle", ChannelHandle, _CHANNEL),),
    "send": (("channel_handle", ChannelHandle, _CHANNEL),),
}


# --- Operations -------------------------------------------------------------------------------------


def legalize_to_stablehlo(module: Op) -> None:
    """Converts all operations of VHLO in a program, whose versions must be current, to StableHLO.

    Raises DiagnosticError for an operation that has no counterpart.
    """
    _FromVhlo().convert(module)


class _FromVhlo:
    def __init__(self) -> None:
        self._signatures: dict[tuple[OpSignature, DictAttr, bool], tuple[OpSignature, DictAttr, Any]] = {}
        self._types: dict[tuple[Type, ...], tuple[Type, ...]] = {}

    def convert(self, module: Op) -> None:
        ops = list(module.walk())
        for op in ops:
            for region in op.regions:
                for block in region.blocks:
                    for argument in block.arguments:
                        argument.type = self._type(argument.type, op)
        casts = []
        for op in ops:
            if isinstance(op, VhloOp):
                self._convert_op(op)
            elif op is not module:
                self._retype(op)
                if isinstance(op, UnrealizedConversionCastOp):
                    casts.append(op)
        for cast in casts:
            _remove_cast(cast)

    def _type(self, type: Type, op: Op) -> Type:
        try:
            return from_vhlo_type(type)
        except NotConvertible:
            raise legalization_error(op) from None

    def _all_types(self, types: tuple[Type, ...]) -> tuple[Type, ...]:
        converted = self._types.get(types)
        if converted is None:
            converted = self._types[types] = tuple([from_vhlo_type(type) for type in types])
        return converted

    def _retype(self, op: Op) -> None:
        """Converts the types of an operation of another dialect, if any is of VHLO."""
        signature = op.signature
        try:
            operands = self._all_types(signature.operand_types)
            results = self._all_types(signature.result_types)
        except NotConvertible:
            raise legalization_error(op) from None
        if operands != signature.operand_types or results != signature.result_types:
            op.signature = signature.with_types(operands, results)
            for result, type in zip(op.results, results, strict=True):
                result.type = type

    def _convert_op(self, op: Op) -> None:
        parent = op.parent_op
        in_function = isinstance(parent, FuncOp) or (
            parent is not None and parent.signature.name == "vhlo.func_v1"
        )
        key = (op.signature, op.attributes, in_function)
        converted = self._signatures.get(key)
        if converted is None:
            try:
                converted = self._signatures[key] = self._convert_signature(op, in_function)
            except NotConvertible:
                raise legalization_error(op) from None
        signature, attributes, mutable = converted
        if mutable or signature.op_class.set_up is not None:
            if op.results:
                raise legalization_error(op)
            _replace_function(op, signature, attributes, mutable)
            return
        op.__class__ = signature.op_class
        op.signature = signature
        op.attributes = attributes
        # The order of uses is that of conversion: each new operation is a new use.
        make_most_recent(op.operand_uses)
        for result, type in zip(op.results, signature.result_types, strict=True):
            result.type = type
            make_most_recent(result.uses)

    def _convert_signature(self, op: Op, in_function: bool) -> tuple[OpSignature, DictAttr, Any]:
        old = op.signature
        assert isinstance(op, VhloOp)
        if op.last != CURRENT:
            raise NotConvertible
        base = op.base
        op_class = _FUNCTIONS.get(base) or STABLEHLO.ops.get(base)
        if base == "return" and in_function:
            op_class = ReturnOp
        if op_class is None:
            raise NotConvertible
        attributes = stablehlo_attributes(base, op_class, dict(old.attributes.entries))
        discardable = {name: from_vhlo(value) for name, value in op.attributes.entries}
        inherent = inherent_names(op_class)
        for name in list(attributes):
            if name not in inherent:
                discardable[name] = attributes.pop(name)
        for name in inherent & discardable.keys():
            attributes.setdefault(name, discardable.pop(name))
        if op_class is FuncOp and not FUNCTION_TYPE_ATTR.accepts(attributes.get("function_type", UNIT)):
            raise NotConvertible
        mutable = {name: attributes.pop(name) for name in op_class.mutable_attributes if name in attributes}
        signature = OpSignature(
            op_class,
            op_class.name,
            complete_attributes(op_class, dictionary(attributes)),
            self._all_types(old.operand_types),
            self._all_types(old.result_types),
        )
        return signature, dictionary(discardable), mutable


def _replace_function(
    op: Op, signature: OpSignature, attributes: DictAttr, mutable: Mapping[str, Attribute]
) -> None:
    """Replaces a function, whose class has more slots than others."""
    block = op.parent
    assert block is not None
    new = build(signature, op.operands, attributes, op.lazy_location, op.regions, op.successors)
    for name, value in mutable.items():
        new.set_mutable_attribute(name, value)
    op.regions = ()
    for use in op.operand_uses:
        use.unlink()
    block.insert_before(op, new)
    block.detach(op)


def stablehlo_attributes(base: str, op_class: type[Op], attributes: Attributes) -> Attributes:
    """The attributes of an operation of StableHLO from those of the operation of VHLO.

    Raises NotConvertible.
    """
    _remove_defaults(base, attributes)
    converted: Attributes = {}
    for name, combined_class, reads in COMBINED.get(base, ()):
        parts = [attributes.pop(part, None) for part in reads]
        present = [part for part in parts if part is not None]
        if len(present) != len(parts):
            raise NotConvertible
        if name == "algorithm" and present[3] is NO_TYPE:
            if any(part is not NO_TYPE for part in present[1:]):
                raise NotConvertible
            continue
        converted[name] = combined_class(
            *[read(part) for read, part in zip(reads.values(), present, strict=True)]
        )
    fields = {field.name: field for field in op_class.fields.values() if isinstance(field, AttrField)}
    for name, value in attributes.items():
        if name == "channel_id":
            converted["channel_handle"] = ChannelHandle(_number(value), 0)
            continue
        field = fields.get(name)
        result = _converted(value, field)
        if result is not None:
            converted[name] = result
    return converted


def _remove_defaults(base: str, attributes: Attributes) -> None:
    defaults = DEFAULTS.get(base, {})
    removed = [
        name for name, default in defaults.items() if name in attributes and default.accepts(attributes[name])
    ]
    if base == "custom_call" and not {"operand_layouts", "result_layouts"} <= set(removed):
        removed = [name for name in removed if name not in ("operand_layouts", "result_layouts")]
    for name in removed:
        del attributes[name]


def _converted(value: Attribute, field: AttrField[Any] | None) -> Attribute | None:
    """The attribute of StableHLO in the form that the field has; None if it is left out."""
    stores = field.constraint.has_storage_class if field is not None else lambda attribute: True
    if isinstance(value, BoolV1) and stores(UNIT) and field is not None:
        return UNIT if value.value else None
    converted = from_vhlo(value)
    if field is None or stores(converted):
        # A list of names is a list of symbols if the field accepts it.
        if field is not None and field.name == "called_computations":
            if not isinstance(converted, ArrayAttr):
                raise NotConvertible
            names = [element.value for element in converted if isinstance(element, StringAttr)]
            if len(names) != len(converted):
                raise NotConvertible
            return ArrayAttr(tuple(map(SymbolRef, names)))
        return converted
    if isinstance(value, StringV1):
        return SymbolRef(string_of(value))
    if isinstance(converted, DenseElements) and converted.type.element in (I64, I1):
        numbers = integers_of(converted)
        is_boolean = converted.type.element is I1
        return DenseArray(
            I1 if is_boolean else I64,
            tuple(number & 1 for number in numbers) if is_boolean else tuple(numbers),
        )
    return converted


def _remove_cast(cast: Op) -> None:
    """Removes a cast between types that are equal now."""
    if cast.signature.operand_types != cast.signature.result_types or cast.parent is None:
        return
    values: Sequence[Any] = cast.operands
    # Nothing replaces what is cast to itself; in a function, the verifier rejects it.
    if any(value in cast.results for value in values):
        return
    for use in cast.operand_uses:
        use.unlink()
    for result, value in zip(cast.results, values, strict=True):
        replace_all_uses(result, value)
    cast.parent.detach(cast)
