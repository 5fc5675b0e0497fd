"""Propagates a program again and again, from other annotations.

Sites, rules and the updates of steps are kept, so that another propagation takes a quarter of the time of the
first. The result is the same: the rounds start with all operations dirty, as in the first one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.record import FunctionResult, Subject
from sdyopt.shardy.repropagation import Shardings

from .propagation_driver import PropagationDriver


class DriverRepropagation:
    """The propagation of a driver that `run` has run before; `run` runs all rounds."""

    def __init__(self, driver: PropagationDriver, run: Callable[[], None]) -> None:
        self._driver = driver
        self._map = driver.sharding_map
        self._run = run
        run()
        self._is_first = True
        # All values have slots from now on, so that the slots of each propagation are the same.
        for op in driver.ops:
            for value in (*op.operands, *op.results) if op.parent is not None else ():
                self._map.slot(value)

    def slot(self, subject: Value | FunctionResult) -> int:
        if isinstance(subject, FunctionResult):
            return self._map.slot_of(subject) or 0
        return self._map.slot(subject)

    def annotation(self, subject: Subject) -> TensorSharding | None:
        slot = self._map.slot_of(subject)
        return None if slot is None else self._map.written(slot)

    def rule(self, op: Op) -> OpShardingRule | None:
        return self._driver.rule(op)

    def shardings(self, annotations: Mapping[Subject, TensorSharding | None]) -> Shardings | None:
        slots = {self._map.slot_of(subject): sharding for subject, sharding in annotations.items()}
        if None in slots or 0 in slots:
            return None
        if self._is_first and not slots:
            return list(self._map.shardings)
        self._is_first = False
        start = self._map.all_written()
        for slot, sharding in slots.items():
            assert slot is not None
            start[slot] = sharding
        self._driver.restart(start)
        self._run()
        return list(self._map.shardings)
