"""Traits of operations, and constraints on operands, results, attributes and regions, in MLIR's words.

The verifiers of an operation's traits run in the order in which its class lists the traits: as in MLIR,
`verify_structure` before the checks of the declared fields, the others after them.

Diagnostics contain the description: "operand #0 must be {description}, but got …" and
"attribute 'x' failed to satisfy constraint: {description}".
"""

from __future__ import annotations

from collections.abc import Callable
from types import UnionType
from typing import Any, Generic, TypeVar

from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.ir.attribute import ArrayAttr, Attribute, DictAttr, StringAttr, SymbolRef, TypeAttr, UnitAttr
from sdyopt.mlir.ir.builtin_attributes import (
    DenseArray,
    DenseElements,
    DenseResource,
    DenseStringElements,
    FloatAttr,
    IntegerAttr,
    SparseElements,
)
from sdyopt.mlir.ir.types import F32, F64, I1, INDEX, FloatType, FunctionType, IntegerType, Type


@dataclass(frozen=True, eq=False)
class Trait:
    """A named property of an operation class. Compared by identity.

    `verify_signature(signature)` raises SignatureError; `verify_in_context(op)` and, after the nested
    operations are verified, `verify_regions(op)` raise DiagnosticError. `verify_structure(op)` runs before
    all others, and only on operations that have or declare regions. `terminator` is the name of the last
    operation of each region, if it must be one, and `implies_terminator` whether the text may omit it.
    """

    name: str
    verify_signature: Callable[[Any], None] | None = None
    verify_in_context: Callable[[Any], None] | None = None
    verify_regions: Callable[[Any], None] | None = None
    verify_structure: Callable[[Any], None] | None = None
    terminator: str = ""
    implies_terminator: bool = False


@dataclass(frozen=True, eq=False)
class InfersTypes(Trait):
    """The result types must match those that `infer_result_types` returns: `accepts(inferred, actual)`."""

    accepts: Callable[[Type, Type], bool] = lambda inferred, actual: inferred is actual


def _check_is_last(op: Any) -> None:
    if op.parent is None or op.parent.last is not op:
        error = op.op_error("must be the last operation in the parent block")
        raise error.help("remove what follows it in the block, or move it to the end")


def _check_symbol(op: Any) -> None:
    """Checks the visibility and the parent of a symbol."""
    if op.fields["sym_name"].is_optional and op.attribute("sym_name") is None:
        return
    visibility = op.attribute("sym_visibility")
    visible = "public" if visibility is None else visibility.value
    if visible not in _VISIBILITIES:
        raise op.op_error(
            f'visibility expected to be one of ["public", "private", "nested"], but got "{visible}"'
        )
    if visible == "public" and getattr(op, "is_declaration", False):
        error = op.op_error("symbol declaration cannot have public visibility")
        raise error.help("write `private` before the name, or give the function a body")
    parent = op.parent_op
    if parent is not None and parent.name and all(t.name != "symbol-table" for t in parent.traits):
        raise op.op_error("symbol's parent must have the SymbolTable trait")


_VISIBILITIES = ("public", "private", "nested")
# No memory effects and speculatable: may be erased when unused, merged by CSE, and hoisted.
PURE = Trait("pure")
# No memory effects, but undefined for some operand values, so not speculatable.
NO_MEMORY_EFFECT = Trait("no-memory-effect")
# Has the memory effects of the operations in its regions.
RECURSIVE_EFFECTS = Trait("recursive-memory-effects")
# A constant: no operands, one result, folds to its `value` attribute.
CONSTANT_LIKE = Trait("constant-like")
# Operands commute; folding moves constants to the right.
COMMUTATIVE = Trait("commutative")
# Regions use no values defined outside the operation.
ISOLATED = Trait("isolated-from-above")
# The region arguments stand for the operands with the same indices, and have the shardings of these.
RENAMES_OPERANDS = Trait("renames-operands")
# Must be the last operation of its block.
TERMINATOR = Trait("terminator", verify_in_context=_check_is_last)
# Blocks of its regions need no terminator.
NO_TERMINATOR = Trait("no-terminator")
# Regions are graph regions: uses may precede definitions.
GRAPH_REGION = Trait("graph-region")
# Defines a symbol with its `sym_name` attribute.
SYMBOL = Trait("symbol", verify_in_context=_check_symbol)
# A function-like operation: callable, with a body region.
FUNCTION = Trait("function")
# A scope for affine dimensions and symbols.
AFFINE_SCOPE = Trait("affine-scope")
# The segment sizes attribute has the number of operands (results) of each field.
ATTR_SIZED_OPERANDS = Trait("attr-sized-operand-segments")
ATTR_SIZED_RESULTS = Trait("attr-sized-result-segments")
# All variadic groups of operands have the same size.
SAME_SIZE_OPERANDS = Trait("same-variadic-operand-size")
# Result types are inferred, and must equal the inferred ones.
INFERS_TYPES = InfersTypes("infer-type-op-interface")


