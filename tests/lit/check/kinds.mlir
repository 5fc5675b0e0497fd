// RUN: sdy-opt %s --check --report=%t.html | filecheck %s
// RUN: filecheck %s --input-file=%t.html --check-prefix=PAGE
// RUN: sdy-opt %s --check --assume-trips=4 | filecheck %s --check-prefix=ASSUMED

// A place is a line: all kinds of its collectives count, as in the table of a report by line. The reason is that
// of the most expensive kind. Where the trip count of a loop is unknown, the cost is that of one iteration.

// CHECK:      communication  26.0 KiB × n sent by each of 8 devices; n: --assume-trips=4=N
// CHECK:      compute        {{.*}} kFLOP × n per device
// CHECK-NEXT: {{^}}1. shard the input h as P('y', 'x'), and result 0 of @main likewise (now P(None, 'x')): -2.00 KiB
// CHECK-NEXT:      sent, -8.00 KiB memory
// CHECK-NEXT:    why: model.py:7: 26.0 KiB × n sent, 8.00 KiB × n of it in all_reduce along y: dot_general
// CHECK-NEXT:      contracts a dimension of params['b'] sharded along "y"

// ASSUMED:      communication  104.0 KiB sent by each of 8 devices: 69% all_reduce along x
// ASSUMED:      why: model.py:7: 104.0 KiB (100%) sent, {{.*}} of it in all_reduce along

// PAGE: loop at model.py:4, n times

#body = loc("jit(step)/while/body/dot_general"("body"("model.py":7:1)))
#scan = loc("jit(step)/while"("step"("model.py":4:1)))

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(
    %h: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>} loc("h"),
    %a: tensor<128x96xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("params['a']"),
    %b: tensor<96x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>} loc("params['b']"),
    %n: tensor<i32>) -> (tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %c0, %y = %h) : tensor<i32>, tensor<64x128xf32>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %c1 : tensor<i32>
    %0 = stablehlo.dot_general %y, %a, contracting_dims = [1] x [0] : (tensor<64x128xf32>, tensor<128x96xf32>) -> tensor<64x96xf32> loc(#body)
    %1 = stablehlo.dot_general %0, %b, contracting_dims = [1] x [0] : (tensor<64x96xf32>, tensor<96x128xf32>) -> tensor<64x128xf32> loc(#body)
    stablehlo.return %j, %1 : tensor<i32>, tensor<64x128xf32>
  } loc(#scan)
  return %r#1 : tensor<64x128xf32>
}
