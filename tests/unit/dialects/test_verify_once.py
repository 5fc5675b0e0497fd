"""A pipeline is verified once, and reports the errors of the first pass that leaves an invalid program."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import pytest

from sdyopt.base.diagnostics import Diagnostic, Severity, Source, emit, handling
from sdyopt.mlir.asm.parser.module_parser import parse_module
from sdyopt.mlir.asm.printer.asm_printer import print_for_note
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.ir.attribute import TypeAttr, string
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import F32, FunctionType, RankedTensor
from sdyopt.mlir.ir.verify import Verifier
from sdyopt.mlir.pipeline import Pass, Pipeline, parse_pipeline, run, run_pipeline
from sdyopt.mlir.pipeline.run import is_own_pass, run_and_verify
from sdyopt.mlir.registry import find_dialect, lookup

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

    def __init__(self, module: Op | None = None) -> None:
        dialects = DialectTable(find_dialect)
        self.module = module or parse_module(Source("program", PROGRAM), dialects)[0]
        self.verifier = Verifier(dialects, AttributePrinter().type, print_for_note)

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


class Edits(Pass):
    """Makes an edit, after a warning."""

    step: ClassVar[Callable[[Program, Rewriter], None]]

    def run(self, op: Op) -> bool:
        emit(Diagnostic(Severity.WARNING, op.location, f"{self.flag} runs"))
        type(self).step(Program(op), Rewriter())
        return True


def pipeline_of(*steps: Callable[[Program, Rewriter], None]) -> Pipeline:
    classes = [type("Edits", (Edits,), {"flag": step.__name__, "step": staticmethod(step)}) for step in steps]
    return Pipeline(elements=[cls() for cls in classes])


def crash(program: Program, edit: Rewriter) -> None:
    raise AssertionError("a pass relies on valid programs")


def replace_with_copies(program: Program, edit: Rewriter) -> None:
    for name in ("sdy.manual_computation", "func.call"):
        op = program.op(name)
        copy = edit.clone(op)
        edit.insert(copy, before=op)
        edit.replace(op, copy)


def outcome(run: Callable[[Op, Verifier, list[Diagnostic]], bool]) -> tuple[bool, list[str]]:
    """Whether a run succeeds, and its diagnostics."""
    program, emitted = Program(), list[Diagnostic]()
    with handling(emitted.append):
        assert program.verifier.verify(program.module)
        succeeded = run(program.module, program.verifier, emitted)
    return succeeded, [f"{each.severity}: {each.message} ({each.id})" for each in emitted]


def verified_once(pipeline: Pipeline) -> tuple[bool, list[str]]:
    def run(module: Op, verifier: Verifier, emitted: list[Diagnostic]) -> bool:
        def restart() -> Op:
            emitted.clear()
            return Program().module

        return run_and_verify(pipeline, module, verifier, restart)

    return outcome(run)


def verified_each(pipeline: Pipeline) -> tuple[bool, list[str]]:
    return outcome(lambda module, verifier, _: run_pipeline(pipeline, module, verifier))


@pytest.fixture(autouse=True)
def own_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "is_own_pass", lambda pass_: True)


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_errors_are_those_of_the_first_pass_that_leaves_an_invalid_program(
    edit: Callable[[Program, Rewriter], None],
) -> None:
    pipeline = pipeline_of(replace_with_copies, edit, crash)
    succeeded, diagnostics = verified_once(pipeline)
    assert not succeeded
    assert diagnostics[:2] == [
        "warning: replace_with_copies runs (pass/replace_with_copies)",
        f"warning: {edit.__name__} runs (pass/{edit.__name__})",
    ]
    assert len(diagnostics) > 2 and all("(verify-error" in each for each in diagnostics[2:])
    assert (succeeded, diagnostics) == verified_each(pipeline)
    assert (succeeded, diagnostics) == verified_once(pipeline_of(replace_with_copies, edit))


def test_a_valid_program_is_verified_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline, verified = pipeline_of(replace_with_copies, replace_with_copies), list[Op]()
    is_valid = Verifier.is_valid

    def watched(self: Verifier, op: Op) -> bool:
        verified.append(op)
        return is_valid(self, op)

    monkeypatch.setattr(Verifier, "is_valid", watched)
    warning = "warning: replace_with_copies runs (pass/replace_with_copies)"
    assert verified_once(pipeline) == (True, [warning, warning])
    assert len(verified) == 1


def test_an_exception_in_a_valid_program_is_raised() -> None:
    with pytest.raises(AssertionError, match="relies on valid programs"):
        verified_once(pipeline_of(replace_with_copies, crash))


def test_passes_of_plugins_are_verified_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "is_own_pass", is_own_pass)
    monkeypatch.setattr(Verifier, "is_valid", None)
    assert verified_once(pipeline_of(replace_with_copies))[0]


LOOP_WITH_CALL = """
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<8xf32> cond {
    %less = stablehlo.compare LT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  } do {
    %z = func.call @callee(%y) : (tensor<8xf32>) -> tensor<8xf32>
    %w = func.call @callee(%z) : (tensor<8xf32>) -> tensor<8xf32>
    stablehlo.return %i, %w : tensor<i32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
}
func.func private @callee(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.abs %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""


@pytest.mark.parametrize(
    "pipeline",
    [
        "sdy-propagation-pipeline",
        "sdy-propagation-pipeline{enable-insert-explicit-collectives=true}",
        "sdy-partition-pipeline",
        "sdy-jax-pipeline",
    ],
)
def test_the_pipelines_expect_no_invalid_program(pipeline: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Rewriter, "expect_invalid", None)
    module, _ = parse_module(Source("loop", LOOP_WITH_CALL), DialectTable(find_dialect))
    assert run_pipeline(parse_pipeline(f"builtin.module({pipeline})", lookup), module)
