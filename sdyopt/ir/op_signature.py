"""Operation signatures: the class, name, inherent attributes, operand types and result types of an operation.

Signatures are interned. Whatever depends on the signature alone (constraints, print template, sharding rule,
cost) is computed once per signature and stored in its `cache`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from sdyopt.interning import Interned, derived_field, set_derived
from sdyopt.ir.attribute import Attribute, DictAttr
from sdyopt.ir.types import Type

if TYPE_CHECKING:  # an operation has a signature, which names the operation's class
    from sdyopt.ir.operation import Op

T = TypeVar("T")
F = TypeVar("F", covariant=True)


class SignatureField(Protocol[F]):
    """A declared operand, result or attribute, as read from a signature."""

    def of_signature(self, signature: OpSignature) -> F:
        """The type of an operand or result, or the value of an attribute."""


class SignatureError(Exception):
    """A signature violates a constraint; the verifier adds the operation's location.

    `prefixed` adds `'dialect.name' op ` before the message, as MLIR's emitOpError does. Without
    `shows_operation`, no note with the operation follows, for errors that the reference reports at a bare
    location. `followers` are errors that this one causes, reported after it.
    """

    def __init__(self, message: str, prefixed: bool, shows_operation: bool = True) -> None:
        super().__init__(message)
        self.message = message
        self.prefixed = prefixed
        self.shows_operation = shows_operation
        self.notes: list[str] = []
        self.followers: list[SignatureError] = []

    def note(self, message: str) -> SignatureError:
        """Adds a note at the location of the operation."""
        self.notes.append(message)
        return self

    def then(self, error: SignatureError) -> SignatureError:
        """Adds an error that this one causes, reported after it."""
        self.followers.append(error)
        return self


class OpSignature(Interned):
    """The interned part of an operation.

    `name` is that of `op_class`, except for an unregistered operation. `cached` stores its values in `cache`.
    """

    op_class: type[Op]
    name: str
    attributes: DictAttr
    operand_types: tuple[Type, ...]
    result_types: tuple[Type, ...]
    cache: dict[object, Any] = derived_field()

    def __post_init__(self) -> None:
        set_derived(self, cache={})

    def cached(self, function: Callable[[OpSignature], T]) -> T:
        """`function(self)`, computed once per signature."""
        try:
            value: T = self.cache[function]
        except KeyError:
            value = self.cache[function] = function(self)
        return value

    def attribute(self, name: str) -> Attribute | None:
        """The inherent attribute of this name; None if it is missing."""
        return self.attributes.get(name)

    def with_attributes(self, attributes: DictAttr) -> OpSignature:
        """A copy with other inherent attributes."""
        return OpSignature(self.op_class, self.name, attributes, self.operand_types, self.result_types)

    def with_types(self, operand_types: tuple[Type, ...], result_types: tuple[Type, ...]) -> OpSignature:
        """A copy with other operand and result types."""
        return OpSignature(self.op_class, self.name, self.attributes, operand_types, result_types)

    def error(self, message: str) -> SignatureError:
        """An error with this message (`emitError`)."""
        return SignatureError(message, prefixed=False)

    def op_error(self, message: str) -> SignatureError:
        """An error with the prefix `'dialect.name' op ` (`emitOpError`)."""
        return SignatureError(message, prefixed=True)

    def error_without_op_note(self, message: str) -> SignatureError:
        """An error at the location of the operation, without the note that shows the operation."""
        return SignatureError(message, prefixed=False, shows_operation=False)

    def __getitem__(self, field: SignatureField[F]) -> F:
        """The type or value of a declared field of the operation's class: `signature[DotOp.lhs]`.

        The type of an operand or result (None or a tuple of types where the field is optional or
        variadic), or the value of an attribute.
        """
        return field.of_signature(self)

    def __repr__(self) -> str:
        return f"<signature of {self.name}>"
