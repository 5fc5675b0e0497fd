"""arith.cmpi: comparison of integers."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import NamedTuple

from sdyopt.mlir.asm.format.assembly_format import Attr, AttrDict, Operand, TypeOf, assembly
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.dialects.arith.dialect import BOOL_LIKE, INTEGER_LIKE, arith
from sdyopt.mlir.dialects.arith.folding import (
    Constants,
    FoldResult,
    element_type,
    fold_integers,
    signed,
    splat,
    unsigned,
    with_element,
)
from sdyopt.mlir.ir.attribute import Attribute, DictAttr
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr, integer
from sdyopt.mlir.ir.constraints import AttrConstraint
from sdyopt.mlir.ir.op_fields import attr, operand, result
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import ELEMENTWISE
from sdyopt.mlir.ir.traits import PURE, Trait
from sdyopt.mlir.ir.types import I1, I64, ShapedType, Type


class _Predicate(NamedTuple):
    keyword: str
    compare: Callable[[int, int], bool]
    is_unsigned: bool
    # The predicate for swapped operands.
    swapped: str


_PREDICATES = (
    _Predicate("eq", operator.eq, False, "eq"),
    _Predicate("ne", operator.ne, False, "ne"),
    _Predicate("slt", operator.lt, False, "sgt"),
    _Predicate("sle", operator.le, False, "sge"),
    _Predicate("sgt", operator.gt, False, "slt"),
    _Predicate("sge", operator.ge, False, "sle"),
    _Predicate("ult", operator.lt, True, "ugt"),
    _Predicate("ule", operator.le, True, "uge"),
    _Predicate("ugt", operator.gt, True, "ult"),
    _Predicate("uge", operator.ge, True, "ule"),
)
_KEYWORDS = [predicate.keyword for predicate in _PREDICATES]
_NUMBERS = ", ".join(map(str, range(len(_PREDICATES))))

PREDICATE: AttrConstraint[int] = AttrConstraint(
    f"allowed 64-bit signless integer cases: {_NUMBERS}",
    lambda a: isinstance(a, IntegerAttr) and a.type is I64 and 0 <= a.value < len(_PREDICATES),
    lambda a: a.value,
)
_EXPECTED = (
    "expected string or keyword containing one of the following enum values for attribute 'predicate' "
    f"[{', '.join(_KEYWORDS)}]"
)


def _parse_predicate(op_parser: OpAsmParser) -> Attribute:
    offset = op_parser.skip_trivia()
    keyword = op_parser.accept_keyword() or op_parser.accept_string()
    if keyword not in _KEYWORDS:
        raise op_parser.error(_EXPECTED, offset)
    return predicate_attr(keyword)


def predicate_attr(keyword: str) -> IntegerAttr:
    """The attribute of a predicate keyword such as `eq` or `slt`."""
    return integer(_KEYWORDS.index(keyword), I64)


def _boolean(type: Type) -> Type:
    """The type of the result of comparing values of this type."""
    return with_element(type, I1) if isinstance(type, ShapedType) else I1


def _check_result(signature: OpSignature) -> None:
    lhs, rhs = signature.operand_types
    if lhs is not rhs:
        raise signature.op_error("failed to verify that all of {lhs, rhs} have same type")
    if signature.result_types[0] is not _boolean(lhs):
        raise signature.op_error(
            "failed to verify that result type has i1 element type and same shape as operands"
        )


_RESULT_IS_BOOLEAN = Trait("result-is-boolean", _check_result)


@arith.op("cmpi", PURE, _RESULT_IS_BOOLEAN, ELEMENTWISE)
class CmpIOp(Op):
    """Compares two integers elementwise."""

    __slots__ = ()

    predicate = attr(PREDICATE)
    lhs = operand(INTEGER_LIKE)
    rhs = operand(INTEGER_LIKE)
    out = result(BOOL_LIKE)

    assembly = assembly(
        Attr("predicate", _parse_predicate, lambda attribute, attribute_printer: _KEYWORDS[attribute.value]),
        ",",
        Operand("lhs"),
        ",",
        Operand("rhs"),
        AttrDict(),
        ":",
        TypeOf("lhs", same=["rhs"]),
    )

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [_boolean(signature.operand_types[0])]

    def fold(self, constants: Constants) -> FoldResult:
        _, compare, is_unsigned, swapped = _PREDICATES[self.predicate]
        if self.lhs is self.rhs:
            value = splat(int(compare(0, 0)), self.result_types[0])
            return None if value is None else [value]
        if constants[0] is not None and constants[1] is None:
            self._swap(swapped)
            return []
        type = element_type(constants[0])

        def compute(a: int, b: int) -> int:
            assert type is not None
            read = unsigned if is_unsigned else signed
            return int(compare(read(a, type), read(b, type)))

        value = fold_integers(constants, compute, I1)
        return None if value is None else [value]

    def _swap(self, swapped: str) -> None:
        """Swaps operands and predicate in place, so that the constant is on the right; a fold may do this."""
        left, right = self.operands
        for use, new in zip(self.operand_uses, (right, left), strict=True):
            use.unlink()
            use.link(new)
        attributes: DictAttr = self.signature.attributes.with_entry("predicate", predicate_attr(swapped))
        self.signature = self.signature.with_attributes(attributes)
