"""The values of a program as it was written, from those of the program after passes."""

from __future__ import annotations

from collections.abc import Mapping

from sdyopt.analysis.sharding_record.record import TrackedValues
from sdyopt.analysis.trials.annotation_edits import place_of
from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.shardy.record import Subject


@dataclass(frozen=True)
class Originals:
    """The program as it was written: `module`, and the values that those after the passes come from."""

    module: Op
    values: TrackedValues
    values_before: Mapping[Value, Value]

    def value(self, value: Value) -> OpResult | BlockArgument | None:
        """The value of the written program that a value was; None if a pass created it."""
        for each in (value, *self.values.predecessors(value)):
            for original in self.values.originals(each):
                for earlier in (original, *self.values.predecessors(original)):
                    found = self.values_before.get(earlier)
                    if isinstance(found, OpResult | BlockArgument):
                        return found
        return None

    def place(self, value: Value) -> Subject | None:
        """The place where the sharding of a value is written: at the constraint on it, or at itself."""
        found = self.value(value)
        return None if found is None else place_of(found)
