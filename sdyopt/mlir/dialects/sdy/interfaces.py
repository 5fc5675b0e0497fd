"""Base classes of operations that store shardings or bind manual axes."""

from __future__ import annotations

from sdyopt.mlir.dialects.sdy.axis_lists import ManualAxes
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.ir.constraints import of_class
from sdyopt.mlir.ir.op_fields import attr
from sdyopt.mlir.ir.operation import Op

_MANUAL_AXES = of_class(ManualAxes, "A list of axes that a ManualComputationOp is manual on")


class ShardingOwner(Op):
    """An operation that stores the shardings of its results and block arguments in inherent attributes."""

    __slots__ = ()

    def result_sharding(self, index: int) -> TensorSharding | None:
        """The sharding of a result."""
        raise NotImplementedError

    def argument_sharding(self, index: int) -> TensorSharding | None:
        """The sharding of a block argument, without the manual axes."""
        raise NotImplementedError


class AxisBinder(Op):
    """An operation whose body is manual along some axes, along which no value in the body may be sharded."""

    __slots__ = ()

    manual_axes = attr(_MANUAL_AXES)
