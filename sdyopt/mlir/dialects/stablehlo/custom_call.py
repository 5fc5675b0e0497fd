"""stablehlo.custom_call: layouts, aliases of operands, and the targets with a known meaning.

#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 1, operand_tuple_indices = []>

CreateBuffer, Pin and Unpin have operands and results of certain types. With all other targets, each buffer
(memref) in the results aliases a buffer in the operands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdyopt.base.releases import Behavior
from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.attribute_format import attribute_format, dialect_attribute, integer
from sdyopt.mlir.asm.format.format_elements import Attr
from sdyopt.mlir.asm.lexical import symbol_text
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter, plain_attribute
from sdyopt.mlir.dialects.stablehlo.assembly_directives import (
    dimension_list,
)
from sdyopt.mlir.dialects.stablehlo.dialect import integers_of, quoted, stablehlo
from sdyopt.mlir.dialects.stablehlo.types import CUSTOM_CALL_VALUE, tuple_element_type
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.attribute import EMPTY_ARRAY, ArrayAttr, Attribute, DictAttr, StringAttr, SymbolRef
from sdyopt.mlir.ir.builtin_attributes import FALSE, DenseElements, IntegerAttr
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import are_compatible_shapes
from sdyopt.mlir.ir.traits import BOOL_ATTR, STRING_ATTR, AttrConstraint
from sdyopt.mlir.ir.types import (
    I32,
    INDEX,
    MemRefType,
    RankedShapedType,
    RankedTensor,
    ShapedType,
    TupleType,
    Type,
    UnrankedTensor,
    element_of,
)


@dialect_attribute(stablehlo, "output_operand_alias", "StableHLO_OutputOperandAlias")
class OutputOperandAlias(Attribute):
    """The tuple indices of an output, and the index and tuple indices of the operand that it aliases."""

    output_tuple_indices: tuple[int, ...]
    operand_index: int
    operand_tuple_indices: tuple[int, ...]
    dialect = "stablehlo"
    assembly = attribute_format(
        "<",
        *("output_tuple_indices", " = ", dimension_list("output_tuple_indices", "outputTupleIndices"), ", "),
        *("operand_index", " = ", integer("operand_index", "operandIndex"), ", "),
        *("operand_tuple_indices", " = ", dimension_list("operand_tuple_indices", "operandTupleIndices")),
        ">",
    )

    def check(self, signature: OpSignature) -> None:
        """Checks that the indices are in range and that both aliased values have the same type."""
        count = len(signature.operand_types)
        if not 0 <= self.operand_index < count:
            raise signature.op_error(
                "expects operandIndex in the output_operand_alias attribute to be in range "
                f"[0, {count}); got: {self.operand_index}."
            )
        operand = _aliased_type(
            signature,
            signature.operand_types[self.operand_index],
            self.operand_tuple_indices,
            "operand_tuple_indices",
        )
        # The type that `output_tuple_indices` index into: a single result, or a tuple of all results.
        results = signature.result_types
        output_type = results[0] if len(results) == 1 else TupleType(results)
        output = _aliased_type(
            signature,
            output_type,
            self.output_tuple_indices,
            "output_tuple_indices",
        )
        if operand is not output:
            raise signature.op_error(
                "shapes mismatch in the output_operand_alias attribute: operand part has type "
                f"{quoted(operand)} and output part has type {quoted(output)}"
            )


def aliases_of(cls: type[OutputOperandAlias], what: str) -> AttrConstraint[tuple[OutputOperandAlias, ...]]:
    """The constraint for arrays of `cls`, the aliases of the operation `what`."""
    return AttrConstraint(
        f"Aliasing attribute for outputs and operands of {what}",
        lambda a: isinstance(a, ArrayAttr) and all(type(e) is cls for e in a),
        lambda a: a.elements,
        lambda a: isinstance(a, ArrayAttr),
    )


ALIASES = aliases_of(OutputOperandAlias, "CustomCall")


def _is_layout(attribute: Attribute) -> bool:
    return (
        isinstance(attribute, DenseElements)
        and attribute.type.element is INDEX
        and len(attribute.type.shape) == 1
    )


Layouts = tuple[DenseElements, ...]

LAYOUTS: AttrConstraint[Layouts] = AttrConstraint(
    "Array of layout (1D tensor of index type) attributes",
    lambda a: isinstance(a, ArrayAttr) and all(map(_is_layout, a)),
    lambda a: a.elements,
    lambda a: isinstance(a, ArrayAttr),
)

# The tiles of each result, outermost first.
TILINGS: AttrConstraint[tuple[Attribute, ...]] = AttrConstraint(
    "Array of tiling attributes",
    lambda a: (
        isinstance(a, ArrayAttr)
        and all(isinstance(tiles, ArrayAttr) and all(map(_is_layout, tiles)) for tiles in a)
    ),
    lambda a: a.elements,
    lambda a: isinstance(a, ArrayAttr),
)


def check_layouts(
    signature: OpSignature, operand_layouts: Layouts | None, result_layouts: Layouts | None
) -> None:
    """Checks that all operands and results have a valid layout, or none has one."""
    if operand_layouts is None and result_layouts is None:
        return
    if operand_layouts is None or result_layouts is None:
        raise signature.op_error(
            "Layout attributes should be specified for either both operands and results or none."
        )
    types = signature.result_types
    if len(types) == 1 and isinstance(types[0], TupleType):
        types = types[0].types
    _check_each(signature, signature.operand_types, operand_layouts, "operand")
    _check_each(signature, types, result_layouts, "result")


def _check_each(signature: OpSignature, types: Sequence[Type], layouts: Layouts, what: str) -> None:
    if len(types) != len(layouts):
        raise signature.op_error(
            f"Number of {what}s must match the number of {what} layouts, {len(types)} != {len(layouts)}"
        )
    for index, (type, layout) in enumerate(zip(types, layouts, strict=True)):
        _check_layout(signature, type, layout, f"{what} #{index}")


def _check_layout(signature: OpSignature, type: Type, layout: DenseElements, what: str) -> None:
    if isinstance(type, TupleType):
        raise signature.op_error("Tuple types are not fully supported with layout constraints yet")
    order = integers_of(layout)
    if not isinstance(type, ShapedType):
        if order:
            raise signature.op_error(
                f"Only tensor types can have non-empty layout: {what} of type {quoted(type)} has layout "
                f"{plain_attribute(layout)}"
            )
    elif isinstance(type, RankedShapedType) and sorted(order) != list(range(type.rank)):
        raise signature.op_error(
            f"incorrect layout {plain_attribute(layout)} for type {quoted(type)}, layout must be a "
            f"permutation of [0, {type.rank})"
        )


_TENSORS = (RankedTensor, UnrankedTensor)


def check_target(signature: OpSignature, target: str, aliases: Sequence[OutputOperandAlias]) -> None:
    """Checks operands and results of CreateBuffer, Pin or Unpin; for other targets, the buffer aliases."""
    check = _TARGET_CHECKS.get(target)
    if check is None:
        _check_buffer_aliases(signature, aliases)
    else:
        check(signature)


def _check_create_buffer(signature: OpSignature) -> None:
    if signature.operand_types:
        raise signature.op_error("CreateBuffer custom_call shouldn't have any inputs")
    if len(signature.result_types) != 1:
        raise signature.op_error("CreateBuffer custom_call should have one result")
    if not isinstance(signature.result_types[0], MemRefType):
        raise signature.op_error("CreateBuffer custom_call should have a memref result")


def _check_pin(signature: OpSignature) -> None:
    _check_one_to_one(signature, "Pin", (_TENSORS, "tensor"), ((MemRefType,), "memref"))


def _check_unpin(signature: OpSignature) -> None:
    _check_one_to_one(signature, "Unpin", ((MemRefType,), "memref"), (_TENSORS, "tensor"))


def _check_one_to_one(
    signature: OpSignature,
    name: str,
    source: tuple[tuple[type, ...], str],
    target: tuple[tuple[type, ...], str],
) -> None:
    for types, (classes, kind), what in (
        (signature.operand_types, source, "input"),
        (signature.result_types, target, "output"),
    ):
        if len(types) != 1:
            raise signature.op_error(f"{name} custom_call should have one {what}")
        if not isinstance(types[0], classes):
            raise signature.op_error(f"{name} custom_call should have a {kind} {what}")
    input, output = signature.operand_types[0], signature.result_types[0]
    if not are_compatible_shapes([input, output]) or element_of(input) is not element_of(output):
        raise signature.op_error(f"{name} custom_call should have compatible input and output types")


_TARGET_CHECKS = {"CreateBuffer": _check_create_buffer, "Pin": _check_pin, "Unpin": _check_unpin}


def _check_buffer_aliases(signature: OpSignature, aliases: Sequence[OutputOperandAlias]) -> None:
    """Checks that each result buffer aliases an operand buffer, and that no buffer is in two aliases."""
    outputs: set[tuple[int, ...]] = set()
    operands: set[tuple[int, ...]] = set()
    for alias in aliases:
        operand_type = signature.operand_types[alias.operand_index]
        if not isinstance(tuple_element_type(operand_type, alias.operand_tuple_indices), MemRefType):
            continue
        output, operand = alias.output_tuple_indices, (alias.operand_index, *alias.operand_tuple_indices)
        if output in outputs:
            raise signature.op_error(
                f"buffer output {list(output)} is used in output_operand_alias more than once"
            )
        if operand in operands:
            raise signature.op_error(
                f"buffer operand {operand[0]}{list(operand[1:])} is used in output_operand_alias more than "
                "once"
            )
        outputs.add(output)
        operands.add(operand)
    results = signature.result_types
    output_type = results[0] if len(results) == 1 else TupleType(results)
    for type, indices in _leaves(output_type, ()):
        if isinstance(type, MemRefType) and indices not in outputs:
            raise signature.op_error(f"buffer output {list(indices)} is not used in output_operand_alias")


def _leaves(type: Type, indices: tuple[int, ...]) -> Iterator[tuple[Type, tuple[int, ...]]]:
    """The non-tuple types in nested tuples, each with its tuple indices."""
    if not isinstance(type, TupleType):
        yield type, indices
        return
    for index, inner in enumerate(type.types):
        yield from _leaves(inner, (*indices, index))


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


def _print_target(target: StringAttr, attribute_printer: AttributePrinter) -> str:
    return symbol_text(target.value)


@stablehlo.op("custom_call")
class CustomCallOp(Op):
    """Calls the function `call_target_name` of the backend."""

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
        "custom<target>($call_target_name) `(` $inputs `)` attr-dict `:` functional-type(operands, results)",
        target=lambda field: Attr(field, lambda op_parser: StringAttr(op_parser.symbol()), _print_target),
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
        check_aliases(signature, aliases)
        _check_backend_config(signature)
        check_target(signature, signature[CustomCallOp.call_target_name], aliases)


def check_aliases(signature: OpSignature, aliases: Sequence[OutputOperandAlias]) -> None:
    """Checks the indices and types of all aliases."""
    for alias in aliases:
        alias.check(signature)


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
