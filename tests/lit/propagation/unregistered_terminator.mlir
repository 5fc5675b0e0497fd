// RUN: sdy-opt %s -allow-unregistered-dialect -sdy-basic-propagate='debug-sharding-origins=true' | filecheck %s

sdy.mesh @mesh = <["x"=2]>

// The terminator of this function is unregistered. Its operands count as the returned values; there are more of
// them than results.
// CHECK-LABEL: func.func @main
// CHECK-SAME: -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>
// CHECK-NEXT: "test.end"(%arg0, %arg1)
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<4xf32>) -> tensor<8xf32> {
  "test.end"(%a, %b) : (tensor<8xf32>, tensor<4xf32>) -> ()
}
