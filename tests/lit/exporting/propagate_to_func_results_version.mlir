// Since jaxlib 0.11.2, results of the entry point get shardings too, and no result gets one on a single device.
// RUN: sdy-opt %s -sdy-propagate-to-func-results | filecheck %s
// RUN: sdy-opt %s -sdy-propagate-to-func-results --sdy-version=jaxlib-0.10.2 | filecheck %s --check-prefix=BEFORE

sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @device = <[], device_ids=[1]>

// CHECK:      func.func @main
// CHECK-SAME:   -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>}, tensor<8xf32>)
// BEFORE:      func.func @main
// BEFORE-SAME:   -> (tensor<8xf32>, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>}, tensor<8xf32>)
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@device, []>})
    -> (tensor<8xf32>, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>}, tensor<8xf32>) {
  return %a, %a, %b : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// CHECK:      func.func private @other
// CHECK-SAME:   -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<8xf32>)
// BEFORE:      func.func private @other
// BEFORE-SAME:   -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<8xf32> {sdy.sharding = #sdy.sharding<@device, []>})
func.func private @other(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@device, []>})
    -> (tensor<8xf32>, tensor<8xf32>) {
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}
