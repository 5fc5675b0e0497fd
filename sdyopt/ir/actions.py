"""Actions: steps inside a pass that a log shows, such as applying a pattern."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from sdyopt.ir.operation import Op

# Returns the context of an action, given its tag, its description and an operation.
Observer = Callable[[str, str, Op], AbstractContextManager[None]]

_observers: list[Observer] = []


@contextmanager
def observing_actions(observer: Observer) -> Iterator[None]:
    """Passes the actions in the `with` block to an observer."""
    _observers.append(observer)
    try:
        yield
    finally:
        _observers.pop()


def is_observed() -> bool:
    """Whether there is an observer."""
    return bool(_observers)


def action(tag: str, description: str, op: Op) -> AbstractContextManager[None]:
    """The context of an action. `%s` in the description stands for the operation."""
    return _observers[-1](tag, description, op) if _observers else nullcontext()
