"""Interned (uniqued) immutable values: equal ones are the same object.

Attributes, types, locations and operation signatures are interned. Building a value that already exists
returns the existing object, so `is` compares values, their hash is their identity, and any function of them
can be cached in a dict. The table of values has only weak references: an unused value is freed.

    class AxisRef(Interned):
        name: str
        sub_axis: SubAxis | None = None

    assert AxisRef("x") is AxisRef("x", None) is AxisRef(name="x")

The annotations of a class are its fields, except for those with `ClassVar`, as in a dataclass; a class also
has the fields of its first base. No methods are generated: the program declares more than a hundred such
classes, and generating methods would slow its start. `derived_field()` declares a field that `__post_init__`
computes from the others. An abstract base class that annotates members for its subclasses sets
`__slots__ = ()`, so that they are not fields of its own.

The values of fields must be hashable. The values of one field must not mix integers, floats and booleans,
because `1`, `1.0` and `True` are equal in Python. Floats are stored as bit patterns, because `0.0` equals
`-0.0` and a NaN does not equal itself.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, ClassVar, Literal, NoReturn, Self, TypeVar, cast, dataclass_transform


class _Reference(weakref.ref["Interned"]):
    """A weak reference to a value, and its key in the table of its class: the values of its fields.

    It takes less memory than a closure for each.
    """

    __slots__ = ("key",)

    key: tuple[object, ...]


T = TypeVar("T", bound="Interned")

_MISSING = object()
_DERIVED = object()
_set = object.__setattr__
_new: Any = object.__new__


def derived_field(*, init: Literal[False] = False) -> Any:
    """Declares a field that is not part of the identity: `__post_init__` sets it with `set_derived`."""
    return _DERIVED


def set_derived(instance: Interned, **fields: object) -> None:
    """Sets derived fields. Called by `__post_init__` only."""
    for name, value in fields.items():
        _set(instance, name, value)


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(derived_field,))
class InternedMeta(type):
    """Declares the slots of an interned class; calling the class returns the existing equal value, if any."""

    # The names of the fields in declaration order, derived ones excluded, and their defaults.
    _names: tuple[str, ...]
    _defaults: tuple[object, ...]
    _instances: dict[tuple[object, ...], _Reference]
    # What a call needs, in one attribute because there are so many calls: the number of fields, `_instances`,
    # a function that sets the fields, `__post_init__` or None, and one that removes a dead reference from
    # `_instances`.
    _parts: tuple[
        int,
        dict[tuple[object, ...], _Reference],
        Callable[[Any, tuple[Any, ...]], None],
        Callable[[Any], None] | None,
        Callable[[_Reference], None],
    ]

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> InternedMeta:
        own: dict[str, object] = {}
        if "__slots__" not in namespace:
            annotations = _annotations(namespace)
            names = [field for field, text in annotations.items() if not text.startswith("ClassVar")]
            own = {field: namespace.pop(field, _MISSING) for field in names}
            namespace["__slots__"] = tuple(own)
        base = bases[0] if bases else None
        fields = dict(zip(base._names, base._defaults, strict=True)) if isinstance(base, InternedMeta) else {}
        fields.update({field: default for field, default in own.items() if default is not _DERIVED})
        namespace["__match_args__"] = tuple(fields)
        interned_class = super().__new__(cls, name, bases, namespace)
        interned_class._names = tuple(fields)
        interned_class._defaults = tuple(fields.values())
        # A call of the method of a slot is faster than one of `object.__setattr__`.
        fill = _filler([_setter(interned_class, field) for field in fields])
        interned_class._instances = values = cast(dict[tuple[object, ...], _Reference], {})
        post_init = getattr(interned_class, "__post_init__", None)
        interned_class._parts = len(fields), values, fill, post_init, _evictor(values)
        return interned_class

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        count, values, fill, post_init, evict = cls._parts
        if kwargs or len(args) != count:
            args = cls._complete(args, kwargs)
        reference = values.get(args)
        if reference is not None and (instance := reference()) is not None:
            return instance
        instance = _new(cls)
        fill(instance, args)
        if post_init is not None:
            post_init(instance)
        reference = _Reference(instance, evict)
        reference.key = args
        # Another thread may have built an equal value meanwhile. `setdefault` is atomic.
        winner = values.setdefault(args, reference)
        if winner is not reference:
            if (other := winner()) is not None:
                return other
            values[args] = reference
        return instance

    def _complete(cls, args: tuple[object, ...], kwargs: dict[str, object]) -> tuple[object, ...]:
        """The value of every field, defaults included, in declaration order."""
        if not kwargs and len(args) <= len(cls._names):
            defaults = cls._defaults[len(args) :]
            if _MISSING not in defaults:
                return args + defaults
        values = list(args)
        for name, default in zip(cls._names[len(args) :], cls._defaults[len(args) :], strict=True):
            value = kwargs.pop(name, default)
            if value is _MISSING:
                raise TypeError(f"{cls.__name__} is missing its field {name!r}")
            values.append(value)
        if kwargs or len(values) != len(cls._names):
            raise TypeError(f"{cls.__name__} does not take {sorted(kwargs) or args}")
        return tuple(values)


def _setter(interned_class: type, field: str) -> Callable[[Any, object], None]:
    """The method of the slot of a field, or of the property that stands in for it."""
    return cast(Callable[[Any, object], None], getattr(interned_class, field).__set__)


def _filler(setters: Sequence[Callable[[Any, object], None]]) -> Callable[[Any, tuple[Any, ...]], None]:
    """A function that sets the fields of an instance to values. The loop takes more than twice the time."""
    first, second, third, fourth, fifth = [*setters, *[_ignore] * 5][:5]

    def fill_few(instance: Any, values: tuple[Any, ...]) -> None:
        first(instance, values[0])
        if len(values) > 1:
            second(instance, values[1])

    def fill_3(instance: Any, values: tuple[Any, ...]) -> None:
        first(instance, values[0])
        second(instance, values[1])
        third(instance, values[2])

    def fill_5(instance: Any, values: tuple[Any, ...]) -> None:
        first(instance, values[0])
        second(instance, values[1])
        third(instance, values[2])
        fourth(instance, values[3])
        fifth(instance, values[4])

    def fill(instance: Any, values: tuple[Any, ...]) -> None:
        for set_field, value in zip(setters, values):  # noqa: B905  an explicit `strict` takes time
            set_field(instance, value)

    return {1: fill_few, 2: fill_few, 3: fill_3, 5: fill_5}.get(len(setters), fill)


def _ignore(instance: object, value: object) -> None:
    """Does nothing."""


def _evictor(values: dict[tuple[object, ...], _Reference]) -> Callable[[_Reference], None]:
    def evict(dead: _Reference) -> None:
        if values.get(dead.key) is dead:
            # Another thread may have removed it since.
            values.pop(dead.key, None)

    return evict


class Interned(metaclass=InternedMeta):
    """Base class of all interned values."""

    __slots__ = ("__weakref__",)

    # The names of the fields in declaration order, derived ones excluded.
    _names: ClassVar[tuple[str, ...]]
    _defaults: ClassVar[tuple[object, ...]]

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is interned: its {name!r} cannot change")

    __delattr__ = __setattr__  # type: ignore[assignment]  # always raises

    def with_fields(self, **fields: object) -> Self:
        """A copy with other values of some fields. Raises TypeError for a name that is not one of a field."""
        unknown = fields.keys() - set(self._names)
        if unknown:
            raise TypeError(
                f"{type(self).__name__} has no field {min(unknown)!r}, only {', '.join(self._names)}"
            )
        return type(self)(*[fields.get(name, getattr(self, name)) for name in self._names])

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._names)
        return f"{type(self).__name__}({fields})"

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), tuple([getattr(self, name) for name in self._names])

    def __copy__(self) -> Interned:
        return self

    def __deepcopy__(self, memo: object) -> Interned:
        return self


def instances(interned_class: type[T]) -> list[T]:
    """All existing values of a class, those of derived classes excluded."""
    values = [reference() for reference in interned_class._instances.values()]
    return [value for value in values if isinstance(value, interned_class)]


def field_names(interned_class: type[Interned]) -> tuple[str, ...]:
    """The names of the fields of an interned class in declaration order, derived ones excluded."""
    return interned_class._names


def has_defaults(interned_class: type[Interned], names: Sequence[str]) -> bool:
    """Whether fields of an interned class have defaults."""
    defaults = dict(zip(interned_class._names, interned_class._defaults, strict=True))
    return all(defaults[name] is not _MISSING for name in names)


def _annotations(namespace: dict[str, Any]) -> dict[str, str]:
    """The annotations in the body of a class, as text."""
    annotations = namespace.get("__annotations__", {})
    if "__annotate_func__" in namespace:
        # Python 3.14 evaluates them on demand, unless the file has `from __future__ import annotations`.
        annotationlib: Any = import_module("annotationlib")
        annotate = annotationlib.get_annotate_from_class_namespace(namespace)
        annotations = annotationlib.call_annotate_function(annotate, annotationlib.Format.STRING)
    return {name: str(type_).removeprefix("typing.") for name, type_ in annotations.items()}
