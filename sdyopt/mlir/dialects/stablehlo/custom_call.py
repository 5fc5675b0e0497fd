"""stablehlo.custom_call: an operation implemented by the backend."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.base.releases import Behavior
from sdyopt.mlir.asm.format.assembly_format import Attr, AttrDict, FunctionalType, Operand, assembly
from sdyopt.mlir.asm.format.directives import symbol_text
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.stablehlo.custom_call_targets import check_target
from sdyopt.mlir.dialects.stablehlo.diagnostic_text import quoted
from sdyopt.mlir.dialects.stablehlo.dialect import stablehlo
from sdyopt.mlir.dialects.stablehlo.layouts import LAYOUTS, TILINGS, check_layouts
from sdyopt.mlir.dialects.stablehlo.operand_alias import ALIASES, OutputOperandAlias, tuple_element_type
from sdyopt.mlir.dialects.stablehlo.types import CUSTOM_CALL_VALUE
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.attribute import EMPTY_ARRAY, ArrayAttr, Attribute, DictAttr, StringAttr, SymbolRef
from sdyopt.mlir.ir.builtin_attributes import FALSE, IntegerAttr
from sdyopt.mlir.ir.constraints import BOOL_ATTR, STRING_ATTR, AttrConstraint
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import I32, TupleType, Type

API_VERSIONS = (
    "API_VERSION_UNSPECIFIED",
    "API_VERSION_ORIGINAL",
    "API_VERSION_STATUS_RETURNING",
    "API_VERSION_STATUS_RETURNING_UNIFIED",
    "API_VERSION_TYPED_FFI",
)
TYPED_FFI = API_VERSIONS.index("API_VERSION_TYPED_FFI")

API_VERSION: AttrConstraint[int] = AttrConstraint(
    "Custom call API version",
    lambda a: isinstance(a, IntegerAttr) and a.type is I32 and 0 <= a.value < len(API_VERSIONS),
    lambda a: a.value,
)
BACKEND_CONFIG: AttrConstraint[Attribute] = AttrConstraint(
    "string attribute or dictionary of named attribute values",
    lambda a: isinstance(a, StringAttr | DictAttr),
    lambda a: a,
    lambda a: True,
)
COMPUTATIONS: AttrConstraint[tuple[str, ...]] = AttrConstraint(
    "flat symbol ref array attribute",
    lambda a: isinstance(a, ArrayAttr) and all(isinstance(e, SymbolRef) and not e.nested for e in a),
    lambda a: tuple(e.root for e in a),
    lambda a: isinstance(a, ArrayAttr),
)


def _parse_target(op_parser: OpAsmParser) -> Attribute:
    return StringAttr(op_parser.symbol())


def _print_target(target: StringAttr, attribute_printer: AttributePrinter) -> str:
    return symbol_text(target.value)


@stablehlo.op("custom_call")
class CustomCallOp(Op):
    """Calls the function `call_target_name` of the backend."""

    __slots__ = ()

    inputs = op_fields.operands(CUSTOM_CALL_VALUE)
    call_target_name = op_fields.attr(STRING_ATTR)
    has_side_effect = op_fields.default_valued_optional_attr(BOOL_ATTR, FALSE)
    backend_config = op_fields.optional_attr(BACKEND_CONFIG)
    api_version = op_fields.default_valued_optional_attr(API_VERSION, IntegerAttr(1, I32))
    called_computations = op_fields.default_valued_optional_attr(COMPUTATIONS, EMPTY_ARRAY)
    operand_layouts = op_fields.optional_attr(LAYOUTS)
    result_layouts = op_fields.optional_attr(LAYOUTS)
    output_operand_aliases = op_fields.default_valued_optional_attr(ALIASES, EMPTY_ARRAY)
    result_tilings = op_fields.optional_attr(TILINGS).since(Behavior.RESULT_TILINGS)
    out = op_fields.results(CUSTOM_CALL_VALUE)

    assembly = assembly(
        *(Attr("call_target_name", _parse_target, _print_target), "(", Operand("inputs"), ")"),
        *(AttrDict(), ":", FunctionalType()),
    )

    @staticmethod
    def is_effect_free(signature: OpSignature) -> bool:
        return not signature[CustomCallOp.has_side_effect]

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        check_layouts(
            signature, signature[CustomCallOp.operand_layouts], signature[CustomCallOp.result_layouts]
        )
        aliases = signature[CustomCallOp.output_operand_aliases]
        for alias in aliases:
            _check_alias(signature, alias)
        _check_backend_config(signature)
        check_target(signature, signature[CustomCallOp.call_target_name], aliases)


def _check_alias(signature: OpSignature, alias: OutputOperandAlias) -> None:
    """Checks that the indices of an alias are in range and that both aliased values have the same type."""
    count = len(signature.operand_types)
    if not 0 <= alias.operand_index < count:
        raise signature.op_error(
            "expects operandIndex in the output_operand_alias attribute to be in range "
            f"[0, {count}); got: {alias.operand_index}."
        )
    operand = _aliased_type(
        signature,
        signature.operand_types[alias.operand_index],
        alias.operand_tuple_indices,
        "operand_tuple_indices",
    )
    output = _aliased_type(
        signature,
        _output_type(signature),
        alias.output_tuple_indices,
        "output_tuple_indices",
    )
    if operand is not output:
        raise signature.op_error(
            "shapes mismatch in the output_operand_alias attribute: operand part has type "
            f"{quoted(operand)} and output part has type {quoted(output)}"
        )


def _output_type(signature: OpSignature) -> Type:
    """The type that `output_tuple_indices` index into: a single result, or a tuple of all results."""
    results = signature.result_types
    return results[0] if len(results) == 1 else TupleType(results)


def _aliased_type(signature: OpSignature, type: Type, indices: Sequence[int], what: str) -> Type:
    element = tuple_element_type(type, indices)
    if element is None:
        raise signature.op_error(f"{what} in the output_operand_alias attribute out of bounds")
    return element


def _check_backend_config(signature: OpSignature) -> None:
    config, version = signature[CustomCallOp.backend_config], signature[CustomCallOp.api_version]
    cls, kind = (DictAttr, "dictionary") if version == TYPED_FFI else (StringAttr, "string")
    if config is not None and not isinstance(config, cls):
        raise signature.op_error(
            f"backend_config for api_version {API_VERSIONS[version]} must be a {kind} attribute."
        )
