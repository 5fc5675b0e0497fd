// RUN: sdy-opt %s -sdy-merge-collectives | filecheck %s
// RUN: sdy-opt %s -cse | filecheck %s --check-prefix=CSE
// RUN: sdy-opt %s -sdy-merge-collectives=before-broadcasts=true | filecheck %s --check-prefix=BROADCASTS
// RUN: sdy-opt %s -sdy-merge-collectives=max-distance=2 | filecheck %s --check-prefix=DISTANCE

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Two equal collectives on one value are made once. CSE, as in C++, does not know that they have no other effect.
// CHECK-LABEL: func.func @equal
// CSE-LABEL: func.func @equal
func.func @equal(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  // CHECK-NEXT: %[[WHOLE:.*]] = sdy.all_gather [{"x"}] %arg0
  // CHECK-NEXT: stablehlo.add %[[WHOLE]], %[[WHOLE]]
  // CSE-COUNT-2: sdy.all_gather
  %0 = sdy.all_gather [{"x"}] %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %1 = sdy.all_gather [{"x"}] %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %2 = stablehlo.add %0, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// A collective along another axis is another one.
// CHECK-LABEL: func.func @different
func.func @different(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: sdy.all_slice [{"x"}] %arg0
  // CHECK: sdy.all_slice [{"y"}] %arg0
  %0 = sdy.all_slice [{"x"}] %a out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  %1 = sdy.all_slice [{"y"}] %a out_sharding=<@mesh, [{"y"}]> : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// A reshard back to the first sharding: the value before both is used. One to another sharding stays.
// CHECK-LABEL: func.func @undone
func.func @undone(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[THERE:.*]] = sdy.reshard %arg0 <@mesh, [{"y"}]>
  // CHECK-NEXT: %[[WHOLE:.*]] = sdy.reshard %[[THERE]] <@mesh, [{}]>
  // CHECK-NEXT: return %arg0, %[[WHOLE]]
  %0 = sdy.reshard %a <@mesh, [{"y"}]> : tensor<8xf32>
  %1 = sdy.reshard %0 <@mesh, [{"x"}]> : tensor<8xf32>
  %2 = sdy.reshard %0 <@mesh, [{}]> : tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}

// A gather at the edge of a manual computation, and a slice along the same axis on the other side of it: the edge has
// the sharding of both, and what needs the whole value gathers it there.
// CHECK-LABEL: func.func @edges
func.func @edges(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[BODY:.*]]:2 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x", "y"}]>] out_shardings=[<@mesh, [{"x", "y"}]>, <@mesh, [{"x"}]>] manual_axes={"x"} (%[[PART:.*]]: tensor<4xf32>) {
  // CHECK-NEXT:   %[[WHOLE:.*]] = sdy.all_gather [{"y"}] %[[PART]] out_sharding=<@mesh, [{}]>
  // CHECK-NEXT:   stablehlo.sine %[[PART]]
  // CHECK-NEXT:   stablehlo.cosine %[[WHOLE]]
  // CHECK-NOT:    sdy.all_gather
  // CHECK:      return %[[BODY]]#0, %[[BODY]]#1
  %0 = sdy.all_gather [{"y"}] %a out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  %1:2 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>] manual_axes={"x"} (%b: tensor<4xf32>) {
    %2 = sdy.all_slice [{"y"}] %b out_sharding=<@mesh, [{"y"}]> : tensor<4xf32>
    %3 = stablehlo.sine %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<4xf32>
    %4 = stablehlo.cosine %b : tensor<4xf32>
    %5 = sdy.all_gather [{"y"}] %3 out_sharding=<@mesh, [{}]> : tensor<4xf32>
    sdy.return %5, %4 : tensor<4xf32>, tensor<4xf32>
  } : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %6 = sdy.all_slice [{"y"}] %1#0 out_sharding=<@mesh, [{"x", "y"}]> : tensor<8xf32>
  return %6, %1#1 : tensor<8xf32>, tensor<8xf32>
}

// A collective of which no one uses the result is erased.
// CHECK-LABEL: func.func @unused
// CSE-LABEL: func.func @unused
func.func @unused(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: return %arg0
  // CSE: sdy.all_slice
  %0 = sdy.all_slice [{"x"}] %a out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  return %a : tensor<8xf32>
}

// The sum of partial results that two operands share is made once, in the whole pipeline too.
// RUN: sdy-opt %s -sdy-partition-pipeline | filecheck %s --check-prefix=LOCAL
// LOCAL-LABEL: func.func @main
// LOCAL: "stablehlo.all_reduce"
// LOCAL: stablehlo.compare
// LOCAL-NOT: "stablehlo.all_reduce"
// LOCAL: return
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"y"}>}) -> tensor<8xi1> {
  %0 = sdy.reshard %a <@mesh, [{}]> : tensor<8xf32>
  %1 = sdy.reshard %a <@mesh, [{}]> : tensor<8xf32>
  %2 = stablehlo.compare LT, %0, %1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  return %2 : tensor<8xi1>
}

