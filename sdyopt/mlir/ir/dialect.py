"""Dialects: named sets of operations, attributes and types.

    stablehlo = Dialect("stablehlo")

    @stablehlo.op("add", PURE)
    class AddOp(Op): ...

The registry finds the module of a dialect by its namespace, so there is no list of dialects. The asm layer
parses and prints; the parsers and printers of dialect attributes and types that it calls are registered here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TypeVar

from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.base.releases import Behavior
from sdyopt.mlir.ir.attribute import Attribute, DictAttr
from sdyopt.mlir.ir.op_fields import (
    OPERAND_SEGMENTS,
    RESULT_SEGMENTS,
    Field,
    FieldsByRelease,
    RegionField,
    SuccessorField,
    declared_fields,
)
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import ATTR_SIZED_OPERANDS, ATTR_SIZED_RESULTS, TERMINATOR, Trait
from sdyopt.mlir.ir.types import RankedTensor, Type

C = TypeVar("C", bound=type[Op])
A = TypeVar("A", bound=Callable[..., Attribute])
T = TypeVar("T", bound=Callable[..., Type])
P = TypeVar("P", bound=Callable[..., str])
K = TypeVar("K")
AttributeClass = type[Attribute]

# (op, attribute name, attribute) -> raises DiagnosticError
VerifyOpAttribute = Callable[[Op, str, Attribute], None]
# (op, index of region, index of argument, attribute name, attribute) -> raises DiagnosticError
VerifyArgumentAttribute = Callable[[Op, int, str, Attribute], None]


# The printers of dialect attributes and types by class: (attribute, printer) -> text, mnemonic first.
PRINTERS: dict[AttributeClass, Callable[..., str]] = {}


_UNKNOWN_ATTRIBUTE = ErrorKind(
    "unknown attribute `{mnemonic}` in dialect `{dialect}`", explain="attribute or type"
)
_UNKNOWN_TYPE = ErrorKind("unknown type `{mnemonic}` in dialect `{dialect}`", explain="attribute or type")


class Dialect:
    """A namespace with its operations, attributes, types and hooks.

    `contents` is the module that registers the operations, attributes and types, imported when a program
    first uses one of them: programs from JAX have discardable attributes of dialects that they do not use.
    Of a dialect that `is_partial`, only some operations are known; a program may be allowed to have others.
    """

    def __init__(self, name: str, contents: str = "", is_partial: bool = False) -> None:
        self.name = name
        self.is_partial = is_partial
        self._contents = contents
        self._ops: dict[str, type[Op]] = {}
        # Mnemonic -> parser of the text after it.
        self._attribute_parsers: dict[str, Callable[..., Attribute]] = {}
        self._type_parsers: dict[str, Callable[..., Type]] = {}
        # The errors for a mnemonic without a parser.
        self.unknown_attribute, self.unknown_type = _UNKNOWN_ATTRIBUTE, _UNKNOWN_TYPE
        # Attribute name -> help for a value that lacks the dialect and the mnemonic, such as `<@mesh, […]>`.
        # Unknown mnemonic -> help for what documents list as an attribute, and is none.
        # "types" -> help for a type of a dialect that has none.
        self.hints: dict[str, str] = {}
        # The verifier of discardable attributes whose names start with the namespace and a dot. Those of
        # function arguments and results have verifiers of their own, below.
        self.verify_op_attribute: VerifyOpAttribute | None = None
        # The discardable attributes whose verifiers read more than the signature and enclosing operations.
        self.nonlocal_attributes: frozenset[str] = frozenset()
        # Those whose verifiers read only the types of the results and enclosing operations, or the signature.
        self.result_attributes: frozenset[str] = frozenset()
        self.signature_attributes: frozenset[str] = frozenset()
        self.verify_argument_attribute: VerifyArgumentAttribute | None = None
        self.verify_result_attribute: VerifyArgumentAttribute | None = None
        # (encoding of a tensor, tensor type without it) -> the error message, to which the parser appends the
        # type; None if the encoding is valid.
        self.verify_encoding: Callable[[Attribute, RankedTensor], str | None] | None = None
        # (attribute, type, location) -> a detached constant operation, or None.
        self.materialize_constant: Callable[..., Op | None] | None = None
        # Whether the inliner may inline functions with operations of this dialect.
        self.is_inlinable = False

    @property
    def ops(self) -> dict[str, type[Op]]:
        """The operations by mnemonic."""
        self._load()
        return self._ops

    @property
    def attribute_parsers(self) -> dict[str, Callable[..., Attribute]]:
        """The parsers of what follows the mnemonic of an attribute, by mnemonic."""
        self._load()
        return self._attribute_parsers

    @property
    def type_parsers(self) -> dict[str, Callable[..., Type]]:
        """The parsers of what follows the mnemonic of a type, by mnemonic."""
        self._load()
        return self._type_parsers

    def _load(self) -> None:
        if self._contents:
            contents, self._contents = self._contents, ""
            import_module(contents)

    def op(self, mnemonic: str, *traits: Trait, since: Behavior | None = None) -> Callable[[C], C]:
        """Class decorator: registers the class as the operation `name.mnemonic`.

        Releases without the behaviour `since` do not have the operation.
        """

        if not isinstance(mnemonic, str):
            raise TypeError(f'write @{self.name}.op("mnemonic") before a class')

        def register(cls: C) -> C:
            if not issubclass(cls, Op):
                raise TypeError(f"{cls.__name__} is not derived from Op")
            hidden = [name for name in _SET_BY_DECORATOR if isinstance(vars(cls).get(name), Field)]
            if hidden:
                help = f'call it {hidden[0]}_, such as attr(…, name="{hidden[0]}")'
                raise TypeError(f"the field {hidden[0]!r} hides a member of all operations: {help}")
            assert mnemonic not in self._ops, f"{self.name}.{mnemonic} is defined twice"
            cls.name = f"{self.name}.{mnemonic}"
            cls.dialect = self
            cls.since = since
            cls.traits = frozenset(traits)
            cls.trait_order = traits
            cls.is_terminator = TERMINATOR in traits
            fields = {}
            for base in reversed(cls.__mro__):
                fields.update({n: f for n, f in vars(base).items() if isinstance(f, Field)})
                for name in [n for n in fields if vars(base).get(n, fields) is None]:
                    del fields[name]  # a version of the dialect without this field
            is_changing = any(field.behavior is not None for field in fields.values())
            cls.fields_of_all_releases = fields
            cls.fields = FieldsByRelease(fields) if is_changing else fields
            for index, field in enumerate(f for f in fields.values() if isinstance(f, RegionField)):
                field.index = index
                cls.declares_regions = True
            _declare_successors(cls, fields)
            self._ops[mnemonic] = cls
            return cls

        return register

    def attribute(self, mnemonic: str) -> Callable[[A], A]:
        """Decorator of the function that parses what follows `#name.mnemonic`."""

        def add(function: A) -> A:
            _check_is_new(self._attribute_parsers, mnemonic, self.name)
            self._attribute_parsers[mnemonic] = function
            return function

        return add

    def type(self, mnemonic: str) -> Callable[[T], T]:
        """Decorator of the function that parses what follows `!name.mnemonic`."""

        def add(function: T) -> T:
            _check_is_new(self._type_parsers, mnemonic, self.name)
            self._type_parsers[mnemonic] = function
            return function

        return add

    def printer(self, cls: AttributeClass) -> Callable[[P], P]:
        """Decorator of the function that prints an attribute or type of `cls`, from the mnemonic on."""

        def add(function: P) -> P:
            _check_is_new(PRINTERS, cls, self.name)
            PRINTERS[cls] = function
            return function

        return add


# What the decorator of a class sets.
_SET_BY_DECORATOR = ("name", "dialect", "since", "traits", "trait_order", "is_terminator", "fields")


def _declare_successors(cls: type[Op], fields: Mapping[str, Field]) -> None:
    """Numbers the successors of a class. It is a branch if block arguments of all of them are known."""
    successors = [field for field in fields.values() if isinstance(field, SuccessorField)]
    for index, field in enumerate(successors):
        field.index = index
    names = tuple([field.arguments.field_name for field in successors if field.arguments is not None])
    cls.successor_operands = names if len(names) == len(successors) else ()
    cls.successor_segments = successors[-1].segments if cls.successor_operands else ""


def _check_is_new(table: Mapping[K, object], key: K, dialect: str) -> None:
    assert key not in table, f"{dialect} defines {key} twice"


def check_parameters(function: Callable[..., object], count: int, decorator: str) -> None:
    """Raises TypeError for a function of another number of parameters than a decorator registers."""
    code = getattr(function, "__code__", None)
    if code is None or code.co_flags & _HAS_VARARGS or code.co_kwonlyargcount:
        return
    if code.co_argcount - len(function.__defaults__ or ()) <= count <= code.co_argcount:
        return
    raise TypeError(
        f"{function.__name__} takes {code.co_argcount} arguments, and {decorator} gives it {count}"
    )


# A bit of `co_flags`.
_HAS_VARARGS = 4


def complete_attributes(op_class: type[Op], attributes: DictAttr) -> DictAttr:
    """These inherent attributes and, for each missing required one, its default if it has one."""
    for field in declared_fields(op_class).attributes:
        if field.is_optional or field.default is None:
            continue
        if attributes.get(field.name) is None:
            attributes = attributes.with_entry(field.name, field.default)
    return attributes


def inherent_names(op_class: type[Op]) -> frozenset[str]:
    """The names of the inherent attributes of this class, segment sizes included."""
    declared = declared_fields(op_class)
    if declared.inherent_names is None:
        segments = [name for trait, name in _SEGMENTS.items() if trait in op_class.traits]
        declared.inherent_names = frozenset([*(field.name for field in declared.attributes), *segments])
    return declared.inherent_names


_SEGMENTS = {ATTR_SIZED_OPERANDS: OPERAND_SEGMENTS, ATTR_SIZED_RESULTS: RESULT_SEGMENTS}


class DialectTable:
    """The dialects of a run by namespace, each loaded on first use.

    `names` lists the available namespaces.
    """

    def __init__(
        self, load: Callable[[str], Dialect | None], names: Callable[[], Sequence[str]] = tuple
    ) -> None:
        self._load = load
        self.names = names
        self._loaded: dict[str, Dialect | None] = {}

    def find(self, namespace: str) -> Dialect | None:
        """The dialect of this namespace; None if it is not registered."""
        try:
            return self._loaded[namespace]
        except KeyError:
            dialect = self._loaded[namespace] = self._load(namespace)
            return dialect

    def loaded(self) -> dict[str, Dialect | None]:
        """The dialects that have been loaded, None for those that are not registered."""
        return dict(self._loaded)

    def would_load(self, dialects: Mapping[str, Dialect | None]) -> bool:
        """Whether these are the dialects of their namespaces. Loads none of them."""
        return all(self._load(namespace) is dialect for namespace, dialect in dialects.items())

    def has_all_of(self, namespace: str) -> bool:
        """Whether the dialect of this namespace is registered with all its operations."""
        dialect = self.find(namespace)
        return dialect is not None and not dialect.is_partial

    def is_used(self, namespace: str) -> bool:
        """Whether the dialect of this namespace has been loaded."""
        return self._loaded.get(namespace) is not None

    def op_class(self, name: str) -> type[Op] | None:
        """The class of the operation `namespace.mnemonic`; None if it is not registered."""
        namespace, _, mnemonic = name.partition(".")
        dialect = self.find(namespace)
        op_class = None if dialect is None else dialect.ops.get(mnemonic)
        if op_class is None or op_class.since is None or op_class.since.active:
            return op_class
        return None
