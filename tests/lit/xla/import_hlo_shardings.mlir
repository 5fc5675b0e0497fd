// RUN: sdy-opt %s -sdy-import-hlo-shardings -split-input-file | filecheck %s

// Aliases of HLO are imported as JAX writes them, with shardings of sdy, too; those of parts of tuples are not.
// CHECK:      func.func @main(%arg0: tensor<8xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<8xf32>)
module attributes {mhlo.input_output_alias = [{alias = {kind = "may_alias", parameter_index = array<i64>, parameter_number = 0 : i64}, output_index = array<i64>}, {alias = {kind = "may_alias", parameter_index = array<i64: 1>, parameter_number = 1 : i64}, output_index = array<i64: 1>}]} {
  func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
    return %a : tensor<8xf32>
  }
}

// -----

// Operations may have shardings, too, in programs that a partitioner has propagated and those of other tools.
// CHECK:      sdy.mesh @mesh = <["_axis_0"=2]>
// CHECK-NEXT: func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"_axis_0"}]>})
// CHECK-NEXT:   stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"_axis_0"}]>]>}
func.func @main(%a: tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) -> tensor<8xf32> {
  %0 = stablehlo.negate %a {mhlo.sharding = "{devices=[2]<=[2]}"} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// A program with shardings of sdy keeps those of HLO.
// CHECK: sdy.mesh @m
// CHECK: func.func @main(%arg0: tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2]}"})
sdy.mesh @m = <["x"=2]>
func.func @main(%a: tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
