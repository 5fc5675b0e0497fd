// RUN: sdy-opt %s --lint=loop-invariant-collective --lint-config=- --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["x"=4]>

// The loop passes %w on unchanged, and gathers it in each of its 10 iterations, but only in a branch.
func.func @weight(%w: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %y: tensor<512x512xf32>, %c: tensor<i1>) -> tensor<512x512xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  // expected-note@+1 {{the loop with 10 iterations is here}}
  %r:3 = stablehlo.while(%i = %zero, %a = %w, %b = %y) : tensor<i32>, tensor<512x512xf32>, tensor<512x512xf32>
    attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{"x"}, {}]>, <@mesh, [{}, {}]>]>}
  cond {
    %p = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %1 = "stablehlo.if"(%c) ({
      %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<512x512xf32>
      // expected-warning@+1 {{all_gather along "x" of f32[128,512] has an operand that does not change in the loop: 7.50 MiB on the wire in 10 runs, 6.75 MiB more than before the loop}}
      %2 = stablehlo.dot_general %0, %b, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
      stablehlo.return %2 : tensor<512x512xf32>
    }, {
      stablehlo.return %b : tensor<512x512xf32>
    }) : (tensor<i1>) -> tensor<512x512xf32>
    stablehlo.return %next, %a, %1 : tensor<i32>, tensor<512x512xf32>, tensor<512x512xf32>
  }
  return %r#2 : tensor<512x512xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// The body is a function with a branch, as in a lowered `scan`; it transposes the weight first. The trip count is unknown.
func.func @main(%w: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %y: tensor<512x512xf32>, %n: tensor<i32>, %c: tensor<i1>) -> tensor<512x512xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  // expected-note@+1 {{the loop with an unknown number of iterations is here}}
  %r:2 = stablehlo.while(%i = %zero, %b = %y) : tensor<i32>, tensor<512x512xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %0 = func.call @body(%w, %b, %c) : (tensor<512x512xf32>, tensor<512x512xf32>, tensor<i1>) -> tensor<512x512xf32>
    stablehlo.return %next, %0 : tensor<i32>, tensor<512x512xf32>
  }
  return %r#1 : tensor<512x512xf32>
}

func.func private @body(%w: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<512x512xf32>, %c: tensor<i1>) -> tensor<512x512xf32> {
  %0 = stablehlo.transpose %w, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %3 = "stablehlo.if"(%c) ({
    %1 = sdy.all_gather [{}, {"x"}] %0 out_sharding=<@mesh, [{}, {}]> : tensor<512x512xf32>
    // expected-warning@+1 {{all_gather along "x" of f32[512,128] has an operand that does not change in the loop: 768.0 KiB on the wire}}
    %2 = stablehlo.dot_general %1, %b, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    stablehlo.return %2 : tensor<512x512xf32>
  }, {
    stablehlo.return %b : tensor<512x512xf32>
  }) : (tensor<i1>) -> tensor<512x512xf32>
  return %3 : tensor<512x512xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// StableHLO collectives in a manual computation count too.
func.func @manual(%w: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %c: tensor<i1>) -> tensor<512x512xf32> {
  %0 = sdy.manual_computation(%w, %c) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, []>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"x"} (%local: tensor<128x512xf32>, %d: tensor<i1>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %five = stablehlo.constant dense<5> : tensor<i32>
    %y = stablehlo.constant dense<0.0> : tensor<512x512xf32>
    // expected-note@+1 {{the loop with 5 iterations is here}}
    %r:2 = stablehlo.while(%i = %zero, %b = %y) : tensor<i32>, tensor<512x512xf32>
    cond {
      %p = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %next = stablehlo.add %i, %one : tensor<i32>
      %3 = "stablehlo.if"(%d) ({
        // expected-warning@+1 {{all_gather along "x" of f32[128,512] has an operand that does not change in the loop}}
        %1 = "stablehlo.all_gather"(%local) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<128x512xf32>) -> tensor<512x512xf32>
        %2 = stablehlo.add %b, %1 : tensor<512x512xf32>
        stablehlo.return %2 : tensor<512x512xf32>
      }, {
        stablehlo.return %b : tensor<512x512xf32>
      }) : (tensor<i1>) -> tensor<512x512xf32>
      stablehlo.return %next, %3 : tensor<i32>, tensor<512x512xf32>
    }
    sdy.return %r#1 : tensor<512x512xf32>
  } : (tensor<512x512xf32>, tensor<i1>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// Only XLA for CPU moves the all-gather of %w before the loop.
func.func @weight(%w: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %y: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  // expected-note@+1 {{the loop with 10 iterations is here}}
  %r:3 = stablehlo.while(%i = %zero, %a = %w, %b = %y) : tensor<i32>, tensor<512x512xf32>, tensor<512x512xf32>
    attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{"x"}, {}]>, <@mesh, [{}, {}]>]>}
  cond {
    %p = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<512x512xf32>
    // expected-warning@+1 {{all_gather along "x" of f32[128,512] has an operand that does not change in the loop: 7.50 MiB on the wire in 10 runs, 6.75 MiB more than before the loop}}
    %1 = stablehlo.dot_general %0, %b, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    stablehlo.return %next, %a, %1 : tensor<i32>, tensor<512x512xf32>, tensor<512x512xf32>
  }
  return %r#2 : tensor<512x512xf32>
}
