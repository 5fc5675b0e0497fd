// RUN: sdy-opt %s -sdy-update-non-divisible-input-output-shardings | filecheck %s

sdy.mesh @mesh = <["m"=2, "x"=4]>

// The local shape has three elements, which four does not divide. The output has twelve, which eight does not.
// CHECK-LABEL: func.func @free_axes
// CHECK: in_shardings=[<@mesh, [{"m"}]>] out_shardings=[<@mesh, [{"m", "x":(1)2}]>] manual_axes={"m"}
func.func @free_axes(%a: tensor<6xf32>) -> tensor<12xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"m", "x"}]>] out_shardings=[<@mesh, [{"m", "x"}]>] manual_axes={"m"} (%b: tensor<3xf32>) {
    %1 = stablehlo.concatenate %b, %b, dim = 0 : (tensor<3xf32>, tensor<3xf32>) -> tensor<6xf32>
    sdy.return %1 : tensor<6xf32>
  } : (tensor<6xf32>) -> tensor<12xf32>
  return %0 : tensor<12xf32>
}

// Replicated axes and divisible dimensions are kept.
// CHECK-LABEL: func.func @replicated
// CHECK: in_shardings=[<@mesh, [{"x":(1)2, ?}], replicated={"m"}>] out_shardings=[<@mesh, [{"m", "x", ?}p1]>] manual_axes={"m"}
func.func @replicated(%a: tensor<6xf32>) -> tensor<48xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x", ?}p1], replicated={"m"}>] out_shardings=[<@mesh, [{"m", "x", ?}p1]>] manual_axes={"m"} (%b: tensor<6xf32>) {
    %c = stablehlo.constant dense<0.0> : tensor<f32>
    %1 = stablehlo.pad %b, %c, low = [18], high = [0], interior = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<24xf32>
    sdy.return %1 : tensor<24xf32>
  } : (tensor<6xf32>) -> tensor<48xf32>
  return %0 : tensor<48xf32>
}

// Other operations are no boundary: their shards may be padded.
// CHECK-LABEL: func.func @inner
// CHECK: stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
// CHECK: sdy.named_computation<"inner">(%{{.*}}) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>]
func.func @inner(%a: tensor<6xf32>) -> tensor<6xf32> {
  %0 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} %a : tensor<6xf32>
  %1 = sdy.named_computation<"inner">(%0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] (%b: tensor<6xf32>) {
    sdy.return %b : tensor<6xf32>
  } : (tensor<6xf32>) -> tensor<6xf32>
  return %1 : tensor<6xf32>
}
