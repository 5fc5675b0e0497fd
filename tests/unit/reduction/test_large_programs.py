"""Programs of more than 300 operations with a problem are reduced to at most 12 operations.

The test takes one of the problems; `python -m tests.unit.reduction.test_large_programs` takes all.
"""

from __future__ import annotations

from collections.abc import Callable

import sdyopt
from sdyopt.analysis.execution.reduction.analysis import Reducer, operation_count
from sdyopt.analysis.interface import Program
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.module_parser import ParseOptions
from sdyopt.mlir.asm.printer.asm_printer import print_for_note, print_op
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.ir.verify import Verifier
from sdyopt.mlir.pipeline import Pipeline
from sdyopt.mlir.registry import dialect_table

MOST = 12

MESH = 'sdy.mesh @mesh = <["data"=4, "model"=2]>\n'
SHARDED = '{sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}'
WEIGHT = '{sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}'

# What a layer computes from %h, in 16 operations; it ends with %out.
LAYER = """
  %0 = stablehlo.dot %h, %w : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
  %1 = stablehlo.tanh %0 : tensor<32x64xf32>
  %2 = stablehlo.multiply %1, %h : tensor<32x64xf32>
  %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<32x64xf32>) -> tensor<64x32xf32>
  %4 = stablehlo.exponential %3 : tensor<64x32xf32>
  %5 = stablehlo.transpose %4, dims = [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32>
  %6 = stablehlo.add %5, %0 : tensor<32x64xf32>
  %7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %8 = stablehlo.reduce(%6 init: %7) applies stablehlo.add across dimensions = [1]
      : (tensor<32x64xf32>, tensor<f32>) -> tensor<32xf32>
  %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<32xf32>) -> tensor<32x64xf32>
  %10 = stablehlo.subtract %6, %9 : tensor<32x64xf32>
  %11 = stablehlo.reshape %10 : (tensor<32x64xf32>) -> tensor<32x8x8xf32>
  %12 = stablehlo.logistic %11 : tensor<32x8x8xf32>
  %13 = stablehlo.reshape %12 : (tensor<32x8x8xf32>) -> tensor<32x64xf32>
  %out = stablehlo.add %13, %h : tensor<32x64xf32>
"""

# The problem of a program: what takes the place of the last statement of one layer.
SORT = """
  %14 = "stablehlo.sort"(%13) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %15 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %15 : tensor<i1>
  }) : (tensor<32x64xf32>) -> tensor<32x64xf32>
  %out = stablehlo.add %14, %h : tensor<32x64xf32>
"""
REVERSE = """
  %14 = stablehlo.reverse %13, dims = [0] : tensor<32x64xf32>
  %out = stablehlo.add %14, %h : tensor<32x64xf32>
"""
GATHERED = """
  %14 = sdy.sharding_constraint %13 <@mesh, [{}, {"data"}]> : tensor<32x64xf32>
  %out = stablehlo.add %14, %h : tensor<32x64xf32>
"""
MANUAL = """
  %14 = sdy.manual_computation(%13) in_shardings=[<@mesh, [{"data"}, {}]>] out_shardings=[<@mesh, [{}, {}]>]
      manual_axes={"data"} (%s: tensor<8x64xf32>) {
    %15 = stablehlo.constant dense<0.000000e+00> : tensor<32x64xf32>
    %16 = stablehlo.constant dense<0> : tensor<i32>
    %17 = stablehlo.dynamic_update_slice %15, %s, %16, %16
        : (tensor<32x64xf32>, tensor<8x64xf32>, tensor<i32>, tensor<i32>) -> tensor<32x64xf32>
    sdy.return %17 : tensor<32x64xf32>
  } : (tensor<32x64xf32>) -> tensor<32x64xf32>
  %out = stablehlo.add %14, %h : tensor<32x64xf32>
"""
LOOP = """
  %14 = stablehlo.constant dense<0> : tensor<i32>
  %15 = stablehlo.constant dense<5> : tensor<i32>
  %16:2 = stablehlo.while(%i = %14, %x = %13) : tensor<i32>, tensor<32x64xf32>
  cond {
    %17 = stablehlo.compare LT, %i, %15 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %17 : tensor<i1>
  } do {
    %18 = stablehlo.constant dense<1> : tensor<i32>
    %19 = stablehlo.add %i, %18 : tensor<i32>
    %20 = stablehlo.dot %x, %w : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
    stablehlo.return %19, %20 : tensor<i32>, tensor<32x64xf32>
  }
  %out = stablehlo.add %16#1, %h : tensor<32x64xf32>
"""


