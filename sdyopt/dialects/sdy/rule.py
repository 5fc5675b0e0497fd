"""Sharding rules: which dimensions of an operation's operands and results belong together.

    <([i, k], [k, j])->([i, j]) {i=8, j=16, k=32} reduction={k}>

A matrix product: `i`, `j` and `k` are factors. Dimensions with the same factor are split alike. A
dimension may be made of several factors, major to minor: `[ij]`.
"""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.asm.parser.asm_parser import AsmParser
from sdyopt.asm.printer.attribute_printer import AttributePrinter
from sdyopt.diagnostics.diagnostic import emit
from sdyopt.dialects.sdy.attribute_parsing import attributes, called, unbracketed
from sdyopt.dialects.sdy.dialect import sdy
from sdyopt.ir.attribute import Attribute

# Factors are called i, j, …, z, then z_1, z_2, ….
_LETTERS = "ijklmnopqrstuvwxyz"
_LAST_LETTER = len(_LETTERS) - 1


@called("DimMappingAttr")
class DimMapping(Attribute):
    """`ij`: the factors that a dimension is made of, by number."""

    factors: tuple[int, ...] = ()
    dialect = "sdy"


@called("TensorMappingAttr")
class TensorMapping(Attribute):
    """`[i, jk]`: the factors of each dimension of a tensor."""

    dims: tuple[DimMapping, ...] = ()
    dialect = "sdy"

    @property
    def rank(self) -> int:
        return len(self.dims)

    def has_factor(self, factor: int) -> bool:
        """Whether some dimension has this factor."""
        return any(factor in dim.factors for dim in self.dims)


class OpShardingRule(Attribute):
    """Factors of all operands and results, their sizes, and what is special about some of them.

    A factor that is special in none of the three first ways passes through. A custom rule was
    written by the user and is kept.
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

    @property
    def tensors(self) -> Iterator[TensorMapping]:
        """The mappings of operands, then of results."""
        yield from self.operands
        yield from self.results


# In the order in which they are written.
SPECIAL_FACTORS = ("reduction", "need_replication", "permutation", "blocked_propagation")


def factor_symbol(factor: int) -> str:
    """What a factor is called."""
    return _LETTERS[factor] if factor <= _LAST_LETTER else f"z_{factor - _LAST_LETTER}"


# --- Reading ------------------------------------------------------------------------------------


@sdy.attribute("dim_mapping")
def parse_dim_mapping(parser: AsmParser) -> DimMapping:
    text = parser.accept_word() or ""
    factors = []
    while text:
        factor, text = _first_factor(parser, text)
        factors.append(factor)
    return DimMapping(tuple(factors))


@unbracketed("tensor_mapping", "[]")
def parse_tensor_mapping(parser: AsmParser) -> TensorMapping:
    parser.expect("[")
    if parser.accept("]"):
        return TensorMapping()
    dims = attributes(parser, "TensorMapping", "dim_mappings", DimMapping, parse_dim_mapping)
    parser.expect("]")
    return TensorMapping(dims)


@sdy.attribute("op_sharding_rule")
def parse_rule(parser: AsmParser) -> OpShardingRule:
    parser.expect("<")
    parser.expect("(")
    operands = _parse_mappings(parser, "operand_mappings")
    parser.expect(")")
    parser.expect("->")
    parser.expect("(")
    results = _parse_mappings(parser, "result_mappings")
    parser.expect(")")
    sizes = _parse_factor_sizes(parser)
    reduction, need_replication, permutation, blocked = (
        _parse_special(parser, word) for word in SPECIAL_FACTORS
    )
    is_custom = parser.accept(",")
    if is_custom:
        parser.expect("custom")
    parser.expect(">")
    return OpShardingRule(
        sizes, operands, results, reduction, need_replication, permutation, blocked, is_custom
    )


def _parse_mappings(parser: AsmParser, name: str) -> tuple[TensorMapping, ...]:
    return attributes(parser, "OpShardingRule", name, TensorMapping, parse_tensor_mapping)


def _parse_factor_sizes(parser: AsmParser) -> tuple[int, ...]:
    """Reads `{i=8, j=16}`: all factors in order."""
    sizes: list[int] = []

    def one() -> None:
        factor, rest = _first_factor(parser, parser.word())
        if factor != len(sizes):
            raise parser.error(
                "expecting factor indices to be ordered like an iota ([0,1,2,...], e.g. {i=#, j=#, ...}). "
                f"Expecting factor index symbol '{factor_symbol(len(sizes))}', received: "
                f"'{factor_symbol(factor)}'"
            )
        if rest:
            raise parser.error(f"expecting single factor symbol: {rest}")
        parser.expect("=")
        sizes.append(parser.integer(32))

    if parser.looking_at("{"):
        parser.comma_list(one, "{", "}")
    return tuple(sizes)


def _parse_special(parser: AsmParser, word: str) -> tuple[int, ...]:
    """Reads `reduction={i, k}`, if it is next."""
    if not parser.accept(word):
        return ()
    parser.expect("=")
    if not parser.looking_at("{"):
        return ()
    return tuple(parser.comma_list(lambda: _first_factor(parser, parser.word())[0], "{", "}"))


def _first_factor(parser: AsmParser, text: str) -> tuple[int, str]:
    """The factor with which a word starts, and the rest of the word."""
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
        # The reference goes on with 0, and so may find more to say.
        emit(parser.error(f"expecting symbol index <=2^63-1. Received: '{number}'").diagnostic)
        number = "0"
    return _LAST_LETTER + int(number), text[end:]


# --- Writing ------------------------------------------------------------------------------------


def tensor_mapping_text(mapping: TensorMapping) -> str:
    """`[i, jk]`."""
    # What would be no text at all is written in full.
    return f"[{', '.join(_dim_text(dim) or '#sdy.dim_mapping' for dim in mapping.dims)}]"


def rule_text(rule: OpShardingRule) -> str:
    """`<([i])->([i]) {i=8} reduction={i}, custom>`."""
    operands = ", ".join(map(tensor_mapping_text, rule.operands))
    results = ", ".join(map(tensor_mapping_text, rule.results))
    text = f"<({operands})->({results})"
    if rule.factor_sizes:
        sizes = (f"{factor_symbol(factor)}={size}" for factor, size in enumerate(rule.factor_sizes))
        text += f" {{{', '.join(sizes)}}}"
    for word in SPECIAL_FACTORS:
        factors: tuple[int, ...] = getattr(rule, word)
        if factors:
            text += f" {word}={{{', '.join(map(factor_symbol, factors))}}}"
    return text + (", custom>" if rule.is_custom else ">")


def _dim_text(dim: DimMapping) -> str:
    return "".join(map(factor_symbol, dim.factors))


@sdy.printer(DimMapping)
def _print_dim_mapping(dim: DimMapping, attribute_printer: AttributePrinter) -> str:
    # With a blank, so that it can be read back.
    return f"dim_mapping {_dim_text(dim)}" if dim.factors else "dim_mapping"


@sdy.printer(TensorMapping)
def _print_tensor_mapping(mapping: TensorMapping, attribute_printer: AttributePrinter) -> str:
    return "tensor_mapping" + tensor_mapping_text(mapping)


@sdy.printer(OpShardingRule)
def _print_rule(rule: OpShardingRule, attribute_printer: AttributePrinter) -> str:
    return "op_sharding_rule" + rule_text(rule)
