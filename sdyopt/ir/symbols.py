"""Symbols: operations with a name that others refer to, and the tables that hold them."""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.ir.attribute import Attribute, StringAttr, SymbolRef
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.operation import Op, UnregisteredOp
from sdyopt.ir.sub_elements import nested_attributes
from sdyopt.ir.traits import Trait

SYM_NAME = "sym_name"
SYM_VISIBILITY = "sym_visibility"


class SymbolTableOp(Op):
    """An operation whose only block holds symbols.

    The table is built when first asked and checked on every look-up, so that edits need not tell it.
    """

    __slots__ = ("_symbols",)

    _symbols: dict[str, Op]
    scopes_attributes = True

    def set_up(self) -> None:
        self._symbols = {}

    def symbol(self, name: str) -> Op | None:
        """The symbol of this name directly inside, if there is one."""
        found = self._symbols.get(name)
        if found is None or found.parent_op is not self or symbol_name(found) != name:
            self._symbols = {n: op for op in self.symbols() if (n := symbol_name(op)) is not None}
            found = self._symbols.get(name)
        return found

    def symbols(self) -> Iterator[Op]:
        """The operations directly inside that have a symbol name, in reverse order.

        Of two with one name, which is an error, a table made of this keeps the first.
        """
        for region in self.regions:
            for block in region.blocks:
                op = block.last
                while op is not None:
                    if symbol_name(op) is not None:
                        yield op
                    op = op.prev


def symbol_name(op: Op) -> str | None:
    """The name by which others refer to this operation."""
    name = op.signature.attributes.get(SYM_NAME) or op.attributes.get(SYM_NAME)
    return name.value if isinstance(name, StringAttr) else None


def is_private(op: Op) -> bool:
    """Whether only the enclosing symbol table can refer to this symbol."""
    visibility = op.signature.attributes.get(SYM_VISIBILITY) or op.attributes.get(SYM_VISIBILITY)
    return isinstance(visibility, StringAttr) and visibility.value == "private"


def is_public(op: Op) -> bool:
    """Whether anybody may refer to this symbol, which is so if nothing else is said."""
    visibility = op.signature.attributes.get(SYM_VISIBILITY) or op.attributes.get(SYM_VISIBILITY)
    return not isinstance(visibility, StringAttr) or visibility.value not in ("private", "nested")


def nearest_symbol_table(op: Op) -> SymbolTableOp | None:
    """The innermost symbol table that holds this operation, or is it; None if there may be another."""
    here: Op | None = op
    while here is not None:
        if isinstance(here, SymbolTableOp):
            return here
        if may_be_symbol_table(here):
            return None
        here = here.parent_op
    return None


def may_be_symbol_table(op: Op) -> bool:
    """Whether nobody knows that this operation is no symbol table."""
    return isinstance(op, UnregisteredOp) and len(op.regions) == 1


def lookup_symbol(op: Op, reference: SymbolRef | str) -> Op | None:
    """What a reference inside `op` stands for, seen from the nearest symbol table."""
    table = nearest_symbol_table(op)
    if table is None:
        return None
    if isinstance(reference, str):
        return table.symbol(reference)
    path = lookup_path(table, reference)
    return path[-1] if path else None


def lookup_path(table: SymbolTableOp, reference: SymbolRef) -> list[Op]:
    """The symbols that `@root::@nested` names on its way, seen from `table`.

    Empty if one of them is not there, or is private to the table that holds it.
    """
    found = table.symbol(reference.root)
    path = [found]
    for name in reference.nested:
        found = found.symbol(name) if isinstance(found, SymbolTableOp) else None
        if found is not None and is_private(found):
            return []
        path.append(found)
    return [] if found is None else [op for op in path if op is not None]


def symbol_uses(op: Op, seen: set[Attribute | OpSignature]) -> list[SymbolRef] | None:
    """The references that `op` holds, or operations inside it that look symbols up in the same table.

    What has been `seen` is passed over, so that each is told at least once to whoever asks of all that look
    symbols up in one table. None if that cannot be known, because there may be other symbol tables than those
    that are registered.
    """
    uses: list[SymbolRef] = []
    return uses if _gather_uses(op, uses, seen) else None


def _gather_uses(op: Op, uses: list[SymbolRef], seen: set[Attribute | OpSignature]) -> bool:
    """Adds the references of `op` and those inside; False if they cannot be known."""
    if may_be_symbol_table(op):
        return False
    _gather_own_uses(op, uses, seen)
    for name in op.mutable_attributes:
        held = op.mutable_attribute(name)
        if held is not None and held not in seen:
            seen.add(held)
            uses += symbol_references(held)
    if isinstance(op, SymbolTableOp):
        return True
    for region in op.regions:
        for block in region.blocks:
            child = block.first
            while child is not None:
                if child.regions or child.mutable_attributes:
                    if not _gather_uses(child, uses, seen):
                        return False
                elif child.signature not in seen or child.attributes not in seen:
                    _gather_own_uses(child, uses, seen)
                child = child.next
    return True


def _gather_own_uses(op: Op, uses: list[SymbolRef], seen: set[Attribute | OpSignature]) -> None:
    if op.signature not in seen:
        seen.add(op.signature)
        uses += op.signature.cached(_references_of_signature)
    if op.attributes not in seen:
        seen.add(op.attributes)
        uses += symbol_references(op.attributes)


def _references_of_signature(signature: OpSignature) -> list[SymbolRef]:
    return list(symbol_references(signature.attributes))


def symbol_references(attribute: Attribute) -> Iterator[SymbolRef]:
    """The symbol references inside an attribute, in order.

    Dialect attributes that refer to symbols have a field of class SymbolRef.
    """
    return (inner for inner in nested_attributes(attribute) if isinstance(inner, SymbolRef))


def verify_symbol_table(op: Op) -> None:
    """One region of one block, no two symbols of one name, and all that refers to symbols is right."""
    if len(op.regions) != 1:
        raise op.op_error("Operations with a 'SymbolTable' must have exactly one region")
    if len(op.regions[0].blocks) != 1:
        raise op.op_error("Operations with a 'SymbolTable' must have exactly one block")
    seen: dict[str, Op] = {}
    for child in op.regions[0].blocks[0].ops:
        name = symbol_name(child)
        if name is None:
            continue
        if name in seen:
            raise child.error(f"redefinition of symbol named '{name}'").note(
                "see existing symbol definition here", seen[name].location
            )
        seen[name] = child
    for user in _users_in_scope(op):
        assert user.verify_symbol_uses is not None
        user.verify_symbol_uses()


def _users_in_scope(table: Op) -> Iterator[Op]:
    """The operations that look symbols up in a table, in MLIR's order: the last region comes first."""
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


# Holds symbols; its region is one scope.
SYMBOL_TABLE = Trait("symbol-table", verify_regions=verify_symbol_table)
