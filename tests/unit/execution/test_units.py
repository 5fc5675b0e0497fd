"""Units: the operations that bisection cuts out of a program."""

from __future__ import annotations

import sdyopt
from sdyopt.analysis.execution.analysis import steps_of
from sdyopt.analysis.execution.bisection_units import program_of_units, units_of
from sdyopt.mlir.asm.printer.asm_printer import print_op
from sdyopt.mlir.dialects.builtin import ModuleOp

MESH = 'sdy.mesh @mesh = <["x"=2, "y"=2]>\nsdy.mesh @other = <["z"=3]>\n'
X, Y = (f'sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{"{axis}"}}]>]>' for axis in "xy")


def parsed(text: str) -> ModuleOp:
    return sdyopt.parse(MESH + text).clone().ir


CHAIN = f"""
func.func @main(%a: tensor<7xf32>) -> tensor<7xf32> {{
  %0 = stablehlo.sine %a : tensor<7xf32>
  %1 = stablehlo.cosine %0 {{{X}}} : tensor<7xf32>
  %2 = stablehlo.negate %1 {{{Y}}} : tensor<7xf32>
  %3 = stablehlo.cosine %0 {{{X}}} : tensor<7xf32>
  return %2 : tensor<7xf32>
}}"""


def test_sharded_operations_are_units_and_equal_ones_are_one() -> None:
    assert [unit.root.name for unit in units_of(parsed(CHAIN))] == ["stablehlo.cosine", "stablehlo.negate"]


def test_a_program_of_units_has_arguments_and_results_for_each() -> None:
    module = parsed(CHAIN)
    units = units_of(module)
    combined = program_of_units(module, units)
    text = print_op(combined.module)
    # Uneven shards are no inputs and outputs of functions, so such values are resharded inside.
    assert str(sdyopt.parse(text)) == text
    assert text.count("sdy.reshard") == 3
    assert "%arg0: tensor<7xf32>, %arg1: tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}" in text
    assert "@other" not in text
    assert list(combined.units) == units


def test_an_operation_with_partial_results_is_cut_out_with_their_reduction() -> None:
    [unit] = units_of(
        parsed("""
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.dot %a, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}""")
    )
    assert [op.name for op in unit.ops] == ["stablehlo.dot", "sdy.all_reduce"]


def test_producers_are_taken_along_up_to_a_depth() -> None:
    negate = units_of(parsed(CHAIN))[1]
    names = [[op.name for op in negate.with_producers(depth).ops] for depth in (0, 1, 2)]
    chain = ["stablehlo.sine", "stablehlo.cosine", "stablehlo.negate"]
    assert names == [chain[2:], chain[1:], chain]


def test_the_steps_of_a_pipeline_have_the_options_that_are_not_defaults() -> None:
    pipeline = sdyopt.create_pass("sdy-insert-explicit-reshards", enable_full_version=True).ir
    [step] = steps_of(pipeline)
    assert step.flag == "sdy-insert-explicit-reshards"
    assert step.text == "builtin.module(func.func(sdy-insert-explicit-reshards{enable-full-version=true}))"
    [step] = steps_of(sdyopt.create_pass("sdy-convert-global-to-local").ir)
    assert step.text == "builtin.module(sdy-convert-global-to-local)"