// In local programs, collectives that differ in their channels are equal. Without a channel, the groups of the second
// all-reduce are of replicas instead of partitions.
// CHECK-LABEL: func.func @channels
// CHECK-NEXT: %[[SUM:.*]] = "stablehlo.all_reduce"(%arg0)
// CHECK: %[[OTHER:.*]] = "stablehlo.all_reduce"(%arg0)
// CHECK: return %[[SUM]], %[[SUM]], %[[OTHER]]
func.func @channels(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// Other equal operations are merged too, unless collectives-only is set, which leaves dead ones as well. Both reshards
// are of one value, and are merged with it.
// RUN: sdy-opt %s -sdy-merge-collectives=collectives-only=true | filecheck %s --check-prefix=ONLY
// CHECK-LABEL: func.func @others
// ONLY-LABEL: func.func @others
func.func @others(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[NEGATIVE:.*]] = stablehlo.negate %arg0
  // CHECK-NEXT: %[[SHARDED:.*]] = sdy.reshard %arg0
  // CHECK-NEXT: return %[[NEGATIVE]], %[[NEGATIVE]], %[[SHARDED]], %[[SHARDED]]
  // ONLY-NEXT: stablehlo.abs
  // ONLY-COUNT-2: stablehlo.negate
  // ONLY: %[[SHARDED:.*]] = sdy.reshard %arg0
  // ONLY-NEXT: return %{{.*}}, %{{.*}}, %[[SHARDED]], %[[SHARDED]]
  %dead = stablehlo.abs %a : tensor<8xf32>
  %0 = stablehlo.negate %a : tensor<8xf32>
  %1 = stablehlo.negate %a : tensor<8xf32>
  %2 = sdy.reshard %a <@mesh, [{"x"}]> : tensor<8xf32>
  %3 = sdy.reshard %a <@mesh, [{"x"}]> : tensor<8xf32>
  return %0, %1, %2, %3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// What is broadcast is gathered, if that is asked for, and not the result, which is 64 times as large.
// CHECK-LABEL: func.func @broadcast
// CHECK: sdy.all_gather [{"x"}, {}] {{.*}} : tensor<8x64xf32>
// BROADCASTS-LABEL: func.func @broadcast
// BROADCASTS-NEXT: %[[WHOLE:.*]] = sdy.all_gather [{"x"}] %arg0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
// BROADCASTS-NEXT: %[[ROWS:.*]] = stablehlo.broadcast_in_dim %[[WHOLE]], dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>}
// BROADCASTS-NEXT: return %[[ROWS]]
func.func @broadcast(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8x64xf32> {
  %0 = stablehlo.broadcast_in_dim %a, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : (tensor<8xf32>) -> tensor<8x64xf32>
  %1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {"y"}]> : tensor<8x64xf32>
  return %1 : tensor<8x64xf32>
}

// Along the dimension that the operand lacks, the result is gathered: compilers do so, too.
// BROADCASTS-LABEL: func.func @new_dimension
// BROADCASTS-NEXT: stablehlo.broadcast_in_dim
// BROADCASTS-NEXT: sdy.all_gather [{}, {"y"}]
func.func @new_dimension(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8x64xf32> {
  %0 = stablehlo.broadcast_in_dim %a, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : (tensor<8xf32>) -> tensor<8x64xf32>
  %1 = sdy.all_gather [{}, {"y"}] %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x64xf32>
  return %1 : tensor<8x64xf32>
}

// So it is if the operand is sharded otherwise than the result.
// BROADCASTS-LABEL: func.func @other_sharding
// BROADCASTS-NEXT: stablehlo.broadcast_in_dim
// BROADCASTS-NEXT: sdy.all_gather [{"x"}, {}]
func.func @other_sharding(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> tensor<8x64xf32> {
  %0 = stablehlo.broadcast_in_dim %a, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8xf32>) -> tensor<8x64xf32>
  %1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x64xf32>
  return %1 : tensor<8x64xf32>
}

// What is gathered for operations that are further apart is gathered again. All of it is used at once in the first function.
// DISTANCE-LABEL: func.func @equal
// DISTANCE-COUNT-1: sdy.all_gather
// DISTANCE-LABEL: func.func @near
// DISTANCE-COUNT-1: sdy.all_gather
// DISTANCE-NOT: sdy.all_gather
func.func @near(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = sdy.all_gather [{"x"}] %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %1 = stablehlo.tanh %0 : tensor<8xf32>
  %2 = stablehlo.tanh %1 : tensor<8xf32>
  %3 = sdy.all_gather [{"x"}] %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %4 = stablehlo.add %2, %3 : tensor<8xf32>
  return %4 : tensor<8xf32>
}

// DISTANCE-LABEL: func.func @far
// DISTANCE:      sdy.all_gather
// DISTANCE:      stablehlo.tanh
// DISTANCE:      %[[AGAIN:.*]] = sdy.all_gather
// DISTANCE-NEXT: %[[SUM:.*]] = stablehlo.add %{{.*}}, %[[AGAIN]]
// DISTANCE-NEXT: stablehlo.multiply %[[SUM]], %[[AGAIN]]
func.func @far(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = sdy.all_gather [{"x"}] %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %1 = stablehlo.tanh %0 : tensor<8xf32>
  %2 = stablehlo.tanh %1 : tensor<8xf32>
  %3 = stablehlo.tanh %2 : tensor<8xf32>
  %4 = stablehlo.tanh %3 : tensor<8xf32>
  %5 = sdy.all_gather [{"x"}] %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %6 = stablehlo.add %4, %5 : tensor<8xf32>
  %7 = sdy.all_gather [{"x"}] %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %8 = stablehlo.multiply %6, %7 : tensor<8xf32>
  return %8 : tensor<8xf32>
}
