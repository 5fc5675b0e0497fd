"""Targets of custom_call that are known everywhere, and buffers, which must come from somewhere."""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.dialects.stablehlo.operand_alias import part_of
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.shape_traits import are_compatible_shapes
from sdyopt.ir.types import MemRefType, RankedTensor, TupleType, Type, UnrankedTensor, element_of

_TENSORS = (RankedTensor, UnrankedTensor)


def check_known_call(signature: OpSignature) -> None:
    """Checks what is known of the target; of all others, that buffers among the results are aliases."""
    check = _CHECKS.get(signature.call_target_name, _check_buffers)
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
    for types, (classes, word), what in (
        (signature.operand_types, source, "input"),
        (signature.result_types, target, "output"),
    ):
        if len(types) != 1:
            raise signature.op_error(f"{name} custom_call should have one {what}")
        if not isinstance(types[0], classes):
            raise signature.op_error(f"{name} custom_call should have a {word} {what}")
    input, output = signature.operand_types[0], signature.result_types[0]
    if not are_compatible_shapes([input, output]) or element_of(input) is not element_of(output):
        raise signature.op_error(f"{name} custom_call should have compatible input and output types")


_CHECKS = {"CreateBuffer": _check_create_buffer, "Pin": _check_pin, "Unpin": _check_unpin}


def _check_buffers(signature: OpSignature) -> None:
    """Each buffer that is a result is the alias of one operand, and no operand has two."""
    outputs: set[tuple[int, ...]] = set()
    operands: set[tuple[int, ...]] = set()
    for alias in signature.output_operand_aliases:
        part = part_of(signature.operand_types[alias.operand_index], alias.operand_tuple_indices)
        if not isinstance(part, MemRefType):
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
    whole = results[0] if len(results) == 1 else TupleType(results)
    for type, indices in _leaves(whole, ()):
        if isinstance(type, MemRefType) and indices not in outputs:
            raise signature.op_error(f"buffer output {list(indices)} is not used in output_operand_alias")


def _leaves(type: Type, indices: tuple[int, ...]) -> Iterator[tuple[Type, tuple[int, ...]]]:
    """The types inside nested tuples, with where they stand."""
    if not isinstance(type, TupleType):
        yield type, indices
        return
    for index, inner in enumerate(type.types):
        yield from _leaves(inner, (*indices, index))
