"""The context: the state of a run, such as the release that it follows and the handler of its diagnostics.

    HANDLER = Part[Handler](_raise_error)     # declared once, by the package that owns the state
    with HANDLER.set_to(show):                # what is called in the `with` block sees this value
        HANDLER.value(diagnostic)

A context is immutable. A `with` block runs in a context that derives from the one around it, so nothing has
to be put back. Nothing is shared with other runs: each thread has its own current context, which is empty at
first. To continue a run in another thread, enter its context there:

    context = current()
    Thread(target=lambda: context.run(work))
"""

from __future__ import annotations

from _contextvars import ContextVar  # not `contextvars`, a file that renames it and takes 0.2 ms
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from types import MappingProxyType
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class ContextPart(Generic[T]):
    """A kind of state in contexts, with the value that it has in a new context."""

    __slots__ = ("initial",)

    def __init__(self, initial: T) -> None:
        self.initial = initial

    @property
    def value(self) -> T:
        """The value in the current context."""
        value: T = _current.get()._values.get(self, self.initial)
        return value

    @contextmanager
    def set_to(self, value: T) -> Iterator[None]:
        """Runs the `with` block in a context with this value."""
        token = _current.set(_current.get().having(self, value))
        try:
            yield
        finally:
            _current.reset(token)


class Context:
    """The state of a run: a value for each `ContextPart`."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[ContextPart[Any], Any] = MappingProxyType({})) -> None:
        self._values = values

    def __getitem__(self, part: ContextPart[T]) -> T:
        value: T = self._values.get(part, part.initial)
        return value

    def having(self, part: ContextPart[T], value: T) -> Context:
        """A copy with another value of a part."""
        return Context({**self._values, part: value})

    @contextmanager
    def active(self) -> Iterator[None]:
        """Runs the `with` block in this context."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)

    def run(self, function: Callable[[], T]) -> T:
        """Calls a function in this context."""
        with self.active():
            return function()


_EMPTY = Context()
_current = ContextVar("context", default=_EMPTY)


def current() -> Context:
    """The context of the caller."""
    return _current.get()


# What runs on similar programs share, such as trials of changes: by what it depends on.
_KEPT = ContextPart[dict[Hashable, dict[Any, Any]] | None](None)
# A run starts without what earlier ones kept if that is more.
_MOST_KEPT = 20_000


def keeping(kept: dict[Hashable, dict[Any, Any]]) -> AbstractContextManager[None]:
    """Runs the `with` block with `kept_by` keeping in `kept`."""
    return _KEPT.set_to(kept)


def kept_by(key: Callable[[], Hashable]) -> dict[Any, Any]:
    """A cache that further runs have, too; of this run alone if there is no `keeping` around it.

    The result of `key`, which is called within `keeping` only, says whose cache it is, and has all on which
    it depends beyond the keys in it.
    """
    caches = _KEPT.value
    if caches is None:
        return {}
    kept = caches.setdefault(key(), {})
    if len(kept) > _MOST_KEPT:
        kept.clear()
    return kept
