"""Operations: a form plus its place.

The place is operands, regions, successors, location and discardable attributes. Build operations
with `build`, change them through `ir.rewrite.Rewriter`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from sdyopt.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity, emit
from sdyopt.diagnostics.location import Location, UnknownLoc
from sdyopt.ir.attribute import Attribute, DictAttr
from sdyopt.ir.block import Block, Region
from sdyopt.ir.op_fields import Field
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.traits import Trait
from sdyopt.ir.types import Type
from sdyopt.ir.value import BlockArgument, LazyLocation, OpOperand, OpResult, Value

NO_ATTRIBUTES = DictAttr(())
UNKNOWN = UnknownLoc()


class Op:
    """Base of all operations. A class declares its parts as fields (see `ir.define`).

    Class-level facts are filled in by the dialect's `op` decorator: `name` with its dialect,
    `traits`, and `fields` by name in declaration order.
    """

    __slots__ = (
        "_location",
        "_operands",
        "attributes",
        "next",
        "order",
        "parent",
        "prev",
        "regions",
        "results",
        "signature",
        "successors",
    )

    name: ClassVar[str] = ""
    dialect: ClassVar[Any] = None
    traits: ClassVar[frozenset[Trait]] = frozenset()
    trait_order: ClassVar[tuple[Trait, ...]] = ()
    fields: ClassVar[Mapping[str, Field]] = {}
    is_terminator: ClassVar[bool] = False
    op_class_has_regions: ClassVar[bool] = False
    # Operations of this dialect are written without its name directly inside this one.
    default_dialect: ClassVar[str] = ""
    # How the operation is written; belongs to the syntax layer, which reads it.
    assembly: ClassVar[Any] = None

    # The hooks that a class may define. `None` says that there is nothing to do.
    verify_signature: ClassVar[Callable[..., None] | None] = None
    verify_in_context: Callable[..., None] | None = None
    verify_regions: Callable[..., None] | None = None
    # Whether `verify_in_context` reads more than the operation, the definitions of its operands, and those
    # around it.
    has_nonlocal_verifier: ClassVar[bool] = False
    # Whether the checks of an operation with regions leave discardable attributes alone, inside too.
    ignores_discardable_attributes: ClassVar[bool] = False
    # Whether it depends on this operation what is right in the discardable attributes of those inside.
    scopes_attributes: ClassVar[bool] = False
    # Comes when all inside the symbol table has been verified.
    verify_symbol_uses: Callable[..., None] | None = None
    infer_result_types: ClassVar[Callable[..., Sequence[Type]] | None] = None
    fold: Callable[..., Any] | None = None
    # Whether operations of a form leave memory alone, if the traits do not say so.
    is_effect_free: ClassVar[Callable[..., bool] | None] = None
    canonicalizations: ClassVar[tuple[Any, ...]] = ()
    # Names that printed text should use: () -> (result index, name), … and (region) -> (argument, name), …
    # Inherent attributes that are kept outside the form, because they change often and one by one.
    # `set_up` prepares the slots that hold them.
    mutable_attributes: ClassVar[tuple[str, ...]] = ()
    # Of a branch, for each successor the field of the operands that become the block's arguments.
    target_operands: ClassVar[tuple[str, ...]] = ()
    # Which values are the same data, as a `data_flow.DataFlow`; None for operations that make new data.
    data_flow: ClassVar[Any] = None
    set_up: Callable[[], None] | None = None
    name_results: Callable[[], Sequence[tuple[int, str]]] | None = None
    name_arguments: Callable[[Region], Sequence[tuple[BlockArgument, str]]] | None = None

    signature: OpSignature
    attributes: DictAttr
    _location: LazyLocation
    _operands: list[OpOperand]
    results: tuple[OpResult, ...]
    regions: tuple[Region, ...]
    successors: Sequence[Block]
    parent: Block | None
    prev: Op | None
    next: Op | None
    order: int

    # --- Parts ----------------------------------------------------------------------

    @property
    def operands(self) -> list[Value]:
        return [use.value for use in self._operands]

    @property
    def operand_uses(self) -> list[OpOperand]:
        """The operands as uses, which know their index."""
        return self._operands

    def operand_at(self, index: int) -> Value:
        return self._operands[index].value

    @property
    def operand_types(self) -> tuple[Type, ...]:
        return self.signature.operand_types

    @property
    def result_types(self) -> tuple[Type, ...]:
        return self.signature.result_types

    @property
    def result(self) -> OpResult:
        """The only result."""
        (result,) = self.results
        return result

    @property
    def location(self) -> Location:
        location = self._location
        if isinstance(location, tuple):
            source, offset = location
            self._location = resolved = source.location(offset)
            return resolved
        return location

    @location.setter
    def location(self, location: LazyLocation) -> None:
        self._location = location

    @property
    def dialect_name(self) -> str:
        return self.signature.name.partition(".")[0]

    def attribute(self, name: str) -> Attribute | None:
        """An attribute by name, inherent ones first."""
        if name in self.mutable_attributes:
            return self.mutable_attribute(name)
        found = self.signature.attributes.get(name)
        return self.attributes.get(name) if found is None else found

    def inherent_attributes(self) -> DictAttr:
        """All inherent attributes, those kept outside the form included."""
        attributes = self.signature.attributes
        for name in self.mutable_attributes:
            value = self.mutable_attribute(name)
            if value is not None:
                attributes = attributes.with_entry(name, value)
        return attributes

    def mutable_attribute(self, name: str) -> Attribute | None:
        """One of `mutable_attributes`, None if it would be empty."""
        raise NotImplementedError

    def set_mutable_attribute(self, name: str, value: Attribute | None) -> None:
        """Sets one of `mutable_attributes`. Only `build`, cloning and the rewriter do."""
        raise NotImplementedError

    def has_trait(self, trait: Trait) -> bool:
        return trait in self.traits

    # --- Place ----------------------------------------------------------------------

    @property
    def parent_op(self) -> Op | None:
        block = self.parent
        return block.parent.parent if block is not None and block.parent is not None else None

    @property
    def parent_region(self) -> Region | None:
        return self.parent.parent if self.parent is not None else None

    def ancestors(self) -> Iterator[Op]:
        """The enclosing operations, innermost first, without this one."""
        op = self.parent_op
        while op is not None:
            yield op
            op = op.parent_op

    def parent_of(self, *classes: type[Op]) -> Op | None:
        """The innermost enclosing operation of one of these classes."""
        return next((op for op in self.ancestors() if isinstance(op, classes)), None)

    def is_ancestor(self, other: Op | None) -> bool:
        """Whether `other` is this operation or lies inside it."""
        while other is not None:
            if other is self:
                return True
            other = other.parent_op
        return False

    def is_before(self, other: Op) -> bool:
        """Whether this stands before `other` in the block of both."""
        block = self.parent
        assert block is not None and block is other.parent
        if not block.is_ordered:
            block.number()
        return self.order < other.order

    def walk(self) -> Iterator[Op]:
        """This operation and all inside it, each before what it contains (pre-order).

        The yielded operation may be erased. This and the next one are flat, because passes walk a lot.
        """
        yield self
        # The blocks to go on with, and where to go on around them, innermost last.
        blocks, around = _blocks_in(self), []
        op: Op | None = None
        while True:
            while op is not None:
                following = op.next
                yield op
                if op.regions:
                    around.append((following, blocks))
                    blocks = _blocks_in(op)
                    break
                op = following
            block = next(blocks, None)
            if block is not None:
                op = block.first
            elif around:
                op, blocks = around.pop()
            else:
                return

    def walk_post_order(self) -> Iterator[Op]:
        """All inside this operation and then itself: MLIR's default order.

        The yielded operation may be erased.
        """
        blocks, around = _blocks_in(self), []
        op: Op | None = None
        while True:
            while op is not None:
                if op.regions:
                    around.append((op, op.next, blocks))
                    blocks = _blocks_in(op)
                    break
                following = op.next
                yield op
                op = following
            block = next(blocks, None)
            if block is not None:
                op = block.first
            elif around:
                outer, op, blocks = around.pop()
                yield outer
            else:
                yield self
                return

    # --- Diagnostics ----------------------------------------------------------------

    def error(self, message: str) -> DiagnosticError:
        """An error at this operation, worded as it stands."""
        return DiagnosticError(Diagnostic(Severity.ERROR, self.location, message, operation=self))

    def op_error(self, message: str) -> DiagnosticError:
        """An error that names the operation first: `'dialect.name' op message`."""
        return self.error(f"'{self.signature.name}' op {message}")

    def warn(self, message: str) -> None:
        """Sends a warning at this operation."""
        emit(Diagnostic(Severity.WARNING, self.location, message, operation=self))

    def __repr__(self) -> str:
        return f"<{self.signature.name} at {self._location!r}>"


class UnregisteredOp(Op):
    """An operation of a dialect that is not loaded, known only by its name."""

    __slots__ = ()


def _blocks_in(op: Op) -> Iterator[Block]:
    return (block for region in op.regions for block in region.blocks)


def build(
    signature: OpSignature,
    operands: Sequence[Value],
    attributes: DictAttr = NO_ATTRIBUTES,
    location: LazyLocation = UNKNOWN,
    regions: tuple[Region, ...] = (),
    successors: Sequence[Block] = (),
) -> Op:
    """Makes a detached operation. Parsing makes most of a program through here, so it is flat."""
    op = object.__new__(signature.op_class)
    op.signature = signature
    op.attributes = attributes
    op._location = location
    op.parent = None
    op.prev = None
    op.next = None
    op.order = 0
    op._operands = [OpOperand(op, index, value) for index, value in enumerate(operands)]
    types = signature.result_types
    if len(types) == 1:
        op.results = (OpResult(op, 0, types[0]),)
    elif types:
        op.results = tuple([OpResult(op, i, type) for i, type in enumerate(types)])
    else:
        op.results = ()
    op.regions = regions
    if regions:
        for region in regions:
            region.parent = op
    op.successors = successors
    if op.set_up is not None:
        op.set_up()
    return op
