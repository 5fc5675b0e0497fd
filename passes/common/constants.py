"""Which operations compute constants, and copies of what such an operation is computed from."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sdyopt.dialects.sdy.ops import (
    ConstantOp,
    PropagationBarrierOp,
    ReshardOp,
    ShardingConstraintOp,
    ShardingGroupOp,
)
from sdyopt.dialects.stablehlo.broadcasting import BroadcastInDimOp
from sdyopt.dialects.stablehlo.conversion import BitcastConvertOp
from sdyopt.dialects.stablehlo.creation import ConstantOp as StablehloConstantOp
from sdyopt.dialects.stablehlo.creation import IotaOp
from sdyopt.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.dialects.stablehlo.traits import BROADCASTING_ELEMENTWISE
from sdyopt.ir.effects import is_memory_effect_free
from sdyopt.ir.form import Form
from sdyopt.ir.operation import Op, build
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.shape_traits import ELEMENTWISE
from sdyopt.ir.traits import PURE
from sdyopt.ir.types import DYNAMIC, RankedShape, Type
from sdyopt.ir.value import OpResult, Value

# Operations that are constant whatever is around them.
SOURCES = (ConstantOp, IotaOp)
_ELEMENTWISE_HERE = (PropagationBarrierOp, ShardingConstraintOp, ReshardOp)
_NEEDS_STATIC_OPERANDS = (BroadcastInDimOp, ReshapeOp)


def protect_constants(root: Op, rewriter: Rewriter) -> None:
    """Puts constants of sdy, which nobody merges again, in place of those of stablehlo."""
    for op in root.walk_post_order():
        if isinstance(op, StablehloConstantOp):
            constant = build(op.form.remember(_protected), (), op.attributes, op._location)
            rewriter.insert(constant, before=op)
            rewriter.replace(op, constant)


def _protected(form: Form) -> Form:
    return Form(ConstantOp, ConstantOp.name, form.attributes, (), form.result_types)


# --- What can be told from a form -----------------------------------------------------------------


def is_elementwise(form: Form) -> bool:
    """Whether every element of the results depends on one element of each operand."""
    if issubclass(form.op_class, BitcastConvertOp):
        return _shape(form.operand_types[0]) == _shape(form.result_types[0])
    traits = form.op_class.traits
    return (
        ELEMENTWISE in traits
        or BROADCASTING_ELEMENTWISE in traits
        or issubclass(form.op_class, _ELEMENTWISE_HERE)
    )


def is_pure(op: Op) -> bool:
    """Whether an operation without regions may run at any time and any number of times.

    One that does not know the sizes of its operands could find them wrong.
    """
    return is_memory_effect_free(op) and op.form.remember(_knows_its_sizes)


def _knows_its_sizes(form: Form) -> bool:
    if PURE in form.op_class.traits or all(DYNAMIC not in _shape(type) for type in form.operand_types):
        return True
    if len(form.operand_types) != 1 or issubclass(form.op_class, _NEEDS_STATIC_OPERANDS):
        return False
    sizes = zip(_shape(form.operand_types[0]), _shape(form.result_types[0]), strict=False)
    return all(size != DYNAMIC or new == DYNAMIC for size, new in sizes)


def _shape(type: Type) -> tuple[int, ...]:
    return type.shape if isinstance(type, RankedShape) else ()


# --- Copies ---------------------------------------------------------------------------------------


def copy_computation(
    value: OpResult,
    rewriter: Rewriter,
    is_shared: Callable[[OpResult], bool],
    copied: Callable[[Op], None],
) -> Value:
    """A copy of a value, made by a copy of its operation from copies of all that this is made from.

    What `is_shared` is not copied. Each copy goes directly before its original; it is in the same
    sharding groups, and `copied` is told of it.
    """
    if is_shared(value):
        return value
    copies: dict[Value, Value] = {}

    def to_copy(op: Op) -> Iterator[OpResult]:
        for operand in op.operands:
            if isinstance(operand, OpResult) and operand not in copies and not is_shared(operand):
                yield operand

    # The values to be copied, each one needed by the one before it.
    path = [(value, to_copy(value.op))]
    while path:
        result, needed = path[-1]
        following = next(needed, None)
        if following is not None:
            path.append((following, to_copy(following.op)))
            continue
        path.pop()
        copy = rewriter.clone(result.op, copies)
        rewriter.insert(copy, before=result.op)
        copied(copy)
        for user in list(result.users):
            if isinstance(user, ShardingGroupOp):
                rewriter.insert(rewriter.clone(user, copies), before=result.op)
    return copies[value]