T = TypeVar("T")
PythonValue = TypeVar("PythonValue", covariant=True)
C = TypeVar("C", bound=Type, covariant=True)
Number = TypeVar("Number", int, FloatAttr)


@dataclass(frozen=True, eq=False)
class TypeConstraint(Generic[C]):
    """A set of types, all of class `C`, and its description; `only` is the type if there is just one."""

    description: str
    accepts: Callable[[Type], bool]
    only: Type | None = None


@dataclass(frozen=True, eq=False)
class AttrConstraint(Generic[PythonValue]):
    """A set of attributes, its description, and the conversion of an attribute to its Python value.

    The parser rejects an inherent attribute of another storage class in `<{…}>` before anything is verified.
    `accepts_storage` accepts every attribute of the storage class; None if `accepts` does. For example, the
    storage class of a positive integer attribute is that of all integer attributes. `cls` is the class if the
    Python value is the attribute itself. `type` is the type of the attributes if they all have one, which
    assembly formats do not print then.
    """

    description: str
    accepts: Callable[[Attribute], bool]
    value: Callable[[Any], PythonValue]
    accepts_storage: Callable[[Attribute], bool] | None = None
    cls: type[Any] | None = None
    type: Type | None = None

    def has_storage_class(self, attribute: Attribute) -> bool:
        """Whether an operation can store this attribute, valid or not."""
        accepts = self.accepts if self.accepts_storage is None else self.accepts_storage
        return accepts(attribute)


@dataclass(frozen=True, eq=False)
class RegionConstraint:
    """A set of regions, and its description.

    The error is "region #0 ('body') failed to verify constraint: {description}".
    """

    description: str
    accepts: Callable[[Any], bool]


ANY_TYPE: TypeConstraint[Type] = TypeConstraint("any type", lambda type: True)
ANY_REGION = RegionConstraint("any region", lambda region: True)
ONE_BLOCK = RegionConstraint("region with 1 blocks", lambda region: len(region.blocks) == 1)


def _is_a(cls: type | UnionType) -> Callable[[Attribute], bool]:
    return lambda attribute: isinstance(attribute, cls)


def of_class(cls: type[T], description: str) -> AttrConstraint[T]:
    """The attributes of a Python class, not of its subclasses; the Python value is the attribute itself."""
    return AttrConstraint(description, lambda a: type(a) is cls, lambda attribute: attribute, cls=cls)


def exactly(type: Type, description: str) -> TypeConstraint[Type]:
    """A single type."""
    return TypeConstraint(description, lambda other: other is type, only=type)


INDEX_VALUE = exactly(INDEX, "index")
BOOLEAN_VALUE = exactly(I1, "1-bit signless integer")


def _is_integer(width: int) -> Callable[[Attribute], bool]:
    type = IntegerType(width)
    return lambda attribute: isinstance(attribute, IntegerAttr) and attribute.type is type


def _integer(width: int) -> AttrConstraint[int]:
    return AttrConstraint(
        f"{width}-bit signless integer attribute",
        _is_integer(width),
        lambda a: a.value,
        _is_a(IntegerAttr),
        type=IntegerType(width),
    )


def _number(value: int | FloatAttr) -> float:
    return value.value if isinstance(value, FloatAttr) else value


