"""The programs that are sent to XLA: on whole tensors, local, and promoted to f64."""

from __future__ import annotations

import pytest

import sdyopt
from sdyopt.analysis.execution.global_program import (
    entry_names,
    has_manual_computation,
    is_local,
    local_text,
    make_global,
    program_of,
)
from sdyopt.analysis.execution.process import NotValidated
from sdyopt.analysis.execution.promotion import promote, reason_not_to_promote
from sdyopt.mlir.asm.printer.asm_printer import print_op
from sdyopt.mlir.dialects.builtin import ModuleOp

MESH = 'sdy.mesh @mesh = <["x"=2]>\n'
ROWS = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}'


def parsed(text: str) -> ModuleOp:
    return sdyopt.parse(MESH + text).clone().ir


def test_on_whole_tensors_nothing_is_sharded_and_an_all_gather_is_the_identity() -> None:
    module = parsed(f"""
func.func @main(%a: tensor<8xf32> {ROWS}) -> tensor<8xf32> {{
  %0 = sdy.constant dense<1.0> : tensor<8xf32>
  %1 = stablehlo.add %a, %0 {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{"x"}}]>]>}} : tensor<8xf32>
  %2 = sdy.all_gather [{{"x"}}] %1 out_sharding=<@mesh, [{{}}]> : tensor<8xf32>
  return %2 : tensor<8xf32>
}}""")
    make_global(module)
    text = print_op(module)
    assert "sdy" not in text
    assert "return %0 : tensor<8xf32>" in text


def test_a_manual_computation_without_manual_axes_is_on_whole_tensors() -> None:
    module = parsed("""
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{}]>] manual_axes={} (%b: tensor<8xf32>) {
    %1 = stablehlo.negate %b : tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}""")  # noqa: E501
    assert not has_manual_computation(module)
    make_global(module)
    assert "func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {\n    %0 = stablehlo.negate" in print_op(
        module
    )


def test_an_all_reduce_of_copies_has_no_meaning_on_whole_tensors() -> None:
    module = parsed("""
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> tensor<8xf32> {
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}""")
    with pytest.raises(NotValidated, match="adds copies of a value"):
        make_global(module)


LOCAL = """
func.func @main(%a: tensor<4xf32>) -> tensor<8xf32> {
  %0 = stablehlo.partition_id : tensor<ui32>
  %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}"""  # noqa: E501


def test_replicas_stand_for_partitions() -> None:
    module, entry = program_of(parsed(LOCAL), "main")
    assert is_local(module)
    text = local_text(module, entry, 2, "replicas")
    assert '"stablehlo.replica_id"()' in text
    assert not any(
        word in text for word in ("partition_id", "channel_handle", "use_global_device_ids", "sdy")
    )


def test_in_manual_mode_the_program_is_called_unchanged_on_each_device() -> None:
    text = f"module attributes {{my.attribute = {{a = 1}}}} {{\n{MESH}{LOCAL}\n}}"
    module, entry = program_of(sdyopt.parse(text).clone().ir, "main")
    text = local_text(module, entry, 2, "manual")
    assert "stablehlo.partition_id" in text and "channel_handle" in text
    # It is valid, and the devices are the leading dimension of what it takes and returns.
    functions = sdyopt.parse(text).functions
    assert list(functions) == ["local", "main"]
    main = functions["main"]
    assert [str(argument.type) for argument in main.arguments] == ["tensor<2x4xf32>"]


def test_promotion_computes_in_f64() -> None:
    module = parsed("""
func.func @main(%a: tensor<2xbf16>, %i: tensor<2xi32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %0 = stablehlo.convert %a : (tensor<2xbf16>) -> tensor<2xf32>
  %1 = stablehlo.constant dense<[1.0, -0.5]> : tensor<2xf32>
  %2 = stablehlo.constant dense<3.0> : tensor<2xbf16>
  %3 = stablehlo.constant dense<(1.0, 2.0)> : tensor<complex<f32>>
  %4 = stablehlo.add %0, %1 : tensor<2xf32>
  return %4, %i : tensor<2xf32>, tensor<2xi32>
}""")
    assert not reason_not_to_promote(module)
    promote(module)
    text = print_op(module)
    assert "f32" not in text and "bf16" not in text
    assert "dense<[1.000000e+00, -5.000000e-01]> : tensor<2xf64>" in text
    assert "dense<3.000000e+00> : tensor<2xf64>" in text
    assert "dense<(1.000000e+00,2.000000e+00)> : tensor<complex<f64>>" in text
    assert "(%arg0: tensor<2xf64>, %arg1: tensor<2xi32>) -> (tensor<2xf64>, tensor<2xi32>)" in text


@pytest.mark.parametrize(
    ("operation", "type", "is_promoted"),
    [
        ("stablehlo.bitcast_convert %a : (tensor<2xf32>) -> tensor<2xi32>", "tensor<2xi32>", False),
        ("stablehlo.custom_call @f(%a) : (tensor<2xf32>) -> tensor<2xf32>", "tensor<2xf32>", False),
        ("stablehlo.custom_call @Sharding(%a) : (tensor<2xf32>) -> tensor<2xf32>", "tensor<2xf32>", True),
        ("stablehlo.sine %a : tensor<2xf32>", "tensor<2xf32>", True),
    ],
)
def test_programs_that_depend_on_the_representation_of_numbers_are_not_promoted(
    operation: str, type: str, is_promoted: bool
) -> None:
    text = f"func.func @main(%a: tensor<2xf32>) -> {type} {{\n  %0 = {operation}\n  return %0 : {type}\n}}"
    assert (not reason_not_to_promote(parsed(text))) == is_promoted


def test_the_functions_that_are_run() -> None:
    body = "(%a: tensor<2xf32>) -> tensor<2xf32> {\n  return %a : tensor<2xf32>\n}\n"
    assert entry_names(parsed(f"func.func @f{body}func.func @main{body}")) == ["main"]
    assert entry_names(parsed(f"func.func @f{body}func.func @g{body}func.func private @h{body}")) == [
        "f",
        "g",
    ]
