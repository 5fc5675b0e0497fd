"""sdy's operations on a single value, such as constraints, reshards and barriers, and those with a body."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from itertools import pairwise
from math import prod

from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.directives import constant_assembly
from sdyopt.mlir.asm.format.format_elements import custom, declare_syntax
from sdyopt.mlir.asm.format.print_template import Template
from sdyopt.mlir.asm.parser.asm_parser import WRONG_ENUM
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.sdy.assembly_directives import (
    ANY_RANKED_TENSOR,
    ANY_STATIC_TENSOR,
    SHARDING_ATTR,
    SHARDINGS_ATTR,
)
from sdyopt.mlir.dialects.sdy.axes import AxisRef, axis_ref_text
from sdyopt.mlir.dialects.sdy.mesh import sdy
from sdyopt.mlir.dialects.sdy.mesh_op import common_mesh, mesh_of
from sdyopt.mlir.dialects.sdy.sharding import (
    AxisBinder,
    ShardingOwner,
    ShardingPerValue,
    TensorSharding,
    are_there_unreduced_axes,
    without_manual_axes,
)
from sdyopt.mlir.dialects.sdy.sharding_checks import (
    check_sharding,
    check_shardings,
    check_unbound,
    check_unreduced_transition,
    errors_about,
)
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.ir.attribute import Attribute, DictAttr
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr
from sdyopt.mlir.ir.interfaces import SINGLE_BODY, ends_with, terminator_of
from sdyopt.mlir.ir.op_fields import (
    attr,
    operand,
    operand_types,
    operands,
    optional_attr,
    region,
    result,
    results,
)
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import SAME_TYPE
from sdyopt.mlir.ir.traits import (
    ANY_TYPE,
    ELEMENTS_ATTR,
    I64_ATTR,
    INFERS_TYPES,
    ISOLATED,
    ONE_BLOCK,
    PURE,
    RECURSIVE_EFFECTS,
    STRING_ATTR,
    TERMINATOR,
    AttrConstraint,
)
from sdyopt.mlir.ir.types import DYNAMIC, I32, RankedShapedType, ShapedType, Type, tensor
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


_UNKNOWN_MANUAL_AXIS = ErrorKind('unknown manual axis: "{axis}"', at='text "{axis}"', explain="axis")
_MANUAL_AFTER_FREE = ErrorKind(
    "{side} sharding at index {index} must have all manual axes come before free axes in its dimension "
    "sharding at index {dim}. Saw manual axis {manual} after free axis {free}",
    at="dimension {dim}",
    help="write the manual axes first in the dimension",
)
_LOCAL_SHAPE = ErrorKind(
    "{side} shape, corresponding sharding, and region {side} shape at index {index} must match. "
    "Expected local shape '{expected}', actual local shape '{actual}'",
    at="value",
    help="inside of the body, values have the shape of a shard along the manual axes: `{expected}`",
    explain="local shape",
)


def check_manual_computation(
    op: AxisBinder, in_shardings: ShardingPerValue, out_shardings: ShardingPerValue, body: Region
) -> None:
    """Checks the operands, results and manual axes of a `sdy.manual_computation`."""
    arguments = [argument.type for argument in body.blocks[0].arguments]
    _Values(op, "operand", in_shardings).check(op.signature.operand_types, arguments)
    returned = terminator_of(body).signature.operand_types
    _Values(op, "result", out_shardings).check(op.signature.result_types, returned)
    shardings = [*in_shardings, *out_shardings]
    if not shardings:
        return
    # The shardings have been checked, so every mesh exists.
    mesh = common_mesh(shardings, op)
    if mesh is None:
        if op.manual_axes:
            raise op.op_error("all in and out shardings must be bound to the same mesh or an empty mesh.")
        return
    for name in op.manual_axes:
        if not mesh.has_axis(name):
            raise op.op_error(_UNKNOWN_MANUAL_AXIS(axis=name))


class _Values:
    """Checks the operands or the results of a manual computation."""

    def __init__(self, op: AxisBinder, word: str, shardings: ShardingPerValue) -> None:
        self._op = op
        self._manual = op.manual_axes
        self._word = word
        self._shardings = shardings

    def check(self, outside: Sequence[Type], inside: Sequence[Type]) -> None:
        """Checks the shardings, and that `inside` are the local types of `outside`."""
        op, word = self._op, self._word
        if not outside and not inside and not len(self._shardings):
            return
        check_shardings(op, self._shardings, outside, errors_about(op, word))
        if len(outside) != len(inside):
            raise op.op_error(
                f"number of op {word}s and region {word}s must match. Op has {len(outside)} op {word}s and "
                f"{len(inside)} region {word}s"
            )
        for index, values in enumerate(zip(outside, inside, self._shardings, strict=False)):
            self._check_value(index, *values)

    def _check_value(self, index: int, outside: Type, inside: Type, sharding: TensorSharding) -> None:
        op, word = self._op, self._word
        for number, dim in enumerate(sharding.dims):
            wrong_order = self._manual_after_free(dim.axes)
            if wrong_order is not None:
                free, manual = map(axis_ref_text, wrong_order)
                raise op.op_error(
                    _MANUAL_AFTER_FREE(side=word, index=index, dim=number, manual=manual, free=free)
                )
        if not isinstance(outside, ShapedType):
            return  # such as a token
        assert isinstance(outside, RankedShapedType)
        expected = tensor(self._local_shape(outside, sharding), outside.element)
        if inside is not expected:
            expected_text, inside_text = plain_type(expected), plain_type(inside)
            raise op.op_error(
                _LOCAL_SHAPE(side=word, index=index, expected=expected_text, actual=inside_text)
            )

    def _manual_after_free(self, axes: Sequence[AxisRef]) -> tuple[AxisRef, AxisRef] | None:
        """The first free axis that is directly before a manual axis, and that manual axis."""
        for axis, following in pairwise(axes):
            if axis.name not in self._manual and following.name in self._manual:
                return axis, following
        return None

    def _local_shape(self, type: RankedShapedType, sharding: TensorSharding) -> tuple[int, ...]:
        if not self._manual:
            # A maximal sharding has no dimensions.
            return type.shape[: sharding.rank]
        mesh = mesh_of(sharding, self._op)
        assert mesh is not None
        shape = []
        for size, dim in zip(type.shape, sharding.dims, strict=False):
            manual_size = prod(axis.size(mesh) for axis in dim.axes if axis.name in self._manual)
            if size == DYNAMIC:
                shape.append(size)
                continue
            if size % manual_size:
                error = self._op.op_error(
                    f"{self._word} dimension size {size} is not divisible by the manual axes size "
                    f"{manual_size}"
                )
                raise error.help(f"use manual axes whose sizes divide {size}, or pad the dimension")
            shape.append(size // manual_size)
        return tuple(shape)


_ENDS_WITH_RETURN = ends_with("sdy.return", is_implied=True)


@sdy.op("manual_computation", RECURSIVE_EFFECTS, _ENDS_WITH_RETURN, ISOLATED)
class ManualComputationOp(AxisBinder, ShardingOwner):
    """A body that is per-device along the manual axes, with explicit collectives.

    Inside, tensors have their local shapes with respect to the manual axes.
    """

    tensors = operands(ANY_TYPE)
    in_shardings = attr(SHARDINGS_ATTR)
    out_shardings = attr(SHARDINGS_ATTR)
    outputs = results(ANY_TYPE)
    body = region(ONE_BLOCK)

    assembly = assembly(
        "`(` $tensors `)` custom<Named>($in_shardings) custom<Named>($out_shardings) "
        "custom<Named>($manual_axes) custom<Body> attr-dict `:` functional-type($tensors, $outputs)"
    )
    data_flow = SINGLE_BODY

    @property
    def block(self) -> Block:
        """The single block of the body."""
        return self.body.blocks[0]

    # Whether a sharding in the body is valid depends on this operation: no sharding may use the manual axes.
    scopes_attributes = True

    def verify_in_context(self) -> None:
        if axes := self.manual_axes:
            check_unbound(self, axes, self.op_error)

    def verify_symbol_uses(self) -> None:
        check_manual_computation(self, self.in_shardings, self.out_shardings, self.body)

    def result_sharding(self, index: int) -> TensorSharding | None:
        return self.out_shardings.at(index)

    def argument_sharding(self, index: int) -> TensorSharding | None:
        sharding = self.in_shardings.at(index)
        return None if sharding is None else without_manual_axes(sharding, self.manual_axes)


@sdy.op("named_computation", RECURSIVE_EFFECTS, _ENDS_WITH_RETURN, ISOLATED, INFERS_TYPES)
class NamedComputationOp(ShardingOwner):
    """A named body, through which shardings propagate as if it were inlined."""

    computation_name = attr(STRING_ATTR, name="name")
    inputs = operands(ANY_TYPE)
    in_shardings = optional_attr(SHARDINGS_ATTR)
    out_shardings = optional_attr(SHARDINGS_ATTR)
    outputs = results(ANY_TYPE)
    body = region(ONE_BLOCK)

    @staticmethod
    def _parse_name(op_parser: OpAsmParser) -> None:
        op_parser.expect("<")
        op_parser.attributes["name"] = op_parser.attribute()
        op_parser.expect(">")

    @staticmethod
    def _write_name(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        out.text(f"<{out.attribute_printer.attribute(signature.attributes['name'])}>")

    assembly = assembly(
        "custom<name>($name) `(` $inputs `)` custom<Named>($in_shardings) "
        "custom<Named>($out_shardings) custom<Body> attr-dict `:` functional-type($inputs, "
        "$outputs)",
        name=custom(_parse_name, _write_name),
    )
    data_flow = SINGLE_BODY

    @property
    def block(self) -> Block:
        """The single block of the body."""
        return self.body.blocks[0]

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> Sequence[Type]:
        return terminator_of(regions[0]).signature.operand_types

    def verify_symbol_uses(self) -> None:
        self._check_arguments()
        if self.in_shardings is not None:
            types = self.signature.operand_types
            check_shardings(self, self.in_shardings, types, errors_about(self, "in_shardings"))
        if self.out_shardings is not None:
            types = self.signature.result_types
            check_shardings(self, self.out_shardings, types, errors_about(self, "out_shardings"))

    def _check_arguments(self) -> None:
        arguments, types = self.block.arguments, self.signature.operand_types
        if len(arguments) != len(types):
            raise self.error(
                "number of block arguments must match the number of operands: "
                f"{len(arguments)} != {len(types)}"
            )
        for index, (argument, type) in enumerate(zip(arguments, types, strict=True)):
            if argument.type is not type:
                raise self.error(
                    f"expected the type of the {index}'th block argument to match the type of the "
                    f"corresponding operand: '{plain_type(argument.type)}' vs '{plain_type(type)}'"
                )

    def result_sharding(self, index: int) -> TensorSharding | None:
        return None if self.out_shardings is None else self.out_shardings.at(index)

    def argument_sharding(self, index: int) -> TensorSharding | None:
        return None if self.in_shardings is None else self.in_shardings.at(index)
