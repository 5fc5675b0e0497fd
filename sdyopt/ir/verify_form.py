"""The half of verification that needs the form alone: declared fields, traits, the class's own check.

The verdict is kept with the form, so an operation like one seen before costs a look-up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sdyopt.ir.attribute import Attribute
from sdyopt.ir.block import Region
from sdyopt.ir.elements import DenseArray
from sdyopt.ir.fields import (
    MANY,
    ONE,
    OPTIONAL,
    AttrField,
    OperandField,
    RegionField,
    ResultField,
    ValueField,
)
from sdyopt.ir.form import Form, FormError
from sdyopt.ir.operation import Op
from sdyopt.ir.traits import (
    ATTR_SIZED_OPERANDS,
    ATTR_SIZED_RESULTS,
    InfersTypes,
)
from sdyopt.ir.types import Type

SpellType = Callable[[Type], str]


def form_problem(form: Form, spell_type: SpellType) -> FormError | None:
    """What is wrong with a form, None if nothing is."""
    try:
        problem = form.memo[form_problem]
    except KeyError:
        problem = form.memo[form_problem] = _find_problem(form, spell_type)
    return problem  # type: ignore[no-any-return]  # the memo holds values of all kinds


def _find_problem(form: Form, spell_type: SpellType) -> FormError | None:
    try:
        if form.op_class.fields or form.op_class.name:
            _check_counts(form)
            _check_attributes(form)
            _check_types(form, spell_type)
        for trait in form.op_class.trait_order:
            if trait.verify_form is not None:
                trait.verify_form(form)
        check = form.op_class.verify_form
        if check is not None:
            check(form)
        if not any(isinstance(field, RegionField) for field in form.op_class.fields.values()):
            check_inferred_types(form, (), spell_type)
    except FormError as problem:
        problem.__traceback__ = None
        return problem
    return None


def check_inferred_types(form: Form, regions: Sequence[Region], spell_type: SpellType) -> None:
    """Compares the result types with what the class infers; comes last, after what regions hold."""
    op_class = form.op_class
    trait = next((t for t in op_class.trait_order if isinstance(t, InfersTypes)), None)
    if trait is None:
        return
    infer = op_class.infer_result_types
    assert infer is not None
    compare_types(form, lambda: infer(form, regions), trait.accepts, spell_type)


def compare_types(
    form: Form,
    infer: Callable[[], Sequence[Type]],
    accepts: Callable[[Type, Type], bool],
    spell_type: SpellType,
) -> None:
    """Compares the result types with those that `infer` gives, pair by pair."""
    try:
        inferred = infer()
    except FormError as problem:
        raise problem.then(form.op_error(_NOT_INFERRED)) from None
    compare_inferred_types(form, inferred, accepts, spell_type)


def compare_inferred_types(
    form: Form, inferred: Sequence[Type], accepts: Callable[[Type, Type], bool], spell_type: SpellType
) -> None:
    """Fails unless the result types are acceptable where these have been inferred."""
    actual = form.result_types
    if len(inferred) == len(actual) and all(map(accepts, inferred, actual)):
        return
    expected, found = (", ".join(f"'{spell_type(type)}'" for type in types) for types in (inferred, actual))
    error = form.located_error(
        f"'{form.name}' op inferred type(s) {expected} are incompatible with return type(s) of operation "
        f"{found}"
    )
    raise error.then(form.op_error(_NOT_INFERRED))


_NOT_INFERRED = "failed to infer returned types"


# --- Counts -------------------------------------------------------------------------------


def _check_counts(form: Form) -> None:
    fields = form.op_class.fields.values()
    results = [f for f in fields if isinstance(f, ResultField)]
    operands = [f for f in fields if isinstance(f, OperandField)]
    _check_result_count(form, results, len(form.result_types))
    _check_operand_count(form, operands, len(form.operand_types))
    if ATTR_SIZED_OPERANDS in form.op_class.traits:
        _check_segments(form, operands, "operand", len(form.operand_types))
    if ATTR_SIZED_RESULTS in form.op_class.traits:
        _check_segments(form, results, "result", len(form.result_types))


def _check_operand_count(form: Form, fields: Sequence[ValueField[Any]], count: int) -> None:
    needed = sum(field.arity == ONE for field in fields)
    if any(field.arity != ONE for field in fields):
        if count < needed:
            raise form.op_error(f"expected {needed} or more operands, but found {count}")
    elif count != needed:
        raise form.op_error(
            {0: "requires zero operands", 1: "requires a single operand"}.get(
                needed, f"expected {needed} operands, but found {count}"
            )
        )


def _check_result_count(form: Form, fields: Sequence[ValueField[Any]], count: int) -> None:
    needed = sum(field.arity == ONE for field in fields)
    if any(field.arity != ONE for field in fields):
        if count < needed:
            raise form.op_error(f"expected {needed} or more results")
    elif count != needed:
        raise form.op_error(
            {0: "requires zero results", 1: "requires one result"}.get(needed, f"expected {needed} results")
        )


def _check_segments(form: Form, fields: Sequence[ValueField[Any]], word: str, count: int) -> None:
    name = fields[0].segments
    sizes = form.attributes.get(name)
    if not isinstance(sizes, DenseArray):
        raise form.op_error(f"requires dense i32 array attribute '{name}'")
    if any(size < 0 for size in sizes.values):
        raise form.op_error(f"'{name}' attribute cannot have negative elements")
    total = sum(sizes.values)
    if total != count:
        raise form.op_error(
            f"{word} count ({count}) does not match with the total size ({total}) specified in attribute "
            f"'{name}'"
        )
    if len(sizes.values) != len(fields):
        raise form.op_error(
            f"'{name}' attribute for specifying {word} segments must have {len(fields)} elements, but got "
            f"{len(sizes.values)}"
        )


# --- Attributes and types -----------------------------------------------------------------


def _check_attributes(form: Form) -> None:
    for field in _attribute_fields(form.op_class):
        if not field.is_optional and field.default is None and field.name not in form.attributes:
            raise form.op_error(f"requires attribute '{field.name}'")
    problem = attribute_problem(form.op_class, dict(form.attributes.entries))
    if problem is not None:
        raise form.op_error(problem)


def attribute_problem(op_class: type[Op], attributes: Mapping[str, Attribute]) -> str | None:
    """What is wrong with the first inherent attribute that is not of its kind; None if all are."""
    for field in _attribute_fields(op_class):
        value = attributes.get(field.name)
        if value is not None and not field.kind.accepts(value):
            return f"attribute '{field.name}' failed to satisfy constraint: {field.kind.description}"
    return None


def _attribute_fields(op_class: type[Op]) -> list[AttrField[Any]]:
    """In the order in which MLIR looks at them."""
    fields = [f for f in op_class.fields.values() if isinstance(f, AttrField)]
    return sorted(fields, key=lambda field: field.name)


def _check_types(form: Form, spell_type: SpellType) -> None:
    for kind, word in ((OperandField, "operand"), (ResultField, "result")):
        for field in form.op_class.fields.values():
            if not isinstance(field, kind):
                continue
            start, count = field.range_of(form)
            if field.arity == OPTIONAL and count > 1:
                raise form.op_error(
                    f"{word} group starting at #{start} requires 0 or 1 element, but found {count}"
                )
            prefix = "variadic of " if field.arity == MANY else ""
            for index in range(start, start + count):
                type = field.types_of(form)[index]
                if not field.constraint.accepts(type):
                    raise form.op_error(
                        f"{word} #{index} must be {prefix}{field.constraint.description}, but got "
                        f"'{spell_type(type)}'"
                    )
