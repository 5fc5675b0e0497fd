"""Traits that constrain types, shapes and element types, checked as in MLIR."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.traits import Trait
from sdyopt.mlir.ir.types import (
    DYNAMIC,
    RankedShapedType,
    RankedTensor,
    ShapedType,
    Type,
    UnrankedTensor,
    VectorType,
    element_of,
)

NOT_THE_SAME = ErrorKind("failed to verify that all of {{{names}}} have same {what}", at="types")
SAME_SHAPE_REQUIRED = ErrorKind(
    "requires the same shape for all {values}",
    at="types",
    help="broadcast one of them with stablehlo.broadcast_in_dim",
)
SAME_ELEMENT_REQUIRED = ErrorKind(
    "requires the same element type for all {values}",
    at="types",
    help="convert one of them with stablehlo.convert",
)
SAME_TYPE_REQUIRED = ErrorKind(
    "requires the same type for all operands and results",
    at="types",
    help="convert or broadcast one of them first",
)
_SAME_BASE_TYPE = ErrorKind(
    "all non-scalar operands/results must have the same shape and base type",
    at="types",
    help="convert or broadcast one of them first",
)

F = TypeVar("F")

_MAPPABLE = (RankedTensor, UnrankedTensor, VectorType)


def are_compatible_sizes(*sizes: int) -> bool:
    """Whether all static sizes among these dimension sizes are equal."""
    return len({size for size in sizes if size != DYNAMIC}) <= 1


def are_compatible_shapes(types: Iterable[Type]) -> bool:
    """Whether no type is shaped, or all are, and the ranked ones have the same rank and compatible sizes."""
    types = list(types)
    if len(set(types)) == 1:
        return True
    shaped = [type for type in types if isinstance(type, ShapedType)]
    if len(shaped) != len(types):
        return not shaped
    if len({isinstance(type, VectorType) and any(type.scalable) for type in shaped}) > 1:
        return False
    shapes = [type.shape for type in shaped if isinstance(type, RankedShapedType)]
    if len(set(map(len, shapes))) > 1:
        return False
    return all(are_compatible_sizes(*sizes) for sizes in zip(*shapes, strict=True))


def _all_types(signature: OpSignature) -> tuple[Type, ...]:
    return signature.operand_types + signature.result_types


def _has_one_type(signature: OpSignature) -> bool:
    """Whether there are operands and results, all of one type, so that the constraints below hold."""
    operands, results = signature.operand_types, signature.result_types
    return len(set(operands)) == len(set(results)) == 1 and operands[0] is results[0]


def _check_elementwise(signature: OpSignature) -> None:
    if _has_one_type(signature):
        return
    operands = [type for type in signature.operand_types if isinstance(type, _MAPPABLE)]
    results = [type for type in signature.result_types if isinstance(type, _MAPPABLE)]
    if not operands and not results:
        return
    if not operands:
        raise signature.op_error("if a result is non-scalar, then at least one operand must be non-scalar")
    if not results:
        raise signature.op_error(
            "if an operand is non-scalar, then there must be at least one non-scalar result"
        )
    if len(results) != len(signature.result_types):
        raise signature.op_error("if an operand is non-scalar, then all results must be non-scalar")
    types = operands + results
    if len(set(map(type, types))) > 1 or not are_compatible_shapes(types):
        raise signature.op_error(_SAME_BASE_TYPE())


def _check_same_shape(signature: OpSignature) -> None:
    if _has_one_type(signature):
        return
    if not signature.operand_types:
        raise signature.op_error("expected 1 or more operands, but found 0")
    if not are_compatible_shapes(_all_types(signature)):
        raise signature.op_error(SAME_SHAPE_REQUIRED(values="operands and results"))


def _check_same_elements(signature: OpSignature) -> None:
    if _has_one_type(signature):
        return
    if not signature.operand_types:
        raise signature.op_error("expected 1 or more operands, but found 0")
    if len({element_of(type) for type in _all_types(signature)}) > 1:
        raise signature.op_error(SAME_ELEMENT_REQUIRED(values="operands and results"))


def _check_same_operand_elements(signature: OpSignature) -> None:
    if not signature.operand_types:
        raise signature.op_error("expected 1 or more operands, but found 0")
    if len({element_of(type) for type in signature.operand_types}) > 1:
        raise signature.op_error(SAME_ELEMENT_REQUIRED(values="operands"))


def _check_same_types(signature: OpSignature) -> None:
    if _has_one_type(signature):
        return
    if not signature.operand_types:
        raise signature.op_error("expected 1 or more operands, but found 0")
    types = _all_types(signature)
    if len({element_of(type) for type in types}) > 1 or not are_compatible_shapes(types):
        raise signature.op_error(SAME_TYPE_REQUIRED())


# The tensors (or vectors) among operands and results have compatible shapes, and there are results among them
# if and only if there are operands (`Elementwise`).
ELEMENTWISE = Trait("elementwise", _check_elementwise)
SAME_TYPE = Trait("same-operands-and-result-type", _check_same_types)
SAME_SHAPE = Trait("same-operands-and-result-shape", _check_same_shape)
SAME_ELEMENT_TYPE = Trait("same-operands-and-result-element-type", _check_same_elements)
SAME_OPERAND_ELEMENT_TYPE = Trait("same-operands-element-type", _check_same_operand_elements)

# --- Constraints between fields ------------------------------------------------------------


def same_types(*fields: str, **renamed: str) -> Trait:
    """All these fields have the same type. `renamed` maps fields to their names in diagnostics."""
    return _same(fields, renamed, "type", _identity)


def same_element_types(*fields: str, **renamed: str) -> Trait:
    """All these fields have the same element type."""
    return _same(fields, renamed, "element type", element_of)


def same_ranks(*fields: str, **renamed: str) -> Trait:
    """All these fields have the same rank."""
    return _same(fields, renamed, "rank", _rank)


def same_attribute_sizes(*fields: str, **renamed: str) -> Trait:
    """All these attributes, which are lists, have the same length."""
    return _same(fields, renamed, "size", len)


def _identity(type: Type) -> Type:
    return type


def _rank(type: Type) -> int:
    assert isinstance(type, RankedShapedType)
    return type.rank


def _same(
    fields: tuple[str, ...], renamed: Mapping[str, str], what: str, measure: Callable[[F], object]
) -> Trait:
    names = ", ".join((*fields, *renamed.values()))

    def check(signature: OpSignature) -> None:
        declared = signature.op_class.fields
        values = [measure(declared[name].of_signature(signature)) for name in (*fields, *renamed)]
        if any(value != values[0] for value in values):
            raise signature.op_error(NOT_THE_SAME(names=names, what=what))

    return Trait(f"same {what} of {names}", check)
