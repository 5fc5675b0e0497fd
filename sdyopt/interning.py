"""Facts: immutable values of which equal ones are the same object.

Attributes, types, locations and operation forms are facts. Building a fact that is already alive
gives the living object, so `is` compares facts, their hash is their identity, and any function of
facts can be memoised in a dict. A fact lives as long as somebody holds it: nothing here outlives
the run that made it.

    class AxisRef(Interned):
        name: str
        sub_axis: SubAxis | None = None

    assert AxisRef("x") is AxisRef("x", None) is AxisRef(name="x")

A class's annotations are its fields, as in a dataclass; but nothing is generated for it, because
the program declares a few hundred of them and users wait for its start. `derived()` declares a field
that `__post_init__` works out from the others. A class with `__slots__ = ()` has no
fields of its own; what all its subclasses have it declares as a property.

Fields must be hashable. Fields of one class must not mix `1`, `1.0` and `True`, which Python takes
for equal: floats are therefore kept as bit patterns.
"""

from __future__ import annotations

import weakref
from importlib import import_module
from typing import Any, ClassVar, Literal, NoReturn, cast, dataclass_transform

_living: dict[tuple[Any, ...], weakref.ref[Any]] = {}
_MISSING = object()
_DERIVED = object()
_set = object.__setattr__


def derived(*, init: Literal[False] = False) -> Any:
    """Declares a field that is no part of the fact's identity: `__post_init__` sets it with `derive`."""
    return _DERIVED


def derive(instance: Interned, **fields: Any) -> None:
    """Sets derived fields, from `__post_init__`."""
    for name, value in fields.items():
        _set(instance, name, value)


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(derived,))
class InternedMeta(type):
    """Gives a fact's class slots, and makes calling it look the fact up before building it."""

    # The fields in order, and their defaults.
    _names: tuple[str, ...]
    _defaults: tuple[Any, ...]
    _is_finished: bool

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> InternedMeta:
        own: dict[str, Any] = {}
        if "__slots__" not in namespace:
            annotations = _annotations(namespace)
            names = [field for field, text in annotations.items() if not text.startswith("ClassVar")]
            own = {field: namespace.pop(field, _MISSING) for field in names}
            namespace["__slots__"] = tuple(own)
        base = bases[0] if bases else None
        fields = dict(zip(base._names, base._defaults, strict=True)) if isinstance(base, InternedMeta) else {}
        fields.update({field: default for field, default in own.items() if default is not _DERIVED})
        namespace["__match_args__"] = tuple(fields)
        made = super().__new__(cls, name, bases, namespace)
        made._names = tuple(fields)
        made._defaults = tuple(fields.values())
        made._is_finished = not hasattr(made, "__post_init__")
        return made

    def __call__(cls, *args: Any, **named: Any) -> Any:
        key = (cls, *args)
        if not named:
            reference = _living.get(key)
            if reference is not None and (instance := reference()) is not None:
                return instance
        if named or len(args) != len(cls._names):
            args = cls._complete(args, named)
            key = (cls, *args)
            reference = _living.get(key)
            if reference is not None and (instance := reference()) is not None:
                return instance
        instance = object.__new__(cast(Any, cls))
        for name, value in zip(cls._names, args, strict=True):
            _set(instance, name, value)
        if not cls._is_finished:
            instance.__post_init__()
        _living[key] = weakref.ref(instance, lambda gone: _forget(key, gone))
        return instance

    def _complete(cls, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        """The value of every field, defaults included, in declaration order."""
        values = list(args)
        for name, default in zip(cls._names[len(args) :], cls._defaults[len(args) :], strict=True):
            value = named.pop(name, default)
            if value is _MISSING:
                raise TypeError(f"{cls.__name__} is missing its field {name!r}")
            values.append(value)
        if named or len(values) != len(cls._names):
            raise TypeError(f"{cls.__name__} does not take {sorted(named) or args}")
        return tuple(values)


class Interned(metaclass=InternedMeta):
    """Base of all facts."""

    __slots__ = ("__weakref__",)

    # The names of the fields, in order.
    _names: ClassVar[tuple[str, ...]]

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is a fact: its {name!r} cannot change")

    __delattr__ = __setattr__  # type: ignore[assignment]  # refuses, whatever it is given

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._names)
        return f"{type(self).__name__}({fields})"

    def __copy__(self) -> Interned:
        return self

    def __deepcopy__(self, memo: Any) -> Interned:
        return self


def field_names(interned_class: type[Interned]) -> tuple[str, ...]:
    """The names of the fields of a fact's class, in order, without derived ones."""
    return interned_class._names


def _annotations(namespace: dict[str, Any]) -> dict[str, str]:
    """The annotations in the body of a class, as text."""
    annotations = namespace.get("__annotations__", {})
    if "__annotate_func__" in namespace:
        # Python 3.14 evaluates them on demand, unless the file has `from __future__ import annotations`.
        annotationlib: Any = import_module("annotationlib")
        annotate = annotationlib.get_annotate_from_class_namespace(namespace)
        annotations = annotationlib.call_annotate_function(annotate, annotationlib.Format.STRING)
    return {name: str(type_).removeprefix("typing.") for name, type_ in annotations.items()}


def _forget(key: tuple[Any, ...], gone: weakref.ref[Any]) -> None:
    if _living.get(key) is gone:
        del _living[key]
