"""Verification of signatures: declared fields, traits, and the class's own `verify_signature`.

The result is cached per signature, so verifying another operation with the same signature is a look-up. What
a signature does not have, regions, successors and blocks, is checked for each operation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.mlir.ir.attribute import DictAttr
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.builtin_attributes import DenseArray
from sdyopt.mlir.ir.holes import SIZE_HOLES, Hole, HoleInspected
from sdyopt.mlir.ir.op_fields import ONE, OPTIONAL, VARIADIC, SuccessorField, ValueField, declared_fields
from sdyopt.mlir.ir.op_signature import EQUALLY_VALID, FORM, OpSignature, SignatureError
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import (
    ATTR_SIZED_OPERANDS,
    ATTR_SIZED_RESULTS,
    GRAPH_REGION,
    InfersTypes,
)
from sdyopt.mlir.ir.types import DYNAMIC, Type, tensor

_INFERRED = ErrorKind(
    "'{name}' op inferred type(s) {inferred} are incompatible with return type(s) of operation {stated}",
    at="result_type 0",
    help="write {written}",
)
_NOT_INFERRED = ErrorKind("failed to infer returned types", at="result_type 0")
_MISSING_ATTRIBUTE = ErrorKind(
    "requires attribute '{name}'", help="write `{name} = …`", explain="missing attribute"
)
_WRONG_ATTRIBUTE = ErrorKind(
    "attribute '{name}' failed to satisfy constraint: {what}",
    at="attribute {name}",
    help="`{name}` is: {what}",
)
_WRONG_TYPE = ErrorKind("{word} #{number} must be {what}, but got '{type}'", at="{word}_type {number}")

PrintType = Callable[[Type], str]


def signature_problem(signature: OpSignature, print_type: PrintType) -> SignatureError | None:
    """The first error of a signature; None if it is valid."""
    cache = signature.cache
    # New signatures are frequent, and an exception for each would take time.
    if signature_problem not in cache:
        cache[signature_problem] = _find_problem(signature, print_type)
    problem: SignatureError | None = cache[signature_problem]
    return problem


def _find_problem(signature: OpSignature, print_type: PrintType) -> SignatureError | None:
    cache = signature.cache
    form = cache.get(FORM)
    if form is None:
        if EQUALLY_VALID in cache:
            return signature_problem(cache[EQUALLY_VALID], print_type)
        checks = _checks(signature.op_class)
    else:
        open_checks = form.cached(_OpenChecks)
        if open_checks.pass_for(signature):
            return None
        checks = open_checks.checks
    try:
        for check in checks:
            check(signature, print_type)
    except SignatureError as problem:
        problem.__traceback__ = None
        return problem
    return None


_Check = Callable[[OpSignature, PrintType], None]


@cache
def _checks(op_class: type[Op]) -> list[_Check]:
    """All checks of the signatures of a class, in order."""
    declared = [_check_counts, _check_attributes] if op_class.name else []
    checks = [_without_print_type(check) for check in declared]
    if op_class.name:
        checks.append(_check_types)
    own = [*(trait.verify_signature for trait in op_class.trait_order), op_class.verify_signature]
    checks += [_without_print_type(check) for check in own if check is not None]
    if _infers_types(op_class) is not None and not op_class.declares_regions:
        checks.append(_check_inferred_types)
    return checks


def _without_print_type(check: Callable[[OpSignature], object]) -> _Check:
    def run(signature: OpSignature, _print_type: PrintType) -> None:
        returned = check(signature)
        # The author of a plugin may return the error in place of raising it.
        if isinstance(returned, SignatureError):
            raise returned

    return run


def _check_inferred_types(signature: OpSignature, print_type: PrintType) -> None:
    check_inferred_types(signature, (), print_type)


class _OpenChecks:
    """The checks that depend on what is in the holes of a form.

    Equal types of a signature are equal holes in its form and different ones are different holes, so the
    signatures of a form pass the other checks if the form does.

    If a check passes when it can only compare sizes with each other, it passes for all signatures in which
    the same sizes are equal, and the same ones are dynamic, 0 or 1.
    """

    def __init__(self, form: OpSignature) -> None:
        self._form = form
        self.checks = [
            _types_check(form) if check is _check_types else check
            for check in _checks(form.op_class)
            if not _passes(check, form)
        ]
        types = form.operand_types + form.result_types
        # For each hole its index among the types of operands and results.
        self._holes = {type: types.index(type) for type in types}
        self._indices = list(self._holes.values())
        self._has_only_holes = all(isinstance(type, Hole) for type in self._holes)
        # The keys of checks with the shapes for which they pass, and the keys of those that do more than
        # compare sizes. The check of element types alone is as fast as finding equal sizes.
        self._passed: set[_Shapes] = set()
        self._computing: set[object] = set() if len(self.checks) > 1 else {None}

    def pass_for(self, signature: OpSignature) -> bool:
        """Whether the checks pass for a signature; False if they must run to find out."""
        return self.passes(signature, None, self._run)

    def _run(self, signature: OpSignature) -> None:
        for check in self.checks:
            check(signature, lambda type: "")

    def passes(self, signature: OpSignature, key: object, check: Callable[[OpSignature], None]) -> bool:
        """Whether a check with this key passes for a signature; False if it must run to find out."""
        if not self._has_only_holes or key in self._computing:
            return False
        types: Any = signature.operand_types + signature.result_types
        numbers, sizes, known = _SPECIAL_SIZES.copy(), [], [key]
        for index in self._indices:
            type = types[index]
            sizes += type.shape
            known += type.element, len(sizes)
        if len(sizes) > len(_NUMBERS):
            return False
        # A size has the number of its first place: this calls no function of Python for each size.
        known += map(numbers.setdefault, sizes, _NUMBERS)
        if (shapes := tuple(known)) in self._passed:
            return True
        holes = {size: size if size in _SPECIAL_SIZES else SIZE_HOLES[numbers[size]] for size in numbers}
        try:
            check(self._with_sizes(types, holes))
        except (HoleInspected, SignatureError):
            self._computing.add(key)
            return False
        self._passed.add(shapes)
        return True

    def _with_sizes(self, types: Sequence[Any], sizes: Mapping[int, int]) -> OpSignature:
        """The form with these types of operands and results, which have other sizes."""
        filled: dict[Type, Type] = {}
        for hole, index in self._holes.items():
            type = types[index]
            filled[hole] = tensor(tuple([sizes[size] for size in type.shape]), type.element)
        operand_types = tuple([filled[hole] for hole in self._form.operand_types])
        return self._form.with_types(operand_types, tuple([filled[hole] for hole in self._form.result_types]))


def passes_for_equal_shapes(
    signature: OpSignature, key: object, check: Callable[[OpSignature], None]
) -> bool:
    """Whether a check with this key has passed for a signature of the same form with the same equal sizes.

    False if it must run, for instance because it does more than compare sizes. The check must depend only on
    the signature and the key, which must not contain sizes.
    """
    form = signature.cache.get(FORM)
    return form is not None and form.cached(_OpenChecks).passes(signature, key, check)


def passes_with_body(op: Op, key: object, print_type: PrintType) -> bool:
    """As `passes_for_equal_shapes`, for all checks of the signature, with a body that has this key."""

    def check(signature: OpSignature) -> None:
        op_class = signature.op_class
        for check in _checks(op_class):
            check(signature, print_type)
        if op_class.verify_body is not None:
            op_class.verify_body(signature, op.regions)
        check_inferred_types(signature, op.regions, print_type)

    return passes_for_equal_shapes(op.signature, key, check)


# A key, element types, ends of shapes among the sizes, and numbers of sizes.
_Shapes = tuple[object, ...]
# Sizes that checks may compare others with.
_SPECIAL_SIZES = {DYNAMIC: 0, 0: 1, 1: 2}
# The numbers of other sizes.
_NUMBERS = range(3, len(SIZE_HOLES))


def _passes(check: _Check, form: OpSignature) -> bool:
    try:
        check(form, lambda type: "")
    except (HoleInspected, SignatureError):
        return False
    return True


def _types_check(form: OpSignature) -> _Check:
    """As `_check_types`, which calls each constraint once for all equal types."""
    declared = declared_fields(form.op_class)
    calls: dict[tuple[Callable[[Type], bool], Type], tuple[bool, int]] = {}
    for fields, types, is_result in (
        (declared.operands, form.operand_types, False),
        (declared.results, form.result_types, True),
    ):
        for field in fields:
            start, count = field.range_of(form)
            if field.arity == OPTIONAL and count > 1:
                return _check_types
            for index in range(start, start + count):
                calls.setdefault((field.constraint.accepts, types[index]), (is_result, index))
    once = [(accepts, *where) for (accepts, _), where in calls.items()]

    def check(signature: OpSignature, print_type: PrintType) -> None:
        for accepts, is_result, index in once:
            if not accepts((signature.result_types if is_result else signature.operand_types)[index]):
                _check_types(signature, print_type)

    return check


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
        raise problem.then(signature.op_error(_NOT_INFERRED())) from None
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
    expected, stated = (", ".join(f"'{print_type(type)}'" for type in types) for types in (inferred, actual))
    written = expected.replace("'", "`")
    message = _INFERRED(name=signature.name, inferred=expected, stated=stated, written=written)
    raise signature.error_without_op_note(message).then(signature.op_error(_NOT_INFERRED()))


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
    if signature.op_class.successor_segments:
        _check_successor_segments(signature, declared.successors[-1])


def _check_successor_segments(signature: OpSignature, field: SuccessorField[Any]) -> None:
    """Checks that the numbers of operands for variadic successors add up to their number."""
    sizes = signature.attributes.get(field.segments)
    if not isinstance(sizes, DenseArray) or field.arguments is None:
        return
    total, count = sum(sizes.values), field.arguments.range_of(signature)[1]
    if total != count:
        raise signature.op_error(
            f"{field.arguments.field_name} count ({count}) does not match with the total size ({total}) "
            f"specified in attribute '{field.segments}'"
        )


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
            raise signature.op_error(_MISSING_ATTRIBUTE(name=field.name))
    problem = attribute_problem(signature.op_class, signature.attributes)
    if problem is not None:
        raise signature.op_error(problem)


def attribute_problem(op_class: type[Op], attributes: DictAttr) -> str | None:
    """The error of the first inherent attribute that violates its constraint; None if there is none."""
    for field in declared_fields(op_class).attributes:
        value = attributes.get(field.name)
        if value is not None and not field.constraint.accepts(value):
            return _WRONG_ATTRIBUTE(name=field.name, what=field.constraint.description)
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
                    what = ("variadic of " if field.arity == VARIADIC else "") + field.constraint.description
                    type = print_type(types[index])
                    raise signature.op_error(_WRONG_TYPE(word=word, number=index, what=what, type=type))


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
    """Checks the number of successors against the declared fields."""
    if not op.name:
        return
    declared, count = declared_fields(type(op)).successors, len(op.successors)
    needed = sum(not field.is_variadic for field in declared)
    is_variadic = needed < len(declared)
    if count < needed or (count > needed and not is_variadic):
        number = f"at least {needed}" if is_variadic else needed
        plural = "" if needed == 1 and not is_variadic else "s"
        raise op.op_error(f"requires {number} successor{plural} but found {count}")


def check_successor_operands(op: Op) -> None:
    """Checks the operands for each successor against the arguments of its block."""
    if not op.successors or not op.name:
        return
    declared = declared_fields(type(op)).successors
    passed = 0
    for number, block in enumerate(op.successors):
        field = declared[min(number, len(declared) - 1)]
        if field.is_variadic and field.arguments is None:
            break
        start, count = (0, 0) if field.arguments is None else field.arguments.range_of(op.signature)
        segments = op.signature.attributes.get(field.segments) if field.segments else None
        if isinstance(segments, DenseArray):
            sizes, segment = segments.values, number - field.index
            start, count = start + passed, sizes[segment] if segment < len(sizes) else 0
            passed += count
        arguments = block.arguments
        if len(arguments) != count:
            raise op.error(
                f"branch has {count} operands for successor #{number}, but target block has {len(arguments)}"
            )
        types = op.signature.operand_types[start : start + count]
        for index, (argument, operand_type) in enumerate(zip(arguments, types, strict=True)):
            if argument.type is not operand_type:
                raise op.error(f"type mismatch for bb argument #{index} of successor #{number}")


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
