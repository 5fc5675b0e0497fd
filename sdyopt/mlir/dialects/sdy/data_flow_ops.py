"""Data-flow edges: values that share a sharding, such as a loop's operand, block arguments and result."""

from __future__ import annotations

from sdyopt.mlir.asm.format.assembly_format import AttrDict, Operand, assembly
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.func import CallOp
from sdyopt.mlir.dialects.sdy.assembly_directives import (
    ANY_SHAPED,
    SHARDING_ATTR,
    ConstrainedTypeOf,
    named_attr,
)
from sdyopt.mlir.dialects.sdy.dialect import sdy
from sdyopt.mlir.dialects.sdy.interfaces import ShardingOwner
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.sharding_checks import check_sharding
from sdyopt.mlir.ir.op_fields import operand, optional_attr, result
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import SAME_TYPE
from sdyopt.mlir.ir.traits import FUNCTION
from sdyopt.mlir.ir.types import RankedShapedType
from sdyopt.mlir.ir.value import BlockArgument


@sdy.op("data_flow_edge", SAME_TYPE)
class DataFlowEdgeOp(ShardingOwner):
    """Takes the owner of a data-flow edge, and stores the sharding of all values of the edge."""

    __slots__ = ()

    input = operand(ANY_SHAPED)
    sharding = optional_attr(SHARDING_ATTR)
    output = result(ANY_SHAPED)

    assembly = assembly(
        Operand("input"),
        named_attr("sharding", TensorSharding),
        AttrDict(),
        ":",
        ConstrainedTypeOf("output", ANY_SHAPED, same=["input"]),
    )

    def result_sharding(self, index: int) -> TensorSharding | None:
        return self.sharding

    def verify_symbol_uses(self) -> None:
        _check_static(self)
        if not self.input.has_one_use:
            raise self.op_error("expected input of sdy.data_flow_edge to have a single user")
        definition = self.input.defining_op
        if definition is not None and definition.dialect_name == "sdy" and definition.data_flow is None:
            raise self.op_error(
                "expected input of sdy.data_flow_edge to not be defined by an SdyDialect op (other than an "
                "sdy.named_computation)."
            ).note("sdy op defining the input of the sdy.data_flow_edge", definition.location)
        if self.sharding is not None:
            check_sharding(self, self.sharding, self.signature.result_types[0], self.op_error)


@sdy.op("func_data_flow_edge", SAME_TYPE)
class FuncDataFlowEdgeOp(Op):
    """Takes a function argument or a call result, so that shardings propagate between caller and callee."""

    __slots__ = ()

    input = operand(ANY_SHAPED)
    output = result(ANY_SHAPED)

    assembly = assembly(
        Operand("input"), AttrDict(), ":", ConstrainedTypeOf("output", ANY_SHAPED, same=["input"])
    )

    def verify_symbol_uses(self) -> None:
        _check_static(self)
        value = self.input
        if not value.has_one_use:
            raise self.op_error("expected operand of sdy.func_data_flow_edge to have a single user")
        if isinstance(value, BlockArgument):
            parent = value.owner.parent_op
            if parent is None or FUNCTION not in parent.traits:
                raise self.op_error(
                    "expected operand of sdy.func_data_flow_edge to be a block argument of a func op."
                )
        elif not isinstance(value.defining_op, CallOp):
            raise self.op_error("expected operand of sdy.func_data_flow_edge to be a result of call op.")


def _check_static(op: Op) -> None:
    (type,) = op.signature.result_types
    if not isinstance(type, RankedShapedType) or not type.has_static_shape:
        raise op.op_error(f"expected {op.name} to have a static-shaped result. type: '{plain_type(type)}'")
