"""sdy's operations on a single value: constraints, reshards, barriers, constants."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.directives import constant_assembly
from sdyopt.mlir.asm.format.format_elements import declare_syntax
from sdyopt.mlir.asm.parser.asm_parser import WRONG_ENUM
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.dialects.sdy.assembly_directives import (
    ANY_RANKED_TENSOR,
    ANY_STATIC_TENSOR,
    SHARDING_ATTR,
)
from sdyopt.mlir.dialects.sdy.dialect import sdy
from sdyopt.mlir.dialects.sdy.sharding import ShardingOwner, TensorSharding, are_there_unreduced_axes
from sdyopt.mlir.dialects.sdy.sharding_checks import check_sharding, check_unreduced_transition
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr
from sdyopt.mlir.ir.constraints import ANY_TYPE, ELEMENTS_ATTR, I64_ATTR, AttrConstraint
from sdyopt.mlir.ir.op_fields import attr, operand, operand_types, operands, result
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import SAME_TYPE
from sdyopt.mlir.ir.traits import INFERS_TYPES, PURE, TERMINATOR
from sdyopt.mlir.ir.types import I32, Type
from sdyopt.mlir.ir.value import Value

# --- Shardings ------------------------------------------------------------------------------------


class _ShardingOp(ShardingOwner):
    """An operation whose result is its input with a sharding."""

    input = operand(ANY_TYPE)
    sharding = attr(SHARDING_ATTR)
    output = result(ANY_TYPE)

    assembly = assembly("$input $sharding attr-dict `:` type($output, $input)")
    infer_result_types = staticmethod(operand_types)

    def verify_symbol_uses(self) -> None:
        check_sharding(self, self.sharding, self.signature.result_types[0], self.op_error)
        if not are_there_unreduced_axes():
            return
        before = sharding_of(value_before_barriers(self.input))
        if before is not None:
            introduced, removed = self.sharding.reduction, before.reduction
            check_unreduced_transition(self, (before,), (self.sharding,), introduced, removed)

    def result_sharding(self, index: int) -> TensorSharding:
        return self.sharding


@sdy.op("sharding_constraint", SAME_TYPE, INFERS_TYPES)
class ShardingConstraintOp(_ShardingOp):
    """Constrains the sharding of a value at this point of the program, as requested by the user."""


@sdy.op("reshard", PURE, SAME_TYPE, INFERS_TYPES)
class ReshardOp(_ShardingOp):
    """The same value with another sharding, which may require communication."""


@sdy.op("sharding_group", INFERS_TYPES)
class ShardingGroupOp(Op):
    """Adds a value to a sharding group. Propagation gives all values of a group equivalent shardings."""

    input = operand(ANY_RANKED_TENSOR)
    group_id = attr(I64_ATTR)

    assembly = assembly("$input custom<Named>($group_id) attr-dict `:` custom<ConstrainedType>($input)")

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> Sequence[Type]:
        return ()


# --- Propagation ----------------------------------------------------------------------------------


class PropagationDirection(IntEnum):
    """The directions in which shardings may propagate."""

    NONE = 0
    FORWARD = 1
    BACKWARD = 2
    BOTH = 3


_DIRECTION = AttrConstraint[PropagationDirection](
    "propagation direction enum",
    lambda a: isinstance(a, IntegerAttr) and a.type is I32 and 0 <= a.value <= 3,
    lambda a: PropagationDirection(a.value),
)


def _parse_direction(op_parser: OpAsmParser) -> Attribute:
    start = op_parser.skip_trivia()
    word = next((name for name in PropagationDirection.__members__ if op_parser.accept(name)), None)
    if word is None:
        word = op_parser.accept_string()
    if word is None:
        names = ", ".join(PropagationDirection.__members__)
        raise op_parser.error(WRONG_ENUM(attribute="allowed_direction", names=names), start)
    if word not in PropagationDirection.__members__:
        raise op_parser.error(f'invalid allowed_direction attribute specification: "{word}"', start)
    return IntegerAttr(PropagationDirection[word], I32)


declare_syntax(
    _DIRECTION,
    _parse_direction,
    lambda attribute, attribute_printer: PropagationDirection(attribute.value).name,
)


@sdy.op("propagation_barrier", PURE, SAME_TYPE, INFERS_TYPES)
class PropagationBarrierOp(Op):
    """The same value; shardings propagate from input to output, from output to input, or not at all."""

    input = operand(ANY_RANKED_TENSOR)
    allowed_direction = attr(_DIRECTION)
    output = result(ANY_RANKED_TENSOR)

    assembly = assembly(
        "$input custom<Named>($allowed_direction) attr-dict `:` custom<ConstrainedType>($input, $output)"
    )
    infer_result_types = staticmethod(operand_types)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        if signature[PropagationBarrierOp.allowed_direction] is PropagationDirection.BOTH:
            raise signature.op_error(
                "cannot specify `BOTH` as the direction. Not blocking propagation direction makes the op "
                "redundant."
            )


def value_before_barriers(value: Value, cache: dict[Value, Value] | None = None) -> Value:
    """The input of the chain of barriers that ends in this value; the value itself if no barrier defines it.

    With a `cache`, repeated queries on a long chain take linear time; while a cache is in use, barriers must
    not change. Barriers in a graph region may form a cycle; then the result is a value of the cycle.
    """
    if not isinstance(value.defining_op, PropagationBarrierOp):
        return value
    cache = {} if cache is None else cache
    visited: dict[Value, None] = {}
    while value not in visited and isinstance(barrier := value.defining_op, PropagationBarrierOp):
        if value in cache:
            value = cache[value]
            break
        visited[value] = None
        value = barrier.input
    cache.update(dict.fromkeys(visited, value))
    return value


# --- Other operations -------------------------------------------------------------------------------------


@sdy.op("constant", PURE, INFERS_TYPES)
class ConstantOp(Op):
    """A constant that is not folded or merged, so that each use can have its own constant and sharding."""

    value = attr(ELEMENTS_ATTR)
    output = result(ANY_STATIC_TENSOR)

    assembly = constant_assembly()

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> Sequence[Type]:
        return (signature[ConstantOp.value].type,)


@sdy.op("return", PURE, TERMINATOR)
class ReturnOp(Op):
    """Terminates the body of an sdy operation; its operands are the results of the operation."""

    values = operands(ANY_TYPE)

    assembly = assembly("attr-dict ($values^ `:` type($values))?")
