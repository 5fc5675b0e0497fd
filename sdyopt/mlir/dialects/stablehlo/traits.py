"""Traits of stablehlo operations, with their verifiers."""

from __future__ import annotations

from sdyopt.mlir.dialects.stablehlo.type_compatibility import are_compatible, have_compatible_element_types
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.traits import InfersTypes, Trait
from sdyopt.mlir.ir.types import Type, element_of

# Result types are inferred; the actual types must be compatible with these (see type_compatibility).
INFERS_COMPATIBLE_TYPES = InfersTypes("hlo-infer-type", accepts=are_compatible)


def _check_compatible_types(signature: OpSignature) -> None:
    types = signature.operand_types + signature.result_types
    if not all(are_compatible(type, types[0]) for type in types):
        raise signature.op_error("requires compatible types for all operands and results")


def _check_compatible_elements(signature: OpSignature) -> None:
    types = signature.operand_types + signature.result_types
    if not all(have_compatible_element_types(type, types[0]) for type in types):
        raise signature.op_error("requires compatible element types for all operands and results")


def _check_compatible_operand_elements(signature: OpSignature) -> None:
    types = signature.operand_types
    if not all(have_compatible_element_types(type, types[0]) for type in types):
        raise signature.op_error("requires compatible element types for all operands")


def _check_pairwise_types(signature: OpSignature) -> None:
    _check_pairs(
        signature,
        signature.operand_types,
        signature.result_types,
        "requires the same type for operand and result",
    )


def _check_pairwise_elements(signature: OpSignature) -> None:
    operands = tuple(map(element_of, signature.operand_types))
    results = tuple(map(element_of, signature.result_types))
    _check_pairs(signature, operands, results, "requires the same element type for operand and result")


def _check_pairs(
    signature: OpSignature, lefts: tuple[Type, ...], rights: tuple[Type, ...], message: str
) -> None:
    if len(lefts) != len(rights):
        raise signature.op_error("requires the same number of operands and results")
    for index, (left, right) in enumerate(zip(lefts, rights, strict=True)):
        if left is not right:
            raise signature.op_error(f"{message} at index {index}")


# Elementwise, except that some operands may be scalars instead of tensors.
BROADCASTING_ELEMENTWISE = Trait("hlo-broadcasting-elementwise")
# Commutative, but canonicalization does not reorder the operands, unlike with MLIR's trait.
HLO_COMMUTATIVE = Trait("hlo-commutative")
COMPATIBLE_TYPES = Trait("hlo-compatible-operands-and-result-type", _check_compatible_types)
COMPATIBLE_ELEMENT_TYPES = Trait(
    "hlo-compatible-operands-and-result-element-type", _check_compatible_elements
)
COMPATIBLE_OPERAND_ELEMENT_TYPES = Trait(
    "hlo-compatible-operands-element-type", _check_compatible_operand_elements
)
PAIRWISE_SAME_TYPE = Trait("hlo-pairwise-same-operand-and-result-type", _check_pairwise_types)
PAIRWISE_SAME_ELEMENT_TYPE = Trait(
    "hlo-pairwise-same-operand-and-result-element-type", _check_pairwise_elements
)
