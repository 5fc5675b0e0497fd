"""Verification, in MLIR's order: an operation, then what its regions hold, then its regions as a whole.

An isolated operation (a function) is verified by itself, when all else in the operation around it has
been: an error in one does not hide those in the next. Within one, the first error ends it. Errors are
emitted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sdyopt.diagnostics.diagnostic import DiagnosticError, emit
from sdyopt.ir.attribute import Attribute, DictAttr
from sdyopt.ir.block import Block
from sdyopt.ir.dialect import DialectTable
from sdyopt.ir.fields import RegionField
from sdyopt.ir.form import Form, FormError
from sdyopt.ir.operation import Op
from sdyopt.ir.traits import FUNCTION, GRAPH_REGION, ISOLATED, NO_TERMINATOR
from sdyopt.ir.types import Type
from sdyopt.ir.verify_again import is_inside_as_it_was, looks_at_form_only, note_inside
from sdyopt.ir.verify_form import SpellType, check_inferred_types, form_problem
from sdyopt.ir.verify_uses import check_uses


@dataclass(frozen=True)
class Verifier:
    """Checks operations against their classes and the dialects of their discardable attributes."""

    dialects: DialectTable
    spell_type: SpellType
    spell_op: Callable[[Op], str]

    def verify(self, op: Op) -> bool:
        """Whether `op` and all inside it is valid; errors go to the diagnostic handler."""
        moved: list[Block] = []
        try:
            self._op(op)
            self._inside(op, moved)
            if moved:
                check_uses(op)
        except DiagnosticError as error:
            emit(error.diagnostic)
            return False
        except _InvalidInside:
            return False
        for block in moved:
            block.are_uses_checked = True
        return True

    def verify_around(self, op: Op) -> bool:
        """Whether what isolated operations in `op` say of each other is valid, each being valid by itself."""
        try:
            self._whole(op)
        except DiagnosticError as error:
            emit(error.diagnostic)
            return False
        return True

    # --- One operation ------------------------------------------------------------------

    def _op(self, op: Op) -> None:
        if op.attributes.entries:
            self._discardable_attributes(op)
        has_regions = op.regions or op.op_class_has_regions
        if has_regions:
            _check_region_count(op)
        _check_successor_count(op)
        if has_regions:
            for trait in op.trait_order:
                if trait.verify_structure is not None:
                    trait.verify_structure(op)
        problem = form_problem(op.form, self.spell_type)
        if problem is not None:
            raise _form_error(op, problem)
        if not op.name:
            self._unknown(op)
        if has_regions:
            _check_regions(op)
        try:
            for trait in op.trait_order:
                if trait.verify_place is not None:
                    trait.verify_place(op)
            if FUNCTION in op.traits:
                self._signature_attributes(op)
            if op.verify_place is not None:
                op.verify_place()
        except FormError as place_problem:
            raise _form_error(op, place_problem) from None
        _check_entries(op)

    def _unknown(self, op: Op) -> None:
        """An operation without a class must be of a dialect that nobody knows."""
        if self.dialects.find(op.dialect_name) is not None:
            raise op.error(
                f"unregistered operation '{op.form.name}' found in dialect ('{op.dialect_name}') that does "
                "not allow unknown operations"
            )

    def _discardable_attributes(self, op: Op) -> None:
        for name, attribute in op.attributes.entries:
            self._discardable(op, name, attribute)

    def _discardable(self, op: Op, name: str, attribute: Attribute) -> None:
        check = type(attribute).verify_symbols
        if check is not None:
            check(attribute, op)
        namespace, dot, _ = name.partition(".")
        if not dot:
            return
        dialect = self.dialects.find(namespace)
        if dialect is not None and dialect.verify_op_attribute is not None:
            dialect.verify_op_attribute(op, name, attribute)

    def _signature_attributes(self, op: Any) -> None:
        """Checks the attributes of a function's arguments and results."""
        signature = op.function_type
        for word, held, types, hook in (
            ("argument", op.argument_attributes, signature.inputs, "verify_argument_attribute"),
            ("result", op.result_attributes, signature.results, "verify_result_attribute"),
        ):
            if len(held) != len(types):
                raise op.op_error(
                    f"expects {word} attribute array to have the same number of elements as the number of "
                    f"function {word}s, got {len(held)}, but expected {len(types)}"
                )
            # An attribute that was right for one is right for all of the same type.
            seen: set[tuple[str, Attribute, Type]] = set()
            seen_together: set[tuple[DictAttr, Type]] = set()
            for index, (attributes, type) in enumerate(zip(held, types, strict=True)):
                if (attributes, type) not in seen_together:
                    seen_together.add((attributes, type))
                    new = [(n, a) for n, a in attributes.entries if (n, a, type) not in seen]
                    self._attributes_of_one(op, word, index, new, hook)
                    seen.update((name, attribute, type) for name, attribute in new)

    def _attributes_of_one(
        self, op: Op, word: str, index: int, attributes: Sequence[tuple[str, Attribute]], hook: str
    ) -> None:
        for name, attribute in attributes:
            namespace, dot, _ = name.partition(".")
            if not dot:
                raise op.op_error(f"{word}s may only have dialect attributes")
            dialect = self.dialects.find(namespace)
            check = None if dialect is None else getattr(dialect, hook)
            if check is not None:
                check(op, index, name, attribute)

    # --- What it holds ------------------------------------------------------------------

    def _inside(self, op: Op, moved: list[Block]) -> None:
        """Checks what an operation holds, isolated operations after the others, and then all of it.

        Adds to `moved` the blocks, but not those of isolated operations, whose uses need a check.
        """
        isolated: list[Op] = []
        may_lack_terminator = NO_TERMINATOR in op.traits or not op.name
        for region in op.regions:
            for block in region.blocks:
                if not block.are_uses_checked:
                    moved.append(block)
                self._block(op, block, may_lack_terminator, isolated, moved)
        invalid = [inner for inner in isolated if not self.verify(inner)]
        if invalid:
            raise _InvalidInside
        self._whole(op)

    def _block(
        self, op: Op, block: Block, may_lack_terminator: bool, isolated: list[Op], moved: list[Block]
    ) -> None:
        assert block.parent is not None
        may_lack_terminator = may_lack_terminator and len(block.parent.blocks) <= 1
        if block.first is None:
            if not may_lack_terminator:
                raise DiagnosticError.at(op.location, "empty block: expect at least a terminator")
            return
        if len(block.parent.blocks) > 1:
            _check_no_branch_inside(block)
        # What is right for one operation is right for the others of the same form and attributes, if its
        # class looks at nothing else: what dialects check of attributes reads what is around the block.
        seen: set[tuple[Form, DictAttr]] = set()
        child: Op | None = block.first
        while child is not None:
            pair = child.form, child.attributes
            if pair in seen and not child.regions and not child.successors:
                pass
            elif child.regions and ISOLATED in child.traits:
                isolated.append(child)
            elif child.regions and is_inside_as_it_was(child):
                self._discardable_attributes(child)
            else:
                self._op(child)
                if child.regions or child.op_class_has_regions:
                    self._inside(child, moved)
                    note_inside(child)
                elif looks_at_form_only(child):
                    seen.add(pair)
            child = child.next
        last = block.last
        if last is not None and not may_lack_terminator and last.name and not last.is_terminator:
            raise last.error(f"block with no terminator, has {self.spell_op(last)}")

    def _whole(self, op: Op) -> None:
        for trait in op.trait_order:
            if trait.verify_regions is not None:
                trait.verify_regions(op)
        if op.verify_regions is not None:
            op.verify_regions()
        try:
            check_inferred_types(op.form, op.regions, self.spell_type)
        except FormError as problem:
            raise _form_error(op, problem) from None


