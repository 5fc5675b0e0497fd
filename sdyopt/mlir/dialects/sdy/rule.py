"""Sharding rules: which dimensions of an operation's operands and results correspond.

    <([i, k], [k, j])->([i, j]) {i=8, j=16, k=32} reduction={k}>

In this rule of a matrix product, `i`, `j` and `k` are factors. Dimensions with the same factor have
compatible shardings. A dimension may have several factors, major to minor: `[ij]`.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.base.diagnostics.diagnostic import emit
from sdyopt.mlir.asm.format.attribute_format import (
    BracketedList,
    CustomParameters,
    attribute_format,
    dialect_attribute,
    nested_list,
)
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.dialects.sdy.mesh import sdy
from sdyopt.mlir.ir.attribute import Attribute, SymbolRef

# The symbols of factors are i, j, …, z, then z_1, z_2, ….
_LETTERS = "ijklmnopqrstuvwxyz"
_LAST_LETTER = len(_LETTERS) - 1

# In the order in which they are printed.
SPECIAL_FACTORS = ("reduction", "need_replication", "permutation", "blocked_propagation")


def factor_symbol(factor: int) -> str:
    """`i` for 0, `z_2` for 19."""
    return _LETTERS[factor] if factor <= _LAST_LETTER else f"z_{factor - _LAST_LETTER}"


# --- Factors --------------------------------------------------------------------------------------


def _first_factor(parser: AsmParser, text: str) -> tuple[int, str]:
    """The factor whose symbol a word starts with, and the rest of the word."""
    if not text.startswith("z_"):
        factor = _LETTERS.find(text[0])
        if factor < 0:
            raise parser.error(f"expecting symbol from 'i' to 'z'. Received: '{text[0]}'")
        return factor, text[1:]
    end = 2
    while end < len(text) and text[end] in "0123456789":
        end += 1
    number = text[2:end]
    if not number:
        raise parser.error(f"expecting integer after 'z_'. Received: '{text}'")
    if number[0] == "0":
        raise parser.error(f"expecting positive integer without leading zeros. Received: '{number}'")
    if len(number) > 19 or int(number) >= 1 << 63:
        # Shardy continues with 0, and so may report more errors.
        emit(parser.error(f"expecting symbol index <=2^63-1. Received: '{number}'").diagnostic)
        number = "0"
    return _LAST_LETTER + int(number), text[end:]


@dialect_attribute(sdy, "dim_mapping", "Sdy_DimMapping")
class DimMapping(Attribute):
    """`ij`: the indices of the factors of a dimension."""

    factors: tuple[int, ...] = ()
    dialect = "sdy"

    @staticmethod
    def _parse_factors(parser: AsmParser) -> tuple[tuple[int, ...]]:
        text = parser.accept_keyword() or ""
        factors = []
        while text:
            factor, text = _first_factor(parser, text)
            factors.append(factor)
        return (tuple(factors),)

    assembly = attribute_format(
        CustomParameters(_parse_factors, lambda dim: "".join(map(factor_symbol, dim.factors)))
    )


@dialect_attribute(sdy, "tensor_mapping", "Sdy_TensorMapping", "[]")
class TensorMapping(Attribute):
    """`[i, jk]`: the factors of each dimension of a tensor."""

    dims: tuple[DimMapping, ...] = ()
    dialect = "sdy"
    assembly = attribute_format(BracketedList("[", nested_list("dims", DimMapping, "dim_mappings"), "]"))

    @property
    def rank(self) -> int:
        return len(self.dims)

    def has_factor(self, factor: int) -> bool:
        """Whether a dimension has this factor."""
        return any(factor in dim.factors for dim in self.dims)


# --- Rules ----------------------------------------------------------------------------------------


def _parse_special(parser: AsmParser, word: str) -> tuple[int, ...]:
    """Parses `reduction={i, k}`, if it is next."""
    if not parser.accept(word):
        return ()
    parser.expect("=")
    if not parser.looking_at("{"):
        return ()
    return tuple(parser.comma_list(lambda: _first_factor(parser, parser.keyword())[0], "{", "}"))


def _build_rule(
    operands: tuple[TensorMapping, ...],
    results: tuple[TensorMapping, ...],
    sizes: tuple[int, ...],
    reduction: tuple[int, ...],
    need_replication: tuple[int, ...],
    permutation: tuple[int, ...],
    blocked: tuple[int, ...],
    is_custom: bool,
) -> OpShardingRule:
    return OpShardingRule(
        sizes, operands, results, reduction, need_replication, permutation, blocked, is_custom
    )


@dialect_attribute(sdy, "op_sharding_rule", "Sdy_OpShardingRule")
class OpShardingRule(Attribute):
    """The factors of all operands and results, their sizes, and the special factors.

    A factor that is not a reduction, need-replication or permutation factor is a pass-through factor. A
    custom rule was written by the user and is not removed after propagation.
    """

    factor_sizes: tuple[int, ...] = ()
    operands: tuple[TensorMapping, ...] = ()
    results: tuple[TensorMapping, ...] = ()
    reduction: tuple[int, ...] = ()
    need_replication: tuple[int, ...] = ()
    permutation: tuple[int, ...] = ()
    blocked_propagation: tuple[int, ...] = ()
    is_custom: bool = False
    dialect = "sdy"

    def _factor_sizes_text(self) -> str:
        sizes = [f"{factor_symbol(factor)}={size}" for factor, size in enumerate(self.factor_sizes)]
        return f" {{{', '.join(sizes)}}}" if sizes else ""

    def _special_text(self) -> str:
        lists: list[tuple[str, tuple[int, ...]]] = [(word, getattr(self, word)) for word in SPECIAL_FACTORS]
        return "".join(
            [f" {word}={{{', '.join(map(factor_symbol, factors))}}}" for word, factors in lists if factors]
        )

    @staticmethod
    def _parse_factor_sizes(parser: AsmParser) -> tuple[tuple[int, ...]]:
        """Parses `{i=8, j=16}`: all factors in order."""
        sizes: list[int] = []

        def factor_size() -> None:
            factor, rest = _first_factor(parser, parser.keyword())
            if factor != len(sizes):
                raise parser.error(
                    "expecting factor indices to be ordered like an iota ([0,1,2,...], e.g. {i=#, j=#, ...})"
                    f". Expecting factor index symbol '{factor_symbol(len(sizes))}', received: "
                    f"'{factor_symbol(factor)}'"
                )
            if rest:
                raise parser.error(f"expecting single factor symbol: {rest}")
            parser.expect("=")
            sizes.append(parser.integer())

        if parser.looking_at("{"):
            parser.comma_list(factor_size, "{", "}")
        return (tuple(sizes),)

    @staticmethod
    def _parse_is_custom(parser: AsmParser) -> tuple[bool]:
        is_custom = parser.accept(",")
        if is_custom:
            parser.expect("custom")
        return (is_custom,)

    assembly = attribute_format(
        "<",
        "(",
        nested_list("operands", TensorMapping, "operand_mappings"),
        ")",
        "->",
        "(",
        nested_list("results", TensorMapping, "result_mappings"),
        ")",
        CustomParameters(_parse_factor_sizes, _factor_sizes_text),
        CustomParameters(
            lambda parser: (_parse_special(parser, word) for word in SPECIAL_FACTORS), _special_text
        ),
        CustomParameters(_parse_is_custom, lambda rule: ", custom" if rule.is_custom else ""),
        ">",
        build=_build_rule,
    )

    def symbol_references(self) -> Sequence[SymbolRef]:
        """None."""
        return ()

    @property
    def tensors(self) -> tuple[TensorMapping, ...]:
        """The mappings of the operands, then of the results."""
        return self.operands + self.results
