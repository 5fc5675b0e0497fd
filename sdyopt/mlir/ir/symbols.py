"""Symbols, symbol tables and symbol references."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.mlir.ir.attribute import Attribute, DictAttr, StringAttr, SymbolRef, TypeAttr, nested_attributes
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op, UnregisteredOp
from sdyopt.mlir.ir.traits import Trait
from sdyopt.mlir.ir.types import FunctionType

_REDEFINITION = ErrorKind(
    "redefinition of symbol named '{name}'",
    at="text {symbol} | attribute sym_name",
    help="rename one of the two `{symbol}`",
)

SYM_NAME = "sym_name"
SYM_VISIBILITY = "sym_visibility"


class SymbolTableOp(Op):
    """An operation whose only block contains symbols.

    Symbols are cached by name; each look-up checks the cached entry, so edits need no invalidation.
    """

    __slots__ = ("_symbols",)

    # By name, with the signature, which has the name of nearly all symbols.
    _symbols: dict[str, tuple[Op, OpSignature]]
    scopes_attributes = True

    def set_up(self) -> None:
        self._symbols = {}

    def symbol(self, name: str) -> Op | None:
        """The symbol of this name in this table; None if there is none."""
        known = self._symbols.get(name)
        if known is not None:
            symbol, signature = known
            is_named = symbol.signature is signature and SYM_NAME in signature.attributes
            if symbol.parent_op is self and (is_named or symbol_name(symbol) == name):
                return symbol
        self._symbols = {n: (op, op.signature) for op in self.symbols() if (n := symbol_name(op)) is not None}
        known = self._symbols.get(name)
        return None if known is None else known[0]

    def symbols(self) -> Iterator[Op]:
        """The symbols in this table, last one first.

        So a dict by name keeps the first of several symbols with the same name, which the verifier rejects.
        """
        for region in self.regions:
            for block in region.blocks:
                op = block.last
                while op is not None:
                    if symbol_name(op) is not None:
                        yield op
                    op = op.prev


def symbol_name(op: Op) -> str | None:
    """The symbol name of an operation; None if it is not a symbol."""
    name = op.signature.attributes.get(SYM_NAME) or op.attributes.get(SYM_NAME)
    return name.value if isinstance(name, StringAttr) else None


def is_private(op: Op) -> bool:
    """Whether a symbol has private visibility."""
    visibility = op.signature.attributes.get(SYM_VISIBILITY) or op.attributes.get(SYM_VISIBILITY)
    return isinstance(visibility, StringAttr) and visibility.value == "private"


def is_public(op: Op) -> bool:
    """Whether a symbol has public visibility, the default."""
    visibility = op.signature.attributes.get(SYM_VISIBILITY) or op.attributes.get(SYM_VISIBILITY)
    return not isinstance(visibility, StringAttr) or visibility.value not in ("private", "nested")


def symbol_tables(op: Op) -> list[SymbolTableOp]:
    """The symbol tables among an operation and its nested operations, outer before inner ones."""
    tables, pending = [], [op]
    while pending:
        outer = pending.pop()
        if isinstance(outer, SymbolTableOp):
            tables.append(outer)
        for region in outer.regions:
            for block in region.blocks:
                child = block.first
                while child is not None:
                    if child.regions:
                        pending.append(child)
                    child = child.next
    return tables


def nearest_symbol_table(op: Op) -> SymbolTableOp | None:
    """The innermost symbol table that is or contains this operation.

    None if there is none, or if an unregistered operation in between may be one.
    """
    ancestor: Op | None = op
    while ancestor is not None:
        if isinstance(ancestor, SymbolTableOp):
            return ancestor
        if may_be_symbol_table(ancestor):
            return None
        ancestor = ancestor.parent_op
    return None


def may_be_symbol_table(op: Op) -> bool:
    """Whether this is an unregistered operation that may be a symbol table."""
    return isinstance(op, UnregisteredOp) and len(op.regions) == 1


def lookup_symbol(op: Op, reference: SymbolRef | str) -> Op | None:
    """The symbol to which a reference in `op` resolves, starting at the nearest symbol table; or None."""
    table = nearest_symbol_table(op)
    if table is None:
        return None
    if isinstance(reference, str):
        return table.symbol(reference)
    path = lookup_path(table, reference)
    return path[-1] if path else None


def lookup_path(table: SymbolTableOp, reference: SymbolRef) -> list[Op]:
    """The symbol to which each component of `@root::@nested` resolves, starting in `table`.

    Empty if a symbol is missing, or if one after the root is private.
    """
    symbol = table.symbol(reference.root)
    path = [symbol]
    for name in reference.nested:
        symbol = symbol.symbol(name) if isinstance(symbol, SymbolTableOp) else None
        if symbol is not None and is_private(symbol):
            return []
        path.append(symbol)
    return [] if symbol is None else [op for op in path if op is not None]


# What `symbol_uses` visits once: signatures, dictionaries of discardable attributes, and the values in these.
Visited = Attribute | OpSignature


def symbol_uses(op: Op, visited: set[Visited], tables: list[SymbolTableOp]) -> list[SymbolRef] | None:
    """The symbol references in `op` and in nested operations, except those inside nested symbol tables.

    Skips attributes and signatures that are in `visited`, and adds the others to it, so that calls that share
    `visited` together return each distinct reference. Adds the symbol tables that it finds, and does not
    enter, to `tables`. None if an unregistered operation may be a symbol table.
    """
    uses: list[SymbolRef] = []
    return uses if _gather_uses(op, uses, visited, tables) else None


def _gather_uses(op: Op, uses: list[SymbolRef], visited: set[Visited], tables: list[SymbolTableOp]) -> bool:
    """Adds the references of `op` and of nested operations; False if an operation may be a symbol table."""
    if may_be_symbol_table(op):
        return False
    _gather_own_uses(op, uses, visited)
    for name in op.mutable_attributes:
        value = op.mutable_attribute(name)
        if value is not None and value not in visited:
            visited.add(value)
            uses += _references_in(value)
    if isinstance(op, SymbolTableOp):
        tables.append(op)
        return True
    for region in op.regions:
        for block in region.blocks:
            child = block.first
            while child is not None:
                if child.regions or child.mutable_attributes:
                    if not _gather_uses(child, uses, visited, tables):
                        return False
                elif (
                    child.signature.cache.get(references_of_signature) != ()
                    or child.attributes not in visited
                ):
                    _gather_own_uses(child, uses, visited)
                child = child.next
    return True


def _gather_own_uses(op: Op, uses: list[SymbolRef], visited: set[Visited]) -> None:
    references = op.signature.cached(references_of_signature)
    if references and op.signature not in visited:
        visited.add(op.signature)
        uses += references
    if op.attributes not in visited:
        visited.add(op.attributes)
        for _, value in op.attributes.entries:
            if value not in visited:
                visited.add(value)
                uses += _references_in(value)


def references_of_signature(signature: OpSignature) -> tuple[SymbolRef, ...]:
    """The symbol references in the inherent attributes of a signature, for its cache."""
    return symbol_references(signature.attributes)


def symbol_references(attribute: Attribute) -> tuple[SymbolRef, ...]:
    """The symbol references nested in an attribute, in order.

    A dialect attribute refers to a symbol by a field of class SymbolRef.
    """
    if not isinstance(attribute, DictAttr):
        return _references_in(attribute)
    references: tuple[SymbolRef, ...] = ()
    for _, value in attribute.entries:
        if names := _references_in(value):
            references = tuple(dict.fromkeys(references + names)) if references else names
    return references


def _references_in(value: Attribute) -> tuple[SymbolRef, ...]:
    known = type(value).symbol_references
    return _nested_references(value) if known is None else tuple(known(value))


# Programs have many dictionaries, and few distinct values in them.
@lru_cache(maxsize=4096)
def _nested_references(value: Attribute) -> tuple[SymbolRef, ...]:
    return tuple([inner for inner in nested_attributes(value) if isinstance(inner, SymbolRef)])


def _check_symbol_table(op: Op) -> None:
    """Checks that a symbol table has one block, unique symbol names and valid symbol uses."""
    if len(op.regions) != 1:
        raise op.op_error("Operations with a 'SymbolTable' must have exactly one region")
    if len(op.regions[0].blocks) != 1:
        raise op.op_error("Operations with a 'SymbolTable' must have exactly one block")
    symbols: dict[str, Op] = {}
    for child in op.regions[0].blocks[0].ops:
        name = symbol_name(child)
        if name is None:
            continue
        if name in symbols:
            raise child.error(_REDEFINITION(name=name)).note(
                "see existing symbol definition here", symbols[name].location
            )
        symbols[name] = child
    for user in _users_in_scope(op):
        assert user.verify_symbol_uses is not None
        user.verify_symbol_uses()


def _users_in_scope(table: Op) -> Iterator[Op]:
    """The operations that resolve symbols in a table, in MLIR's order: last region first."""
    pending = list(table.regions)
    while pending:
        for block in pending.pop().blocks:
            op = block.first
            while op is not None:
                if op.verify_symbol_uses is not None:
                    yield op
                if op.regions and not isinstance(op, SymbolTableOp):
                    pending.extend(op.regions)
                op = op.next


# Defines a scope of symbol names.
SYMBOL_TABLE = Trait("symbol-table", verify_regions=_check_symbol_table)


class FunctionOpInterface(Op):
    """Base class of the operations with the FUNCTION trait.

    The attributes of arguments and results are stored outside the signature, one dictionary per argument or
    result. The inherent attribute `function_type` is the type of the function.
    """

    argument_attributes: list[DictAttr]
    result_attributes: list[DictAttr]

    def set_attributes_at(self, name: str, index: int, attributes: DictAttr) -> None:
        """Sets the attributes of an argument (`arg_attrs`) or result (`res_attrs`)."""
        raise NotImplementedError


def type_of_function(function: FunctionOpInterface) -> FunctionType:
    """The type of a function whose signature is valid."""
    attribute = function.signature.attributes["function_type"]
    assert isinstance(attribute, TypeAttr) and isinstance(attribute.type, FunctionType)
    return attribute.type
