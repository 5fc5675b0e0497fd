"""The reason of an absence that no step refuses."""

from __future__ import annotations

import pytest

from sdyopt.analysis.sharding_record.absences import Absence, _reasons
from sdyopt.analysis.sharding_record.model import Gap
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.stablehlo.elementwise import SineOp
from sdyopt.mlir.ir.attribute import EMPTY_DICT
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import UNKNOWN, build
from sdyopt.mlir.ir.types import F32, tensor
from sdyopt.shardy.sharding.propagation.propagation_step import StepRefusals, StepResult
from sdyopt.shardy.sharding.propagation.step_input import Reason
from sdyopt.shardy.sharding.sharding_projection import FactorSharding, TensorProjection


@pytest.mark.parametrize(
    ("has_major_factor", "reason"), [(True, Reason.MAJOR_FACTOR), (False, Reason.NOT_RECORDED)]
)
def test_only_a_dimension_with_a_more_major_factor_is_several_in_one(
    has_major_factor: bool, reason: Reason
) -> None:
    """For example, each dimension of a reshape from 11x4x5 to 11x4x5 has one factor."""
    x, type = AxisRef("x"), tensor((8,), F32)
    argument = Block().add_argument(type, UNKNOWN)
    op = build(OpSignature(SineOp, SineOp.name, EMPTY_DICT, (type,), (type,)), [argument])
    gap = Gap(op, SineOp.name, (argument, op.result))
    base = Absence(op.result, argument, x, gap, 1, 0, 0, 0)
    sharded = TensorProjection({0: FactorSharding((x,))})
    result = StepResult(Mesh(()), [sharded, TensorProjection({0: FactorSharding()})], [sharded, sharded], ())
    found = _reasons(StepRefusals((), (), result), result, base, 0, x, has_major_factor)
    assert [each.reason for each in found] == [reason]
