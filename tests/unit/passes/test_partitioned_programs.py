"""XLA compiles what `-sdy-partition-pipeline` prints, as it is printed; it computes the same as before."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import sdyopt

ROOT = Path(__file__).parents[3]
# Compiles partitioned programs for 8 devices, and prints the errors of XLA. The devices are replicas, so that
# XLA does not partition them again.
COMPILE = """
import json
import sys
import jax
jax.config.update("jax_num_cpu_devices", 8)
from sdyopt.analysis.execution.worker.execute import DeviceProgram
for name, text in json.load(sys.stdin).items():
    try:
        DeviceProgram(text, 8, 1)
    except Exception as error:
        print(name, error)
"""
MESH = 'sdy.mesh @mesh = <["x"=4, "y"=2]>\n'
PROGRAMS = {
    "mlp": (ROOT / "examples" / "mlp.mlir").read_text(encoding="utf-8"),
    "no communication": """
sdy.mesh @mesh = <["x"=8]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.sine %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
""",
    "halos": MESH
    + """
func.func @main(%a: tensor<13x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<13x6xf32>, tensor<6xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {"y"}]> : tensor<13x6xf32>
  %1 = stablehlo.slice %0 [3:13, 0:6] : (tensor<13x6xf32>) -> tensor<10x6xf32>
  %2 = stablehlo.slice %0 [0:3, 0:6] : (tensor<13x6xf32>) -> tensor<3x6xf32>
  %3 = stablehlo.concatenate %1, %2, dim = 0 : (tensor<10x6xf32>, tensor<3x6xf32>) -> tensor<13x6xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<13x6xf32>, tensor<f32>) -> tensor<6xf32>
  return %3, %4 : tensor<13x6xf32>, tensor<6xf32>
}
""",
    "loop": MESH
    + """
func.func @main(%h: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>},
                %w: tensor<3x16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>})
    -> tensor<8x16xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %s = %h) : tensor<i32>, tensor<8x16xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.dynamic_slice %w, %i, %zero, %zero, sizes = [1, 16, 16]
      : (tensor<3x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x16xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x16x16xf32>) -> tensor<16x16xf32>
    %3 = stablehlo.dot_general %s, %2, contracting_dims = [1] x [0]
      : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    %4 = stablehlo.tanh %3 : tensor<8x16xf32>
    %5 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %5, %4 : tensor<i32>, tensor<8x16xf32>
  }
  return %0#1 : tensor<8x16xf32>
}
""",
    "embedding": MESH
    + """
func.func @main(%table: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
                %ids: tensor<16xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<16x8xf32>, tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %0 = stablehlo.reshape %ids : (tensor<16xi32>) -> tensor<16x1xi32>
  %1 = "stablehlo.gather"(%table, %0) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
      start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 8>}> : (tensor<32x8xf32>, tensor<16x1xi32>) -> tensor<16x8xf32>
  %2 = "stablehlo.scatter"(%table, %0, %1) <{
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %3 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }) : (tensor<32x8xf32>, tensor<16x1xi32>, tensor<16x8xf32>) -> tensor<32x8xf32>
  return %1, %2 : tensor<16x8xf32>, tensor<32x8xf32>
}
""",
    "reshards": MESH
    + """
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
                %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"y"}>})
    -> (tensor<16x8xf32>, tensor<16x8xf32>) {
  %0 = sdy.reshard %a <@mesh, [{"y"}, {"x"}]> : tensor<16x8xf32>
  %1 = stablehlo.sine %0 : tensor<16x8xf32>
  %2 = sdy.reshard %1 <@mesh, [{"x":(1)2}, {"x":(2)2}]> : tensor<16x8xf32>
  %3 = sdy.reshard %b <@mesh, [{"y"}, {}]> : tensor<16x8xf32>
  return %2, %3 : tensor<16x8xf32>, tensor<16x8xf32>
}
""",
    "manual": MESH
    + """
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
    -> tensor<16xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}]>]
      manual_axes={"x", "y"} (%s: tensor<4x4xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %1 = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %2 = "stablehlo.all_reduce"(%1) <{
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
      replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %3 = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    sdy.return %2 : tensor<4xf32>
  } : (tensor<16x8xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
""",
}


def printed(name: str) -> str:
    text = str(sdyopt.parse(PROGRAMS[name]).run("sdy-partition-pipeline"))
    assert "sdyopt.partitioned" in text
    return text


@pytest.mark.reference
def test_programs_compile_as_they_are_printed() -> None:
    done = subprocess.run(
        [sys.executable, "-c", COMPILE],
        cwd=ROOT,
        input=json.dumps({name: printed(name) for name in PROGRAMS}),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout == ""


@pytest.mark.reference
@pytest.mark.parametrize("name", PROGRAMS)
def test_printed_programs_compute_the_same(name: str) -> None:
    validation = sdyopt.parse(PROGRAMS[name]).validate(sdyopt.parse(printed(name)))
    assert validation.is_equal, str(validation)
