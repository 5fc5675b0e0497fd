"""Verification, in MLIR's order: an operation, then what its regions hold, then its regions as a whole.

An isolated operation (a function) is verified by itself, when all else in the operation around it has
been: an error in one does not hide those in the next. Within one, the first error ends it. Errors are
emitted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sdyopt.diagnostics.diagnostic import DiagnosticError, emit, handling
from sdyopt.ir.attribute import Attribute, DictAttr
from sdyopt.ir.block import Block
from sdyopt.ir.dialect import DialectTable
from sdyopt.ir.dominance import Dominance
from sdyopt.ir.op_signature import OpSignature, SignatureError
from sdyopt.ir.operation import Op
from sdyopt.ir.traits import FUNCTION, ISOLATED, NO_TERMINATOR
from sdyopt.ir.types import Type
from sdyopt.ir.verify_signature import PrintType, check_inferred_types, signature_problem
from sdyopt.ir.verify_structure import (
    check_entries,
    check_no_branch_inside,
    check_region_count,
    check_regions,
    check_successor_count,
)
from sdyopt.ir.verify_uses import check_uses

# Operations without regions whose discardable attributes have been found valid, by form and attributes.
# What is around them counts too, so there is one set for each operation that `scopes_attributes`.
Seen = set[tuple[OpSignature, DictAttr]]


@dataclass(frozen=True)
class Verifier:
    """Checks operations against their classes and the dialects of their discardable attributes."""

    dialects: DialectTable
    print_type: PrintType
    print_op: Callable[[Op], str]
    # Forms found valid whose classes look at nothing else.
    _formal: set[OpSignature] = field(default_factory=set, init=False, repr=False)
    # Whether what dialects check of these attributes goes beyond the form and what is around.
    _is_far: dict[DictAttr, bool] = field(default_factory=dict, init=False, repr=False)

    def verify(self, op: Op, seen: Seen | None = None) -> bool:
        """Whether `op` and all inside it is valid; errors go to the diagnostic handler."""
        try:
            self.check_nested(op, set() if seen is None else seen)
            self.check_dominance(op)
        except DiagnosticError as error:
            emit(error.diagnostic)
            return False
        except InvalidInside:
            return False
        return True

    def is_valid(self, op: Op) -> bool:
        """The same, without saying what is wrong."""
        with handling(lambda _: None):
            return self.verify(op)

    # --- One operation ------------------------------------------------------------------

    def check_op(self, op: Op) -> None:
        """Checks an operation without what is inside."""
        if op.attributes.entries:
            self._discardable_attributes(op)
        has_regions = op.regions or op.op_class_has_regions
        if has_regions:
            check_region_count(op)
        check_successor_count(op)
        if has_regions:
            for trait in op.trait_order:
                if trait.verify_structure is not None:
                    trait.verify_structure(op)
        problem = signature_problem(op.signature, self.print_type)
        if problem is not None:
            raise _signature_error(op, problem)
        if not op.name:
            self._unknown(op)
        if has_regions:
            check_regions(op)
        try:
            for trait in op.trait_order:
                if trait.verify_in_context is not None:
                    trait.verify_in_context(op)
            if FUNCTION in op.traits:
                self._signature_attributes(op)
            if op.verify_in_context is not None:
                op.verify_in_context()
        except SignatureError as context_problem:
            raise _signature_error(op, context_problem) from None
        check_entries(op)

    def _unknown(self, op: Op) -> None:
        """An operation without a class must be of a dialect that nobody knows."""
        if self.dialects.find(op.dialect_name) is not None:
            raise op.error(
                f"unregistered operation '{op.signature.name}' found in dialect ('{op.dialect_name}') that"
                " does not allow unknown operations"
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

    def verify_around(self, op: Op) -> bool:
        """Whether what isolated operations in `op` say of each other is valid, each being valid by itself."""
        try:
            self.check_whole(op)
        except DiagnosticError as error:
            emit(error.diagnostic)
            return False
        return True

    def check_nested(self, op: Op, seen: Seen) -> None:
        """Checks an operation with all that it holds, except uses."""
        self.check_op(op)
        self._inside(op, seen)

    def _inside(self, op: Op, seen: Seen) -> None:
        """Checks what an operation holds, isolated operations after the others, and then all of it."""
        isolated: list[Op] = []
        if op.scopes_attributes:
            seen = set()
        for region in op.regions:
            for block in region.blocks:
                self._block(block, isolated, seen)
        invalid = [inner for inner in isolated if not self.verify(inner, seen)]
        if invalid:
            raise InvalidInside
        self.check_whole(op)

    def _block(self, block: Block, isolated: list[Op], seen: Seen) -> None:
        if block.first is None:
            self.check_end(block)
        if block.parent is not None and len(block.parent.blocks) > 1:
            check_no_branch_inside(block)
        child: Op | None = block.first
        while child is not None:
            signature, attributes = child.signature, child.attributes
            if signature in self._formal and not child.regions and not child.successors:
                if attributes.entries and (signature, attributes) not in seen:
                    self._see_attributes(child, seen)
                child = child.next
                continue
            if child.regions and ISOLATED in child.traits:
                isolated.append(child)
            else:
                self.check_op(child)
                if child.regions or child.op_class_has_regions:
                    self._inside(child, seen)
                elif _is_formal(type(child)):
                    self._formal.add(signature)
            child = child.next
        if block.first is not None:
            self.check_end(block)

    def check_alone(self, op: Op, seen: Seen) -> None:
        """Checks an operation without regions."""
        if op.signature not in self._formal or op.successors:
            self.check_op(op)
            if _is_formal(type(op)):
                self._formal.add(op.signature)
        else:
            self.check_attributes(op, seen)

    def check_attributes(self, op: Op, seen: Seen) -> None:
        """Checks the discardable attributes of an operation."""
        if op.attributes.entries and (op.signature, op.attributes) not in seen:
            self._see_attributes(op, seen)

    def _see_attributes(self, op: Op, seen: Seen) -> None:
        self._discardable_attributes(op)
        if not self.reads_far(op.attributes):
            seen.add((op.signature, op.attributes))

    def reads_far(self, attributes: DictAttr) -> bool:
        """Whether the checks of these attributes read more than the form and what is around the operation."""
        is_far = self._is_far.get(attributes)
        if is_far is None:
            dialects = [self.dialects.find(name.partition(".")[0]) for name, _ in attributes.entries]
            is_far = any(
                dialect is not None and name in dialect.far_attributes
                for dialect, (name, _) in zip(dialects, attributes.entries, strict=True)
            )
            self._is_far[attributes] = is_far
        return is_far

    def check_end(self, block: Block) -> None:
        """Checks that a block ends with a terminator if it has to."""
        op, last = block.parent_op, block.last
        assert block.parent is not None and op is not None
        if (NO_TERMINATOR in op.traits or not op.name) and len(block.parent.blocks) <= 1:
            return
        if last is None:
            raise DiagnosticError.at(op.location, "empty block: expect at least a terminator")
        if last.name and not last.is_terminator:
            raise last.error(f"block with no terminator, has {self.print_op(last)}")

    def check_whole(self, op: Op) -> None:
        """Checks an operation as a whole, after all inside it."""
        for trait in op.trait_order:
            if trait.verify_regions is not None:
                trait.verify_regions(op)
        if op.verify_regions is not None:
            op.verify_regions()
        try:
            check_inferred_types(op.signature, op.regions, self.print_type)
        except SignatureError as problem:
            raise _signature_error(op, problem) from None

    # --- Dominance ----------------------------------------------------------------------

    def check_dominance(self, op: Op) -> None:
        """Checks uses right inside an operation, then in what it holds, from the last to the first."""
        dominance = Dominance()
        around = [op]
        while around:
            for region in around.pop().regions:
                for block in region.blocks:
                    if not block.is_ordered:
                        block.number()
                    is_reachable = dominance.is_reachable(block)
                    for child in block.ops:
                        check_uses(child, dominance, is_reachable)
                        if child.regions and ISOLATED not in child.traits:
                            around.append(child)


class InvalidInside(Exception):
    """An isolated operation inside is invalid, and why has been emitted."""


def _is_formal(op_class: type[Op]) -> bool:
    """Whether all that the class checks is the form."""
    if not op_class.name or op_class.op_class_has_regions or op_class.verify_in_context is not None:
        return False
    return not any(
        trait.verify_in_context or trait.verify_regions or trait.verify_structure
        for trait in op_class.trait_order
    )


def _signature_error(op: Op, problem: SignatureError) -> DiagnosticError:
    """A form's error, at an operation that has the form."""
    error = op.op_error(problem.message) if problem.prefixed else op.error(problem.message)
    if not problem.shows_operation:
        error.diagnostic.operation = None
    for note in problem.notes:
        error.note(note)
    error.diagnostic.followers = [_signature_error(op, follower).diagnostic for follower in problem.followers]
    return error
