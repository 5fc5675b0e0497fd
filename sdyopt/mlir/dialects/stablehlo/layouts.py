"""Layouts of custom_call: minor-to-major dimension order of operands and results, tiles of results."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.asm.printer.attribute_printer import plain_attribute
from sdyopt.mlir.dialects.stablehlo.attribute_constraints import integers_of
from sdyopt.mlir.dialects.stablehlo.diagnostic_text import quoted
from sdyopt.mlir.ir.attribute import ArrayAttr, Attribute
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.constraints import AttrConstraint
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.types import INDEX, RankedShapedType, ShapedType, TupleType, Type


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
