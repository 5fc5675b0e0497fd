"""Verification of signatures: declared fields, traits, and the class's own `verify_signature`.

The result is cached per signature, so verifying another operation with the same signature is a look-up. What
a signature does not have, regions, successors and blocks, is checked for each operation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.mlir.ir.attribute import DictAttr
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.builtin_attributes import DenseArray
from sdyopt.mlir.ir.op_fields import ONE, OPTIONAL, VARIADIC, ValueField, declared_fields
from sdyopt.mlir.ir.op_signature import OpSignature, SignatureError
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import (
    ATTR_SIZED_OPERANDS,
    ATTR_SIZED_RESULTS,
    GRAPH_REGION,
    InfersTypes,
)
from sdyopt.mlir.ir.types import Type

PrintType = Callable[[Type], str]


def signature_problem(signature: OpSignature, print_type: PrintType) -> SignatureError | None:
    """The first error of a signature; None if it is valid."""
    try:
        problem = signature.cache[signature_problem]
    except KeyError:
        problem = signature.cache[signature_problem] = _find_problem(signature, print_type)
    return problem  # type: ignore[no-any-return]  # the cache is untyped


def _find_problem(signature: OpSignature, print_type: PrintType) -> SignatureError | None:
    try:
        if signature.op_class.fields or signature.op_class.name:
            _check_counts(signature)
            _check_attributes(signature)
            _check_types(signature, print_type)
        for trait in signature.op_class.trait_order:
            if trait.verify_signature is not None:
                trait.verify_signature(signature)
        check = signature.op_class.verify_signature
        if check is not None:
            check(signature)
        if not declared_fields(signature.op_class).regions:
            check_inferred_types(signature, (), print_type)
    except SignatureError as problem:
        problem.__traceback__ = None
        return problem
    return None


def check_inferred_types(signature: OpSignature, regions: Sequence[Region], print_type: PrintType) -> None:
    """Checks the result types against the inferred ones.

    Runs last: for a class with regions, after the nested operations are verified.
    """
    op_class = signature.op_class
    trait = _infers_types(op_class)
    if trait is None:
        return
    infer = op_class.infer_result_types
    assert infer is not None
    infer_and_compare_types(signature, lambda: infer(signature, regions), trait.accepts, print_type)


@cache
def _infers_types(op_class: type[Op]) -> InfersTypes | None:
    return next((trait for trait in op_class.trait_order if isinstance(trait, InfersTypes)), None)


def infer_and_compare_types(
    signature: OpSignature,
    infer: Callable[[], Sequence[Type]],
    accepts: Callable[[Type, Type], bool],
    print_type: PrintType,
) -> None:
    """Checks each result type against the one that `infer` returns for it."""
    try:
        inferred = infer()
    except SignatureError as problem:
        raise problem.then(signature.op_error(_NOT_INFERRED)) from None
    compare_inferred_types(signature, inferred, accepts, print_type)


def compare_inferred_types(
    signature: OpSignature,
    inferred: Sequence[Type],
    accepts: Callable[[Type, Type], bool],
    print_type: PrintType,
) -> None:
    """Raises SignatureError unless `accepts(inferred, actual)` is true for all result types."""
    actual = signature.result_types
    if len(inferred) == len(actual) and all(map(accepts, inferred, actual)):
        return
    expected, found = (", ".join(f"'{print_type(type)}'" for type in types) for types in (inferred, actual))
    error = signature.error_without_op_note(
        f"'{signature.name}' op inferred type(s) {expected} are incompatible with return type(s) of operation"
        f" {found}"
    )
    raise error.then(signature.op_error(_NOT_INFERRED))


_NOT_INFERRED = "failed to infer returned types"


# --- Counts -------------------------------------------------------------------------------


def _check_counts(signature: OpSignature) -> None:
    declared = declared_fields(signature.op_class)
    operands, results = declared.operands, declared.results
    operand_count, result_count = len(signature.operand_types), len(signature.result_types)
    # Without optional and variadic fields, there is one value for each field.
    if declared.result_ranges is None or result_count != len(results):
        _check_result_count(signature, results, result_count)
    if declared.operand_ranges is None or operand_count != len(operands):
        _check_operand_count(signature, operands, operand_count)
    if ATTR_SIZED_OPERANDS in signature.op_class.traits:
        _check_segments(signature, operands, "operand", operand_count)
    if ATTR_SIZED_RESULTS in signature.op_class.traits:
        _check_segments(signature, results, "result", result_count)


def _check_operand_count(
    signature: OpSignature, fields: Sequence[ValueField[object, object]], count: int
) -> None:
    needed = sum(field.arity == ONE for field in fields)
    if any(field.arity != ONE for field in fields):
        if count < needed:
            raise signature.op_error(f"expected {needed} or more operands, but found {count}")
    elif count != needed:
        raise signature.op_error(
            {0: "requires zero operands", 1: "requires a single operand"}.get(
                needed, f"expected {needed} operands, but found {count}"
            )
        )


def _check_result_count(
    signature: OpSignature, fields: Sequence[ValueField[object, object]], count: int
) -> None:
    needed = sum(field.arity == ONE for field in fields)
    if any(field.arity != ONE for field in fields):
        if count < needed:
            raise signature.op_error(f"expected {needed} or more results")
    elif count != needed:
        raise signature.op_error(
            {0: "requires zero results", 1: "requires one result"}.get(needed, f"expected {needed} results")
        )


def _check_segments(
    signature: OpSignature, fields: Sequence[ValueField[object, object]], word: str, count: int
) -> None:
    name = fields[0].segment_sizes
    sizes = signature.attributes.get(name)
    if not isinstance(sizes, DenseArray):
        raise signature.op_error(f"requires dense i32 array attribute '{name}'")
    if any(size < 0 for size in sizes.values):
        raise signature.op_error(f"'{name}' attribute cannot have negative elements")
    total = sum(sizes.values)
    if total != count:
        raise signature.op_error(
            f"{word} count ({count}) does not match with the total size ({total}) specified in attribute "
            f"'{name}'"
        )
    if len(sizes.values) != len(fields):
        raise signature.op_error(
            f"'{name}' attribute for specifying {word} segments must have {len(fields)} elements, but got "
            f"{len(sizes.values)}"
        )


# --- Attributes and types -----------------------------------------------------------------


def _check_attributes(signature: OpSignature) -> None:
    for field in declared_fields(signature.op_class).attributes:
        if not field.is_optional and field.default is None and field.name not in signature.attributes:
            raise signature.op_error(f"requires attribute '{field.name}'")
    problem = attribute_problem(signature.op_class, signature.attributes)
    if problem is not None:
        raise signature.op_error(problem)


def attribute_problem(op_class: type[Op], attributes: DictAttr) -> str | None:
    """The error of the first inherent attribute that violates its constraint; None if there is none."""
    for field in declared_fields(op_class).attributes:
        value = attributes.get(field.name)
        if value is not None and not field.constraint.accepts(value):
            return f"attribute '{field.name}' failed to satisfy constraint: {field.constraint.description}"
    return None


def _check_types(signature: OpSignature, print_type: PrintType) -> None:
    declared = declared_fields(signature.op_class)
    for fields, types, word in (
        (declared.operands, signature.operand_types, "operand"),
        (declared.results, signature.result_types, "result"),
    ):
        for field in fields:
            start, count = field.range_of(signature)
            if field.arity == OPTIONAL and count > 1:
                raise signature.op_error(
                    f"{word} group starting at #{start} requires 0 or 1 element, but found {count}"
                )
            accepts = field.constraint.accepts
            for index in range(start, start + count):
                if not accepts(types[index]):
                    prefix = "variadic of " if field.arity == VARIADIC else ""
                    raise signature.op_error(
                        f"{word} #{index} must be {prefix}{field.constraint.description}, but got "
                        f"'{print_type(types[index])}'"
                    )


def check_region_count(op: Op) -> None:
    """Checks the number of regions against the declared fields."""
    if not op.name:
        return
    fields = declared_fields(type(op)).regions
    count = len(op.regions)
    needed = sum(not field.is_variadic for field in fields)
    if not any(field.is_variadic for field in fields):
        if count != needed:
            raise op.op_error(
                {0: "requires zero regions", 1: "requires one region"}.get(
                    needed, f"expected {needed} regions"
                )
            )
    elif count < needed:
        raise op.op_error(f"expected {needed} or more regions")


def check_successor_count(op: Op) -> None:
    """Checks that a registered operation has as many successors as its class declares successor operands."""
    needed, count = len(op.successor_operands), len(op.successors)
    if op.name and count != needed:
        plural = "" if needed == 1 else "s"
        raise op.op_error(f"requires {needed} successor{plural} but found {count}")


def check_no_branch_inside(block: Block) -> None:
    """Checks that only the last operation of a block has successors."""
    for op in block.ops:
        if op.successors and op is not block.last:
            raise op.error("operation with block successors must terminate its parent block")


def check_regions(op: Op) -> None:
    """Checks the constraints of the declared regions."""
    for declared in declared_fields(type(op)).regions:
        end = len(op.regions) if declared.is_variadic else declared.index + 1
        for index, region in enumerate(op.regions[declared.index : end], declared.index):
            if not declared.constraint.accepts(region):
                raise op.op_error(
                    f"region #{index} ('{declared.name}') failed to verify constraint: "
                    f"{declared.constraint.description}"
                )


def check_entries(op: Op) -> None:
    """Checks that graph regions have at most one block, and entry blocks no predecessors."""
    for index, region in enumerate(op.regions):
        if len(region.blocks) > 1 and GRAPH_REGION in op.traits:
            raise op.op_error(f"expects graph region #{index} to have 0 or 1 blocks")
        if region.blocks and region.blocks[0].uses:
            raise DiagnosticError.at(op.location, "entry block of region may not have predecessors")
