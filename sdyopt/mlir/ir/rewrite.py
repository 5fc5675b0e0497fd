"""The rewriter, through which passes edit the IR, and insertion points.

It maintains uses, parents and signatures, notifies a listener, records erased operations in the edit log
(`ir.edit_log`), and sets `changed` on the first edit.

    rewriter = Rewriter()
    for op in module.walk():
        if is_redundant(op):
            rewriter.replace(op, op.operands)
    return rewriter.changed
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol, TypedDict

from sdyopt.mlir.ir.attribute import EMPTY_DICT, Attribute, DictAttr, dictionary
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.dialect import complete_attributes, inherent_names
from sdyopt.mlir.ir.edit_log import current_log
from sdyopt.mlir.ir.op_builder import clone, clone_blocks, parts_of
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import UNKNOWN, Op, OpT, build
from sdyopt.mlir.ir.symbols import FunctionOpInterface
from sdyopt.mlir.ir.types import Type
from sdyopt.mlir.ir.value import (
    BlockArgument,
    LazyLocation,
    OpOperand,
    OpResult,
    Value,
    make_most_recent,
)


class InsertionPoint(TypedDict, total=False):
    """Has exactly one of the four keys.

    Several insertions at the same point leave the operations in the order of insertion with `before` and
    `at_end_of`, and in reverse order with `after` and `at_start_of`.
    """

    before: Op
    after: Op
    at_end_of: Block
    at_start_of: Block


class Listener(Protocol):
    """Is notified of edits of operations, but not of moves and new locations.

    `erased` is called before an operation is unlinked, `replaced` before the uses of its results are
    replaced, the others after the edit.
    """

    def inserted(self, op: Op) -> None: ...
    def erased(self, op: Op) -> None: ...
    def modified(self, op: Op) -> None: ...
    def replaced(self, op: Op, values: Sequence[Value]) -> None: ...


class Rewriter:
    """Edits operations, blocks and values.

    An insertion point is one of the keyword arguments `before`, `after`, `at_end_of`, `at_start_of`.
    """

    def __init__(self, listener: Listener | None = None) -> None:
        self.changed = False
        self._listener = listener
        self._edits = current_log()

    # --- Creating ---------------------------------------------------------------------

    def create(
        self,
        op_class: type[Op],
        operands: Sequence[Value] = (),
        result_types: Sequence[Type] = (),
        attributes: Mapping[str, Attribute] | None = None,
        *,
        before: Op | None = None,
        after: Op | None = None,
        at_end_of: Block | None = None,
        at_start_of: Block | None = None,
        location: LazyLocation = UNKNOWN,
        regions: Iterable[Region] = (),
        successors: Sequence[Block] = (),
    ) -> Op:
        """Creates an operation at an insertion point.

        `attributes` are inherent and discardable ones; defaults of inherent ones are filled in.
        """
        mutable: dict[str, Attribute] = {}
        inherent = discardable = EMPTY_DICT
        if attributes:
            names = inherent_names(op_class)
            remaining = dict(attributes)
            mutable = {n: remaining.pop(n) for n in op_class.mutable_attributes if n in remaining}
            inherent = dictionary({n: a for n, a in remaining.items() if n in names})
            discardable = dictionary({n: a for n, a in remaining.items() if n not in names})
        inherent = complete_attributes(op_class, inherent)
        types = tuple([value.type for value in operands])
        signature = OpSignature(op_class, op_class.name, inherent, types, tuple(result_types))
        op = build(signature, operands, discardable, location, tuple(regions), successors)
        for name, value in mutable.items():
            op.set_mutable_attribute(name, value)
        self.insert(
            op,
            before=before,
            after=after,
            at_end_of=at_end_of,
            at_start_of=at_start_of,
        )
        return op

    def build(
        self,
        op_class: type[OpT],
        /,
        *,
        before: Op | None = None,
        after: Op | None = None,
        at_end_of: Block | None = None,
        at_start_of: Block | None = None,
        location: LazyLocation | None = None,
        **fields: object,
    ) -> OpT:
        """Creates an operation with these values of its fields, as `op_builder.parts_of` describes them.

        By default it has the location of the operation at the insertion point, or of the one with the block.
        """
        block = at_end_of or at_start_of
        neighbor = before or after or (None if block is None else block.parent_op)
        if location is None:
            location = UNKNOWN if neighbor is None else neighbor.lazy_location
        parts = parts_of(op_class, fields, location)
        op = self.create(
            op_class,
            parts.operands,
            parts.result_types,
            parts.attributes,
            before=before,
            after=after,
            at_end_of=at_end_of,
            at_start_of=at_start_of,
            location=location,
            regions=parts.regions,
            successors=parts.successors,
        )
        assert isinstance(op, op_class)
        return op

    def insert(
        self,
        op: Op,
        *,
        before: Op | None = None,
        after: Op | None = None,
        at_end_of: Block | None = None,
        at_start_of: Block | None = None,
    ) -> None:
        """Inserts a detached operation at an insertion point.

        The listener hears of all that is nested in it.
        """
        _link(op, before, after, at_end_of, at_start_of)
        self.changed = True
        if self._listener is not None:
            self._listener.inserted(op)
            for region in op.regions:
                for block in region.blocks:
                    for child in block.ops:
                        for inner in child.walk():
                            self._listener.inserted(inner)

    def clone(self, op: Op, mapping: dict[Value, Value] | None = None) -> Op:
        """A detached copy of an operation with its regions.

        `mapping` maps values to their replacements in the copy; the results and block arguments of the copy
        are added to it.
        """
        mapping = {} if mapping is None else mapping
        copy = clone(op, mapping, {})
        self._edits.record_copies(mapping)
        return copy

    def copy_region(
        self, source: Region, target: Region, mapping: Mapping[Value, Value] | None = None
    ) -> None:
        """Appends copies of all blocks of a region to another region.

        Block arguments that are in `mapping` are not copied; the mapped value is used instead.
        """
        copies = dict(mapping or {})
        clone_blocks(source, target, copies, {})
        self._edits.record_copies(copies)
        self.changed = True

    # --- Moving and erasing -------------------------------------------------------------

    def move(
        self,
        op: Op,
        *,
        before: Op | None = None,
        after: Op | None = None,
        at_end_of: Block | None = None,
        at_start_of: Block | None = None,
    ) -> None:
        """Moves an operation to an insertion point."""
        assert op.parent is not None
        op.parent.detach(op)
        _link(op, before, after, at_end_of, at_start_of)
        self.changed = True

    def erase(self, op: Op) -> None:
        """Erases an operation, whose results must be unused, and everything nested in it."""
        for result in op.results:
            assert result.first_use is None, f"{op} is still used"
        self._drop_operands(op)
        assert op.parent is not None
        op.parent.detach(op)
        self._edits.record_erasure(op)
        self.changed = True

    def replace(self, op: Op, values: Sequence[Value] | Op) -> None:
        """Replaces the results of an operation with other values and erases it."""
        new = values.results if isinstance(values, Op) else values
        assert len(new) == len(op.results), f"{op} has a different number of results"
        # A cycle of operations, which may be replaced by their operands, in a region without dominance.
        for result in new:
            if result.defining_op is op:
                raise op.op_error("cannot be replaced with its own result")
        if self._listener is not None:
            self._listener.replaced(op, new)
        for result, value in zip(op.results, new, strict=True):
            self.replace_all_uses(result, value)
        self.erase(op)

    def replace_all(self, ops: Sequence[Op], value: Value, uses: Iterable[OpOperand]) -> None:
        """Replaces operations with one result with a value, and erases them.

        `uses` are the uses of the results by other operations; the last one becomes the most recent.
        """
        for op in ops:
            self._edits.record_replacement(op.results[0], value)
            if self._listener is not None:
                self._listener.replaced(op, [value])
        for use in list(uses):
            self._relink(use, value)
        for op in ops:
            self.erase(op)

    def change_op_class(self, op: Op, signature: OpSignature) -> None:
        """Changes the class of an operation in place; operand and result types stay the same.

        Reverses the order of the uses of its results, as replacing it with a new operation would.
        """
        assert (
            signature.operand_types == op.signature.operand_types
            and signature.result_types == op.signature.result_types
        )
        op.__class__ = signature.op_class
        op.signature = signature
        for result in op.results:
            if result.first_use is not None and result.first_use.next_use is not None:
                for use in result.uses:
                    use.unlink()
                    use.link(result)
        self._modified(op)

    def replace_all_uses(self, old: Value, new: Value) -> None:
        """Replaces all uses of `old` with `new`, most recent use first."""
        if old is new:
            return
        self._edits.record_replacement(old, new)
        while (use := old.first_use) is not None:
            self._relink(use, new)

    def refresh_uses(self, op: Op) -> None:
        """Makes the operands of an operation the most recent uses of their values. Does not set `changed`."""
        make_most_recent(op._operands)

    def replace_uses_except(self, old: Value, new: Value, exception: Op) -> None:
        """Replaces all uses of `old` with `new`, except those in the operation `exception`."""
        for use in list(old.uses):
            if use.owner is not exception:
                self._relink(use, new)

    def erase_block(self, block: Block) -> None:
        """Erases a block and its operations, whose results may be used only in code that is erased, too."""
        op = block.last
        while op is not None:
            previous = op.prev
            for result in op.results:
                for use in list(result.uses):
                    use.unlink()
            self.erase(op)
            op = previous
        region = block.parent
        assert region is not None
        region.blocks.remove(block)
        block.parent = None
        self.changed = True

    def redirect(self, old: Collection[Block], new: Block) -> None:
        """Makes `new` the successor of all branches to some blocks of its region."""
        assert new.parent is not None
        replaced = set(old)
        for branch in [block.last for block in new.parent.blocks if block.last is not None]:
            if not replaced.isdisjoint(branch.successors):
                successors = [new if other in replaced else other for other in branch.successors]
                branch.successors = tuple(successors)
                self._modified(branch)
        for block in old:
            new.uses += block.uses
            block.uses = 0
        self.changed = True

    def insert_blocks(self, blocks: Sequence[Block], after: Block) -> None:
        """Inserts detached blocks after another one."""
        region = after.parent
        assert region is not None
        position = region.blocks.index(after) + 1
        region.blocks[position:position] = blocks
        for block in blocks:
            block.parent = region
        self.changed = True

    def take_body(self, source: Region, target: Region) -> None:
        """Moves all blocks of `source` to the end of `target`."""
        for block in source.blocks:
            target.add_block(block)
        source.blocks = []
        self.changed = True

    # --- Changing in place ----------------------------------------------------------------

    def expect_invalid(self) -> None:
        """Has the program verified after this pass, because a later pass may make it valid again.

        Without this, a program is verified after the last pass.
        """
        self._edits.may_be_invalid = True

    def visit_again(self, op: Op) -> None:
        """Notifies the listener as an edit of the operation would."""
        self._modified(op)

    def set_operand(self, use: OpOperand, value: Value) -> None:
        """Sets an operand. The new value may have another type."""
        if use.value is not value:
            self._relink(use, value)

    def set_operands(self, op: Op, values: Sequence[Value]) -> None:
        """Sets all operands of an operation."""
        for use in op._operands:
            use.unlink()
        op._operands = tuple([OpOperand(op, index, value) for index, value in enumerate(values)])
        op.signature = op.signature.with_types(
            tuple([value.type for value in values]), op.signature.result_types
        )
        self._modified(op)

    def erase_operands(self, op: Op, indices: Collection[int]) -> None:
        """Erases operands. As in MLIR, the operands after the first erased one become new uses."""
        first = min(indices)
        kept = list(op._operands[:first])
        for use in op._operands[first:]:
            use.unlink()
            if use.index not in indices:
                kept.append(OpOperand(op, len(kept), use.value))
        op._operands = tuple(kept)
        _refresh_operand_types(op)
        self._modified(op)

    def set_attribute(self, op: Op, name: str, value: Attribute) -> None:
        """Sets an inherent or discardable attribute."""
        if op.attribute(name) is value:
            return
        if name not in op.mutable_attributes and name in inherent_names(type(op)):
            op.signature = op.signature.with_attributes(op.signature.attributes.with_entry(name, value))
            self._modified(op)
            return
        if name in op.mutable_attributes:
            op.set_mutable_attribute(name, value)
        else:
            op.attributes = op.attributes.with_entry(name, value)
        self._modified(op)

    def remove_attribute(self, op: Op, name: str) -> None:
        """Removes an attribute, if present."""
        if op.attribute(name) is None:
            return
        if name in op.signature.attributes:
            op.signature = op.signature.with_attributes(op.signature.attributes.without(name))
            self._modified(op)
            return
        if name in op.mutable_attributes:
            op.set_mutable_attribute(name, None)
        else:
            op.attributes = op.attributes.without(name)
        self._modified(op)

    def set_attributes(self, op: Op, attributes: DictAttr) -> None:
        """Replaces all discardable attributes."""
        if op.attributes is not attributes:
            op.attributes = attributes
            self._modified(op)

    def set_argument_attribute(self, function: Op, index: int, name: str, value: Attribute | None) -> None:
        """Sets an attribute of a function argument, or removes it if `value` is None."""
        self._set_value_attribute(function, "arg_attrs", index, name, value)

    def set_result_attribute(self, function: Op, index: int, name: str, value: Attribute | None) -> None:
        """Sets an attribute of a function result, or removes it if `value` is None."""
        self._set_value_attribute(function, "res_attrs", index, name, value)

    def set_type(self, value: Value, type: Type) -> None:
        """Sets the type of a value, and updates the signatures of its defining operation and users."""
        if value.type is type:
            return
        value.type = type
        if isinstance(value, OpResult):
            op = value.op
            types = tuple([result.type for result in op.results])
            op.signature = op.signature.with_types(op.signature.operand_types, types)
            self._modified(op)
        else:
            self.changed = True
        for use in value.uses:
            _refresh_operand_types(use.owner)
            self._modified(use.owner)

    def retype(self, op: Op, result_types: Sequence[Type]) -> None:
        """Sets the result types of an operation, and updates its signature to the types of its operands.

        The signatures of users are not updated: a conversion of all types visits them later.
        """
        for result, type in zip(op.results, result_types, strict=True):
            result.type = type
        operand_types = tuple([use.value.type for use in op._operands])
        signature = op.signature.with_types(operand_types, tuple(result_types))
        if signature is not op.signature:
            op.signature = signature
            self._modified(op)

    def retype_argument(self, argument: BlockArgument, type: Type) -> None:
        """Sets the type of a block argument. As in `retype`, the signatures of users are not updated."""
        if argument.type is not type:
            argument.type = type
            self.changed = True

    def set_location(self, op: Op, location: LazyLocation) -> None:
        """Sets the location of an operation. Does not set `changed`."""
        op.location = location

    def add_argument(self, block: Block, type: Type, location: LazyLocation = UNKNOWN) -> BlockArgument:
        """Appends an argument to a block."""
        argument = block.add_argument(type, location)
        self.changed = True
        return argument

    def erase_argument(self, argument: BlockArgument) -> None:
        """Erases an unused block argument."""
        assert not argument.has_uses
        arguments = argument.block.arguments
        arguments.remove(argument)
        for index, other in enumerate(arguments):
            other.index = index
        self.changed = True

    # --- Helpers --------------------------------------------------------------------------

    def _relink(self, use: OpOperand, value: Value) -> None:
        use.unlink()
        use.link(value)
        if use.owner.signature.operand_types[use.index] is not value.type:
            _refresh_operand_types(use.owner)
        self._modified(use.owner)

    def _set_value_attribute(self, op: Op, kind: str, index: int, name: str, value: Attribute | None) -> None:
        """Sets or removes an attribute of a function argument (`arg_attrs`) or result (`res_attrs`)."""
        assert isinstance(op, FunctionOpInterface)
        old = (op.argument_attributes if kind == "arg_attrs" else op.result_attributes)[index]
        new = old.without(name) if value is None else old.with_entry(name, value)
        if new is not old:
            op.set_attributes_at(kind, index, new)
            self._modified(op)

    def _modified(self, op: Op) -> None:
        self.changed = True
        if self._listener is not None:
            self._listener.modified(op)

    def _drop_operands(self, op: Op) -> None:
        """Drops the operands of an operation and of all nested ones, users before definitions.

        So the listener is notified of an operation before the definitions of its operands are erased.
        """
        for region in reversed(op.regions):
            for block in reversed(region.blocks):
                child = block.last
                while child is not None:
                    self._drop_operands(child)
                    child = child.prev
        if self._listener is not None:
            self._listener.erased(op)
        for use in op._operands:
            use.unlink()
        for successor in op.successors:
            successor.uses -= 1


def _link(
    op: Op, before: Op | None, after: Op | None, at_end_of: Block | None, at_start_of: Block | None
) -> None:
    assert op.parent is None
    if before is not None:
        assert before.parent is not None
        before.parent.insert_before(before, op)
    elif after is not None:
        assert after.parent is not None
        after.parent.insert_before(after.next, op)
    elif at_start_of is not None:
        at_start_of.insert_before(at_start_of.first, op)
    else:
        assert at_end_of is not None, "no insertion point"
        at_end_of.append(op)


def _refresh_operand_types(op: Op) -> None:
    op.signature = op.signature.with_types(
        tuple([use.value.type for use in op._operands]), op.signature.result_types
    )
