// RUN: sdy-opt %s -sdy-propagation-pipeline --explain=model.py:7 | filecheck %s
// RUN: sdy-opt %s --report | filecheck %s --check-prefix=REPORT
// RUN: sdy-opt %s --explain='#0' | filecheck %s --check-prefix=NUMBER

// Of a line of Python, the forward value comes before that of the backward pass, which is earlier in the program here.
// What a function computes that the line calls comes last. A constraint in a helper is at the line that calls the helper, as in reports. Values say which operation they are of.
// A line has short answers, one for each type and sharding, and says how to ask for more.
// CHECK:      {{^}}dot_general: f32[8,8] is sharded P('x') %1
// CHECK-NEXT: ├─ "x" shards dimension 0, from with_sharding_constraint on the dot_general model.py:8
// CHECK-NEXT: └─ so are 2 more values of this line: dot_general (backward), tanh
// CHECK-NEXT: {{^}}--explain='model.py:7 all' lists the values; --explain='%1' explains one in full
// CHECK-NOT:  {{.}}

// The number of a collective in a report is that which --explain takes.
// REPORT: model.py:9 all_reduce {"x"}
// REPORT-NEXT: #0: reduce reduces over dimension 0
// NUMBER: #0 all_reduce along {"x"} of

#inner = loc("constrain"("model.py":3:1))
#first = loc(callsite(#inner at "step"("model.py":8:1)))
#second = loc(callsite(#inner at "step"("model.py":12:1)))
#constraint = loc("jit(step)/jvp()/sharding_constraint"(#first))
#other = loc("jit(step)/jvp()/sharding_constraint"(#second))
#forward = loc("jit(step)/jvp()/dot_general"("step"("model.py":7:1)))
#backward = loc("jit(step)/transpose(jvp())/dot_general"("step"("model.py":7:1)))
#helper = loc("helper"("model.py":20:1))
#called = loc("jit(step)/jvp()/tanh"(callsite(#helper at "step"("model.py":7:1))))
#sum = loc("jit(step)/reduce_sum"("step"("model.py":9:1)))

sdy.mesh @mesh = <["x"=2]>
func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<8x8xf32>)
    -> (tensor<8x8xf32>, tensor<8xf32>) {
  %called = stablehlo.tanh %a : tensor<8x8xf32> loc(#called)
  %0 = stablehlo.dot_general %called, %b, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> loc(#backward)
  %1 = stablehlo.dot_general %0, %b, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> loc(#forward)
  %2 = sdy.sharding_constraint %1 <@mesh, [{"x"}, {}]> : tensor<8x8xf32> loc(#constraint)
  %3 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<8x8xf32> loc(#other)
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32> loc(#sum)
  return %2, %4 : tensor<8x8xf32>, tensor<8xf32>
}