def program(problem: str, layers: int = 20) -> str:
    """A program of calls of calls of layers, one of which has the problem."""
    functions, type = [], "tensor<32x64xf32>"
    for index in range(layers):
        body = LAYER
        if index == 2 * layers // 3:
            body = f"{body[: body.index('  %out')]}{problem.lstrip()}"
        arguments = f"%h: {type} {SHARDED}, %w: tensor<64x64xf32> {WEIGHT}"
        functions.append(
            f"func.func private @layer{index}({arguments}) -> {type} {{{body}  return %out : {type}\n}}\n"
        )
    for block in range(layers // 4):
        lines, last = [], "%h"
        for index in range(4 * block, 4 * block + 4):
            lines.append(
                f"  %{index} = call @layer{index}({last}, %w) : ({type}, tensor<64x64xf32>) -> {type}"
            )
            last = f"%{index}"
        functions.append(
            f"func.func private @block{block}(%h: {type}, %w: tensor<64x64xf32>) -> {type} {{\n"
            + "\n".join(lines)
            + f"\n  return {last} : {type}\n}}\n"
        )
    calls = [
        f"  %{block + 1} = call @block{block}(%{block or 'h'}, %w) : ({type}, tensor<64x64xf32>) -> {type}\n"
        for block in range(layers // 4)
    ]
    main = f"func.func @main(%h: {type} {SHARDED}, %w: tensor<64x64xf32> {WEIGHT}) -> {type} {{\n"
    return MESH + "".join(functions) + main + "".join(calls) + f"  return %{layers // 4} : {type}\n}}\n"


def collectives(text: str) -> str:
    """The program with collectives; empty if a pass fails."""
    try:
        module = sdyopt.parse(text)
        return str(module.run("sdy-propagation-pipeline", enable_insert_explicit_collectives=True))
    except sdyopt.Error:
        return ""


def error_of_conversion(text: str) -> str:
    """The error of the conversion to local types without the passes that prepare it."""
    try:
        sdyopt.parse(collectives(text)).run("sdy-convert-global-to-local")
    except sdyopt.Error as error:
        return f"{error.diagnostics[0].operation}: {error.message}"
    return ""


def repeated_bytes(text: str) -> int:
    """What collectives in loops send."""
    report = sdyopt.parse(collectives(text) or MESH).report()
    return sum(each.wire_bytes or 0 for each in report.collectives if each.times != (1, 1))


# Name -> the statements with the problem, and whether a program has it.
PROBLEMS: dict[str, tuple[str, Callable[[str], bool]]] = {
    "a sort along a sharded dimension": (
        SORT,
        lambda text: "stablehlo.sort" in text and "all_gather" in collectives(text),
    ),
    "a failing pass": (REVERSE, lambda text: "reverse" in error_of_conversion(text)),
    "a moved axis": (GATHERED, lambda text: "sdy.all_to_all" in collectives(text)),
    "a manual computation": (
        MANUAL,
        lambda text: "manual_axes" in text and "dynamic_update_slice" in collectives(text),
    ),
    "a collective in a loop": (LOOP, lambda text: repeated_bytes(text) > 0),
}


def test_a_large_program_becomes_small() -> None:
    problem, has_problem = PROBLEMS["a manual computation"]
    reducer = reduced(program(problem), has_problem)
    assert operation_count(reducer.best) <= MOST, print_op(reducer.best)


def reduced(text: str, has_problem: Callable[[str], bool]) -> Reducer:
    """The reduction of a program of at least 300 operations."""
    module = sdyopt.parse(text)
    assert isinstance(module.ir, ModuleOp)
    assert operation_count(module.ir) >= 300
    assert has_problem(text)
    dialects = dialect_table()
    verifier = Verifier(dialects, AttributePrinter().type, print_for_note)
    subject = Program(
        module.ir,
        Source("", text),
        dialects,
        ParseOptions(),
        lambda: text,
        verifier,
        Pipeline(),
    )
    reducer = Reducer(module.ir, subject, verifier, has_problem)
    reducer.run()
    return reducer


if __name__ == "__main__":
    for name, (problem, has_problem) in PROBLEMS.items():
        reducer = reduced(program(problem), has_problem)
        print(f"{name}: {operation_count(reducer.best)} operations, {reducer.tests} tests")
