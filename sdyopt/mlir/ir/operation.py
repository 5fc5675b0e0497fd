"""Operations: an interned signature, and what is not part of it, such as operands, regions and the location.

`build` creates operations; `ir.rewrite.Rewriter` edits them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Never, TypeVar, cast

from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity, emit
from sdyopt.base.diagnostics.location import FusedParts, Location, Source, UnknownLoc
from sdyopt.base.releases import Behavior
from sdyopt.mlir.ir.attribute import Attribute, DictAttr
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.op_fields import Field, FieldsByRelease
from sdyopt.mlir.ir.op_signature import OpSignature, used_classes
from sdyopt.mlir.ir.traits import Trait
from sdyopt.mlir.ir.types import Type
from sdyopt.mlir.ir.value import BlockArgument, LazyLocation, OpOperand, OpResult, Value

NO_ATTRIBUTES = DictAttr(())
UNKNOWN = UnknownLoc()
# The source of locations that are not offsets.
_NO_SOURCE = Source("", "")


OpT = TypeVar("OpT", bound="Op")


class OpMeta(type):
    """The class of operation classes, whose instances have no slots but those that the class declares."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> OpMeta:
        namespace.setdefault("__slots__", ())
        return super().__new__(cls, name, bases, namespace)


class Op(metaclass=OpMeta):
    """Base class of all operations. A class declares operands, results, attributes, regions (`ir.op_fields`).

    The dialect's `op` decorator sets the class attributes up to `declares_regions`. `name` has the namespace,
    and `fields` maps the names of fields to fields in declaration order. `attributes` are the discardable
    attributes.
    """

    __slots__ = (
        "_location",
        "_operands",
        "_source",
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
    dialect: ClassVar[Any] = None  # an `ir.dialect.Dialect`, or None for unregistered operations
    since: ClassVar[Behavior | None] = None  # releases without the behaviour do not have the operation
    traits: ClassVar[frozenset[Trait]] = frozenset()
    trait_order: ClassVar[tuple[Trait, ...]] = ()
    fields: ClassVar[Mapping[str, Field] | FieldsByRelease] = {}
    # The fields as they are declared, those that only some releases have included.
    fields_of_all_releases: ClassVar[Mapping[str, Field]] = {}
    is_terminator: ClassVar[bool] = False
    declares_regions: ClassVar[bool] = False

    # --- Text ---
    # The dialect whose operations are written without their namespace directly inside this operation.
    default_dialect: ClassVar[str] = ""
    # The assembly format, which only the asm layer reads; None if there is only the generic form.
    assembly: ClassVar[Any] = None
    # () -> whether the assembly prints nothing of the regions.
    hides_regions: Callable[[], bool] | None = None
    # Suggested SSA names: () -> (result index, name), … and (region) -> (argument, name), …
    name_results: Callable[[], Sequence[tuple[int, str]]] | None = None
    name_arguments: Callable[[Region], Sequence[tuple[BlockArgument, str]]] | None = None

    # --- Verification: hooks, None where there is nothing to check ---
    # (signature) -> raises SignatureError. The other verifiers are methods that raise DiagnosticError.
    verify_signature: ClassVar[Callable[..., None] | None] = None
    verify_in_context: Callable[..., None] | None = None
    # (signature, regions) -> raises SignatureError; for classes whose `verify_in_context` does only this.
    verify_body: ClassVar[Callable[..., None] | None] = None
    verify_regions: Callable[..., None] | None = None
    # Runs once the enclosing symbol table and everything inside it is verified.
    verify_symbol_uses: Callable[..., None] | None = None
    # (signature, regions) -> the result types, for classes with an `InfersTypes` trait.
    infer_result_types: ClassVar[Callable[..., Sequence[Type]] | None] = None
    # Whether the validity of discardable attributes of nested operations depends on this operation.
    scopes_attributes: ClassVar[bool] = False

    # --- Semantics ---
    # (constant operand values, None for the others) -> a value or attribute per result, [] if the operation
    # was folded in place, None if it does not fold.
    fold: Callable[..., Sequence[Value | Attribute] | None] | None = None
    # Each an `ir.patterns.Pattern`.
    canonicalizations: ClassVar[tuple[Any, ...]] = ()
    # (signature) -> whether the operation has no memory effects, if the traits do not determine it.
    is_effect_free: ClassVar[Callable[..., bool] | None] = None
    # (signature) -> how often the regions run in one run of the operation, None if unknown, for reports.
    trip_count: ClassVar[Callable[..., int | None] | None] = None
    # For a branch: per successor, the name of the field whose operands become the block arguments. If the
    # last is that of variadic successors, the attribute `successor_segments` has the number of operands for
    # each. The `op` decorator sets both.
    successor_operands: ClassVar[tuple[str, ...]] = ()
    successor_segments: ClassVar[str] = ""
    # (op) -> the values that an operation in a parallel region updates; None if it is no such operation.
    updated_destinations: ClassVar[Callable[..., Sequence[Value]] | None] = None
    # The data-flow edges of the operation, an `ir.data_flow.DataFlow`; None if it has none.
    data_flow: ClassVar[Any] = None
    # The inherent attributes that are stored outside the signature because they change often.
    mutable_attributes: ClassVar[tuple[str, ...]] = ()
    # Initializes the slots that the class adds.
    set_up: Callable[[], None] | None = None

    signature: OpSignature
    attributes: DictAttr
    _location: Location | int
    _source: Source | FusedParts  # if `_location` is an offset
    _operands: tuple[OpOperand, ...]
    results: tuple[OpResult, ...]
    regions: tuple[Region, ...]
    successors: Sequence[Block]
    parent: Block | None
    prev: Op | None
    next: Op | None
    order: int

    def __reduce_ex__(self, protocol: object) -> Never:
        """Each refers to the next one, to the end of the program: too deep for `pickle`."""
        raise TypeError(f"an operation of the IR cannot be pickled ({self.signature.name}): pass its module")

    # --- Parts ----------------------------------------------------------------------

    @property
    def operands(self) -> list[Value]:
        """The operands, in order."""
        return [use.value for use in self._operands]

    @property
    def operand_uses(self) -> tuple[OpOperand, ...]:
        """The operands as uses, each with its index."""
        return self._operands

    def operand_at(self, index: int) -> Value:
        return self._operands[index].value

    @property
    def operand_types(self) -> tuple[Type, ...]:
        """The types of the operands."""
        return self.signature.operand_types

    @property
    def result_types(self) -> tuple[Type, ...]:
        """The types of the results."""
        return self.signature.result_types

    @property
    def result(self) -> OpResult:
        """The only result."""
        (result,) = self.results
        return result

    @property
    def location(self) -> Location:
        """The source location, resolved on first use."""
        location = self._location
        if isinstance(location, int):
            location = self._location = self._source.location(location)
        return location

    @location.setter
    def location(self, location: LazyLocation) -> None:
        if isinstance(location, tuple):
            self._source, self._location = location
        else:
            self._location = location

    @property
    def lazy_location(self) -> LazyLocation:
        """The location without resolving it, for operations created from this one."""
        location = self._location
        return (self._source, location) if isinstance(location, int) else location

    @property
    def dialect_name(self) -> str:
        """The namespace of the operation, registered or not."""
        dialect = self.dialect
        return self.signature.name.partition(".")[0] if dialect is None else dialect.name

    def attribute(self, name: str) -> Attribute | None:
        """The inherent attribute of this name or, if there is none, the discardable one; None if missing."""
        if name in self.mutable_attributes:
            return self.mutable_attribute(name)
        inherent = self.signature.attributes.get(name)
        return self.attributes.get(name) if inherent is None else inherent

    def inherent_attributes(self) -> DictAttr:
        """All inherent attributes, `mutable_attributes` included."""
        attributes = self.signature.attributes
        for name in self.mutable_attributes:
            value = self.mutable_attribute(name)
            if value is not None:
                attributes = attributes.with_entry(name, value)
        return attributes

    def mutable_attribute(self, name: str) -> Attribute | None:
        """The value of one of `mutable_attributes`; None if it is missing."""
        raise NotImplementedError

    def set_mutable_attribute(self, name: str, value: Attribute | None) -> None:
        """Sets one of `mutable_attributes`. Passes call the rewriter instead."""
        raise NotImplementedError

    def has_trait(self, trait: Trait) -> bool:
        """Whether the class has a trait."""
        return trait in self.traits

    # --- Position -------------------------------------------------------------------

    @property
    def parent_op(self) -> Op | None:
        """The enclosing operation; None for a module, and for a detached operation."""
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

    def parent_of_type(self, *classes: type[Op]) -> Op | None:
        """The innermost enclosing operation of one of these classes."""
        return next((op for op in self.ancestors() if isinstance(op, classes)), None)

    def is_ancestor(self, other: Op | None) -> bool:
        """Whether `other` is this operation or is nested in it."""
        while other is not None:
            if other is self:
                return True
            other = other.parent_op
        return False

    def is_before(self, other: Op) -> bool:
        """Whether this operation precedes `other`, which is in the same block."""
        block = self.parent
        assert block is not None and block is other.parent
        if not block.is_ordered:
            block.number()
        return self.order < other.order

    def walk(self) -> Iterator[Op]:
        """This operation and all nested ones in pre-order.

        The yielded operation may be erased; those nested in it are still visited. Neither this nor
        `walk_post_order` is a recursive generator, which would be slow, as passes walk often.
        """
        yield self
        # The remaining blocks of the current operation. Per operation that encloses it, innermost last: the
        # next operation there, and the remaining blocks.
        blocks, enclosing = _blocks_in(self), []
        op: Op | None = None
        while True:
            while op is not None:
                following = op.next
                yield op
                if op.regions:
                    enclosing.append((following, blocks))
                    blocks = _blocks_in(op)
                    break
                op = following
            block = next(blocks, None)
            if block is not None:
                op = block.first
            elif enclosing:
                op, blocks = enclosing.pop()
            else:
                return

    def walk_post_order(self) -> Iterator[Op]:
        """All nested operations and then this one in post-order, MLIR's default.

        The yielded operation may be erased.
        """
        blocks, enclosing = _blocks_in(self), []
        op: Op | None = None
        while True:
            while op is not None:
                if op.regions:
                    enclosing.append((op, op.next, blocks))
                    blocks = _blocks_in(op)
                    break
                following = op.next
                yield op
                op = following
            block = next(blocks, None)
            if block is not None:
                op = block.first
            elif enclosing:
                outer, op, blocks = enclosing.pop()
                yield outer
            else:
                yield self
                return

    def nested(self, *op_classes: type[OpT]) -> list[OpT]:
        """The nested operations of these classes, in post-order. Walks only if there may be any."""
        ops: list[OpT] = []
        if classes := used_classes(op_classes):
            _add_nested(self, classes, ops)
        return ops

    # --- Diagnostics ----------------------------------------------------------------

    def error(self, message: str) -> DiagnosticError:
        """An error at this operation with this message (`emitError`)."""
        return DiagnosticError(Diagnostic(Severity.ERROR, self.location, message, operation=self))

    def op_error(self, message: str) -> DiagnosticError:
        """An error with the prefix `'dialect.name' op ` (`emitOpError`)."""
        return self.error(f"'{self.signature.name}' op " + message)

    def warning(self, message: str, *notes: tuple[str, Location], help: str = "") -> None:
        """Emits a warning at this operation, with notes and help (`emitWarning`)."""
        self._emit(Severity.WARNING, message, notes, help)

    def remark(self, message: str, *notes: tuple[str, Location], help: str = "") -> None:
        """Emits a remark at this operation, with notes and help (`emitRemark`)."""
        self._emit(Severity.REMARK, message, notes, help)

    def _emit(
        self, severity: Severity, message: str, notes: Sequence[tuple[str, Location]], help: str
    ) -> None:
        diagnostics = [Diagnostic(Severity.NOTE, location, text) for text, location in notes]
        emit(Diagnostic(severity, self.location, message, diagnostics, operation=self, help=help))

    def __repr__(self) -> str:
        return f"<{self.signature.name} at {self.lazy_location!r}>"


class UnregisteredOp(Op):
    """An operation whose name is not registered. The name is in its signature."""


def _blocks_in(op: Op) -> Iterator[Block]:
    regions = op.regions
    if len(regions) == 1:
        return iter(regions[0].blocks)
    return (block for region in op.regions for block in region.blocks)


def _add_nested(outer: Op, classes: frozenset[type[Op]], ops: list[Any]) -> None:
    for region in outer.regions:
        for block in region.blocks:
            op = block.first
            while op is not None:
                if op.regions:
                    _add_nested(op, classes, ops)
                if type(op) in classes:
                    ops.append(op)
                op = op.next


# Without `__init__`, because programs have many of these.
_new_operand = cast(Callable[[], OpOperand], partial(object.__new__, OpOperand))
_new_result = cast(Callable[[], OpResult], partial(object.__new__, OpResult))


def result_named(name: str) -> Callable[..., list[tuple[int, str]]]:
    """A hook `name_results` that suggests a name for the first result."""
    return lambda op: [(0, name)] if op.results else []


def build(
    signature: OpSignature,
    operands: Sequence[Value],
    attributes: DictAttr = NO_ATTRIBUTES,
    location: LazyLocation = UNKNOWN,
    regions: tuple[Region, ...] = (),
    successors: Sequence[Block] = (),
) -> Op:
    """Creates a detached operation."""
    if isinstance(location, tuple):
        op = build_at_offset(signature, operands, attributes, *location)
        op.order = 0
    else:
        op = build_at_offset(signature, operands, attributes, _NO_SOURCE, 0)
        op._location = location
    if regions:
        op.regions = regions
        for region in regions:
            region.parent = op
    if successors:
        op.successors = successors
        for block in successors:
            block.uses += 1
    if op.set_up is not None:
        op.set_up()
    return op


def build_at_offset(
    signature: OpSignature,
    operands: Sequence[Value],
    attributes: DictAttr,
    source: Source | FusedParts,
    offset: int,
    block: Block | None = None,
) -> Op:
    """As `build`, for the parser: an operation without regions, successors and `set_up`.

    Its order is its offset. It is appended to `block`, which must not be ordered. Programs have many
    operations, so this calls few functions.
    """
    op = signature.op_class()
    op.signature = signature
    op.attributes = attributes
    op.parent = block
    op.next = None
    if block is None:
        op.prev = None
    else:
        # As `block.append(op)`.
        op.prev = last = block.last
        block.last = op
        if last is None:
            block.first = op
        else:
            last.next = op
    op._source = source
    op._location = op.order = offset
    op.regions = ()
    op.successors = ()
    uses = []
    for index, value in enumerate(operands):
        # As `OpOperand(op, index, value)`.
        use = _new_operand()
        use.owner = op
        use.index = index
        use.value = value
        use.prev_use = None
        use.next_use = previous = value.first_use
        if previous is not None:
            previous.prev_use = use
        value.first_use = use
        uses.append(use)
    op._operands = tuple(uses)
    types = signature.result_types
    if len(types) == 1:
        # As `OpResult(op, 0, types[0])`.
        result = _new_result()
        result.op = op
        result.index = 0
        result.type = types[0]
        result.first_use = None
        op.results = (result,)
    elif types:
        op.results = tuple([OpResult(op, i, type) for i, type in enumerate(types)])
    else:
        op.results = ()
    return op
