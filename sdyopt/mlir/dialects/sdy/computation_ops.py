"""Operations with a body: manual computations and named computations, and their verification."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

from sdyopt.base.diagnostics.error_kind import ErrorKind
from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import custom
from sdyopt.mlir.asm.format.print_template import Template
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.sdy.assembly_directives import (
    SHARDINGS_ATTR,
)
from sdyopt.mlir.dialects.sdy.axes import AxisRef, axis_ref_text
from sdyopt.mlir.dialects.sdy.dialect import sdy
from sdyopt.mlir.dialects.sdy.mesh_op import common_mesh, mesh_of
from sdyopt.mlir.dialects.sdy.sharding import (
    AxisBinder,
    ShardingOwner,
    ShardingPerValue,
    TensorSharding,
    without_manual_axes,
)
from sdyopt.mlir.dialects.sdy.sharding_checks import check_shardings, check_unbound, errors_about
from sdyopt.mlir.ir.attribute import DictAttr
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.constraints import ANY_TYPE, ONE_BLOCK, STRING_ATTR
from sdyopt.mlir.ir.interfaces import SINGLE_BODY, ends_with, terminator_of
from sdyopt.mlir.ir.op_fields import attr, operands, optional_attr, region, results
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.traits import INFERS_TYPES, ISOLATED, RECURSIVE_EFFECTS
from sdyopt.mlir.ir.types import DYNAMIC, RankedShapedType, ShapedType, Type, tensor

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
