"""Operation signatures: the class, name, inherent attributes, operand types and result types of an operation.

Mutable attributes (`Op.mutable_attributes`) are not part of it. Signatures are interned. What depends on the
signature alone, such as whether it is valid, and the sharding rule, is computed once and stored in its
`cache`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, dataclass_transform

from sdyopt.base.interning import Interned, InternedMeta, derived_field
from sdyopt.base.releases import NEWEST, Release, followed_release
from sdyopt.mlir.ir.attribute import Attribute, DictAttr
from sdyopt.mlir.ir.types import Type

if TYPE_CHECKING:  # an operation has a signature, which names the operation's class
    from sdyopt.mlir.ir.operation import Op

T = TypeVar("T")
F = TypeVar("F", covariant=True)


# Keys in the cache of a signature that the parser made from that of a form, in which a hole stands for each
# tensor type: that signature, if it has no number holes, and the text, as it is printed without discardable
# attributes, as a format string with `%s` for each SSA name.
FORM, FORMAT = "form", "format"
# The key of a signature that is valid if and only if this one is: that of a constant with another value.
EQUALLY_VALID = "equally valid"


class SignatureField(Protocol[F]):
    """A declared operand, result or attribute, whose type or value can be read from a signature."""

    def of_signature(self, signature: OpSignature) -> F:
        """The type of an operand or result, or the value of an attribute."""


class SignatureError(Exception):
    """A signature violates a constraint; the verifier adds the operation's location.

    If `prefixed`, the message is reported after `'dialect.name' op `, as by MLIR's emitOpError. Unless
    `shows_operation`, no note with the operation follows: the C++ tools report such an error at a location
    only. `followers` are errors that this one causes, reported after it.
    """

    def __init__(self, message: str, prefixed: bool, shows_operation: bool = True) -> None:
        super().__init__(message)
        self.message = message
        self.prefixed = prefixed
        self.shows_operation = shows_operation
        self.notes: list[str] = []
        self.help_text = ""
        self.followers: list[SignatureError] = []

    def note(self, message: str) -> SignatureError:
        """Adds a note at the location of the operation."""
        self.notes.append(message)
        return self

    def help(self, text: str) -> SignatureError:
        """Sets the help: what to write instead."""
        self.help_text = text
        return self

    def then(self, error: SignatureError) -> SignatureError:
        """Adds an error that this one causes, reported after it."""
        self.followers.append(error)
        return self


# The classes of all signatures, unused ones included.
_classes: set[type[Op]] = set()


def used_classes(op_classes: tuple[type[Op], ...]) -> frozenset[type[Op]]:
    """The classes derived from one of these of which a program may have operations.

    It has none of a class of which there has never been a signature.
    """
    # A copy, because another thread may add to it.
    return frozenset(known for known in _classes.copy() if issubclass(known, op_classes))


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(derived_field,))
class _OpSignatureMeta(InternedMeta):
    """Adds the release that is followed to the fields of a new signature."""

    def _complete(cls, args: tuple[object, ...], kwargs: dict[str, object]) -> tuple[object, ...]:  # noqa: N805
        is_without_release = not kwargs and len(args) == 5
        return (*args, followed_release()) if is_without_release else super()._complete(args, kwargs)


class OpSignature(Interned, metaclass=_OpSignatureMeta):
    """The interned part of an operation, in a release.

    `name` is `op_class.name` or, for an unregistered operation, the name in the text. `cache` has values that
    are computed from the signature, by the function that computes them or by another key; they may depend on
    the release.
    """

    op_class: type[Op]
    name: str
    attributes: DictAttr
    operand_types: tuple[Type, ...]
    result_types: tuple[Type, ...]
    release: Release = NEWEST  # the default is that which is followed
    cache: dict[object, Any] = derived_field()

    def __post_init__(self) -> None:
        _set_cache(self, {})
        _classes.add(self.op_class)

    def cached(self, function: Callable[[OpSignature], T]) -> T:
        """`function(self)`, computed once per signature."""
        try:
            value: T = self.cache[function]
        except KeyError:
            value = self.cache[function] = function(self)
        return value

    def attribute(self, name: str) -> Attribute | None:
        """The inherent attribute of this name; None if it is missing or mutable."""
        return self.attributes.get(name)

    def with_attributes(self, attributes: DictAttr) -> OpSignature:
        """A copy with other inherent attributes."""
        types = self.operand_types, self.result_types
        return OpSignature(self.op_class, self.name, attributes, *types, self.release)

    def with_types(self, operand_types: tuple[Type, ...], result_types: tuple[Type, ...]) -> OpSignature:
        """A copy with other operand and result types."""
        types = operand_types, result_types
        return OpSignature(self.op_class, self.name, self.attributes, *types, self.release)

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


# As `set_derived`, which is slower: programs have many signatures.
_set_cache: Callable[[OpSignature, dict[object, Any]], None] = vars(OpSignature)["cache"].__set__
