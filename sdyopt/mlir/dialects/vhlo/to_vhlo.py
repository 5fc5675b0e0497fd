"""Converts programs from StableHLO to VHLO."""

from __future__ import annotations

from collections.abc import Iterable

from sdyopt.mlir.asm.printer.asm_printer import legalization_error
from sdyopt.mlir.dialects.builtin import UnrealizedConversionCastOp
from sdyopt.mlir.dialects.stablehlo.replica_groups import ChannelHandle
from sdyopt.mlir.dialects.vhlo.attributes import (
    NO_TYPE,
    ArrayV1,
    BoolV1,
    CustomCallApiVersionV1,
    DictV1,
    IntegerV1,
    TypeV1,
)
from sdyopt.mlir.dialects.vhlo.conversion import NotConvertible, i64_elements, to_vhlo, to_vhlo_type
from sdyopt.mlir.dialects.vhlo.defaults import DEFAULTS
from sdyopt.mlir.dialects.vhlo.dialect import CURRENT, vhlo
from sdyopt.mlir.dialects.vhlo.from_vhlo import COMBINED
from sdyopt.mlir.dialects.vhlo.ops import VhloOp
from sdyopt.mlir.dialects.vhlo.types import SimpleType
from sdyopt.mlir.ir.attribute import Attribute, DictAttr, Type, UnitAttr, dictionary
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr
from sdyopt.mlir.ir.dialect import inherent_names
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import NO_ATTRIBUTES, Op, build
from sdyopt.mlir.ir.value import BlockArgument, LazyLocation, OpOperand, Value

# The newest operation of each name without its version.
_NEWEST = {
    op_class.base: op_class
    for op_class in vhlo.ops.values()
    if issubclass(op_class, VhloOp) and op_class.last == CURRENT
}


def legalize_to_vhlo(module: Op, allows_other_dialects: bool) -> None:
    """Converts all operations of StableHLO, and functions, to VHLO.

    Operations of other dialects stay if they are allowed, with casts of their operands and results. Raises
    DiagnosticError for an operation that has no counterpart.
    """
    _ToVhlo(allows_other_dialects).convert(module)


class _ToVhlo:
    def __init__(self, allows_other_dialects: bool) -> None:
        self._allows_others = allows_other_dialects
        # The values that are cast to VHLO.
        self._casts: dict[Value, None] = {}
        self._signatures: dict[tuple[OpSignature, DictAttr], tuple[OpSignature, DictAttr]] = {}

    def convert(self, module: Op) -> None:
        ops = list(module.walk())
        for op in ops:
            if _is_converted(op):
                for region in op.regions:
                    for block in region.blocks:
                        for argument in block.arguments:
                            argument.type = self._type(argument.type, op)
        for op in ops:
            if _is_converted(op):
                self._convert_op(op)
        if self._allows_others:
            for op in ops:
                if op.parent is not None and not isinstance(op, VhloOp):
                    self._cast_operands(op)
        for value in self._casts:
            # MLIR inserts the casts after the conversion, which reverses the uses of their results.
            _reverse_uses(value, value.uses)
            cast = value.defining_op
            assert cast is not None
            [use] = cast.operand_uses
            others = [other for other in use.value.uses if other is not use]
            # The cast is the first user in the program, and so the last of the uses.
            _reverse_uses(use.value, [use, *reversed(others)])

    def _type(self, type: Type, op: Op) -> Type:
        try:
            return self._converted_type(type)
        except NotConvertible:
            raise legalization_error(op) from None

    def _converted_type(self, type: Type) -> Type:
        converted = to_vhlo_type(type)
        if not self._allows_others and converted.dialect != "vhlo":
            raise NotConvertible
        return converted

    def _convert_op(self, op: Op) -> None:
        key = (op.signature.with_attributes(op.inherent_attributes()), op.attributes)
        converted = self._signatures.get(key)
        if converted is None:
            try:
                converted = self._signatures[key] = self._convert_signature(op)
            except NotConvertible:
                raise legalization_error(op) from None
        signature, attributes = converted
        operands = [self._converted_value(value, op) for value in op.operands]
        block = op.parent
        assert block is not None
        for use in op.operand_uses:
            use.unlink()
        new = build(signature, operands, attributes, op.lazy_location, op.regions, op.successors)
        for successor in op.successors:
            successor.uses -= 1
        op.regions = ()
        block.insert_before(op, new)
        block.detach(op)
        for old, result in zip(op.results, new.results, strict=True):
            for use in reversed(list(old.uses)):
                use.unlink()
                use.link(result)

    def _converted_value(self, value: Value, op: Op) -> Value:
        """The operand of an operation with a type of VHLO: a cast of a result of another dialect."""
        converted = to_vhlo_type(value.type)
        if converted is value.type:
            return value
        cast = _cast(value, converted, op.lazy_location)
        self._casts[cast] = None
        return cast

    def _cast_operands(self, op: Op) -> None:
        """Casts the operands of an operation of another dialect back."""
        types = op.signature.operand_types
        for use, type in zip(op.operand_uses, types, strict=True):
            if use.value.type is not type:
                cast = _cast(use.value, type, use.value.lazy_location)
                use.unlink()
                use.link(cast)

    def _attribute(self, attribute: Attribute) -> Attribute:
        try:
            converted = to_vhlo(attribute)
        except NotConvertible:
            if not self._allows_others or attribute.dialect in ("stablehlo", "vhlo"):
                raise
            return attribute
        if not self._allows_others and not _is_vhlo(converted):
            raise NotConvertible
        return converted

    def _convert_signature(self, op: Op) -> tuple[OpSignature, DictAttr]:
        old = op.signature
        base = old.name.partition(".")[2]
        op_class = _NEWEST.get(base)
        if op_class is None:
            raise NotConvertible
        attributes = self._vhlo_attributes(base, dict(op.inherent_attributes().entries))
        discardable = {name: self._attribute(value) for name, value in op.attributes.entries}
        inherent = inherent_names(op_class)
        for name in list(attributes):
            if name not in inherent:
                discardable[name] = attributes.pop(name)
        signature = OpSignature(
            op_class,
            op_class.name,
            dictionary(attributes),
            tuple([self._converted_type(type) for type in old.operand_types]),
            tuple([self._converted_type(type) for type in old.result_types]),
        )
        return signature, dictionary(discardable)

    def _vhlo_attributes(self, base: str, attributes: dict[str, Attribute]) -> dict[str, Attribute]:
        """The attributes of an operation of VHLO from those of the operation of StableHLO."""
        converted: dict[str, Attribute] = {}
        for name, default in DEFAULTS.get(base, {}).items():
            stablehlo_name = "channel_handle" if name == "channel_id" else name
            if stablehlo_name not in attributes:
                converted[name] = default.make(attributes)
        if base == "select_and_scatter" and "window_dimensions" not in attributes:
            raise NotConvertible
        for name, _, reads in COMBINED.get(base, ()):
            combined = attributes.pop(name, None)
            if combined is None:
                # Only the algorithm of a dot_general may be missing.
                converted.update(dict.fromkeys(reads, NO_TYPE))
            else:
                fields = [getattr(combined, field) for field in combined._names]
                converted.update(zip(reads, map(_part, fields), strict=True))
        for name, value in attributes.items():
            if isinstance(value, ChannelHandle):
                converted["channel_id"] = _part(value.handle)
            elif isinstance(value, UnitAttr) and name in ("use_global_device_ids", "has_dynamic_root"):
                converted[name] = BoolV1(True)
            elif name == "api_version" and base == "custom_call":
                cases = CustomCallApiVersionV1.cases
                if not isinstance(value, IntegerAttr) or not 0 <= value.value < len(cases):
                    raise NotConvertible
                converted[name] = CustomCallApiVersionV1(cases[value.value])
            else:
                converted[name] = self._attribute(value)
        return converted


