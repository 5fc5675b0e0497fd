"""The verifier leaves out what it has seen and nobody has edited; it must not leave out more."""

from __future__ import annotations

import pytest

from sdyopt.diagnostics.diagnostic import Diagnostic, handling
from sdyopt.diagnostics.source import Source
from sdyopt.dialects.stablehlo.reduction import ReduceOp
from sdyopt.dialects.stablehlo.unary import NegOp
from sdyopt.ir.dialect import DialectTable
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.types import F32, tensor
from sdyopt.ir.verify import Verifier
from sdyopt.registry import find_dialect
from sdyopt.syntax.parse import parse_module
from sdyopt.syntax.spell import Speller

PROGRAM = """
func.func @main(%x: tensor<8xf32>, %zero: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.negate %x : tensor<8xf32>
  %1 = stablehlo.negate %0 : tensor<8xf32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  return %2 : tensor<f32>
}
"""


class Checked:
    """A module that has been verified, and what errors come when it is verified again."""

    def __init__(self) -> None:
        dialects = DialectTable(find_dialect)
        self.module, _ = parse_module(Source("test.mlir", PROGRAM), dialects)
        self._verifier = Verifier(dialects, Speller().type, lambda op: op.form.name)
        assert self.errors() == []
        assert self.errors() == []

    def errors(self) -> list[str]:
        found: list[Diagnostic] = []
        with handling(found.append):
            is_valid = self._verifier.verify(self.module)
        assert is_valid is not bool(found)
        return [diagnostic.message for diagnostic in found]

    def all_of(self, op_class: type[Op]) -> list[Op]:
        return [op for op in self.module.walk() if isinstance(op, op_class)]


@pytest.fixture
def checked() -> Checked:
    return Checked()


def test_definition_moved_behind_its_use(checked: Checked) -> None:
    first, second = checked.all_of(NegOp)
    Rewriter().move(first, after=second)
    assert checked.errors() == ["operand #0 does not dominate this use"]
    Rewriter().move(first, before=second)
    assert checked.errors() == []


def test_operand_defined_later(checked: Checked) -> None:
    first, second = checked.all_of(NegOp)
    Rewriter().set_operand(first.operand_uses[0], second.result)
    assert checked.errors() == ["operand #0 does not dominate this use"]


def test_list_of_operands_defined_later(checked: Checked) -> None:
    first, second = checked.all_of(NegOp)
    Rewriter().set_operands(first, [second.result])
    assert checked.errors() == ["operand #0 does not dominate this use"]


def test_type_changed_in_a_body(checked: Checked) -> None:
    (reduce,) = checked.all_of(ReduceOp)
    add = next(op for op in reduce.regions[0].blocks[0].ops)
    Rewriter().set_type(add.result, tensor((2,), F32))
    assert len(checked.errors()) == 1


def test_operation_added_to_a_body(checked: Checked) -> None:
    (reduce,) = checked.all_of(ReduceOp)
    body = reduce.regions[0].blocks[0]
    value = body.arguments[0]
    Rewriter().create(NegOp, [value], [tensor((2,), F32)], at_start_of=body)
    assert len(checked.errors()) == 1


def test_terminator_of_a_body_removed(checked: Checked) -> None:
    (reduce,) = checked.all_of(ReduceOp)
    last = reduce.regions[0].blocks[0].last
    assert last is not None
    Rewriter().erase(last)
    assert len(checked.errors()) == 1


def test_form_around_a_body_changed(checked: Checked) -> None:
    (reduce,) = checked.all_of(ReduceOp)
    Rewriter().set_type(reduce.results[0], tensor((2,), F32))
    assert checked.errors()
