"""Verification after edits: of what has been touched, in a program that was valid before.

What an operation may be wrong by is its form and attributes, what it uses, what is around it, and what
it contains. So checked are the touched operations, those that use their results, and those around them;
and those that look further than that, wherever they are. At the first doubt all is verified as if
nothing had been known, so that errors are the same and come in the same order.
"""

from __future__ import annotations

from typing import NoReturn

from sdyopt.diagnostics.diagnostic import Diagnostic, DiagnosticError, handling
from sdyopt.ir.attribute import DictAttr
from sdyopt.ir.block import Block
from sdyopt.ir.dominance import Dominance
from sdyopt.ir.edit_log import EditLog
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.operation import Op
from sdyopt.ir.traits import ISOLATED
from sdyopt.ir.verify import Seen, Verifier
from sdyopt.ir.verify_uses import check_uses


class AfterEdits:
    """Verification for pipelines."""

    def __init__(self, verifier: Verifier) -> None:
        self._verifier = verifier

    def verify_edits(self, op: Op, edits: EditLog) -> bool:
        """Whether `op`, valid before, is valid after edits inside it."""
        return verify_incrementally(self._verifier, op, edits)

    def around(self, op: Op) -> bool:
        """Whether `op`, in which all isolated operations are valid, is valid as a whole."""
        return self._verifier.verify_around(op)


def verify_incrementally(verifier: Verifier, root: Op, edits: EditLog) -> bool:
    """Whether `root`, valid before, is valid after edits; if not, errors go to the diagnostic handler."""
    if edits.is_unbounded or root in edits.moved:
        return verifier.verify(root)
    try:
        with handling(_give_up):
            _Recheck(verifier, root).run(edits)
    except (_Doubt, DiagnosticError):
        return verifier.verify(root)
    return True


class _Doubt(Exception):
    """Something is wrong, or cannot be told from what was touched."""


def _give_up(diagnostic: Diagnostic) -> NoReturn:
    raise _Doubt


class _Recheck:
    def __init__(self, verifier: Verifier, root: Op) -> None:
        self._verifier = verifier
        self._root = root
        self._dominance = Dominance()
        # For each block in which something was touched, whether it is inside the root still.
        self._is_inside: dict[Block, bool] = {root.parent: False} if root.parent is not None else {}
        # What is checked once all that was touched is known: those around, and those that read of it.
        self._around: dict[Op, None] = {}
        self._readers: set[Op] = set()
        # Those that use something that has moved, or something else than before.
        self._using: set[Op] = set()
        self._seen: dict[Op | None, Seen] = {}
        self._seen_in: dict[Block, Seen] = {}

    def run(self, edits: EditLog) -> None:
        for op in edits.moved:
            if self._has(op):
                self._moved(op)
        for op in edits.signature_changed - edits.moved:
            if self._has(op):
                self._attributes_changed(op)
                self._users(op)
        # Many are annotated, few in different ways: of those that are alike, one stands for all.
        alike: dict[tuple[Block | None, OpSignature, DictAttr], Op] = {}
        for op in edits.attributes_changed - edits.signature_changed - edits.moved:
            if op.regions or op.verify_in_context is not None:
                self._check_annotated(op)
            else:
                alike[op.parent, op.signature, op.attributes] = op
        for op in alike.values():
            self._check_annotated(op)
        self._using |= edits.operands_changed
        for op in self._using:
            if self._has(op):
                check_uses(op, self._dominance, True)
                if op.verify_in_context is not None:
                    self._readers.add(op)
        for block in edits.departed_blocks.union(op.parent for op in edits.moved if op.parent is not None):
            if self._contains(block):
                self._verifier.check_end(block)
        self._far(self._root)
        for op in [*self._around, *self._readers]:
            self._verifier.check_op(op)
        for op in self._around:
            self._verifier.check_whole(op)

    # --- What is there ------------------------------------------------------------------

    def _has(self, op: Op) -> bool:
        """Whether an operation is in the program still, at or inside the root."""
        if op is self._root:
            self._around[op] = None
            return True
        return op.parent is not None and self._contains(op.parent)

    def _contains(self, block: Block) -> bool:
        is_inside = self._is_inside.get(block)
        if is_inside is None:
            outer = block.parent_op
            is_inside = outer is not None and self._has(outer)
            self._is_inside[block] = is_inside
            if is_inside:
                assert outer is not None and block.parent is not None
                if len(block.parent.blocks) > 1:
                    raise _Doubt  # what is defined where depends on all branches
                self._around[outer] = None
                if not block.is_ordered:
                    block.number()
        return is_inside

    def _seen_at(self, op: Op) -> Seen:
        """What has been seen of attributes under the same operation that scopes them."""
        block = op.parent
        assert block is not None
        seen = self._seen_in.get(block)
        if seen is None:
            scope = block.parent_op
            while scope is not None and not scope.scopes_attributes:
                scope = scope.parent_op
            seen = self._seen_in[block] = self._seen.setdefault(scope, set())
        return seen

    # --- Checks -------------------------------------------------------------------------

    def _moved(self, op: Op) -> None:
        """Checks an operation with all that is inside, and that its users stand behind it."""
        if op.successors:
            raise _Doubt
        if ISOLATED in op.traits:
            self._verifier.verify(op, self._seen_at(op))
        elif op.regions or op.op_class_has_regions:
            self._verifier.check_nested(op, self._seen_at(op))
            self._verifier.check_dominance(op)
        else:
            self._verifier.check_alone(op, self._seen_at(op))
        self._using.add(op)
        for result in op.results:
            self._using.update(result.users)

    def _check_annotated(self, op: Op) -> None:
        holder = op.parent_op
        # If who is around does not care, all there is to know is whether he is there still.
        if self._has(holder if holder is not None and holder.ignores_discardable_attributes else op):
            self._attributes_changed(op)

    def _attributes_changed(self, op: Op) -> None:
        """Checks what an operation says, and those inside that may depend on it."""
        if not (op.regions or op.op_class_has_regions):
            self._verifier.check_alone(op, self._seen_at(op))
        elif op.ignores_discardable_attributes:
            self._verifier.check_attributes(op, self._seen_at(op))
        elif op.scopes_attributes and op is not self._root:
            self._moved(op)
        else:
            self._around[op] = None
            for region in op.regions:
                for block in region.blocks:
                    if block.last is not None:
                        self._readers.add(block.last)

    def _users(self, op: Op) -> None:
        """Notes the users that may read more of a value than its type, which is in their form."""
        for result in op.results:
            use = result.first_use
            while use is not None:
                if use.owner.verify_in_context is not None:
                    self._readers.add(use.owner)
                use = use.next_use

    def _far(self, outer: Op) -> None:
        for region in outer.regions:
            for block in region.blocks:
                op = block.first
                while op is not None:
                    if op.has_nonlocal_verifier or (
                        op.attributes.entries and self._verifier.reads_far(op.attributes)
                    ):
                        self._readers.add(op)
                    if op.regions:
                        self._far(op)
                    op = op.next
