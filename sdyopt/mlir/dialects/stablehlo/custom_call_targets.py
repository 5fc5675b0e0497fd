"""Checks of custom_call that depend on the target.

CreateBuffer, Pin and Unpin have operands and results of certain types. With all other targets, each buffer
(memref) in the results aliases a buffer in the operands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdyopt.mlir.dialects.stablehlo.operand_alias import OutputOperandAlias, tuple_element_type
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.shape_traits import are_compatible_shapes
from sdyopt.mlir.ir.types import MemRefType, RankedTensor, TupleType, Type, UnrankedTensor, element_of

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
