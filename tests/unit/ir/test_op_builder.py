"""Operations from the values of their fields, and attributes from Python values."""

from __future__ import annotations

from typing import Any

import pytest

from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.cf import ConditionalBranchOp
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp
from sdyopt.mlir.dialects.stablehlo.nullary import IotaOp
from sdyopt.mlir.dialects.stablehlo.shapes import TransposeOp
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.op_builder import attribute_for, attribute_of
from sdyopt.mlir.ir.operation import UNKNOWN, Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import F32, I1, Type, tensor
from sdyopt.mlir.registry import find_dialect

MATRIX = tensor((4, 4), F32)


def op_class(name: str) -> type[Op]:
    dialect = find_dialect(name.partition(".")[0])
    assert dialect is not None
    return dialect.ops[name.partition(".")[2]]


@pytest.mark.parametrize(
    ("operation", "name", "value", "text"),
    [
        ("stablehlo.iota", "iota_dimension", 1, "1 : i64"),
        ("stablehlo.transpose", "permutation", [1, 0], "array<i64: 1, 0>"),
        ("stablehlo.transpose", "note", [1, 0], "[1, 0]"),
        ("stablehlo.transpose", "note", 1.5, "1.500000e+00 : f64"),
        ("stablehlo.convolution", "window_reversal", [True, False], "array<i1: true, false>"),
        ("stablehlo.compare", "comparison_direction", "LT", "#stablehlo<comparison_direction LT>"),
        (
            "stablehlo.dot_general",
            "precision_config",
            ["HIGH", "DEFAULT"],
            "[#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]",
        ),
        (
            "stablehlo.dot_general",
            "dot_dimension_numbers",
            {"lhs_contracting_dimensions": [1], "rhs_contracting_dimensions": (0,)},
            "#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>",
        ),
        ("stablehlo.custom_call", "has_side_effect", True, "true"),
        ("stablehlo.custom_call", "call_target_name", "f", '"f"'),
        ("func.call", "callee", "f", "@f"),
        ("mesh.shift", "offset", -2, "-2 : i64"),
        ("mesh.shift", "rotate", True, "unit"),
        ("arith.constant", "value", 3, "3 : i64"),
    ],
)
def test_a_value_becomes_the_attribute_that_the_field_takes(
    operation: str, name: str, value: object, text: str
) -> None:
    assert AttributePrinter().attribute(attribute_for(op_class(operation), name, value)) == text


@pytest.mark.parametrize(
    ("operation", "name", "value", "message"),
    [
        ("stablehlo.iota", "iota_dimension", "x", "stablehlo.iota takes no 'x' as 'iota_dimension': 64-bit"),
        ("stablehlo.iota", "iota_dimension", -1, "takes no -1 as .* whose value is non-negative"),
        ("stablehlo.compare", "comparison_direction", "LQ", "takes no 'LQ' as"),
        (
            "stablehlo.dot_general",
            "dot_dimension_numbers",
            {"lhs_contracting": [1]},
            "no field 'lhs_contracting'; did you mean 'lhs_contracting_dimensions'",
        ),
    ],
)
def test_other_values_are_errors(operation: str, name: str, value: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        attribute_for(op_class(operation), name, value)


def test_no_attribute_has_the_value_of_an_object() -> None:
    with pytest.raises(TypeError, match="no attribute has the value"):
        attribute_of(object())


def block_of(*types: Type) -> Block:
    block = Region().add_block()
    for type in types:
        block.add_argument(type, UNKNOWN)
    return block


def build(block: Block, cls: type[Op], **fields: Any) -> Op:
    return Rewriter().build(cls, at_end_of=block, **fields)


def test_operations_are_built_from_their_fields() -> None:
    block = block_of(MATRIX, MATRIX, I1)
    x, y, scalar = block.arguments
    dot = Rewriter().build(
        DotGeneralOp,
        at_end_of=block,
        lhs=x,
        rhs=y,
        out=MATRIX,
        dot_dimension_numbers={"lhs_contracting_dimensions": [1], "rhs_contracting_dimensions": [0]},
    )
    assert dot.dot_dimension_numbers.lhs_contracting_dimensions == (1,)
    added = build(block, AddOp, lhs=dot.out, rhs=x)
    assert added.result_types == (MATRIX,)
    transposed = build(block, TransposeOp, operand=x, permutation=[1, 0])
    assert transposed.result_types == (MATRIX,)
    loop = Rewriter().build(WhileOp, at_end_of=block, values=[x], out=[MATRIX], cond=[MATRIX], body=[MATRIX])
    assert [argument.type for argument in loop.body.blocks[0].arguments] == [MATRIX]
    other = block_of(MATRIX)
    branch = Rewriter().build(
        ConditionalBranchOp,
        at_end_of=block,
        condition=scalar,
        true_dest_operands=[x],
        true_dest=other,
        false_dest=other,
        false_dest_operands=[y],
    )
    assert branch.successors == [other, other] and other.uses == 2
    assert branch.true_dest is other
    assert str(branch.signature.attributes["operandSegmentSizes"])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"lhs": None}, "stablehlo.add needs its field 'lhs'"),
        ({"right": None}, r"stablehlo.add has no field 'right'; choose from lhs, rhs, out"),
    ],
)
def test_wrong_fields_are_errors(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build(block_of(MATRIX), AddOp, **fields)


def test_result_types_that_cannot_be_inferred_are_given() -> None:
    with pytest.raises(ValueError, match="are not inferred: give"):
        build(block_of(), IotaOp, iota_dimension=0)
