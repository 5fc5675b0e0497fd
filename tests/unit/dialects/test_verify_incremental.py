"""After each of these edits, incremental verification reports the errors that full verification reports."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sdyopt.base.diagnostics import Diagnostic, Source, handling
from sdyopt.mlir.asm.parser.module_parser import parse_module
from sdyopt.mlir.asm.printer.asm_printer import print_for_note
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.ir.attribute import TypeAttr, string
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.edit_log import EditLog, recording
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import F32, FunctionType, RankedTensor
from sdyopt.mlir.ir.verify import Verifier
from sdyopt.mlir.ir.verify_incremental import IncrementalVerifier
from sdyopt.mlir.registry import find_dialect

PROGRAM = """
sdy.mesh @mesh = <["a"=2, "b"=2]>

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.add %x, %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}]>]>} : tensor<8xf32>
  %1 = stablehlo.negate %0 : tensor<8xf32>
  %2 = sdy.all_gather [{"b"}] %0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %3 = call @callee(%2) : (tensor<8xf32>) -> tensor<8xf32>
  %4 = sdy.manual_computation(%3) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a"}]>]
      manual_axes={"a"} (%arg: tensor<4xf32>) {
    %c = stablehlo.cosine %arg {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}]>]>} : tensor<4xf32>
    sdy.return %c : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %5:2 = stablehlo.while(%n = %1, %m = %4) : tensor<8xf32>, tensor<8xf32>
      attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{"b"}]>]>} cond {
    %true = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %true : tensor<i1>
  } do {
    %w = sdy.all_gather [{"b"}] %m out_sharding=<@mesh, [{}]> : tensor<8xf32>
    stablehlo.return %n, %w : tensor<8xf32>, tensor<8xf32>
  }
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %6 = stablehlo.reduce(%5#0 init: %zero) applies stablehlo.maximum across dimensions = [0]
      : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  return %5#0 : tensor<8xf32>
}

