"""Dataclasses without generated code: `dataclass`, `field`, `fields`, `replace` and `asdict`.

Python's module compiles several methods for each class, and imports `inspect`; with sixty dataclasses that
was a fifth of the time of a small run. Here all dataclasses share the methods in this file, which loop over
the fields. Otherwise they are like Python's, whose functions take them, too. The public classes of
`sdyopt.tools.api` are Python's.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

T = TypeVar("T")
C = TypeVar("C", bound=type)

MISSING: Any = object()
_set = object.__setattr__


if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:

    class _NamedTupleMeta(type):
        """Makes a class with `collections.namedtuple`, as Python does, but leaves annotations as they are."""

        def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, namespace)
            names = namespace.get("__annotations__", {})
            defaults = [namespace[name] for name in names if name in namespace]
            made = namedtuple(name, names, defaults=defaults, module=namespace["__module__"])
            for key, value in namespace.items():
                if key not in names and key != "__module__":
                    setattr(made, key, value)
            return made

    class NamedTuple(metaclass=_NamedTupleMeta):
        """Python's `NamedTuple`, which compiles each annotation: a tenth of the time of a small run."""


class DataclassField(NamedTuple):
    """The initial value of a field, and the methods in which it takes part. See the module of Python."""

    default: Any = MISSING
    default_factory: Callable[[], Any] = MISSING
    init: bool = True
    repr: bool = True
    compare: bool = True
    kw_only: bool = False
    metadata: Mapping[str, Any] = MappingProxyType({})


def field(
    *,
    default: Any = MISSING,
    default_factory: Callable[[], Any] = MISSING,
    init: bool = True,
    repr: bool = True,
    compare: bool = True,
    kw_only: bool = False,
    metadata: Mapping[str, Any] = MappingProxyType({}),
) -> Any:
    """Declares a field, as the value of its annotation."""
    return DataclassField(default, default_factory, init, repr, compare, kw_only, metadata)


@dataclass_transform(field_specifiers=(field,))
def dataclass(
    cls: type | None = None, /, *, frozen: bool = False, eq: bool = True, slots: bool = False
) -> Any:
    """Class decorator: makes the annotations of a class, except for those with `ClassVar`, its fields."""
    if cls is None:
        return lambda cls: _declare(cls, frozen, eq, slots)
    return _declare(cls, frozen, eq, slots)


def fields(owner: object) -> dict[str, DataclassField]:
    """The fields of a dataclass or of its instance, by name, those of its bases first."""
    declared: dict[str, DataclassField] = getattr(owner, _FIELDS)
    return declared


def replace(instance: T, /, **changes: object) -> T:
    """A copy of an instance with some fields changed."""
    values = {name: getattr(instance, name) for name, field in fields(instance).items() if field.init}
    return type(instance)(**values | changes)


def is_dataclass(instance: object) -> bool:
    """Whether the class of an instance is a dataclass."""
    return hasattr(type(instance), _FIELDS)


def asdict(instance: object) -> dict[str, Any]:
    """The values of an instance by field, those of dataclasses in it as dictionaries as well."""
    return {name: _plain(getattr(instance, name)) for name in fields(instance)}


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return asdict(value)
    if isinstance(value, dict):
        return {_plain(key): _plain(item) for key, item in value.items()}
    return type(value)(map(_plain, value)) if type(value) in (list, tuple) else value


_FIELDS = "_dataclass_fields"
_MUTABLE = frozenset((list, dict, set))


