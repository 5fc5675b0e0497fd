// XLA for CPU moves a collective out of the loops in which its operands do not change, with what is between.
// RUN: sdy-opt %s --split-input-file --report --topology=cpu | filecheck %s

// CHECK:      communication: 768.0 KiB on the wire per device, 1 collective
// CHECK:      #0: {{.*}}; moved out

sdy.mesh @mesh = <["x"=4]>

// %w is carried through both loops; it is transposed and sliced in the inner one.
func.func @nested(%w: tensor<1024x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %y: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %a = %w, %b = %y) : tensor<i32>, tensor<1024x512xf32>, tensor<512x512xf32>
    attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{}, {"x"}]>, <@mesh, [{}, {}]>]>}
  cond {
    %p = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %s:3 = stablehlo.while(%j = %zero, %c = %a, %d = %b) : tensor<i32>, tensor<1024x512xf32>, tensor<512x512xf32>
      attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{}, {"x"}]>, <@mesh, [{}, {}]>]>}
    cond {
      %p = stablehlo.compare LT, %j, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %after = stablehlo.add %j, %one : tensor<i32>
      %0 = stablehlo.slice %c [512:1024, 0:512] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<1024x512xf32>) -> tensor<512x512xf32>
      %1 = stablehlo.transpose %0, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<512x512xf32>) -> tensor<512x512xf32>
      %2 = sdy.all_gather [{"x"}, {}] %1 out_sharding=<@mesh, [{}, {}]> : tensor<512x512xf32>
      %3 = stablehlo.dot_general %2, %d, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
      stablehlo.return %after, %c, %3 : tensor<i32>, tensor<1024x512xf32>, tensor<512x512xf32>
    }
    stablehlo.return %next, %a, %s#2 : tensor<i32>, tensor<1024x512xf32>, tensor<512x512xf32>
  }
  return %r#2 : tensor<512x512xf32>
}

// -----

// In the outer loop %w changes: 10 runs of 100. The result of the manual computation is of %w only.
// CHECK:      communication: 7.50 MiB on the wire per device, 1 collective
// CHECK:      #0: {{.*}}; moved out

sdy.mesh @mesh = <["x"=4]>

func.func @inner(%w: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %y: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %a = %w, %b = %y) : tensor<i32>, tensor<512x512xf32>, tensor<512x512xf32>
    attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{"x"}, {}]>, <@mesh, [{}, {}]>]>}
  cond {
    %p = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %s:2 = stablehlo.while(%j = %zero, %d = %b) : tensor<i32>, tensor<512x512xf32>
    cond {
      %p = stablehlo.compare LT, %j, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %after = stablehlo.add %j, %one : tensor<i32>
      %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%l: tensor<128x512xf32>) {
        %4 = stablehlo.tanh %l : tensor<128x512xf32>
        sdy.return %4 : tensor<128x512xf32>
      } : (tensor<512x512xf32>) -> tensor<512x512xf32>
      %2 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {}]> : tensor<512x512xf32>
      %3 = stablehlo.dot_general %2, %d, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
      stablehlo.return %after, %3 : tensor<i32>, tensor<512x512xf32>
    }
    %e = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<512x512xf32>
    stablehlo.return %next, %e, %s#1 : tensor<i32>, tensor<512x512xf32>, tensor<512x512xf32>
  }
  return %r#2 : tensor<512x512xf32>
}
