"""arith.cmpi: comparison of integers."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from sdyopt.asm.format.assembly_format import Attr, AttrDict, Operand, TypeOf, assembly
from sdyopt.asm.parser.op_parser import OpAsmParser
from sdyopt.dialects.arith.dialect import BOOL_LIKE, INTEGER_LIKE, arith
from sdyopt.dialects.arith.folding import element_type, fold_integers, full, unsigned, with_element
from sdyopt.dialects.arith.integers import Constants, Folded
from sdyopt.ir.attribute import Attribute, DictAttr
from sdyopt.ir.block import Region
from sdyopt.ir.constraints import AttrKind
from sdyopt.ir.numeric_attributes import IntegerAttr, integer
from sdyopt.ir.op_fields import attr, operand, result
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.operation import Op
from sdyopt.ir.shape_traits import ELEMENTWISE
from sdyopt.ir.traits import PURE, Trait
from sdyopt.ir.types import I1, I64, RankedShape, Type

# Word, what it says, whether of unsigned numbers, and the word for operands the other way round.
_PREDICATES: tuple[tuple[str, Callable[[int, int], bool], bool, str], ...] = (
    ("eq", operator.eq, False, "eq"),
    ("ne", operator.ne, False, "ne"),
    ("slt", operator.lt, False, "sgt"),
    ("sle", operator.le, False, "sge"),
    ("sgt", operator.gt, False, "slt"),
    ("sge", operator.ge, False, "sle"),
    ("ult", operator.lt, True, "ugt"),
    ("ule", operator.le, True, "uge"),
    ("ugt", operator.gt, True, "ult"),
    ("uge", operator.ge, True, "ule"),
)
_WORDS = [word for word, *_ in _PREDICATES]
_NUMBERS = ", ".join(map(str, range(len(_PREDICATES))))

PREDICATE: AttrKind[int] = AttrKind(
    f"allowed 64-bit signless integer cases: {_NUMBERS}",
    lambda a: isinstance(a, IntegerAttr) and a.type is I64 and 0 <= a.value < len(_PREDICATES),
    lambda a: a.value,
)
_EXPECTED = (
    "expected string or keyword containing one of the following enum values for attribute 'predicate' "
    f"[{', '.join(_WORDS)}]"
)


def _parse_predicate(op_parser: OpAsmParser) -> Attribute:
    offset = op_parser.skip_trivia()
    word = op_parser.accept_word() or op_parser.accept_string()
    if word not in _WORDS:
        raise op_parser.error(_EXPECTED, offset)
    return predicate(word)


def predicate(word: str) -> IntegerAttr:
    """The attribute for `eq`, `slt` and the like."""
    return integer(_WORDS.index(word), I64)


def _boolean(type: Type) -> Type:
    """The type of what comes out of comparing values of a type."""
    return with_element(type, I1) if isinstance(type, RankedShape) else I1


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
    """Whether two integers are equal, or which one is greater."""

    __slots__ = ()

    predicate = attr(PREDICATE)
    lhs = operand(INTEGER_LIKE)
    rhs = operand(INTEGER_LIKE)
    out = result(BOOL_LIKE)

    assembly = assembly(
        Attr("predicate", _parse_predicate, lambda attribute, attribute_printer: _WORDS[attribute.value]),
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

    def fold(self, constants: Constants) -> Folded:
        _, compare, is_unsigned, swapped = _PREDICATES[self.predicate]
        if self.lhs is self.rhs:
            value = full(int(compare(0, 0)), self.result_types[0])
            return None if value is None else [value]
        if constants[0] is not None and constants[1] is None:
            self._swap(swapped)
            return []
        type = element_type(constants[0])

        def on_numbers(a: int, b: int) -> int:
            if is_unsigned and type is not None:
                a, b = unsigned(a, type), unsigned(b, type)
            return int(compare(a, b))

        value = fold_integers(constants, on_numbers, I1)
        return None if value is None else [value]

    def _swap(self, word: str) -> None:
        """Puts the constant to the right, as folds may change the operation that they are asked about."""
        left, right = self.operands
        for use, new in zip(self.operand_uses, (right, left), strict=True):
            use.unlink()
            use.link(new)
        attributes: DictAttr = self.signature.attributes.with_entry("predicate", predicate(word))
        self.signature = self.signature.with_attributes(attributes)
