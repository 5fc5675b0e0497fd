"""New operations: their parts from the values of fields, attributes from Python values, and copies.

    rewriter.build(DotGeneralOp, before=op, lhs=x, rhs=y, out=type, dot_dimension_numbers={
        "lhs_contracting_dimensions": [1], "rhs_contracting_dimensions": [0]})

An attribute is made of a value by its field: `2` becomes an `i32` if the field takes only these, `[1, 2]` a
dense array or an array, `"HIGH"` a case of an enum attribute, a dictionary an attribute with these fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.usage import nearest_or_all
from sdyopt.base.interning import Interned, field_names
from sdyopt.mlir.ir.attribute import (
    UNIT,
    Attribute,
    StringAttr,
    SymbolRef,
    Type,
    TypeAttr,
    array,
    dictionary,
)
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.builtin_attributes import DenseArray, boolean, dense, floating, integer
from sdyopt.mlir.ir.dialect import PRINTERS, complete_attributes, inherent_names
from sdyopt.mlir.ir.floats import encode_double
from sdyopt.mlir.ir.op_fields import (
    ONE,
    OPERAND_SEGMENTS,
    OPTIONAL,
    RESULT_SEGMENTS,
    AttrField,
    OperandField,
    RegionField,
    ResultField,
    SuccessorField,
    declared_fields,
)
from sdyopt.mlir.ir.op_signature import OpSignature, SignatureError
from sdyopt.mlir.ir.operation import Op, build
from sdyopt.mlir.ir.shape_traits import SAME_TYPE
from sdyopt.mlir.ir.traits import ATTR_SIZED_OPERANDS, ATTR_SIZED_RESULTS, AttrConstraint
from sdyopt.mlir.ir.types import BF16, F16, F32, F64, I1, I8, I16, I32, I64, INDEX, UI8, UI32, tensor
from sdyopt.mlir.ir.value import LazyLocation, OpOperand, Value

# --- Attributes -------------------------------------------------------------------------------------


def attribute_for(op_class: type[Op], name: str, value: object) -> Attribute:
    """The attribute of a name of an operation, with a Python value.

    Raises ValueError if the operation takes no such value. Discardable ones are made as by `attribute_of`.
    """
    field = attribute_field(op_class, name)
    if field is None:
        return attribute_of(value)
    attribute = _first_accepted(value, field.constraint, op_class.name.partition(".")[0])
    if attribute is None:
        message = f"{op_class.name} takes no {value!r} as {name!r}: {field.constraint.description}"
        raise ValueError(message + _unknown_field(value, field.constraint.cls))
    return attribute


def _unknown_field(value: object, cls: type[Any] | None) -> str:
    """Help for a dictionary with a name that is not one of a field of an attribute class; else empty."""
    if not isinstance(value, Mapping) or cls is None or not issubclass(cls, Interned):
        return ""
    unknown = [name for name in value if name not in field_names(cls)]
    return (
        f"; it has no field {unknown[0]!r}; {nearest_or_all(unknown[0], field_names(cls))}" if unknown else ""
    )


def attribute_field(op_class: type[Op], name: str) -> AttrField[Any] | None:
    """The field of an inherent attribute, by its name in the program or in the class."""
    fields = declared_fields(op_class).attributes
    return next((field for field in fields if name in (field.name, field.field_name)), None)


def attribute_of(value: object) -> Attribute:
    """The attribute with a Python value: an `i64`, an `f64`, … Raises TypeError if there is none."""
    attribute = next(_candidates(value, ()), None)
    if attribute is None:
        raise TypeError(f"no attribute has the value {value!r}")
    return attribute


def _first_accepted(value: object, constraint: AttrConstraint[Any], dialect: str) -> Attribute | None:
    """The first attribute with a value that satisfies a constraint."""
    if isinstance(value, Attribute) and not isinstance(value, Type):
        return value
    own = [cls for cls in PRINTERS if cls.dialect == dialect and not issubclass(cls, Type)]
    classes = own if constraint.cls is None else [constraint.cls, *own]
    return next(filter(constraint.accepts, _candidates(value, classes)), None)


def _candidates(value: object, classes: Sequence[type[Any]]) -> Iterator[Attribute]:
    """The attributes with a Python value, the most usual first; `classes` are those of dialects."""
    match value:
        case Type():
            yield TypeAttr(value)
        case Attribute():
            yield value
        case bool():
            yield boolean(value)
            if value:
                yield UNIT
        case int():
            yield from (integer(value, type) for type in (I64, I32, INDEX, I16, I8, UI32, UI8))
            yield from _candidates(float(value), classes)
        case float():
            yield from (floating(value, type) for type in (F64, F32, F16, BF16))
        case str():
            yield StringAttr(value)
            yield SymbolRef(value)
            yield from (cls(value) for cls in classes if value in getattr(cls, "cases", ()))
        case Mapping():
            if all(isinstance(name, str) for name in value):
                for cls in classes:
                    yield from _with_fields(cls, value)
                yield dictionary({name: attribute_of(item) for name, item in value.items()})
        case Sequence():
            yield from _arrays(value, classes)


def _with_fields(cls: type[Attribute], values: Mapping[str, object]) -> Iterator[Attribute]:
    """The attribute of a class with these fields, if it has them and defaults for the others."""
    if values.keys() <= set(field_names(cls)) and None not in values.values():
        with suppress(TypeError):
            yield cls(**frozen(values))


def _arrays(values: Sequence[Any], classes: Sequence[type[Any]]) -> Iterator[Attribute]:
    """The arrays, dense arrays and vectors of some values."""
    alternatives = [list(_candidates(value, classes)) for value in values]
    if not all(alternatives):
        return
    yield array([attributes[0] for attributes in alternatives])
    # Elements of one kind: a value such as `DEFAULT` may be a case of several enums.
    by_kind = [{_kind(attribute): attribute for attribute in attributes} for attributes in alternatives]
    for kind in by_kind[0] if by_kind else ():
        if all(kind in attributes for attributes in by_kind):
            yield array([attributes[kind] for attributes in by_kind])
    if all(isinstance(value, int) for value in values):
        if set(values) <= {0, 1}:
            yield DenseArray(I1, tuple(map(int, values)))
        yield from (DenseArray(type, tuple(map(int, values))) for type in (I64, I32))
        data = b"".join([int(value).to_bytes(8, "little", signed=True) for value in values])
        yield dense(tensor((len(values),), I64), data)
    elif all(isinstance(value, float) for value in values):
        for type in (F64, F32):
            yield DenseArray(type, tuple([encode_double(value, type.format) for value in values]))


def _kind(attribute: Attribute) -> tuple[object, ...]:
    return type(attribute), getattr(attribute, "type", None)


def frozen(value: Any) -> Any:
    """A value with tuples in place of lists, as the fields of attributes have them."""
    if isinstance(value, Mapping):
        return {name: frozen(item) for name, item in value.items()}
    return tuple(map(frozen, value)) if isinstance(value, list | tuple) else value


# --- Operations -------------------------------------------------------------------------------------


class OpParts(NamedTuple):
    """What a new operation is made of."""

    operands: Sequence[Value]
    result_types: Sequence[Type]
    attributes: Mapping[str, Attribute]
    regions: Sequence[Region]
    successors: Sequence[Block]


def parts_of(op_class: type[Op], values: Mapping[str, object], location: LazyLocation) -> OpParts:
    """The parts of an operation with these values of its fields. Raises ValueError for others.

    An operand is a value, or a list of values if the field is variadic; an attribute a Python value; a region
    a region, or the types of the arguments of its only block; a result its type, by default inferred. A name
    with a dot that is not one of a field is that of a discardable attribute.
    """
    fields = op_class.fields
    unknown = [name for name in values if name not in fields and not attribute_field(op_class, name)]
    for name in unknown:
        if "." not in name:
            raise ValueError(f"{op_class.name} has no field {name!r}; {nearest_or_all(name, fields)}")
    operands: list[Value] = []
    segments: dict[str, list[int]] = {OPERAND_SEGMENTS: [], RESULT_SEGMENTS: []}
    regions: list[Region] = []
    successors: list[Block] = []
    attributes = {name: attribute_of(values[name]) for name in unknown}
    for name, field in fields.items():
        value = values.get(name)
        match field:
            case OperandField():
                group = _group(op_class, name, field.arity, value)
                operands += group
                segments[OPERAND_SEGMENTS].append(len(group))
            case AttrField():
                value = values.get(field.name) if value is None else value
                # False is the absence of a unit attribute.
                if value is not None and not (value is False and field.is_optional):
                    attributes[field.name] = attribute_for(op_class, field.name, value)
            case RegionField():
                group = _group(
                    op_class, name, ONE if not field.is_variadic else "", () if value is None else value
                )
                regions += [_region(region, location) for region in group]
            case SuccessorField():
                successors += _group(op_class, name, "" if field.is_variadic else ONE, value)
    if ATTR_SIZED_OPERANDS in op_class.traits:
        attributes[OPERAND_SEGMENTS] = DenseArray(I32, tuple(segments[OPERAND_SEGMENTS]))
    results = [(name, field) for name, field in fields.items() if isinstance(field, ResultField)]
    if any(name in values for name, _ in results):
        types = []
        for name, field in results:
            group = _group(op_class, name, field.arity, values.get(name))
            types += group
            segments[RESULT_SEGMENTS].append(len(group))
        if ATTR_SIZED_RESULTS in op_class.traits:
            attributes[RESULT_SEGMENTS] = DenseArray(I32, tuple(segments[RESULT_SEGMENTS]))
    else:
        types = inferred_types(op_class, operands, attributes, regions)
    return OpParts(operands, types, attributes, regions, successors)


def _group(op_class: type[Op], name: str, arity: str, value: Any) -> list[Any]:
    """The values of a field as a list. Raises ValueError for a missing one."""
    if arity == ONE:
        if value is None:
            raise ValueError(f"{op_class.name} needs its field {name!r}")
        return [value]
    if value is None:
        return []
    return [value] if arity == OPTIONAL else list(value)


def _region(region: Region | Sequence[Type], location: LazyLocation) -> Region:
    return region if isinstance(region, Region) else region_of(region, location)


def region_of(types: Sequence[Type], location: LazyLocation) -> Region:
    """A region of one block with arguments of these types."""
    region = Region()
    block = region.add_block()
    for type in types:
        block.add_argument(type, location)
    return region


def inferred_types(
    op_class: type[Op],
    operands: Sequence[Value],
    attributes: Mapping[str, Attribute],
    regions: Sequence[Region] = (),
) -> list[Type]:
    """The result types of an operation. Raises ValueError if they cannot be inferred."""
    types = tuple([value.type for value in operands])
    declared = declared_fields(op_class).results
    if not declared:
        return []
    if op_class.infer_result_types is not None and (regions or not op_class.declares_regions):
        names = inherent_names(op_class)
        given = dictionary({name: value for name, value in attributes.items() if name in names})
        signature = OpSignature(op_class, op_class.name, complete_attributes(op_class, given), types, ())
        try:
            return list(op_class.infer_result_types(signature, regions))
        except SignatureError as error:
            raise ValueError(f"the result types of {op_class.name} cannot be inferred: {error}") from None
    only = [field.constraint.only for field in declared if field.arity == ONE]
    if len(only) == len(declared) and None not in only:
        return [type for type in only if type is not None]
    if len(declared) == 1 and SAME_TYPE in op_class.traits and types:
        return [types[0]]
    raise ValueError(f"the result types of {op_class.name} are not inferred: give result_types")


def clone(op: Op, values: dict[Value, Value], blocks: dict[Block, Block]) -> Op:
    """A copy of an operation, in no block, with its regions.

    Operands and successors are replaced as `values` and `blocks` say. Both get what is copied, with its copy.
    """
    unmapped: list[OpOperand] = []
    copy = _clone(op, values, blocks, unmapped)
    _map(unmapped, values)
    return copy


def clone_blocks(
    source: Region, target: Region, values: dict[Value, Value], blocks: dict[Block, Block]
) -> None:
    """Copies the blocks of a region to the end of another one. Arguments that `values` has are left out."""
    unmapped: list[OpOperand] = []
    _clone_blocks(source, target, values, blocks, unmapped)
    _map(unmapped, values)


def _clone(op: Op, values: dict[Value, Value], blocks: dict[Block, Block], unmapped: list[OpOperand]) -> Op:
    """As `clone`. Adds the uses of values that are not copied, or copied later, to `unmapped`."""
    regions = tuple([Region() for _ in op.regions]) if op.regions else ()
    successors = tuple([blocks.get(block, block) for block in op.successors]) if op.successors else ()
    operands = [values.get(use.value, use.value) for use in op._operands]
    copy = build(op.signature, operands, op.attributes, op.lazy_location, regions, successors)
    for use, original in zip(copy._operands, op._operands, strict=True):
        if use.value is original.value:
            unmapped.append(use)
    for name in op.mutable_attributes:
        copy.set_mutable_attribute(name, op.mutable_attribute(name))
    values.update(zip(op.results, copy.results, strict=True))
    for region, new_region in zip(op.regions, regions, strict=True):
        _clone_blocks(region, new_region, values, blocks, unmapped)
    return copy


def _clone_blocks(
    source: Region,
    target: Region,
    values: dict[Value, Value],
    blocks: dict[Block, Block],
    unmapped: list[OpOperand],
) -> None:
    for block in source.blocks:
        blocks[block] = target.add_block()
        for argument in block.arguments:
            if argument not in values:
                values[argument] = blocks[block].add_argument(argument.type, argument.lazy_location)
    for block in source.blocks:
        for child in block.ops:
            blocks[block].append(_clone(child, values, blocks, unmapped))


def _map(uses: Iterable[OpOperand], values: Mapping[Value, Value]) -> None:
    """Replaces used values that were copied after their uses, as in graph regions."""
    for use in uses:
        copy = values.get(use.value, use.value)
        if copy is not use.value:
            use.unlink()
            use.link(copy)
