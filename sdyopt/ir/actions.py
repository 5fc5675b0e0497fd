"""Actions (`mlir::tracing::Action`): steps of a pass that can be logged, such as applying a pattern."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from sdyopt.ir.operation import Op

# (tag of the action, its description, operation) -> the context manager in which the action runs.
Observer = Callable[[str, str, Op], AbstractContextManager[None]]

_observers: list[Observer] = []


@contextmanager
def observing_actions(observer: Observer) -> Iterator[None]:
    """Calls an observer, instead of any outer one, for each action in the `with` block."""
    _observers.append(observer)
    try:
        yield
    finally:
        _observers.pop()


def is_observed() -> bool:
    """Whether there is an observer."""
    return bool(_observers)


def action(tag: str, description: str, op: Op) -> AbstractContextManager[None]:
    """The context manager in which to run an action. `%s` in the description stands for the operation."""
    return _observers[-1](tag, description, op) if _observers else nullcontext()
