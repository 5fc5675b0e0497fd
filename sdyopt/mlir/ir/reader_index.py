"""An index of the operations whose verifiers read other parts of the program, so that edits there may
invalidate them.

They are few, but finding them takes a walk over the program. So they are found once, and after that edit
logs tell where there may be new ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sdyopt.mlir.ir.attribute import DictAttr
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.operation import Op


class ReaderIndex:
    """The readers nested in `root`.

    `nonlocal_readers` have a nonlocal verifier, of the operation or of an attribute; `symbol_users` verify
    the symbols that they use.
    """

    def __init__(self, root: Op, reads_nonlocal_state: Callable[[DictAttr], bool]) -> None:
        self.root = root
        self.nonlocal_readers: dict[Op, None] = {}
        self.symbol_users: dict[Op, None] = {}
        self._reads_nonlocal_state = reads_nonlocal_state
        # The attributes whose verifiers are known not to read nonlocal state.
        self._local_attributes: set[DictAttr] = set()
        self._add_nested(root)

    def update(self, moved: Iterable[Op], edited: Iterable[Op]) -> None:
        """Adds new readers among operations that were edited, or moved with all that is nested in them.

        Removes the readers that are no longer in the program.
        """
        for op in moved:
            self._add(op)
            if op.regions:
                self._add_nested(op)
        local = self._local_attributes
        for op in edited:
            if op.attributes not in local or op.has_nonlocal_verifier or op.verify_symbol_uses is not None:
                self._add(op)
        is_inside: dict[Block | None, bool] = {None: False, self.root.parent: False}
        for readers in (self.nonlocal_readers, self.symbol_users):
            for op in [op for op in readers if not self._is_inside(op, is_inside)]:
                del readers[op]

    def _add(self, op: Op) -> None:
        if op.verify_symbol_uses is not None:
            self.symbol_users[op] = None
        if op.has_nonlocal_verifier:
            self.nonlocal_readers[op] = None
        elif op.attributes not in self._local_attributes:
            if self._reads_nonlocal_state(op.attributes):
                self.nonlocal_readers[op] = None
            else:
                self._local_attributes.add(op.attributes)

    def _add_nested(self, outer: Op) -> None:
        local = self._local_attributes
        for region in outer.regions:
            for block in region.blocks:
                op = block.first
                while op is not None:
                    if (
                        op.verify_symbol_uses is not None
                        or op.has_nonlocal_verifier
                        or op.attributes not in local
                    ):
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
