"""The operands, results, attributes, regions and successors that an operation class declares as fields.

    @stablehlo.op("dot_general", PURE)
    class DotGeneralOp(Op):
        lhs = operand(TENSOR)
        rhs = operand(TENSOR)
        out = result(TENSOR)
        dot_dimension_numbers = attr(DOT_DIMENSIONS)
        precision_config = optional_attr(PRECISION_CONFIG)

On an operation, a field gives its value: `op.lhs` is a Value, `op.dot_dimension_numbers` the Python value of
the attribute.
On a signature, an operand or result field gives its type: `signature[DotGeneralOp.lhs]`.

    inputs = operands(TENSOR).since(Behavior.BROADCASTS_OF_SEVERAL_VALUES, before=operand(TENSOR))

declares a field that older releases declare otherwise, or, without `before`, do not have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast, overload

from sdyopt.base.releases import Behavior, Release, followed_release
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.builtin_attributes import DenseArray
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.traits import ANY_REGION, AttrConstraint, RegionConstraint, TypeConstraint
from sdyopt.mlir.ir.types import Type
from sdyopt.mlir.ir.value import OpResult, Value

if TYPE_CHECKING:  # operation.py imports this module
    from sdyopt.mlir.ir.operation import Op

T = TypeVar("T", covariant=True)
# What an operand or result field gives: values on an operation (V), types on a signature (S).
V = TypeVar("V", covariant=True)
S = TypeVar("S", covariant=True)
C = TypeVar("C", bound=Type)

ONE, OPTIONAL, VARIADIC = "one", "optional", "variadic"
# The value of an optional field that an operation lacks.
_MISSING: Any = None

OPERAND_SEGMENTS = "operandSegmentSizes"
RESULT_SEGMENTS = "resultSegmentSizes"


class Field:
    """A declared part of an operation class: an operand, a result, an attribute, …, or a group of them.

    `field_name` is its name in Python. Releases without `behavior` have the field `before` instead, or none.
    """

    field_name: str
    behavior: Behavior | None = None
    before: Field | None = None

    def __set_name__(self, owner: type, name: str) -> None:
        self.field_name = name
        if self.before is not None:
            self.before.__set_name__(owner, name)

    def since(self, behavior: Behavior, before: Field | None = None) -> Self:
        """Declares the first behaviour with this field, and the field of the releases before it."""
        self.behavior, self.before = behavior, before
        return self

    def of_signature(self, signature: OpSignature) -> Any:
        """The type of an operand or result, or the value of an attribute; see `OpSignature.__getitem__`."""
        raise NotImplementedError


class ValueField(Field, Generic[V, S]):
    """A group of operands or results; `arity` is ONE, OPTIONAL or VARIADIC."""

    # The name of the attribute with the number of values in each group.
    segment_sizes: str

    def __init__(self, constraint: TypeConstraint[Type], arity: str) -> None:
        self.constraint = constraint
        self.arity = arity

    def range_of(self, signature: OpSignature) -> tuple[int, int]:
        """The index of the first value of this field, and the number of values."""
        raise NotImplementedError

    def of_signature(self, signature: OpSignature) -> S:
        start, count = self.range_of(signature)
        types: Any = self.types_of(signature)
        type: S
        if self.arity == ONE:
            type = types[start]
        elif self.arity == OPTIONAL:
            type = types[start] if count else _MISSING
        else:
            type = types[start : start + count]
        return type

    def types_of(self, signature: OpSignature) -> tuple[Type, ...]:
        """The types of all operands, or of all results."""
        raise NotImplementedError

    def value_at(self, op: Op, index: int) -> Any:
        """An operand, or a result."""
        raise NotImplementedError

    def values_of(self, op: Op) -> Sequence[Value]:
        """All operands, or all results."""
        raise NotImplementedError

    @overload
    def __get__(self, op: None, owner: type[Op]) -> Self: ...
    @overload
    def __get__(self, op: Op, owner: type[Op]) -> V: ...
    def __get__(self, op: Op | None, owner: type[Op]) -> Self | V:
        if op is None:
            return self
        start, count = self.range_of(op.signature)
        value: V
        if self.arity == ONE:
            value = self.value_at(op, start)
            return value
        values: Any = self.values_of(op)
        if self.arity == OPTIONAL:
            value = values[start] if count else _MISSING
        else:
            value = values[start : start + count]
        return value


class OperandField(ValueField[V, S]):
    """A group of operands."""

    segment_sizes = OPERAND_SEGMENTS

    def range_of(self, signature: OpSignature) -> tuple[int, int]:
        ranges: Ranges = signature.cache.get(operand_ranges) or signature.cached(operand_ranges)
        return ranges[self.field_name]

    def types_of(self, signature: OpSignature) -> tuple[Type, ...]:
        return signature.operand_types

    def value_at(self, op: Op, index: int) -> Value:
        return op._operands[index].value

    def values_of(self, op: Op) -> Sequence[Value]:
        return op.operands


class ResultField(ValueField[V, S]):
    """A group of results."""

    segment_sizes = RESULT_SEGMENTS

    def range_of(self, signature: OpSignature) -> tuple[int, int]:
        ranges: Ranges = signature.cache.get(result_ranges) or signature.cached(result_ranges)
        return ranges[self.field_name]

    def types_of(self, signature: OpSignature) -> tuple[Type, ...]:
        return signature.result_types

    def value_at(self, op: Op, index: int) -> OpResult:
        return op.results[index]

    def values_of(self, op: Op) -> Sequence[OpResult]:
        return op.results


class AttrField(Field, Generic[T]):
    """An inherent attribute.

    A missing required attribute is an error, unless it has a default, which is then filled in. A missing
    optional attribute stays missing, and reads as its default, or as None if it has none.
    """

    def __init__(
        self, constraint: AttrConstraint[T], name: str | None, is_optional: bool, default: Attribute | None
    ):
        self.constraint = constraint
        self.name = name or ""
        self.is_optional = is_optional
        self.default = default

    def __set_name__(self, owner: type, name: str) -> None:
        super().__set_name__(owner, name)
        self.name = self.name or name

    def of_signature(self, signature: OpSignature) -> T:
        attribute: Any = signature.attributes.get(self.name)
        if attribute is None:
            attribute = self.default
        return _MISSING if attribute is None else self.constraint.value(attribute)

    @overload
    def __get__(self, op: None, owner: type[Op]) -> Self: ...
    @overload
    def __get__(self, op: Op, owner: type[Op]) -> T: ...
    def __get__(self, op: Op | None, owner: type[Op]) -> Self | T:
        if op is None:
            return self
        # As `of_signature`, in place.
        attribute: Any = op.signature.attributes.get(self.name)
        if attribute is None:
            attribute = self.default
        return _MISSING if attribute is None else self.constraint.value(attribute)


class RegionField(Field, Generic[T]):
    """One region, or (`is_variadic`) all regions from `index` on. `index` is set by the `op` decorator."""

    index: int

    def __init__(self, constraint: RegionConstraint, is_variadic: bool, name: str | None = None) -> None:
        self.constraint = constraint
        self.is_variadic = is_variadic
        # The name in diagnostics.
        self.name = name or ""

    def __set_name__(self, owner: type, name: str) -> None:
        super().__set_name__(owner, name)
        self.name = self.name or name

    @overload
    def __get__(self, op: None, owner: type[Op]) -> RegionField[T]: ...
    @overload
    def __get__(self, op: Op, owner: type[Op]) -> T: ...
    def __get__(self, op: Op | None, owner: type[Op]) -> RegionField[T] | T:
        if op is None:
            return self
        regions: Any = op.regions
        region: T = regions[self.index :] if self.is_variadic else regions[self.index]
        return region


class SuccessorField(Field, Generic[T]):
    """One successor, or (`is_variadic`) all successors from `index` on. The `op` decorator sets `index`.

    `arguments` is the field of the operands that become the arguments of the block; None if there are none.
    Those of variadic successors follow each other in it; the attribute `segments` has the number for each.
    """

    index: int

    def __init__(
        self, arguments: OperandField[Any, Any] | None, is_variadic: bool, segments: str = ""
    ) -> None:
        self.arguments = arguments
        self.is_variadic = is_variadic
        self.segments = segments

    @overload
    def __get__(self, op: None, owner: type[Op]) -> SuccessorField[T]: ...
    @overload
    def __get__(self, op: Op, owner: type[Op]) -> T: ...
    def __get__(self, op: Op | None, owner: type[Op]) -> SuccessorField[T] | T:
        if op is None:
            return self
        blocks: Any = op.successors
        block: Any = tuple(blocks[self.index :]) if self.is_variadic else blocks[self.index]
        return cast(T, block)


def operand(constraint: TypeConstraint[C]) -> OperandField[Value, C]:
    """Exactly one operand."""
    return OperandField(constraint, ONE)


def optional_operand(constraint: TypeConstraint[C]) -> OperandField[Value | None, C | None]:
    """At most one operand."""
    return OperandField(constraint, OPTIONAL)


def operands(constraint: TypeConstraint[C]) -> OperandField[list[Value], tuple[C, ...]]:
    """Any number of operands."""
    return OperandField(constraint, VARIADIC)


def result(constraint: TypeConstraint[C]) -> ResultField[OpResult, C]:
    """Exactly one result."""
    return ResultField(constraint, ONE)


def results(constraint: TypeConstraint[C]) -> ResultField[tuple[OpResult, ...], tuple[C, ...]]:
    """Any number of results."""
    return ResultField(constraint, VARIADIC)


def attr(
    constraint: AttrConstraint[T], name: str | None = None, default: Attribute | None = None
) -> AttrField[T]:
    """A required attribute; a missing one is filled in with the default, if there is one."""
    return AttrField(constraint, name, is_optional=False, default=default)


def optional_attr(constraint: AttrConstraint[T], name: str | None = None) -> AttrField[T | None]:
    """An optional attribute; a missing one reads as None."""
    return AttrField(constraint, name, is_optional=True, default=None)


def default_valued_optional_attr(
    constraint: AttrConstraint[T], default: Attribute, name: str | None = None
) -> AttrField[T]:
    """An optional attribute; a missing one stays missing and reads as the default."""
    return AttrField(constraint, name, is_optional=True, default=default)


def region(constraint: RegionConstraint = ANY_REGION, name: str | None = None) -> RegionField[Region]:
    """Exactly one region."""
    return RegionField(constraint, is_variadic=False, name=name)


def regions(
    constraint: RegionConstraint = ANY_REGION, name: str | None = None
) -> RegionField[tuple[Region, ...]]:
    """Any number of regions, after the others."""
    return RegionField(constraint, is_variadic=True, name=name)


def successor(arguments: OperandField[Any, Any] | None = None) -> SuccessorField[Block]:
    """Exactly one successor, whose arguments are the operands of a field, if it has any."""
    return SuccessorField(arguments, is_variadic=False)


def successors(
    arguments: OperandField[Any, Any] | None = None, segments: str = ""
) -> SuccessorField[tuple[Block, ...]]:
    """Any number of successors, after the others.

    Their arguments, if they have any, are the operands of a field; the attribute `segments`, an array of
    `i32`, has the number of them for each successor.
    """
    assert (arguments is None) == (not segments)
    return SuccessorField(arguments, is_variadic=True, segments=segments)


def operand_types(signature: OpSignature, regions: Sequence[Region]) -> Sequence[Type]:
    """The result types of an operation whose results have the types of its operands."""
    return signature.operand_types


# Field name -> (index of the first value, number of values).
Ranges = dict[str, tuple[int, int]]


class DeclaredFields:
    """The fields of a class by kind.

    `attributes` is in the order in which MLIR verifies them: by name. `operand_ranges` and `result_ranges`
    are those of all operations; None if a field is optional or variadic.
    """

    __slots__ = (
        "attributes",
        "fields",
        "inherent_names",
        "operand_ranges",
        "operands",
        "regions",
        "result_ranges",
        "results",
        "successors",
    )

    def __init__(self, fields: Mapping[str, Field]) -> None:
        self.fields = fields
        declared = fields.values()
        self.operands = [field for field in declared if isinstance(field, OperandField)]
        self.results = [field for field in declared if isinstance(field, ResultField)]
        self.regions = [field for field in declared if isinstance(field, RegionField)]
        self.successors = [field for field in declared if isinstance(field, SuccessorField)]
        attributes = [field for field in declared if isinstance(field, AttrField)]
        self.attributes = sorted(attributes, key=lambda field: field.name)
        self.operand_ranges = _fixed_ranges(self.operands)
        self.result_ranges = _fixed_ranges(self.results)
        # Computed by `dialect.inherent_names`.
        self.inherent_names: frozenset[str] | None = None


def declared_fields(op_class: type[Op]) -> DeclaredFields:
    """The fields of a class, as the followed release has them."""
    declared = _declared.get(op_class)
    if declared is None or declared.fields is not op_class.fields:
        declared = _declared[op_class] = DeclaredFields(op_class.fields)
    return declared


_declared: dict[type[Op], DeclaredFields] = {}


def operand_ranges(signature: OpSignature) -> Ranges:
    """The range of each operand field in the operands, by the field's name."""
    declared = declared_fields(signature.op_class)
    if declared.operand_ranges is not None and OPERAND_SEGMENTS not in signature.attributes:
        return declared.operand_ranges
    return _ranges(signature, declared.operands, len(signature.operand_types))


