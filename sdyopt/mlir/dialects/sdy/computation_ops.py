"""sdy's operations with a body: manual_computation and named_computation."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.asm.format.assembly_format import AttrDict, Custom, FunctionalType, Operand, assembly
from sdyopt.mlir.asm.format.print_template import Template
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.sdy.assembly_directives import (
    SHARDINGS_ATTR,
    body_with_arguments,
    named_attr,
    named_shardings,
)
from sdyopt.mlir.dialects.sdy.axis_lists import ManualAxes
from sdyopt.mlir.dialects.sdy.dialect import sdy
from sdyopt.mlir.dialects.sdy.interfaces import AxisBinder, ShardingOwner
from sdyopt.mlir.dialects.sdy.manual_axes import without_manual_axes
from sdyopt.mlir.dialects.sdy.manual_checks import check_manual_computation
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.sharding_checks import check_shardings, check_unbound
from sdyopt.mlir.ir.attribute import DictAttr
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.constraints import ANY_TYPE, ONE_BLOCK, STRING_ATTR
from sdyopt.mlir.ir.interfaces import SINGLE_BODY, ends_with, terminator_of
from sdyopt.mlir.ir.op_fields import attr, operands, optional_attr, region, results
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.traits import INFERS_TYPES, ISOLATED, RECURSIVE_EFFECTS
from sdyopt.mlir.ir.types import Type

_ENDS_WITH_RETURN = ends_with("sdy.return")


@sdy.op("manual_computation", RECURSIVE_EFFECTS, _ENDS_WITH_RETURN, ISOLATED)
class ManualComputationOp(AxisBinder, ShardingOwner):
    """A body that is per-device along the manual axes, with explicit collectives.

    Inside, tensors have their local shapes with respect to the manual axes.
    """

    __slots__ = ()

    tensors = operands(ANY_TYPE)
    in_shardings = attr(SHARDINGS_ATTR)
    out_shardings = attr(SHARDINGS_ATTR)
    outputs = results(ANY_TYPE)
    body = region(ONE_BLOCK)

    assembly = assembly(
        "(",
        Operand("tensors"),
        ")",
        named_shardings("in_shardings"),
        named_shardings("out_shardings"),
        named_attr("manual_axes", ManualAxes),
        body_with_arguments(),
        AttrDict(),
        ":",
        FunctionalType("tensors", "outputs"),
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


def _parse_name(op_parser: OpAsmParser) -> None:
    op_parser.expect("<")
    op_parser.attributes["name"] = op_parser.attribute()
    op_parser.expect(">")


def _write_name(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
    out.text(f"<{out.attribute_printer.attribute(signature.attributes['name'])}>")


@sdy.op("named_computation", RECURSIVE_EFFECTS, _ENDS_WITH_RETURN, ISOLATED, INFERS_TYPES)
class NamedComputationOp(ShardingOwner):
    """A named body, through which shardings propagate as if it were inlined."""

    __slots__ = ()

    computation_name = attr(STRING_ATTR, name="name")
    inputs = operands(ANY_TYPE)
    in_shardings = optional_attr(SHARDINGS_ATTR)
    out_shardings = optional_attr(SHARDINGS_ATTR)
    outputs = results(ANY_TYPE)
    body = region(ONE_BLOCK)

    assembly = assembly(
        Custom(_parse_name, _write_name, elides=["name"]),
        "(",
        Operand("inputs"),
        ")",
        named_shardings("in_shardings"),
        named_shardings("out_shardings"),
        body_with_arguments(),
        AttrDict(),
        ":",
        FunctionalType("inputs", "outputs"),
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
            check_shardings(
                self, self.in_shardings, types, lambda message: self.op_error("in_shardings " + message)
            )
        if self.out_shardings is not None:
            types = self.signature.result_types
            check_shardings(
                self, self.out_shardings, types, lambda message: self.op_error("out_shardings " + message)
            )

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
