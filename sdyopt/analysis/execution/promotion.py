"""Promotion: a program that computes in f64 what the original computes in f32, f16 and bf16.

Rounding then vanishes, and mistakes stay: a program that is partitioned correctly adds the same numbers in
another order, which changes a sum by 1e-7 of its size in f32 and by 1e-16 in f64.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence

from sdyopt.base.interning import field_names
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.ir.attribute import Attribute, DictAttr, nested_attributes, string
from sdyopt.mlir.ir.builtin_attributes import DenseArray, DenseElements, FloatAttr
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import BF16, F16, F32, F64, ComplexType, FloatType, RankedTensor, Type

# The `struct` format of each promoted type; the bits of bf16 are the upper half of those of f32.
_FORMATS = {F32: "f", F16: "e", BF16: "H"}

# Operations that depend on how their operands are represented, or are implemented for one type.
_SEES_BITS = ("stablehlo.bitcast_convert", "stablehlo.reduce_precision", "stablehlo.custom_call")

# Attributes of batch normalization, which must be f32.
_ALWAYS_F32 = ("epsilon",)

# Custom calls of any float type: those that only carry a sharding or a placement, and those of mhlo.
_OF_ANY_FLOAT = (
    *("Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "mhlo.sharding"),
    *("annotate_device_placement", "mhlo.erf", "mhlo.topk"),
)

# LAPACK has a function for each type, named by its first letter.
_LAPACK = re.compile(r"lapack_([sdcz])(\w+_ffi)")
_IN_DOUBLE = {"s": "d", "c": "z"}


def reason_not_to_promote(module: ModuleOp) -> str:
    """The reason for which a program must be run in its own types; empty if it can be promoted."""
    for op in module.walk():
        if op.name in _SEES_BITS and _has_promoted_type(op) and not _is_of_any_float(_target(op)):
            return f"'{op.name}' depends on how numbers are represented"
    return ""


def _has_promoted_type(op: Op) -> bool:
    return any(map(_is_promoted, (*op.operand_types, *op.result_types)))


def _is_promoted(type: Type) -> bool:
    return any(
        nested_attribute in _FORMATS
        for nested_attribute in nested_attributes(type)
        if isinstance(nested_attribute, FloatType)
    )


def _target(op: Op) -> str:
    return str(getattr(op.attribute("call_target_name"), "value", ""))


def _is_of_any_float(target: str) -> bool:
    return target in _OF_ANY_FLOAT or _LAPACK.fullmatch(target) is not None


def promote(module: ModuleOp) -> None:
    """Promotes a program in place."""
    rewriter, attributes = Rewriter(), AttributeRewriter(_promoted)

    def promoted_type(type: Type) -> Type:
        promoted_type = attributes.rewrite(type)
        assert isinstance(promoted_type, Type)
        return promoted_type

    for op in list(module.walk()):
        for region in op.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    rewriter.retype_argument(argument, promoted_type(argument.type))
        signature = op.signature
        inherent = attributes.inherent(signature.attributes)
        op.signature = OpSignature(
            signature.op_class, signature.name, inherent, signature.operand_types, signature.result_types
        )
        lapack = _LAPACK.fullmatch(_target(op))
        if lapack is not None:
            letter = _IN_DOUBLE.get(lapack[1], lapack[1])
            rewriter.set_attribute(op, "call_target_name", string(f"lapack_{letter}{lapack[2]}"))
        # A dot may name the type that it accumulates in; f64 has no such choice.
        rewriter.remove_attribute(op, "algorithm")
        rewriter.retype(op, [promoted_type(result.type) for result in op.results])
    # Users may precede definitions in the walk of a graph region.
    for op in module.walk():
        rewriter.retype(op, op.result_types)


def _promoted(attribute: Attribute) -> Attribute | None:
    """The promoted type, or the literal converted to f64; None for other attributes."""
    if isinstance(attribute, FloatType):
        return F64 if attribute in _FORMATS else attribute
    if isinstance(attribute, DenseElements):
        element = attribute.type.element
        is_complex = isinstance(element, ComplexType)
        number = element.element if isinstance(element, ComplexType) else element
        if not isinstance(number, FloatType) or number not in _FORMATS:
            return attribute
        assert isinstance(attribute.type, RankedTensor)
        promoted = ComplexType(F64) if is_complex else F64
        type = RankedTensor(attribute.type.shape, promoted, attribute.type.encoding)
        return DenseElements(type, _as_doubles(attribute.data, number))
    if isinstance(attribute, DenseArray) and attribute.element in _FORMATS:
        return DenseArray(F64, tuple([_bits(value, attribute.element) for value in attribute.values]))
    if isinstance(attribute, FloatAttr) and attribute.type in _FORMATS:
        return FloatAttr(_bits(attribute.bits, attribute.type), F64)
    return None


def _as_doubles(data: bytes, type: FloatType) -> bytes:
    letter = _FORMATS[type]
    numbers: Sequence[float] = struct.unpack(f"<{len(data) // struct.calcsize(letter)}{letter}", data)
    if type is BF16:
        shifted = struct.pack(f"<{len(numbers)}I", *[int(bits) << 16 for bits in numbers])
        numbers = struct.unpack(f"<{len(numbers)}f", shifted)
    return struct.pack(f"<{len(numbers)}d", *numbers)


def _bits(bits: int, type: FloatType | Type) -> int:
    assert isinstance(type, FloatType)
    data = bits.to_bytes(type.width // 8, "little")
    return int.from_bytes(_as_doubles(data, type), "little")


class AttributeRewriter:
    """Rebuilds attributes. `replace` returns a replacement, or None to rebuild the parts."""

    def __init__(self, replace: Callable[[Attribute], Attribute | None]) -> None:
        self._replace = replace
        self._done: dict[Attribute, Attribute] = {}

    def rewrite(self, attribute: Attribute) -> Attribute:
        """The attribute with its sub-elements replaced; itself if there is nothing to replace."""
        rewrite = self._done.get(attribute)
        if rewrite is None:
            rewrite = self._done[attribute] = self._replace(attribute) or self._rebuilt(attribute)
        return rewrite

    def _rebuilt(self, attribute: Attribute) -> Attribute:
        if isinstance(attribute, DictAttr):
            entries = tuple([(name, self.rewrite(value)) for name, value in attribute.entries])
            return attribute if entries == attribute.entries else DictAttr(entries)
        fields = {name: getattr(attribute, name) for name in field_names(type(attribute))}
        rebuilt = {name: self._rebuilt_field(value) for name, value in fields.items()}
        is_same = all(rebuilt[name] is value for name, value in fields.items())
        return attribute if is_same else type(attribute)(**rebuilt)

    def _rebuilt_field(self, value: object) -> object:
        if isinstance(value, Attribute):
            return self.rewrite(value)
        if isinstance(value, tuple):
            items = tuple([self._rebuilt_field(item) for item in value])
            return value if all(new is old for new, old in zip(items, value, strict=True)) else items
        return value

    def inherent(self, inherent: DictAttr) -> DictAttr:
        """Inherent attributes with literals in f64, but for those that are f32 for every element type."""
        return DictAttr(
            tuple(
                [
                    (name, value if name in _ALWAYS_F32 else self.rewrite(value))
                    for name, value in inherent.entries
                ]
            )
        )
