// RUN: sdy-opt %s -xla-sdy-stablehlo-export-manual-reduction-collectives | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>

// Only partial results that the program has are reduced by the program.
// CHECK-LABEL: func.func @all_reduce
// CHECK-NEXT:    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{}], unreduced={"x"}>] out_shardings=[<@mesh, [{}]>] manual_axes={"x", "y"} (%arg2: tensor<8xf32>) {
// CHECK-NEXT:      %2 = "stablehlo.all_reduce"(%arg2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[\[}}0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, use_global_device_ids}>
// CHECK:             stablehlo.add
// CHECK:           %1 = sdy.all_reduce {"x"} %arg1
func.func @all_reduce(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %1 = sdy.all_reduce {"x"} %b out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @reduce_scatter
// CHECK:           %1 = "stablehlo.reduce_scatter"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>
// CHECK:             stablehlo.maximum
// CHECK:           (tensor<8xf32>) -> tensor<2xf32>
func.func @reduce_scatter(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"y"}>}) -> tensor<8xf32> {
  %0 = sdy.reduce_scatter max [{"y"}] %a out_sharding=<@mesh, [{"y"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// The chunk of a device starts at x * 4 + y.
// CHECK-LABEL: func.func @sharded_to_unreduced
// CHECK:           %c = stablehlo.constant dense<4> : tensor<i32>
// CHECK-NEXT:      %4 = stablehlo.remainder %3, %c : tensor<i32>
// CHECK:           %6 = stablehlo.remainder %5, %c_0 : tensor<i32>
// CHECK:           %8 = stablehlo.multiply %6, %c : tensor<i32>
// CHECK-NEXT:      %9 = stablehlo.add %8, %4 : tensor<i32>
// CHECK:           stablehlo.dynamic_update_slice %1, %arg1, %10
func.func @sharded_to_unreduced(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) -> tensor<8xf32> {
  %0 = sdy.sharded_to_unreduced [{"x", "y"}] %a out_sharding=<@mesh, [{}], unreduced={"x", "y"}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// One device along "x" keeps the constant.
// CHECK-LABEL: func.func @constant
// CHECK-NEXT:    %0 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} dense<1.000000e+00>
// CHECK-NEXT:    sdy.manual_computation(%0) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}], unreduced={"x"}>]
// CHECK:           stablehlo.select %8, %arg0, %9
func.func @constant() -> tensor<8xf32> {
  %0 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} dense<1.0> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @through_transpose
// CHECK-NEXT:    stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>}
func.func @through_transpose(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.negate %a : tensor<8x8xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