def non_negative(constraint: AttrConstraint[Number]) -> AttrConstraint[Number]:
    """The integers or floats of a constraint that are at least 0."""
    return AttrConstraint(
        f"{constraint.description} whose value is non-negative",
        lambda a: constraint.accepts(a) and _number(constraint.value(a)) >= 0,
        constraint.value,
        constraint.has_storage_class,
        type=constraint.type,
    )


def positive(constraint: AttrConstraint[Number]) -> AttrConstraint[Number]:
    """The integers or floats of a constraint that are more than 0."""
    return AttrConstraint(
        f"{constraint.description} whose value is positive",
        lambda a: constraint.accepts(a) and _number(constraint.value(a)) > 0,
        constraint.value,
        constraint.has_storage_class,
        type=constraint.type,
    )


def _float(type: FloatType) -> AttrConstraint[FloatAttr]:
    return AttrConstraint(
        f"{type.width}-bit float attribute",
        lambda a: isinstance(a, FloatAttr) and a.type is type,
        lambda a: a,
        _is_a(FloatAttr),
        type=type,
    )


I32_ATTR = _integer(32)
I64_ATTR = _integer(64)
INDEX_ATTR: AttrConstraint[int] = AttrConstraint(
    "index attribute",
    lambda a: isinstance(a, IntegerAttr) and a.type is INDEX,
    lambda a: a.value,
    type=INDEX,
)
BOOL_ATTR: AttrConstraint[bool] = AttrConstraint("bool attribute", _is_integer(1), lambda a: bool(a.value))
STRING_ATTR: AttrConstraint[str] = AttrConstraint(
    "string attribute", lambda a: isinstance(a, StringAttr), lambda a: a.value
)
UNIT_ATTR: AttrConstraint[bool] = AttrConstraint(
    "unit attribute", lambda a: isinstance(a, UnitAttr), lambda a: True
)
F32_ATTR = _float(F32)
F64_ATTR = _float(F64)
FUNCTION_TYPE_ATTR: AttrConstraint[FunctionType] = AttrConstraint(
    "type attribute of function type",
    lambda a: isinstance(a, TypeAttr) and isinstance(a.type, FunctionType),
    lambda a: a.type,
    _is_a(TypeAttr),
)


def any_attribute(description: str) -> AttrConstraint[Attribute]:
    """All attributes."""
    return AttrConstraint(description, lambda a: True, lambda a: a, cls=Attribute)


ANY_ATTR = any_attribute("any attribute")
ARRAY_ATTR = of_class(ArrayAttr, "array attribute")
DICT_ATTR = of_class(DictAttr, "dictionary of named attribute values")
DICT_ARRAY_ATTR = AttrConstraint[ArrayAttr](
    "Array of dictionary attributes",
    lambda a: isinstance(a, ArrayAttr) and all(isinstance(e, DictAttr) for e in a.elements),
    lambda a: a,
    _is_a(ArrayAttr),
)
FLAT_SYMBOL_ATTR: AttrConstraint[str] = AttrConstraint(
    "flat symbol reference attribute",
    lambda a: isinstance(a, SymbolRef) and not a.nested,
    lambda a: a.root,
)
Elements = DenseElements | DenseStringElements | DenseResource | SparseElements
ELEMENTS_ATTR: AttrConstraint[Elements] = AttrConstraint(
    "constant vector/tensor attribute", lambda a: isinstance(a, Elements), lambda a: a
)


def _dense_array(width: int) -> AttrConstraint[tuple[int, ...]]:
    type = IntegerType(width)
    return AttrConstraint(
        f"i{width} dense array attribute",
        lambda a: isinstance(a, DenseArray) and a.element is type,
        lambda a: a.values,
    )


I32_ARRAY = _dense_array(32)
I64_ARRAY = _dense_array(64)
INTEGER_ELEMENTS_ATTR: AttrConstraint[DenseElements] = AttrConstraint(
    "integer elements attribute",
    lambda a: isinstance(a, DenseElements) and isinstance(a.type.element, IntegerType),
    lambda a: a,
    _is_a(DenseElements),
)
BOOL_ARRAY: AttrConstraint[tuple[bool, ...]] = AttrConstraint(
    "i1 dense array attribute",
    lambda a: isinstance(a, DenseArray) and a.element is IntegerType(1),
    lambda a: tuple(bool(v) for v in a.values),
)
