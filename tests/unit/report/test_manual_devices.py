"""The axes along which the devices of a shard_map have other values."""

from sdyopt.analysis.figures.manual_devices import Varying
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.module_parser import parse_module
from sdyopt.mlir.asm.parser.ssa_scope import ParseRecord
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.registry import all_dialects, find_dialect
from sdyopt.tools.driver.job import interpreter_settings

# The names of values say what they vary along: `x`, or `all`; what begins with `same` does not.
_PROGRAM = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<2xi32>, %b: tensor<1xi32>) -> tensor<2xi32> {
  %0 = sdy.manual_computation(%a, %b) in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{}]>]
      out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x", "y"} (%x_0: tensor<1xi32>, %same_0: tensor<1xi32>) {
    %x_1 = stablehlo.reshape %x_0 : (tensor<1xi32>) -> tensor<i32>
    %same_1 = stablehlo.reshape %same_0 : (tensor<1xi32>) -> tensor<i32>
    %all_id = stablehlo.partition_id : tensor<ui32>
    %all_1 = stablehlo.convert %all_id : (tensor<ui32>) -> tensor<i32>
    // What a loop carries: with as many runs on all devices, each value by itself.
    %same_2, %x_2, %same_loop = stablehlo.while(%same_3 = %same_1, %x_3 = %same_1, %same_4 = %same_1)
        : tensor<i32>, tensor<i32>, tensor<i32>
    cond {
      %same_5 = stablehlo.compare LT, %same_3, %same_4 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %same_5 : tensor<i1>
    } do {
      %x_4 = stablehlo.add %x_3, %x_1 : tensor<i32>
      %x_5 = stablehlo.add %x_4, %same_4 : tensor<i32>
      %same_6 = stablehlo.add %same_3, %same_4 : tensor<i32>
      stablehlo.return %same_6, %x_5, %same_4 : tensor<i32>, tensor<i32>, tensor<i32>
    }
    // Of a loop that runs more often on some devices, all of it.
    %x_6, %x_7 = stablehlo.while(%x_8 = %same_1, %x_9 = %same_1) : tensor<i32>, tensor<i32>
    cond {
      %x_10 = stablehlo.compare LT, %x_8, %x_1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %x_10 : tensor<i1>
    } do {
      stablehlo.return %x_8, %x_9 : tensor<i32>, tensor<i32>
    }
    // A result of branches that one of them gives, or all if devices take other branches.
    %same_7, %x_11 = "stablehlo.case"(%same_1) ({
      stablehlo.return %same_1, %same_1 : tensor<i32>, tensor<i32>
    }, {
      stablehlo.return %same_1, %x_1 : tensor<i32>, tensor<i32>
    }) : (tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %x_12 = "stablehlo.case"(%x_1) ({
      stablehlo.return %same_1 : tensor<i32>
    }, {
      stablehlo.return %same_1 : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %same_8, %all_2 = stablehlo.optimization_barrier %same_1, %all_1 : tensor<i32>, tensor<i32>
    // A sum along an axis is the same along it.
    %y_1 = "stablehlo.all_reduce"(%all_1) <{replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
    ^bb0(%l: tensor<i32>, %r: tensor<i32>):
      %s = stablehlo.add %l, %r : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %all_3 = func.call @unknown(%same_1) : (tensor<i32>) -> tensor<i32>
    sdy.return %x_0 : tensor<1xi32>
  } : (tensor<2xi32>, tensor<1xi32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
func.func private @unknown(%a: tensor<i32>) -> tensor<i32> {
  return %a : tensor<i32>
}
"""


def test_values_vary_along_the_axes_of_what_they_depend_on() -> None:
    record = ParseRecord()
    with interpreter_settings():
        module, _ = parse_module(
            Source("program.mlir", _PROGRAM), DialectTable(find_dialect, all_dialects), record=record
        )
    mesh = next(op.mesh for op in module.walk() if isinstance(op, MeshOp))
    varying = Varying(next(op for op in module.walk() if isinstance(op, ManualComputationOp)), mesh)
    along = {"same": "", "x": "x", "y": "y", "all": "xy"}
    named = {definition.name: value for value, definition in record.values.items() if "_" in definition.name}
    axes = {name: "".join(sorted(varying.axes(value))) for name, value in named.items()}
    assert axes == {name: along[name[1:].partition("_")[0]] for name in named}
    assert set(axes.values()) == set(along.values())
