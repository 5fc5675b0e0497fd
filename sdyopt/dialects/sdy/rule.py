"""Sharding rules: which dimensions of an operation's operands and results belong together.

    <([i, k], [k, j])->([i, j]) {i=8, j=16, k=32} reduction={k}>

A matrix product: `i`, `j` and `k` are factors. Dimensions with the same factor are split alike. A
dimension may be made of several factors, major to minor: `[ij]`.
"""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.diagnostics.diagnostic import emit
from sdyopt.dialects.sdy.asm import attributes, called, unbracketed
from sdyopt.dialects.sdy.dialect import sdy
from sdyopt.ir.attribute import Attribute
from sdyopt.syntax.cursor import Cursor
from sdyopt.syntax.spell import Speller

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
def parse_dim_mapping(cursor: Cursor) -> DimMapping:
    text = cursor.accept_word() or ""
    factors = []
    while text:
        factor, text = _first_factor(cursor, text)
        factors.append(factor)
    return DimMapping(tuple(factors))


@unbracketed("tensor_mapping", "[]")
def parse_tensor_mapping(cursor: Cursor) -> TensorMapping:
    cursor.expect("[")
    if cursor.accept("]"):
        return TensorMapping()
    dims = attributes(cursor, "TensorMapping", "dim_mappings", DimMapping, parse_dim_mapping)
    cursor.expect("]")
    return TensorMapping(dims)


@sdy.attribute("op_sharding_rule")
def parse_rule(cursor: Cursor) -> OpShardingRule:
    cursor.expect("<")
    cursor.expect("(")
    operands = _parse_mappings(cursor, "operand_mappings")
    cursor.expect(")")
    cursor.expect("->")
    cursor.expect("(")
    results = _parse_mappings(cursor, "result_mappings")
    cursor.expect(")")
    sizes = _parse_factor_sizes(cursor)
    reduction, need_replication, permutation, blocked = (
        _parse_special(cursor, word) for word in SPECIAL_FACTORS
    )
    is_custom = cursor.accept(",")
    if is_custom:
        cursor.expect("custom")
    cursor.expect(">")
    return OpShardingRule(
        sizes, operands, results, reduction, need_replication, permutation, blocked, is_custom
    )


def _parse_mappings(cursor: Cursor, name: str) -> tuple[TensorMapping, ...]:
    return attributes(cursor, "OpShardingRule", name, TensorMapping, parse_tensor_mapping)


def _parse_factor_sizes(cursor: Cursor) -> tuple[int, ...]:
    """Reads `{i=8, j=16}`: all factors in order."""
    sizes: list[int] = []

    def one() -> None:
        factor, rest = _first_factor(cursor, cursor.word())
        if factor != len(sizes):
            raise cursor.error(
                "expecting factor indices to be ordered like an iota ([0,1,2,...], e.g. {i=#, j=#, ...}). "
                f"Expecting factor index symbol '{factor_symbol(len(sizes))}', received: "
                f"'{factor_symbol(factor)}'"
            )
        if rest:
            raise cursor.error(f"expecting single factor symbol: {rest}")
        cursor.expect("=")
        sizes.append(cursor.integer(32))

    if cursor.looking_at("{"):
        cursor.comma_list(one, "{", "}")
    return tuple(sizes)


def _parse_special(cursor: Cursor, word: str) -> tuple[int, ...]:
    """Reads `reduction={i, k}`, if it is next."""
    if not cursor.accept(word):
        return ()
    cursor.expect("=")
    if not cursor.looking_at("{"):
        return ()
    return tuple(cursor.comma_list(lambda: _first_factor(cursor, cursor.word())[0], "{", "}"))


def _first_factor(cursor: Cursor, text: str) -> tuple[int, str]:
    """The factor with which a word starts, and the rest of the word."""
    if not text.startswith("z_"):
        factor = _LETTERS.find(text[0])
        if factor < 0:
            raise cursor.error(f"expecting symbol from 'i' to 'z'. Received: '{text[0]}'")
        return factor, text[1:]
    end = 2
    while end < len(text) and text[end] in "0123456789":
        end += 1
    number = text[2:end]
    if not number:
        raise cursor.error(f"expecting integer after 'z_'. Received: '{text}'")
    if number[0] == "0":
        raise cursor.error(f"expecting positive integer without leading zeros. Received: '{number}'")
    if len(number) > 19 or int(number) >= 1 << 63:
        # The reference goes on with 0, and so may find more to say.
        emit(cursor.error(f"expecting symbol index <=2^63-1. Received: '{number}'").diagnostic)
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


@sdy.spelling(DimMapping)
def _spell_dim_mapping(dim: DimMapping, speller: Speller) -> str:
    # With a blank, so that it can be read back.
    return f"dim_mapping {_dim_text(dim)}" if dim.factors else "dim_mapping"


@sdy.spelling(TensorMapping)
def _spell_tensor_mapping(mapping: TensorMapping, speller: Speller) -> str:
    return "tensor_mapping" + tensor_mapping_text(mapping)


@sdy.spelling(OpShardingRule)
def _spell_rule(rule: OpShardingRule, speller: Speller) -> str:
    return "op_sharding_rule" + rule_text(rule)
