"""The StableHLO dialect, and its enum attributes.

The `check_…` functions raise a SignatureError if the condition does not hold.

    @enumeration(stablehlo, "precision", "DEFAULT", "HIGH", "HIGHEST")
    class Precision(EnumAttr): ...

The class is named like StableHLO's C++ enum, because parse errors contain this name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import ClassVar, Self, TypeVar

from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.mlir.asm.format.attribute_format import CustomParameters, attribute_format, register_format
from sdyopt.mlir.asm.parser.asm_parser import WRONG_KEYWORD, AsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter, plain_type
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.shape_traits import are_compatible_sizes
from sdyopt.mlir.ir.traits import I64_ATTR, AttrConstraint, non_negative, positive
from sdyopt.mlir.ir.types import I64, IndexType, IntegerType, Type

stablehlo = Dialect("stablehlo")
stablehlo.is_inlinable = True
stablehlo.unknown_attribute = ErrorKind("unknown StableHLO attribute")
stablehlo.unknown_type = ErrorKind("unknown stablehlo type: {mnemonic}")


def quoted(type: Type) -> str:
    """A type in single quotes."""
    return f"'{plain_type(type)}'"


def quoted_all(types: Iterable[Type]) -> str:
    """Quoted types, separated by commas."""
    return ", ".join(map(quoted, types))


def listing(values: Iterable[int]) -> str:
    """Integers separated by commas, without brackets."""
    return ", ".join(map(str, values))


POSITIVE_I64 = positive(I64_ATTR)
NON_NEGATIVE_I64 = non_negative(I64_ATTR)
I64_ELEMENTS: AttrConstraint[DenseElements] = AttrConstraint(
    "64-bit signless integer elements attribute",
    lambda a: isinstance(a, DenseElements) and a.type.element is I64,
    lambda a: a,
    lambda a: isinstance(a, DenseElements) and isinstance(a.type.element, IntegerType | IndexType),
)


def integers_of(elements: DenseElements) -> list[int]:
    """The elements of an integer elements attribute, read as signed; of a splat at most `MAX_EXPANDED`."""
    return list(elements.values)


Dimensions = Sequence[int]


def is_unique(dimensions: Dimensions) -> bool:
    """Whether the dimensions are distinct."""
    return len(set(dimensions)) == len(dimensions)


def is_sorted(dimensions: Dimensions) -> bool:
    """Whether the dimensions are in ascending order; equal neighbors are allowed."""
    return all(a <= b for a, b in pairwise(dimensions))


def are_shapes_compatible(a: Sequence[int], b: Sequence[int]) -> bool:
    """Whether two shapes can be equal at run time: equal ranks, and sizes that are equal or dynamic."""
    return len(a) == len(b) and all(map(are_compatible_sizes, a, b))


def check_distinct(signature: OpSignature, a: Dimensions, b: Dimensions, a_name: str, b_name: str) -> None:
    """Checks that no dimension is in both lists or twice in one."""
    previous = set()
    for dimension in (*a, *b):
        if dimension in previous:
            raise signature.error_without_op_note(
                f"has duplicated dimension from {a_name} and {b_name}: {dimension}"
            )
        previous.add(dimension)


def check_within(
    signature: OpSignature, dimension: int, bound: int, name: str, bound_name: str, is_inclusive: bool = False
) -> None:
    """Checks that a dimension is in [0, bound), or in [0, bound] if `is_inclusive`."""
    if not 0 <= dimension < bound + is_inclusive:
        end = "]" if is_inclusive else ")"
        raise signature.error_without_op_note(
            f"Expects {name} to be in range [0, {bound_name}{end} i.e. [0, {bound}{end}. got: {dimension}."
        )


def check_all_within(
    signature: OpSignature, dimensions: Dimensions, bound: int, name: str, bound_name: str
) -> None:
    """Checks that all dimensions are in [0, bound)."""
    for dimension in dimensions:
        if not 0 <= dimension < bound:
            raise signature.error_without_op_note(
                f"Expects each element of {name} to be in range [0, {bound_name}) i.e. [0, {bound}). "
                f"got: {dimension}."
            )


class EnumAttr(Attribute):
    """Base of enum attributes; `value` is one of `cases`."""

    value: str
    mnemonic: ClassVar[str] = ""
    cases: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def parse_value(cls, parser: AsmParser) -> Self:
        """Parses the bare keyword or string. Raises a DiagnosticError if it is not one of `cases`."""
        offset = parser.skip_trivia()
        word = parser.accept_keyword()
        if word is None:
            word = parser.accept_string()
        if word in cls.cases:
            return cls(word)
        cpp_name = f"::mlir::{cls.dialect}::{cls.__name__}"
        error = (
            parser.error_at_next_token("expected valid keyword or string")
            if word is None
            else parser.error(WRONG_KEYWORD(what=cpp_name, names=", ".join(cls.cases)), offset)
        )
        owner = f"{_PREFIXES.get(cls.dialect, cls.dialect)}_{cls.__name__}Attr"
        raise error.then(
            parser.error(f"failed to parse {owner} parameter 'value' which is to be a `{cpp_name}`")
        )


C = TypeVar("C", bound=type[EnumAttr])

# The names of these dialects in C++; those of plugins have none.
_PREFIXES = {"stablehlo": "StableHLO", "chlo": "CHLO", "mhlo": "MHLO"}


def enumeration(dialect: Dialect, mnemonic: str, *cases: str, is_bracketed: bool = False) -> Callable[[C], C]:
    """Class decorator: registers parser and printer of an enum attribute with these cases.

    The syntax is `#dialect<mnemonic CASE>`, or `#dialect.mnemonic<CASE>` if `is_bracketed`.
    """

    def register(cls: C) -> C:
        cls.dialect, cls.mnemonic, cls.cases = dialect.name, mnemonic, cases

        def parse(parser: AsmParser) -> Attribute:
            if is_bracketed:
                parser.expect("<")
            attribute = cls.parse_value(parser)
            if is_bracketed:
                parser.expect(">")
            return attribute

        def print(attribute: EnumAttr, attribute_printer: AttributePrinter) -> str:
            return f"{mnemonic}<{attribute.value}>" if is_bracketed else f"{mnemonic} {attribute.value}"

        # As a part of another attribute or an operation, it is the bare value.
        value = CustomParameters(
            lambda parser: [cls.parse_value(parser).value], lambda attribute: attribute.value
        )
        register_format(cls, attribute_format(value))
        dialect.attribute(mnemonic)(parse)
        dialect.printer(cls)(print)
        return cls

    return register