class _InvalidInside(Exception):
    """An isolated operation inside is invalid, and why has been emitted."""


def _form_error(op: Op, problem: FormError) -> DiagnosticError:
    """A form's error, at an operation that has the form."""
    error = op.op_error(problem.message) if problem.prefixed else op.error(problem.message)
    if not problem.shows_operation:
        error.diagnostic.operation = None
    for note in problem.notes:
        error.note(note)
    error.diagnostic.followers = [_form_error(op, follower).diagnostic for follower in problem.followers]
    return error


def _check_region_count(op: Op) -> None:
    if not op.name:
        return
    fields = [f for f in op.fields.values() if isinstance(f, RegionField)]
    count = len(op.regions)
    needed = sum(not field.is_variadic for field in fields)
    if not any(field.is_variadic for field in fields):
        if count != needed:
            raise op.op_error(
                {0: "requires zero regions", 1: "requires one region"}.get(
                    needed, f"expected {needed} regions"
                )
            )
    elif count < needed:
        raise op.op_error(f"expected {needed} or more regions")


def _check_successor_count(op: Op) -> None:
    needed, count = len(op.target_operands), len(op.successors)
    if op.name and count != needed:
        s = "" if needed == 1 else "s"
        raise op.op_error(f"requires {needed} successor{s} but found {count}")


def _check_no_branch_inside(block: Block) -> None:
    for op in block.ops:
        if op.successors and op is not block.last:
            raise op.error("operation with block successors must terminate its parent block")


def _check_regions(op: Op) -> None:
    for declared in op.fields.values():
        if not isinstance(declared, RegionField):
            continue
        end = len(op.regions) if declared.is_variadic else declared.index + 1
        for index, region in enumerate(op.regions[declared.index : end], declared.index):
            if not declared.constraint.accepts(region):
                raise op.op_error(
                    f"region #{index} ('{declared.name}') failed to verify constraint: "
                    f"{declared.constraint.description}"
                )


def _check_entries(op: Op) -> None:
    for index, region in enumerate(op.regions):
        if len(region.blocks) > 1 and GRAPH_REGION in op.traits:
            raise op.op_error(f"expects graph region #{index} to have 0 or 1 blocks")
        if region.blocks and region.blocks[0].predecessors:
            raise DiagnosticError.at(op.location, "entry block of region may not have predecessors")
