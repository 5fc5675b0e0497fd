// RUN: sdy-opt %s -split-input-file -sdy-constant-or-scalar-splitter | filecheck %s
// RUN: sdy-opt %s -split-input-file -sdy-import-pipeline -sdy-aggressive-propagate | filecheck %s --check-prefix=PROPAGATED

// A dialect conversion of the whole program converts stablehlo constants to sdy constants. Operations that fold
// to an existing value are folded, even if their operands must be swapped first.
// CHECK-LABEL: func @folded
// CHECK-NOT: arith.addi
// CHECK: return %arg0, %arg0
// PROPAGATED-LABEL: func @folded
func.func @folded(%i: i32) -> (i32, i32) {
  %zero = arith.constant 0 : i32
  %0 = arith.addi %i, %zero : i32
  %1 = arith.addi %zero, %i : i32
  return %0, %1 : i32, i32
}

// -----

sdy.mesh @mesh = <["x"=4]>

// The conversion visits an operation before those nested in it, and propagation visits the users of a value from
// the last visited one. In textual order the use by the loop would be the last one, because a loop is complete only
// after its regions; then the transpose would shard its dimensions the other way round.
// PROPAGATED-LABEL: func @users_inside_a_loop
// PROPAGATED: stablehlo.transpose {{.*}}[{"x":(2)2, ?}, {"x":(1)2, ?}]
func.func @users_inside_a_loop(%n: tensor<i32>, %a: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %0 = stablehlo.custom_call @Sharding(%a) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %1:2 = stablehlo.while(%i = %n, %b = %0) : tensor<i32>, tensor<16x16xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %t = stablehlo.transpose %0, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    stablehlo.return %i, %t : tensor<i32>, tensor<16x16xf32>
  }
  %2 = stablehlo.add %0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x":(2)2}, {"x":(1)2}]>]>} : tensor<16x16xf32>
  return %2 : tensor<16x16xf32>
}
