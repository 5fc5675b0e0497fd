"""What sdy asks of operations: where the sharding of a value is kept, and which axes are taken."""

from __future__ import annotations

from sdyopt.dialects.sdy.assembly_directives import kind_of
from sdyopt.dialects.sdy.axis_lists import ManualAxes
from sdyopt.dialects.sdy.sharding import TensorSharding
from sdyopt.ir.constraints import AttrKind
from sdyopt.ir.op_fields import attr
from sdyopt.ir.operation import Op

_MANUAL_AXES: AttrKind[ManualAxes] = kind_of(
    ManualAxes, "A list of axes that a ManualComputationOp is manual on"
)


class ShardingOwner(Op):
    """An operation that keeps the shardings of its results (and arguments) in inherent attributes."""

    __slots__ = ()

    def result_sharding(self, index: int) -> TensorSharding | None:
        """The sharding of a result."""
        raise NotImplementedError

    def argument_sharding(self, index: int) -> TensorSharding | None:
        """The sharding of an argument of the body, as it is seen inside."""
        raise NotImplementedError


class AxisBinder(Op):
    """An operation whose body handles some axes by itself, so that nobody inside may shard along them."""

    __slots__ = ()

    manual_axes = attr(_MANUAL_AXES)
