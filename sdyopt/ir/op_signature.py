"""Forms: what an operation is, apart from where it stands.

A form is the class, name, inherent attributes and the operand and result types of an operation.
Equal forms are one object, so that what follows from the form alone (constraints, print template,
sharding rule, cost) is worked out once per form and kept in its `memo`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from sdyopt.interning import Interned, derive, derived
from sdyopt.ir.attribute import Attribute, DictAttr
from sdyopt.ir.types import Type

if TYPE_CHECKING:  # an operation has a form and a form names its operation's class
    from sdyopt.ir.operation import Op

T = TypeVar("T")
F = TypeVar("F", covariant=True)


class SignatureField(Protocol[F]):
    """A declared operand, result or attribute, which says what it is in a signature."""

    def of_signature(self, signature: OpSignature) -> F: ...


class SignatureError(Exception):
    """A form breaks a constraint; the verifier adds the operation's location.

    `prefixed` puts `'dialect.name' op ` before the message, as MLIR's emitOpError does. Where the
    reference knows the location only, the error does not show the operation. `followers` are errors
    that come of this one.
    """

    def __init__(self, message: str, prefixed: bool, shows_operation: bool = True) -> None:
        super().__init__(message)
        self.message = message
        self.prefixed = prefixed
        self.shows_operation = shows_operation
        self.notes: list[str] = []
        self.followers: list[SignatureError] = []

    def note(self, message: str) -> SignatureError:
        """Adds a note that stands at the operation, too."""
        self.notes.append(message)
        return self

    def then(self, error: SignatureError) -> SignatureError:
        """Adds an error that comes of this one."""
        self.followers.append(error)
        return self


class OpSignature(Interned):
    """Class, name, inherent attributes, operand types and result types of an operation."""

    op_class: type[Op]
    name: str
    attributes: DictAttr
    operand_types: tuple[Type, ...]
    result_types: tuple[Type, ...]
    memo: dict[Any, Any] = derived()

    def __post_init__(self) -> None:
        derive(self, memo={})

    def cached(self, function: Callable[[OpSignature], T]) -> T:
        """`function(self)`, computed once per form."""
        try:
            value: T = self.memo[function]
        except KeyError:
            value = self.memo[function] = function(self)
        return value

    def attribute(self, name: str) -> Attribute | None:
        return self.attributes.get(name)

    def with_attributes(self, attributes: DictAttr) -> OpSignature:
        return OpSignature(self.op_class, self.name, attributes, self.operand_types, self.result_types)

    def with_types(self, operand_types: tuple[Type, ...], result_types: tuple[Type, ...]) -> OpSignature:
        return OpSignature(self.op_class, self.name, self.attributes, operand_types, result_types)

    def error(self, message: str) -> SignatureError:
        """An error worded as it stands."""
        return SignatureError(message, prefixed=False)

    def op_error(self, message: str) -> SignatureError:
        """An error that names the operation first: `'dialect.name' op message`."""
        return SignatureError(message, prefixed=True)

    def located_error(self, message: str) -> SignatureError:
        """An error worded as it stands, with the operation's location but without the operation."""
        return SignatureError(message, prefixed=False, shows_operation=False)

    def __getitem__(self, field: SignatureField[F]) -> F:
        """What a declared field of the operation's class is in this signature: `signature[DotOp.lhs]`.

        The type of an operand or result (None or a tuple of types where the field is optional or
        variadic), the value of an attribute.
        """
        return field.of_signature(self)

    def __getattr__(self, name: str) -> Any:
        """A declared attribute or type of the operation's class, such as `form.dims`."""
        field = self.op_class.fields.get(name) if name[0] != "_" else None
        if field is None:
            raise AttributeError(f"{self.name} declares no {name!r}")
        return field.of_signature(self)

    def __repr__(self) -> str:
        return f"<form of {self.name}>"
