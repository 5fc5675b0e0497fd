// A function that is called twice is inlined twice. Of its value, one copy is sharded and the other is not: each
// answer says which copy it is about, although the result of the first call has the name of the call, too.
// RUN: sdy-opt %s --explain="@f %%0" -o /dev/null | filecheck %s

// CHECK:      %0 of @f (copy 1 of 2): f32[8] is sharded P('x')
// CHECK-NEXT: in sdy: tensor<8xf32> [{"x", ?}]
// CHECK-NEXT: "x" shards dimension 0
// CHECK-NEXT: from %a (dimension 0), forward along stablehlo.tanh
// CHECK-NEXT: annotated: the input %a
// CHECK-NEXT: %0 of @f (copy 2 of 2): f32[8] is not sharded
// CHECK-NEXT: no operand or result of an operation that computes or uses it has another axis
// CHECK-NOT:  sharded
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @f(%b) : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
func.func private @f(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}