def _declare(cls: type, frozen: bool, eq: bool, slots: bool) -> type:
    own = {
        name: value
        if isinstance(value := cls.__dict__.get(name, MISSING), DataclassField)
        else DataclassField(value)
        for name, annotation in cls.__annotations__.items()
        if not str(annotation).startswith(("ClassVar", "typing.ClassVar"))
    }
    for name, field in own.items():
        if type(field.default) in _MUTABLE:
            kind = type(field.default)
            raise ValueError(f"mutable default {kind} for field {name} is not allowed: use default_factory")
    inherited: dict[str, DataclassField] = {}
    for base in reversed(cls.__mro__[1:]):
        inherited |= base.__dict__.get(_FIELDS, {})
    all_fields = inherited | own
    positional = tuple(name for name, field in all_fields.items() if field.init and not field.kw_only)
    namespace: dict[str, Any] = {_FIELDS: all_fields, "_positional": positional, "__match_args__": positional}
    namespace |= {
        "_is_positional": len(positional) == len(all_fields),
        "__dataclass_fields__": _PYTHON_FIELDS,
    }
    methods: dict[str, Any] = {"__init__": _init, "__repr__": _repr}
    if eq:
        methods |= {"__eq__": _eq, "__hash__": _hash if frozen else None}
    if frozen:
        methods |= {"__setattr__": _set_frozen, "__delattr__": _delete_frozen, "__setstate__": _set_state}
    namespace |= {name: method for name, method in methods.items() if name not in cls.__dict__}
    if slots:
        old = {name: value for name, value in cls.__dict__.items() if name not in (*own, *_OF_DICT)}
        names = tuple(name for name in own if name not in inherited)
        old |= {"__qualname__": cls.__qualname__, "__slots__": names}
        return type(cls)(cls.__name__, cls.__bases__, old | namespace)
    for name, field in own.items():
        if field.default is not MISSING:
            namespace[name] = field.default
        elif name in cls.__dict__:
            delattr(cls, name)
    for name, value in namespace.items():
        setattr(cls, name, value)
    return cls


class _PythonFields:
    """The fields of a class as Python's functions read them."""

    def __get__(self, instance: object, owner: type) -> dict[str, Any]:
        import dataclasses  # noqa: PLC0415  slow to import

        declared = [
            (name, owner.__annotations__.get(name, Any), _python_field(dataclasses, field))
            for name, field in fields(owner).items()
        ]
        return {field.name: field for field in dataclasses.fields(dataclasses.make_dataclass("_", declared))}


_PYTHON_FIELDS = _PythonFields()


def _python_field(dataclasses: Any, field: DataclassField) -> Any:
    options = {name: value for name, value in field._asdict().items() if value is not MISSING}
    return dataclasses.field(**options)


# What a class without slots has, and one with slots has not.
_OF_DICT = ("__dict__", "__weakref__")


def _init(self: Any, *arguments: object, **named: object) -> None:
    cls = type(self)
    if not named and len(arguments) == len(cls._positional) and cls._is_positional:
        for name, value in zip(cls._positional, arguments, strict=False):
            _set(self, name, value)
        if hasattr(cls, "__post_init__"):
            self.__post_init__()
        return
    if len(arguments) > len(cls._positional):
        raise TypeError(f"{cls.__name__} takes {len(cls._positional)} positional arguments")
    values = dict(zip(cls._positional, arguments, strict=False))
    if not values.keys().isdisjoint(named):
        raise TypeError(f"{cls.__name__} gets {sorted(values.keys() & named)} twice")
    values |= named
    for name, field in fields(cls).items():
        if field.init and name in values:
            _set(self, name, values.pop(name))
        elif field.default is not MISSING:
            _set(self, name, field.default)
        elif field.default_factory is not MISSING:
            _set(self, name, field.default_factory())
        elif field.init:
            raise TypeError(f"{cls.__name__} is missing its field {name!r}")
    if values:
        raise TypeError(f"{cls.__name__} does not take {sorted(values)}")
    if hasattr(cls, "__post_init__"):
        self.__post_init__()


def _repr(self: object) -> str:
    shown = [f"{name}={getattr(self, name)!r}" for name, field in fields(self).items() if field.repr]
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _eq(self: object, other: object) -> bool:
    return _compared(self) == _compared(other) if type(other) is type(self) else NotImplemented


def _hash(self: object) -> int:
    return hash(_compared(self))


def _compared(instance: object) -> tuple[object, ...]:
    return tuple(getattr(instance, name) for name, field in fields(instance).items() if field.compare)


def _set_frozen(self: object, name: str, value: object) -> None:
    if name in fields(self):
        raise AttributeError(f"{type(self).__name__} is frozen: its {name!r} cannot change")
    _set(self, name, value)


def _set_state(self: object, state: Any) -> None:
    """Sets what `pickle` and `copy` have kept: a dictionary of attributes, and one of slots."""
    for part in state if isinstance(state, tuple) else (state,):
        for name, value in (part or {}).items():
            _set(self, name, value)


def _delete_frozen(self: object, name: str) -> None:
    if name in fields(self):
        raise AttributeError(f"{type(self).__name__} is frozen: its {name!r} cannot be deleted")
    object.__delattr__(self, name)
