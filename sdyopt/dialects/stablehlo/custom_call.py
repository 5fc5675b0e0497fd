"""stablehlo.custom_call: an operation that only the backend knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sdyopt.asm.format.assembly_format import Attr, AttrDict, FunctionalType, Operand, assembly
from sdyopt.asm.parser.op_parser import OpAsmParser
from sdyopt.asm.symbol_names import symbol_text
from sdyopt.dialects.stablehlo.custom_call_targets import check_known_call
from sdyopt.dialects.stablehlo.dialect import stablehlo
from sdyopt.dialects.stablehlo.layouts import LAYOUTS, check_layouts
from sdyopt.dialects.stablehlo.operand_alias import ALIASES, OutputOperandAlias, part_of
from sdyopt.dialects.stablehlo.region_signatures import quoted
from sdyopt.dialects.stablehlo.types import CUSTOM_CALL_VALUE
from sdyopt.ir import op_fields
from sdyopt.ir.attribute import EMPTY_ARRAY, ArrayAttr, Attribute, DictAttr, StringAttr, SymbolRef
from sdyopt.ir.constraints import BOOL_ATTR, STRING_ATTR, AttrKind
from sdyopt.ir.numeric_attributes import FALSE, IntegerAttr
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.operation import Op
from sdyopt.ir.types import I32, TupleType, Type

API_VERSIONS = (
    "API_VERSION_UNSPECIFIED",
    "API_VERSION_ORIGINAL",
    "API_VERSION_STATUS_RETURNING",
    "API_VERSION_STATUS_RETURNING_UNIFIED",
    "API_VERSION_TYPED_FFI",
)
TYPED_FFI = API_VERSIONS.index("API_VERSION_TYPED_FFI")

API_VERSION: AttrKind[int] = AttrKind(
    "Custom call API version",
    lambda a: isinstance(a, IntegerAttr) and a.type is I32 and 0 <= a.value < len(API_VERSIONS),
    lambda a: a.value,
)
BACKEND_CONFIG: AttrKind[Attribute] = AttrKind(
    "string attribute or dictionary of named attribute values",
    lambda a: isinstance(a, StringAttr | DictAttr),
    lambda a: a,
    lambda a: True,
)
COMPUTATIONS: AttrKind[tuple[str, ...]] = AttrKind(
    "flat symbol ref array attribute",
    lambda a: isinstance(a, ArrayAttr) and all(isinstance(e, SymbolRef) and not e.nested for e in a),
    lambda a: tuple(e.root for e in a),
    lambda a: isinstance(a, ArrayAttr),
)


def _parse_target(op_parser: OpAsmParser) -> Attribute:
    return StringAttr(op_parser.symbol())


def _print_target(target: Any, attribute_printer: object) -> str:
    return symbol_text(target.value)


@stablehlo.op("custom_call")
class CustomCallOp(Op):
    """Calls `call_target_name`, which is not part of the program."""

    __slots__ = ()

    inputs = op_fields.operands(CUSTOM_CALL_VALUE)
    call_target_name = op_fields.attr(STRING_ATTR)
    has_side_effect = op_fields.defaulted_attr(BOOL_ATTR, FALSE)
    backend_config = op_fields.optional_attr(BACKEND_CONFIG)
    api_version = op_fields.defaulted_attr(API_VERSION, IntegerAttr(1, I32))
    called_computations = op_fields.defaulted_attr(COMPUTATIONS, EMPTY_ARRAY)
    operand_layouts = op_fields.optional_attr(LAYOUTS)
    result_layouts = op_fields.optional_attr(LAYOUTS)
    output_operand_aliases = op_fields.defaulted_attr(ALIASES, EMPTY_ARRAY)
    out = op_fields.results(CUSTOM_CALL_VALUE)

    assembly = assembly(
        *(Attr("call_target_name", _parse_target, _print_target), "(", Operand("inputs"), ")"),
        *(AttrDict(), ":", FunctionalType()),
    )

    @staticmethod
    def is_effect_free(signature: OpSignature) -> bool:
        return not signature.has_side_effect

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        check_layouts(signature)
        for alias in signature.output_operand_aliases:
            _check_alias(signature, alias)
        _check_backend_config(signature)
        check_known_call(signature)


def _check_alias(signature: OpSignature, alias: OutputOperandAlias) -> None:
    """An alias joins an operand and a result, or parts of them, of one type."""
    count = len(signature.operand_types)
    if not 0 <= alias.operand_index < count:
        raise signature.op_error(
            "expects operandIndex in the output_operand_alias attribute to be in range "
            f"[0, {count}); got: {alias.operand_index}."
        )
    operand = _part(
        signature,
        signature.operand_types[alias.operand_index],
        alias.operand_tuple_indices,
        "operand_tuple_indices",
    )
    output = _part(signature, _whole_output(signature), alias.output_tuple_indices, "output_tuple_indices")
    if operand is not output:
        raise signature.op_error(
            "shapes mismatch in the output_operand_alias attribute: operand part has type "
            f"{quoted(operand)} and output part has type {quoted(output)}"
        )


def _whole_output(signature: OpSignature) -> Type:
    results = signature.result_types
    return results[0] if len(results) == 1 else TupleType(results)


def _part(signature: OpSignature, whole: Type, indices: Sequence[int], what: str) -> Type:
    part = part_of(whole, indices)
    if part is None:
        raise signature.op_error(f"{what} in the output_operand_alias attribute out of bounds")
    return part


def _check_backend_config(signature: OpSignature) -> None:
    config, version = signature.backend_config, signature.api_version
    wanted, word = (DictAttr, "dictionary") if version == TYPED_FFI else (StringAttr, "string")
    if config is not None and not isinstance(config, wanted):
        raise signature.op_error(
            f"backend_config for api_version {API_VERSIONS[version]} must be a {word} attribute."
        )