def result_ranges(signature: OpSignature) -> Ranges:
    """The range of each result field in the results, by the field's name."""
    declared = declared_fields(signature.op_class)
    if declared.result_ranges is not None and RESULT_SEGMENTS not in signature.attributes:
        return declared.result_ranges
    return _ranges(signature, declared.results, len(signature.result_types))


def _fixed_ranges(fields: Sequence[ValueField[Any, Any]]) -> Ranges | None:
    if any(field.arity != ONE for field in fields):
        return None
    return {field.field_name: (index, 1) for index, field in enumerate(fields)}


def _ranges(signature: OpSignature, fields: Sequence[ValueField[Any, Any]], total: int) -> Ranges:
    """The range of each field in all `total` operands or results.

    The segment sizes attribute has the size of each field. Without it, the optional and variadic fields share
    the remaining values equally.
    """
    segments = signature.attributes.get(fields[0].segment_sizes) if fields else None
    if isinstance(segments, DenseArray):
        sizes = [int(size) for size in segments.values]
    else:
        variable_fields = sum(field.arity != ONE for field in fields)
        rest = max(total - (len(fields) - variable_fields), 0)
        # As SameVariadicOperandSize and SameVariadicResultSize require of several such fields.
        sizes = [1 if field.arity == ONE else rest // variable_fields for field in fields]
    ranges, start = {}, 0
    for field, size in zip(fields, sizes, strict=False):
        ranges[field.field_name] = (start, size)
        start += size
    return ranges


class FieldsByRelease:
    """The `fields` of a class that depend on the release: those that the followed release has."""

    def __init__(self, fields: Mapping[str, Field]) -> None:
        self._fields = fields
        self._active: dict[Release, Mapping[str, Field]] = {}

    def __get__(self, instance: Op | None, owner: type[Op]) -> Mapping[str, Field]:
        release = followed_release()
        try:
            return self._active[release]
        except KeyError:
            # These declared fields as the followed release has them.
            active = {}
            for name, declared in self._fields.items():
                field: Field | None = declared
                if declared.behavior is not None and not declared.behavior.active:
                    field = declared.before
                if field is not None:
                    active[name] = field
            return self._active.setdefault(release, active)
