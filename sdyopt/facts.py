"""Facts: immutable values of which equal ones are the same object.

Attributes, types, locations and operation forms are facts. Building a fact that is already alive
gives the living object, so `is` compares facts, their hash is their identity, and any function of
facts can be memoised in a dict. A fact lives as long as somebody holds it: nothing here outlives
the run that made it.

    @dataclass(frozen=True, slots=True, eq=False)
    class AxisRef(Fact):
        name: str
        sub_axis: SubAxis | None = None

    assert AxisRef("x") is AxisRef("x", None) is AxisRef(name="x")

Fields must be hashable. Fields of one class must not mix `1`, `1.0` and `True`, which Python takes
for equal: floats are therefore kept as bit patterns.
"""

from __future__ import annotations

import weakref
from dataclasses import MISSING, fields
from typing import Any, cast

_living: dict[tuple[Any, ...], weakref.ref[Any]] = {}


class FactMeta(type):
    """Makes calling a fact's class look the fact up before building it."""

    _defaults: tuple[Any, ...] | None
    _names: tuple[str, ...]

    def __call__(cls, *args: Any, **named: Any) -> Any:
        key = (cls, *args)
        if not named:
            reference = _living.get(key)
            if reference is not None and (fact := reference()) is not None:
                return fact
        complete = cls._complete(args, named)
        key = (cls, *complete)
        reference = _living.get(key)
        if reference is not None and (fact := reference()) is not None:
            return fact
        fact = super().__call__(*complete)
        _living[key] = weakref.ref(fact, lambda gone: _forget(key, gone))
        return fact

    def _complete(cls, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        """The value of every field, defaults included, in declaration order."""
        if "_defaults" not in cls.__dict__:
            declared = [field for field in fields(cast(Any, cls)) if field.init]
            cls._names = tuple(field.name for field in declared)
            cls._defaults = tuple(field.default for field in declared)
        defaults = cast("tuple[Any, ...]", cls._defaults)
        if len(args) == len(defaults) and not named:
            return args
        values = list(args)
        for name, default in zip(cls._names[len(args) :], defaults[len(args) :], strict=True):
            value = named.pop(name, default)
            if value is MISSING:
                raise TypeError(f"{cls.__name__} is missing its field {name!r}")
            values.append(value)
        if named or len(values) != len(defaults):
            raise TypeError(f"{cls.__name__} does not take {sorted(named) or args}")
        return tuple(values)


class Fact(metaclass=FactMeta):
    """Base of all facts. Subclasses are `@dataclass(frozen=True, slots=True, eq=False)`."""

    __slots__ = ("__weakref__",)

    def __copy__(self) -> Fact:
        return self

    def __deepcopy__(self, memo: Any) -> Fact:
        return self


def _forget(key: tuple[Any, ...], gone: weakref.ref[Any]) -> None:
    if _living.get(key) is gone:
        del _living[key]