func.func private @callee(%y: tensor<8xf32>) -> tensor<8xf32> {
  return %y : tensor<8xf32>
}
"""
VECTOR = RankedTensor((8,), F32, None)


class Program:
    """The program above, its operations by name, and a verifier."""

    def __init__(self) -> None:
        dialects = DialectTable(find_dialect)
        self.module, _ = parse_module(Source("program", PROGRAM), dialects)
        self.verifier = Verifier(dialects, AttributePrinter().type, print_for_note)
        assert self.verifier.verify(self.module)

    def op(self, name: str, number: int = 0) -> Op:
        return [op for op in self.module.walk() if op.signature.name == name][number]

    def function(self, number: int = 0) -> FuncOp:
        function = self.op("func.func", number)
        assert isinstance(function, FuncOp)
        return function


def move_after_a_user(program: Program, edit: Rewriter) -> None:
    edit.move(program.op("stablehlo.add"), after=program.op("stablehlo.negate"))


def move_a_user_to_the_front(program: Program, edit: Rewriter) -> None:
    edit.move(program.op("stablehlo.while"), at_start_of=program.function().entry)


def use_a_later_value(program: Program, edit: Rewriter) -> None:
    edit.set_operand(
        program.op("stablehlo.negate").operand_uses[0], program.op("sdy.manual_computation").results[0]
    )


def use_an_outer_value_in_an_isolated_body(program: Program, edit: Rewriter) -> None:
    edit.set_operand(
        program.op("stablehlo.cosine").operand_uses[0], program.op("sdy.manual_computation").operand_at(0)
    )


def erase_a_terminator(program: Program, edit: Rewriter) -> None:
    edit.erase(program.op("func.return"))


def insert_after_the_terminator(program: Program, edit: Rewriter) -> None:
    edit.insert(edit.clone(program.op("stablehlo.negate")), after=program.op("func.return"))


def clear_a_body(program: Program, edit: Rewriter) -> None:
    edit.erase_block(program.op("sdy.manual_computation").regions[0].blocks[0])


def shard_by_an_unknown_mesh(program: Program, edit: Rewriter) -> None:
    sharding = program.op("stablehlo.add").attributes["sdy.sharding"]
    edit.set_attribute(program.op("sdy.mesh"), "sym_name", string("other"))
    edit.set_attribute(program.op("stablehlo.negate"), "sdy.sharding", sharding)


def rename_the_mesh(program: Program, edit: Rewriter) -> None:
    edit.set_attribute(program.op("sdy.mesh"), "sym_name", string("other"))


def erase_the_mesh(program: Program, edit: Rewriter) -> None:
    edit.erase(program.op("sdy.mesh"))


def remove_the_sharding_that_a_user_verifies(program: Program, edit: Rewriter) -> None:
    edit.remove_attribute(program.op("stablehlo.add"), "sdy.sharding")


def remove_the_sharding_that_a_nested_op_verifies(program: Program, edit: Rewriter) -> None:
    edit.remove_attribute(program.op("stablehlo.while"), "sdy.sharding")


def shard_a_scalar_inside_a_loop(program: Program, edit: Rewriter) -> None:
    sharding = program.op("stablehlo.add").attributes["sdy.sharding"]
    edit.set_attribute(program.op("stablehlo.constant"), "sdy.sharding", sharding)


def shard_one_of_two_results_of_a_loop(program: Program, edit: Rewriter) -> None:
    sharding = program.op("stablehlo.add").attributes["sdy.sharding"]
    edit.set_attribute(program.op("stablehlo.while"), "sdy.sharding", sharding)


def make_an_axis_manual_that_the_body_uses(program: Program, edit: Rewriter) -> None:
    other = program.op("sdy.manual_computation")
    text = PROGRAM.replace('manual_axes={"a"}', 'manual_axes={"a", "b"}')
    source, _ = parse_module(Source("other", text), DialectTable(find_dialect))
    axes = next(op for op in source.walk() if op.signature.name == other.signature.name).attribute(
        "manual_axes"
    )
    assert axes is not None
    edit.set_attribute(other, "manual_axes", axes)


def change_a_function_type(program: Program, edit: Rewriter) -> None:
    edit.set_attribute(program.function(1), "function_type", TypeAttr(FunctionType((VECTOR,), (F32,))))


def erase_a_callee(program: Program, edit: Rewriter) -> None:
    edit.erase(program.function(1))


def give_a_function_a_used_name(program: Program, edit: Rewriter) -> None:
    edit.set_attribute(program.function(1), "sym_name", string("main"))


def shard_an_argument_of_another_rank(program: Program, edit: Rewriter) -> None:
    sharding = program.op("sdy.manual_computation").attribute("in_shardings")
    assert sharding is not None
    edit.set_argument_attribute(program.function(), 0, "sdy.sharding", sharding)


def add_an_argument_missing_in_the_type(program: Program, edit: Rewriter) -> None:
    edit.add_argument(program.function(1).entry, VECTOR)


def change_the_type_of_a_function_argument(program: Program, edit: Rewriter) -> None:
    edit.retype_argument(program.function(1).entry.arguments[0], RankedTensor((), F32, None))


def change_the_type_of_a_body_argument(program: Program, edit: Rewriter) -> None:
    edit.retype_argument(program.op("stablehlo.reduce").regions[0].blocks[0].arguments[0], VECTOR)


def change_the_type_of_a_reduction(program: Program, edit: Rewriter) -> None:
    edit.retype(program.op("stablehlo.reduce"), [VECTOR])


EDITS: list[Callable[[Program, Rewriter], None]] = [
    move_after_a_user,
    move_a_user_to_the_front,
    use_a_later_value,
    use_an_outer_value_in_an_isolated_body,
    erase_a_terminator,
    insert_after_the_terminator,
    clear_a_body,
    shard_by_an_unknown_mesh,
    rename_the_mesh,
    erase_the_mesh,
    remove_the_sharding_that_a_user_verifies,
    remove_the_sharding_that_a_nested_op_verifies,
    shard_a_scalar_inside_a_loop,
    shard_one_of_two_results_of_a_loop,
    make_an_axis_manual_that_the_body_uses,
    change_a_function_type,
    erase_a_callee,
    give_a_function_a_used_name,
    shard_an_argument_of_another_rank,
    add_an_argument_missing_in_the_type,
    change_the_type_of_a_function_argument,
    change_the_type_of_a_body_argument,
    change_the_type_of_a_reduction,
]


def messages(verify: Callable[[], bool]) -> list[str]:
    """The messages of a verification; none if and only if the program is valid."""
    emitted: list[Diagnostic] = []
    with handling(emitted.append):
        is_valid = verify()
    assert is_valid == (not emitted)
    return [each.message for each in emitted]


def make_valid_edits(program: Program, edit: Rewriter) -> None:
    """Also replaces the operations that other edits may invalidate with copies."""
    for name, number in (("sdy.manual_computation", 0), ("func.call", 0), ("sdy.all_gather", 1)):
        op = program.op(name, number)
        copy = edit.clone(op)
        edit.insert(copy, before=op)
        edit.replace(op, copy)
    edit.move(program.op("stablehlo.negate"), after=program.op("sdy.all_gather"))
    edit.move(program.function(1), at_end_of=program.function().parent)
    edit.set_attribute(program.op("stablehlo.cosine"), "label", string("edited"))


@pytest.mark.parametrize("is_first", [True, False], ids=["first", "after valid edits"])
@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_an_invalid_edit_gives_the_errors_of_full_verification(
    edit: Callable[[Program, Rewriter], None], is_first: bool
) -> None:
    program = Program()
    root, verify = program.module, IncrementalVerifier(program.verifier)
    if not is_first:
        assert messages(lambda: verify.verify_edits(root, EditLog())) == []
        with recording() as valid_edits:
            make_valid_edits(program, Rewriter())
        assert messages(lambda: verify.verify_edits(root, valid_edits)) == []
    with recording() as edits:
        edit(program, Rewriter())
    errors = messages(lambda: verify.verify_edits(root, edits))
    assert errors and errors == messages(lambda: program.verifier.verify(root))


def test_a_valid_edit_gives_no_error() -> None:
    program = Program()
    with recording() as edits:
        make_valid_edits(program, Rewriter())
    assert messages(lambda: IncrementalVerifier(program.verifier).verify_edits(program.module, edits)) == []


def test_an_edit_in_a_function_invalidates_a_call_in_another_one() -> None:
    program = Program()
    verify = IncrementalVerifier(program.verifier)
    call = program.op("func.call")
    with recording() as edits:
        copy = Rewriter().clone(call)
        Rewriter().insert(copy, before=call)
        Rewriter().replace(call, copy)
    # Nested pass pipelines verify one function at a time, and then what the module requires of it.
    assert messages(lambda: verify.verify_edits(program.function(), edits)) == []
    with recording() as edits:
        change_a_function_type(program, Rewriter())
        Rewriter().erase_block(program.function(1).entry)
    assert messages(lambda: verify.verify_edits(program.function(1), edits)) == []
    assert messages(lambda: verify.verify_regions(program.module)) == [
        "'func.call' op result type mismatch at index 0"
    ]


def test_an_attribute_that_an_operation_had_before_is_not_verified_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program, checked = Program(), []
    sdy = find_dialect("sdy")
    assert sdy is not None
    monkeypatch.setattr(sdy, "verify_op_attribute", lambda op, name, attribute: checked.append(name))
    with recording() as edits:
        Rewriter().set_attribute(program.op("stablehlo.add"), "sdy.other", string("new"))
    assert IncrementalVerifier(program.verifier).verify_edits(program.module, edits)
    assert checked == ["sdy.other"]