def _is_vhlo(attribute: Attribute) -> bool:
    """Whether an attribute and all those inside it are of VHLO. Those of elements are not looked at."""
    pending = [attribute]
    while pending:
        part = pending.pop()
        if part.dialect != "vhlo":
            return False
        if isinstance(part, ArrayV1):
            pending += part.elements
        elif isinstance(part, DictV1):
            pending += [value for _, value in part.entries]
    return True


def _is_converted(op: Op) -> bool:
    return op.dialect_name in ("stablehlo", "func")


def _part(value: object) -> Attribute:
    """The attribute of VHLO of a field of an attribute of StableHLO."""
    if isinstance(value, bool):
        return BoolV1(value)
    if isinstance(value, int):
        return IntegerV1(SimpleType("i64_v1"), value)
    if isinstance(value, tuple):
        return to_vhlo(i64_elements(value))
    assert isinstance(value, Type)
    return TypeV1(to_vhlo_type(value))


def _reverse_uses(value: Value, uses: Iterable[OpOperand]) -> None:
    """Makes these the uses of a value, in reverse order."""
    for use in list(uses):
        use.unlink()
        use.link(value)


def _cast(value: Value, type: Type, location: LazyLocation) -> Value:
    """A value with another type: the result of a cast after its definition, which there may already be."""
    for use in value.uses:
        owner = use.owner
        if isinstance(owner, UnrealizedConversionCastOp) and owner.results[0].type is type:
            return owner.results[0]
    name = UnrealizedConversionCastOp.name
    signature = OpSignature(UnrealizedConversionCastOp, name, NO_ATTRIBUTES, (value.type,), (type,))
    cast = build(signature, (value,), location=location)
    definition, block = value.defining_op, value.block
    assert block is not None
    anchor = block.first if definition is None else definition.next
    if isinstance(value, BlockArgument) and type.dialect != "vhlo":
        # MLIR casts arguments back in their order, each at the start of the block.
        while isinstance(anchor, UnrealizedConversionCastOp) and _is_of_later_argument(anchor, value):
            anchor = anchor.next
    block.insert_before(anchor, cast)
    return cast.results[0]


def _is_of_later_argument(cast: Op, argument: BlockArgument) -> bool:
    operand = cast.operand_at(0)
    return (
        isinstance(operand, BlockArgument)
        and operand.block is argument.block
        and operand.index > argument.index
    )
