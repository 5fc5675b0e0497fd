"""The verifier, in MLIR's order: an operation, then the operations in its regions, then its region traits.

Operations that are isolated from above, such as functions, are verified separately, after the other
operations of the parent, so that an error in one does not hide errors in the next. Within an isolated
operation, the first error ends verification. Errors are emitted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from sdyopt.base.dataclasses import dataclass, field
from sdyopt.base.diagnostics.diagnostic import DiagnosticError, emit, handling
from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.dialect import DialectTable, VerifyArgumentAttribute
from sdyopt.mlir.ir.dominance import Dominance, check_uses_in
from sdyopt.mlir.ir.op_fields import declared_fields
from sdyopt.mlir.ir.op_signature import OpSignature, SignatureError
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import SYMBOL_TABLE, FunctionOpInterface, type_of_function
from sdyopt.mlir.ir.traits import FUNCTION, ISOLATED, NO_TERMINATOR
from sdyopt.mlir.ir.types import RankedTensor, Type
from sdyopt.mlir.ir.value import BlockArgument, OpResult
from sdyopt.mlir.ir.verify_signature import (
    PrintType,
    check_entries,
    check_inferred_types,
    check_no_branch_inside,
    check_region_count,
    check_regions,
    check_successor_count,
    check_successor_operands,
    passes_with_body,
    signature_problem,
)

_PLAIN_ATTRIBUTE = ErrorKind(
    "{word}s may only have dialect attributes",
    help="write the name of the attribute with that of its dialect",
    explain="plain attribute",
)
_UNREGISTERED = ErrorKind(
    "unregistered operation '{name}' found in dialect ('{dialect}') that does not allow unknown operations",
    at='text "{name}"',
    explain="unregistered operation",
)

# The valid pairs of signature and discardable attributes, of operations without regions, and those of result
# types and a single attribute that depends on nothing else of the operation. Validity depends on
# the enclosing operations, so there is one set per operation that `scopes_attributes`.
ValidAttributes = set[tuple[OpSignature | tuple[Type, ...], Attribute]]

_BodyKey = tuple[object, ...]
# The maximum number of operations in a body that has a key.
_MAX_BODY_LENGTH = 4


@dataclass(frozen=True)
class Verifier:
    """Verifies operations against their classes, and discardable attributes against their dialects.

    `verify…` methods emit errors and return whether everything is valid; `check…` methods raise
    DiagnosticError, or InvalidNested after emitting errors.
    """

    dialects: DialectTable
    print_type: PrintType
    print_op: Callable[[Op], str]
    # Valid signatures of classes that verify only the signature.
    _valid_signatures: set[OpSignature] = field(default_factory=set, init=False, repr=False)
    # The keys of valid bodies, with the operations around them (`_body_key`), and whether all else depends on
    # the signature.
    _valid_bodies: dict[_BodyKey, bool] = field(default_factory=dict, init=False, repr=False)

    def verify(self, op: Op, valid: ValidAttributes | None = None) -> bool:
        """Whether `op` and everything nested in it is valid; errors are emitted."""
        try:
            self._check_nested(op, set() if valid is None else valid)
            self._check_dominance(op)
        except DiagnosticError as error:
            emit(error.diagnostic)
            return False
        except InvalidNested:
            return False
        return True

    def is_valid(self, op: Op) -> bool:
        """Whether `op` and everything nested in it is valid; errors are discarded."""
        with handling(lambda _: None):
            return self.verify(op)

    # --- One operation ------------------------------------------------------------------

    def _check_op(self, op: Op) -> None:
        """Checks an operation without the nested ones."""
        if op.attributes.entries:
            self._check_discardable_attributes(op)
        has_regions = op.regions or op.declares_regions
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
            self._check_unregistered(op)
        if has_regions:
            check_regions(op)
        check_successor_operands(op)
        self._check_in_context(op, op if isinstance(op, FunctionOpInterface) else None)
        check_entries(op)

    def _check_in_context(self, op: Op, function: FunctionOpInterface | None = None) -> None:
        """Calls the verifiers of traits and of the class, and checks the value attributes of `function`."""
        try:
            for trait in op.trait_order:
                if trait.verify_in_context is not None:
                    trait.verify_in_context(op)
            if function is not None:
                self._check_function_attributes(function)
            if op.verify_in_context is not None:
                returned: object = op.verify_in_context()
                if isinstance(returned, DiagnosticError):
                    raise returned
        except SignatureError as problem:
            raise _signature_error(op, problem) from None

    def _check_unregistered(self, op: Op) -> None:
        """Checks that an operation without a class is of an unregistered or a partial dialect."""
        if self.dialects.has_all_of(op.dialect_name):
            raise op.error(unknown_operation(op.signature.name))

    def _check_discardable_attributes(self, op: Op) -> None:
        for name, attribute in op.attributes.entries:
            self._check_discardable_attribute(op, name, attribute)

    def _check_discardable_attribute(self, op: Op, name: str, attribute: Attribute) -> None:
        check = type(attribute).verify_symbols
        if check is not None:
            check(attribute, op)
        namespace, dot, _ = name.partition(".")
        if not dot:
            return
        dialect = self.dialects.find(namespace)
        if dialect is not None and dialect.verify_op_attribute is not None:
            dialect.verify_op_attribute(op, name, attribute)

    def _check_function_attributes(self, op: FunctionOpInterface) -> None:
        """Checks the attributes of the arguments and results of a function."""
        function_type = type_of_function(op)
        for word, dictionaries, types, hook in (
            ("argument", op.argument_attributes, function_type.inputs, "verify_argument_attribute"),
            ("result", op.result_attributes, function_type.results, "verify_result_attribute"),
        ):
            if len(dictionaries) != len(types):
                raise op.op_error(
                    f"expects {word} attribute array to have the same number of elements as the number of "
                    f"function {word}s, got {len(dictionaries)}, but expected {len(types)}"
                )
            # An attribute that is valid on one value is valid on all values of the same type.
            valid: set[tuple[str, Attribute, Type]] = set()
            checks: dict[str, VerifyArgumentAttribute | None] = {}
            for index, (attributes, type) in enumerate(zip(dictionaries, types, strict=True)):
                for name, attribute in attributes.entries:
                    if name not in checks:
                        checks[name] = self._value_attribute_check(op, word, name, hook)
                    check = checks[name]
                    if check is not None and (name, attribute, type) not in valid:
                        check(op, index, name, attribute)
                        valid.add((name, attribute, type))

    def _value_attribute_check(
        self, op: Op, word: str, name: str, hook: str
    ) -> VerifyArgumentAttribute | None:
        """The verifier of an attribute of arguments or results; None if its dialect has none."""
        namespace, dot, _ = name.partition(".")
        if not dot:
            raise op.op_error(_PLAIN_ATTRIBUTE(word=word))
        dialect = self.dialects.find(namespace)
        check: VerifyArgumentAttribute | None = None if dialect is None else getattr(dialect, hook)
        return check

    # --- Nested operations --------------------------------------------------------------

    def verify_regions(self, op: Op) -> bool:
        """Runs `_check_region_traits` on `op`, in which all operations are valid; errors are emitted."""
        try:
            self._check_region_traits(op)
        except DiagnosticError as error:
            emit(error.diagnostic)
            return False
        return True

    def _check_nested(self, op: Op, valid: ValidAttributes) -> None:
        """Checks an operation and everything nested in it, except dominance."""
        self._check_op(op)
        self._check_regions(op, valid)

    def _check_regions(self, op: Op, valid: ValidAttributes) -> None:
        """Checks nested operations, isolated ones after the others, and then calls `_check_region_traits`."""
        isolated: list[Op] = []
        if op.scopes_attributes:
            valid = set()
        for region in op.regions:
            for block in region.blocks:
                self._check_block(block, isolated, valid)
        invalid = [inner for inner in isolated if not self.verify(inner, valid)]
        if invalid:
            raise InvalidNested
        self._check_region_traits(op)

    def _check_block(self, block: Block, isolated: list[Op], valid: ValidAttributes) -> None:
        if block.first is None:
            self._check_terminator(block)
        if block.parent is not None and len(block.parent.blocks) > 1:
            check_no_branch_inside(block)
        child: Op | None = block.first
        while child is not None:
            signature, attributes = child.signature, child.attributes
            if signature in self._valid_signatures and not child.regions and not child.successors:
                if attributes.entries and (signature, attributes) not in valid:
                    self._check_new_attributes(child, valid)
                child = child.next
                continue
            if not child.regions:
                self._check_op_without_nested(child, valid)
                if child.declares_regions:
                    self._check_regions(child, valid)
            elif ISOLATED in child.traits:
                isolated.append(child)
            else:
                self._check_op_with_body(child, valid)
            child = child.next
        if block.first is not None:
            self._check_terminator(block)

    def _check_op_with_body(self, op: Op, valid: ValidAttributes) -> None:
        """Checks an operation with regions. What depends on its body alone is checked once for equal ones."""
        key = _body_key(op)
        if key is None or key not in self._valid_bodies:
            self._check_op(op)
            self._check_regions(op, valid)
            if key is not None:
                self._valid_bodies[key] = _verifies_body_signature(type(op)) and _has_only_scalars(op.regions)
            return
        if op.attributes.entries:
            self._check_discardable_attributes(op)
        if self._valid_bodies[key] and passes_with_body(op, key, self.print_type):
            return
        problem = signature_problem(op.signature, self.print_type)
        if problem is not None:
            raise _signature_error(op, problem)
        self._check_in_context(op)
        self._check_after_nested(op)

    def _check_op_without_nested(self, op: Op, valid: ValidAttributes) -> None:
        """As `_check_op`, but skips signatures and attributes that are cached as valid."""
        signature = op.signature
        if op.regions or op.successors or not _verifies_signature_only(type(op)):
            self._check_op(op)
            return
        if op.attributes.entries and (signature, op.attributes) not in valid:
            self._check_new_attributes(op, valid)
        if signature not in self._valid_signatures:
            problem = signature_problem(signature, self.print_type)
            if problem is not None:
                raise _signature_error(op, problem)
            self._valid_signatures.add(signature)

    def _check_new_attributes(self, op: Op, valid: ValidAttributes) -> None:
        signature = op.signature
        are_local = True
        for name, attribute in op.attributes.entries:
            dialect = self.dialects.find(name.partition(".")[0])
            if dialect is None:
                self._check_discardable_attribute(op, name, attribute)
            elif name in dialect.result_attributes:
                key = signature.result_types, attribute
                if key not in valid:
                    self._check_discardable_attribute(op, name, attribute)
                    valid.add(key)
            elif name not in dialect.signature_attributes:
                self._check_discardable_attribute(op, name, attribute)
                are_local = are_local and name not in dialect.nonlocal_attributes
            elif signature.cache.get(name) is not attribute:
                # The cache has the last valid one.
                self._check_discardable_attribute(op, name, attribute)
                signature.cache[name] = attribute
        if are_local:
            valid.add((signature, op.attributes))

    def _check_terminator(self, block: Block) -> None:
        """Checks that a block ends with a terminator, where its parent operation requires one."""
        op, last = block.parent_op, block.last
        assert block.parent is not None and op is not None
        if (NO_TERMINATOR in op.traits or not op.name) and len(block.parent.blocks) <= 1:
            return
        if last is None:
            error = DiagnosticError.at(op.location, "empty block: expect at least a terminator")
            raise error.help("end the block with a terminator, such as `return`")
        if last.name and not last.is_terminator:
            error = last.error(f"block with no terminator, has {self.print_op(last)}")
            if FUNCTION in op.traits:
                raise error.help("end the function with `return %value : type`")
            raise error.help(f"end the region with {_terminators_of(op)}")

    def _check_region_traits(self, op: Op) -> None:
        """Checks what depends on nested operations: region traits, `verify_regions`, inferred types."""
        for trait in op.trait_order:
            if trait.verify_regions is not None:
                trait.verify_regions(op)
        self._check_after_nested(op)

    def _check_after_nested(self, op: Op) -> None:
        """Calls `verify_regions` of the class, and checks inferred types."""
        if op.verify_regions is not None:
            op.verify_regions()
        try:
            check_inferred_types(op.signature, op.regions, self.print_type)
        except SignatureError as problem:
            raise _signature_error(op, problem) from None

    # --- Dominance ----------------------------------------------------------------------

    def _check_dominance(self, op: Op) -> None:
        """Checks that definitions dominate uses in an operation, except in nested isolated operations."""
        dominance = Dominance()
        pending = [op]
        while pending:
            for region in pending.pop().regions:
                for block in region.blocks:
                    inner = check_uses_in(block, dominance)
                    pending += [child for child in inner if ISOLATED not in child.traits]


class InvalidNested(Exception):
    """A nested isolated operation is invalid; the errors are already emitted."""


def _body_key(op: Op) -> _BodyKey | None:
    """What the checks of the structure of an operation, and of the operations in its body, depend on.

    None if the body is more than one short block whose operations have no regions, no successors, no
    discardable attributes, no verifier that reads their context, and no operands from outside.
    """
    op_class = type(op)
    if not _may_have_body_key(op_class) or op.successors or len(op.regions) != 1:
        return None
    blocks = op.regions[0].blocks
    if len(blocks) != 1 or blocks[0].uses:
        return None
    block = blocks[0]
    key: list[object] = [op_class, *[argument.type for argument in block.arguments]]
    seen: dict[Op, int] = {}
    inner = block.first
    while inner is not None:
        if (
            len(seen) == _MAX_BODY_LENGTH
            or inner.regions
            or inner.successors
            or inner.attributes.entries
            or inner.verify_in_context is not None
        ):
            return None
        key.append(inner.signature)
        for use in inner._operands:
            value = use.value
            if isinstance(value, OpResult) and value.op in seen:
                key.append(seen[value.op])
            elif not isinstance(value, BlockArgument) or value.block is not block:
                return None
            key.append(value.index)
        seen[inner] = -1 - len(seen)
        inner = inner.next
    return tuple(key)


@cache
def _may_have_body_key(op_class: type[Op]) -> bool:
    return (
        bool(op_class.name)
        and SYMBOL_TABLE not in op_class.traits
        and not issubclass(op_class, FunctionOpInterface)
    )


@cache
def _verifies_body_signature(op_class: type[Op]) -> bool:
    """Whether all verifiers of a class but the structural ones are in `verify_body`."""
    has_others = any(trait.verify_in_context for trait in op_class.trait_order)
    return op_class.verify_body is not None and op_class.verify_regions is None and not has_others


def _has_only_scalars(regions: Sequence[Region]) -> bool:
    """Whether all types in the entry blocks are of tensors of rank 0."""
    blocks = [region.blocks[0] for region in regions]
    types = [argument.type for block in blocks for argument in block.arguments]
    types += [type for block in blocks for op in block.ops for type in op.operand_types + op.result_types]
    return all(isinstance(type, RankedTensor) and not type.shape for type in types)


@cache
def _verifies_signature_only(op_class: type[Op]) -> bool:
    """Whether a class has no verifiers but those of the signature and of symbol uses."""
    if not op_class.name or op_class.declares_regions or op_class.verify_in_context is not None:
        return False
    if declared_fields(op_class).successors:
        return False
    return not any(
        trait.verify_in_context or trait.verify_regions or trait.verify_structure
        for trait in op_class.trait_order
    )


def _signature_error(op: Op, problem: SignatureError) -> DiagnosticError:
    """The diagnostic for a signature error, at an operation with this signature."""
    error = op.op_error(problem.message) if problem.prefixed else op.error(problem.message)
    if not problem.shows_operation:
        error.diagnostic.operation = None
    for note in problem.notes:
        error.note(note)
    if problem.help_text:
        error.help(problem.help_text)
    error.diagnostic.followers = [_signature_error(op, follower).diagnostic for follower in problem.followers]
    return error


def _terminators_of(op: Op) -> str:
    """The terminators for a region, in words: those of the dialect, unless a trait names one."""
    for trait in op.trait_order:
        if name := trait.terminator:
            return f"`{name}`" if "." in name else f"`{op.dialect_name}.{name}`"
    names = (
        [] if op.dialect is None else [known.name for known in op.dialect.ops.values() if known.is_terminator]
    )
    if f"{op.dialect_name}.return" in names or not names:
        return f"`{op.dialect_name}.return`"
    return " or ".join([f"`{name}`" for name in names[:3]])


def unknown_operation(name: str) -> str:
    """The error message for an operation that its registered dialect does not have."""
    return _UNREGISTERED(name=name, dialect=name.partition(".")[0])
