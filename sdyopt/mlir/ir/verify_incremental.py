"""Incremental verification: verifies only what edits may have invalidated in a valid program.

Unless it has a nonlocal verifier, the validity of an operation depends only on its signature and attributes,
the definitions of its operands, the enclosing operations, and the nested ones. So this checks the edited
operations, their users, the enclosing operations, and all operations with nonlocal verifiers, which it finds
in an index. On the first error it verifies everything, so that errors and their order are
those of full verification.

The operations with nonlocal verifiers are few, but finding them takes a walk over the program. So they are
found once, and after that edit logs tell where there may be new ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from itertools import chain
from typing import NoReturn

from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, handling
from sdyopt.mlir.ir.attribute import DictAttr
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.dominance import Dominance, check_uses
from sdyopt.mlir.ir.edit_log import EditLog
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import ISOLATED
from sdyopt.mlir.ir.verify import ValidAttributes, Verifier, verifies_signature_only


class ReaderIndex:
    """The readers nested in `root`.

    `nonlocal_readers` have a nonlocal verifier, of the operation or of an attribute; `symbol_users` verify
    the symbols that they use. After `update`, both may have operations that are no longer in the program,
    until `remove_erased`.
    """

    def __init__(self, root: Op, verifier: Verifier) -> None:
        self.root = root
        self.nonlocal_readers: dict[Op, None] = {}
        self.symbol_users: dict[Op, None] = {}
        self._dialects = verifier.dialects
        self._nonlocal_attributes = verifier.dialects.nonlocal_attributes
        self._may_have_erased = False
        self._add_nested(root)

    def update(self, moved: Iterable[Op], edited: Iterable[Op]) -> None:
        """Adds new readers among operations that were edited, or moved with all that is nested in them."""
        self._may_have_erased = True
        self._nonlocal_attributes = self._dialects.nonlocal_attributes
        for op in moved:
            self._add(op)
            if op.regions:
                self._add_nested(op)
        for op in edited:
            self._add(op)

    def remove_erased(self) -> None:
        """Removes the readers that are no longer in the program."""
        if not self._may_have_erased:
            return
        self._may_have_erased = False
        is_inside: dict[Block | None, bool] = {None: False, self.root.parent: False}
        for readers in (self.nonlocal_readers, self.symbol_users):
            for op in [op for op in readers if not self._is_inside(op, is_inside)]:
                del readers[op]

    def _add(self, op: Op) -> None:
        if op.verify_symbol_uses is not None:
            self.symbol_users[op] = None
        if op.has_nonlocal_verifier or not self._nonlocal_attributes.isdisjoint(op.attributes.names):
            self.nonlocal_readers[op] = None

    def _add_nested(self, outer: Op) -> None:
        for region in outer.regions:
            for block in region.blocks:
                op = block.first
                while op is not None:
                    if op.verify_symbol_uses is not None or op.has_nonlocal_verifier or op.attributes.entries:
                        self._add(op)
                    if op.regions:
                        self._add_nested(op)
                    op = op.next

    def _is_inside(self, op: Op, is_inside: dict[Block | None, bool]) -> bool:
        """Whether an operation is still nested in the root. `is_inside` has the answers for blocks."""
        if op is self.root:
            return True
        block = op.parent
        known = is_inside.get(block)
        if known is None:
            assert block is not None
            outer = block.parent_op
            known = is_inside[block] = outer is not None and self._is_inside(outer, is_inside)
        return known


class IncrementalVerifier:
    """Implements `pipeline.run.Verify`, for one program.

    Every edit must be in the log of some call of `verify_edits`.
    """

    def __init__(self, verifier: Verifier) -> None:
        self._verifier = verifier
        # The readers in the whole program; None until they are needed.
        self._index: ReaderIndex | None = None

    def verify_edits(self, op: Op, edits: EditLog) -> bool:
        """Whether `op`, valid before, is valid after edits inside it; errors are emitted."""
        if edits.needs_full_verification or op in edits.moved:
            # Not all edits are in the log.
            self._index = None
            return self._verifier.verify(op)
        outermost_moved = edits.moved - _nested_in_others(edits.moved)
        try:
            with handling(_stop):
                readers = self._readers(op, outermost_moved, edits)
                _IncrementalCheck(self._verifier, op, readers, edits).run(outermost_moved)
        except (_NeedsFullVerification, DiagnosticError):
            return self._verifier.verify(op)
        return True

    def verify_regions(self, op: Op) -> bool:
        """As `Verifier.verify_regions`."""
        if self._index is not None and self._index.root is op:
            self._index.remove_erased()
            try:
                with handling(_stop):
                    self._verifier.check_region_traits(op, self._index.symbol_users)
            except (_NeedsFullVerification, DiagnosticError):
                pass  # the symbol users are in no particular order
            else:
                return True
        return self._verifier.verify_regions(op)

    def _readers(self, op: Op, outermost_moved: Set[Op], edits: EditLog) -> ReaderIndex:
        """The readers nested in `op`. Adds those that are new since the last call to the index."""
        if self._index is None:
            self._index = ReaderIndex(_outermost(op), self._verifier)
        else:
            self._index.update(outermost_moved, chain(edits.attributes_changed, edits.signature_changed))
        if op is self._index.root:
            self._index.remove_erased()
            return self._index
        if not self._index.nonlocal_readers:
            # The symbol users are read for the root only.
            return self._index
        return ReaderIndex(op, self._verifier)


class _NeedsFullVerification(Exception):
    """There is an error, or validity does not follow from checking the edited operations."""


def _stop(diagnostic: Diagnostic) -> NoReturn:
    raise _NeedsFullVerification


class _IncrementalCheck:
    def __init__(self, verifier: Verifier, root: Op, index: ReaderIndex, edits: EditLog) -> None:
        self._verifier = verifier
        self._root = root
        self._index = index
        self._edits = edits
        self._dominance = Dominance()
        # For each block that contains edits, whether they must be checked.
        self._must_check_block: dict[Block, bool] = {root.parent: False} if root.parent is not None else {}
        # Checked after the edited operations: the operations that enclose them, and those whose verifiers may
        # read them.
        self._enclosing: dict[Op, None] = {}
        self._readers: set[Op] = set()
        # Those of the enclosing operations that are edited themselves.
        self._edited: set[Op] = set()
        # Moved operations, their users, and operations with changed operands: the dominance of their operands
        # is checked.
        self._users: set[Op] = set()
        self._valid_by_scope: dict[Op | None, ValidAttributes] = {}
        self._valid_in: dict[Block, ValidAttributes] = {}

    def run(self, outermost_moved: Set[Op]) -> None:
        # No set is the union or difference of others, because a pass may edit nearly all operations.
        edits = self._edits
        # Everything nested in these is checked with them, other moved operations too.
        for op in outermost_moved:
            if self._must_check(op):
                self._check_moved(op)
        checked: set[tuple[Block | None, OpSignature, DictAttr]] = set()
        for op in edits.signature_changed:
            if op in edits.moved or not self._must_check(op):
                continue
            key = op.parent, op.signature, op.attributes
            if key not in checked:
                self._check_edited(op)
                if op.verify_in_context is None and not (op.regions or op.successors):
                    checked.add(key)
            self._add_readers(op)
        self._check_changed_attributes()
        self._users |= edits.operands_changed
        for op in self._users:
            if self._must_check(op):
                check_uses(op, self._dominance, True)
                if op.verify_in_context is not None and op.reads_definitions:
                    self._readers.add(op)
        for block in edits.shrunk_blocks.union(op.parent for op in edits.moved if op.parent is not None):
            if self._must_check_in(block):
                self._verifier.check_terminator(block)
        for op in edits.changed_inside:
            self._must_check(op)  # adds the enclosing operations
        for op in [*self._enclosing, *self._readers.union(self._index.nonlocal_readers)]:
            if op in self._edited:
                self._verifier.check_op(op)
            else:
                self._verifier.check_unedited(op)
        for op in self._enclosing:
            self._verifier.check_region_traits(op, self._index.symbol_users if op is self._root else None)

    # --- What must be checked -----------------------------------------------------------

    def _must_check(self, op: Op) -> bool:
        """Whether an operation is the root or still nested in it, and not nested in a moved operation."""
        if op is self._root:
            self._enclosing[op] = None
            return True
        return op.parent is not None and self._must_check_in(op.parent)

    def _must_check_in(self, block: Block) -> bool:
        must_check = self._must_check_block.get(block)
        if must_check is None:
            outer = block.parent_op
            must_check = outer is not None and outer not in self._edits.moved and self._must_check(outer)
            self._must_check_block[block] = must_check
            if must_check:
                assert outer is not None and block.parent is not None
                if len(block.parent.blocks) > 1:
                    raise _NeedsFullVerification  # dominance depends on all branches
                self._enclosing[outer] = None
                if not block.is_ordered:
                    block.number()
        return must_check

    def _valid_at(self, op: Op) -> ValidAttributes:
        """The valid attributes in the innermost enclosing operation that `scopes_attributes`."""
        block, inner_blocks = op.parent, []
        assert block is not None
        while (valid := self._valid_in.get(block)) is None:
            inner_blocks.append(block)
            scope = block.parent_op
            if scope is None or scope.parent is None or scope.scopes_attributes:
                valid = self._valid_by_scope.setdefault(scope, set())
                break
            block = scope.parent
        for inner in inner_blocks:
            self._valid_in[inner] = valid
        return valid

    # --- Checks -------------------------------------------------------------------------

    def _check_moved(self, op: Op) -> None:
        """Checks an operation and everything nested in it; its users are checked later."""
        if op.successors:
            raise _NeedsFullVerification
        if ISOLATED in op.traits:
            self._verifier.verify(op, self._valid_at(op))
        elif op.regions or op.declares_regions:
            self._verifier.check_nested(op, self._valid_at(op))
            self._verifier.check_dominance(op)
        else:
            self._verifier.check_op_without_nested(op, self._valid_at(op))
        self._users.add(op)
        for result in op.results:
            self._users.update(result.users)

    def _check_changed_attributes(self) -> None:
        block: Block | None = None
        valid: ValidAttributes | None = None
        for op, before in self._edits.attributes_changed.items():
            if op in self._edits.signature_changed or op in self._edits.moved:
                continue
            if op.parent is None or op.regions or op.successors or not verifies_signature_only(type(op)):
                if self._must_check_attributes(op):
                    self._check_edited(op, has_same_signature=True)
                continue
            # Nearly all operations.
            if op.parent is not block:
                block = op.parent
                valid = self._valid_at(op) if self._must_check_attributes(op) else None
            if valid is not None:
                self._verifier.check_attributes(op, valid, before)

    def _must_check_attributes(self, op: Op) -> bool:
        """If the parent ignores discardable attributes, only whether it is still in the program matters."""
        parent = op.parent_op
        return self._must_check(
            parent if parent is not None and parent.ignores_discardable_attributes else op
        )

    def _check_edited(self, op: Op, has_same_signature: bool = False) -> None:
        """Checks an operation with a new signature or attributes, and nested ones that may depend on these.

        Some of them are checked later, as enclosing operations or readers.
        """
        if not (op.regions or op.declares_regions):
            self._verifier.check_op_without_nested(op, self._valid_at(op))
        elif has_same_signature and op.ignores_discardable_attributes:
            self._verifier.check_attributes(op, self._valid_at(op))
        elif op.scopes_attributes and op is not self._root:
            self._check_moved(op)
        else:
            self._enclosing[op] = None
            self._edited.add(op)
            for region in op.regions:
                for block in region.blocks:
                    if block.last is not None:
                        self._readers.add(block.last)

    def _add_readers(self, op: Op) -> None:
        """Adds the users with a `verify_in_context`, which may read the definitions of operands."""
        for result in op.results:
            use = result.first_use
            while use is not None:
                owner = use.owner
                if owner.verify_in_context is not None and owner.reads_definitions:
                    self._readers.add(owner)
                use = use.next_use


def _nested_in_others(ops: Set[Op]) -> set[Op]:
    """The operations in `ops` that are nested in other operations in `ops`."""
    is_enclosed: dict[Op, bool] = {}
    for op in ops:
        path: list[Op] = []
        current: Op | None = op
        while current is not None and current not in is_enclosed:
            path.append(current)
            current = current.parent_op
        inside = current is not None and (is_enclosed[current] or current in ops)
        for each in reversed(path):
            is_enclosed[each] = inside
            inside = inside or each in ops
    return {op for op in ops if is_enclosed[op]}


def _outermost(op: Op) -> Op:
    """The outermost operation that encloses an operation, or is it."""
    while (outer := op.parent_op) is not None:
        op = outer
    return op
