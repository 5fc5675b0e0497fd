// RUN: sdy-opt %s -inline "-stablehlo-refine-arguments=types=tensor<8x16xf32>,tensor<16x32xf32>" -stablehlo-refine-shapes -stablehlo-check-shape-assertions -stablehlo-canonicalize-dynamism | filecheck %s
// RUN: sdy-opt %s -inline "-stablehlo-refine-arguments=types=tensor<8x16xf32>,tensor<16x32xf32>" -stablehlo-refine-shapes -stablehlo-check-shape-assertions -stablehlo-canonicalize-dynamism -sdy-propagation-pipeline | filecheck %s --check-prefix=PROPAGATED
// RUN: not sdy-opt %s -inline "-stablehlo-refine-arguments=types=tensor<0x16xf32>,tensor<16x32xf32>" -stablehlo-refine-shapes -stablehlo-check-shape-assertions 2>&1 | filecheck %s --check-prefix=ASSERTION

// A program as jax.export writes it for a symbolic batch size becomes static, and shardings propagate.

// CHECK-LABEL: func.func public @main(
// CHECK-SAME:    %[[X:.*]]: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
// CHECK-SAME:    %[[W:.*]]: tensor<16x32xf32>) -> (tensor<8x32xf32> {jax.result_info = "result"}) {
// CHECK-DAG:     %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-DAG:     %[[N:.*]] = stablehlo.constant dense<8> : tensor<i32>
// CHECK:         %[[P:.*]] = stablehlo.dot_general %[[X]], %[[W]]
// CHECK-NEXT:    %[[Z:.*]] = stablehlo.broadcast_in_dim %[[ZERO]], dims = [] : (tensor<f32>) -> tensor<8x32xf32>
// CHECK-NEXT:    %[[M:.*]] = stablehlo.maximum %[[P]], %[[Z]] : tensor<8x32xf32>
// CHECK-NEXT:    %[[C:.*]] = sdy.sharding_constraint %[[M]] <@mesh, [{?}, {"model"}]> : tensor<8x32xf32>
// CHECK-NEXT:    %[[F:.*]] = stablehlo.convert %[[N]] : (tensor<i32>) -> tensor<f32>
// CHECK-NEXT:    %[[B:.*]] = stablehlo.broadcast_in_dim %[[F]], dims = [] : (tensor<f32>) -> tensor<8x32xf32>
// CHECK-NEXT:    %[[D:.*]] = stablehlo.divide %[[C]], %[[B]] : tensor<8x32xf32>
// CHECK-NEXT:    return %[[D]] : tensor<8x32xf32>

// PROPAGATED-LABEL: func.func public @main(
// PROPAGATED-SAME:    %{{.*}}: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>})
// PROPAGATED-SAME:    sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}) {
// PROPAGATED:         stablehlo.maximum {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data"}, {"model"}]>]>}

// ASSERTION: jax_export.mlir:{{[0-9]+}}:3: error: Expected value >= 1 for dimension variable 'b'. Obtained 'b' = 0
sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func public @main(%x: tensor<?x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %w: tensor<16x32xf32>)
    -> (tensor<?x32xf32> {jax.result_info = "result"}) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %b = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x16xf32>) -> tensor<i32>
  %ok = stablehlo.compare GE, %b, %one, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>

  stablehlo.custom_call @shape_assertion(%ok, %b) {api_version = 2 : i32, error_message = "Expected value >= 1 for dimension variable 'b'. Obtained 'b' = {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  %0 = call @_wrapped_jax_export_main(%b, %x, %w) : (tensor<i32>, tensor<?x16xf32>, tensor<16x32xf32>) -> tensor<?x32xf32>
  return %0 : tensor<?x32xf32>
}
func.func private @_wrapped_jax_export_main(%b: tensor<i32> {jax.global_constant = "b"}, %x: tensor<?x16xf32>, %w: tensor<16x32xf32>) -> tensor<?x32xf32> {
  %columns = stablehlo.constant dense<32> : tensor<1xi32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<?x16xf32>, tensor<16x32xf32>) -> tensor<?x32xf32>
  %1 = call @relu(%b, %0) : (tensor<i32>, tensor<?x32xf32>) -> tensor<?x32xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{?}, {"model"}]> : tensor<?x32xf32>
  %3 = stablehlo.convert %b : (tensor<i32>) -> tensor<f32>
  %4 = stablehlo.reshape %b : (tensor<i32>) -> tensor<1xi32>
  %5 = stablehlo.concatenate %4, %columns, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %6 = stablehlo.dynamic_broadcast_in_dim %3, %5, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x32xf32>
  %7 = stablehlo.divide %2, %6 : tensor<?x32xf32>
  return %7 : tensor<?x32xf32>
}
func.func private @relu(%b: tensor<i32> {jax.global_constant = "b"}, %x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %columns = stablehlo.constant dense<32> : tensor<1xi32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reshape %b : (tensor<i32>) -> tensor<1xi32>
  %1 = stablehlo.concatenate %0, %columns, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %2 = stablehlo.dynamic_broadcast_in_dim %zero, %1, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x32xf32>
  %3 = stablehlo.maximum %x, %2 : tensor<?x32xf32>
  return %3 : tensor<?x32xf32>
}
