// RUN: sdy-opt %s -canonicalize | filecheck %s
// RUN: sdy-opt %s -canonicalize=enable-patterns=sdy-reshard | filecheck %s --check-prefix=RESHARD
// RUN: sdy-opt %s -canonicalize=enable-patterns=sdy-collective | filecheck %s --check-prefix=COLLECTIVE
// RUN: sdy-opt %s -canonicalize=disable-patterns=sdy-reshard,sdy-collective | filecheck %s --check-prefix=NEITHER
// RUN: sdy-opt %s -canonicalize=filter-dialects=stablehlo | filecheck %s --check-prefix=NEITHER
// RUN: sdy-opt %s -canonicalize=cse-between-iterations=true | filecheck %s --check-prefix=CSE
// RUN: sdy-opt %s -canonicalize=max-iterations=0 | filecheck %s --check-prefix=NOTHING

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Patterns are selected by label or dialect; constants are merged in any case.
// CHECK-LABEL:      func.func @labels
// RESHARD-LABEL:    func.func @labels
// COLLECTIVE-LABEL: func.func @labels
// NEITHER-LABEL:    func.func @labels
func.func @labels(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[MOVED:.*]] = sdy.reshard %arg0 <@mesh, [{"y"}]>
  // CHECK-NEXT: sdy.all_gather
  // CHECK-NEXT: return %[[MOVED]], %arg0

  // RESHARD-NEXT: sdy.reshard %arg0 <@mesh, [{"y"}]>
  // RESHARD-NEXT: sdy.all_gather
  // RESHARD-NEXT: sdy.all_slice

  // COLLECTIVE-NEXT: %[[FIRST:.*]] = sdy.reshard %arg0 <@mesh, [{}]>
  // COLLECTIVE-NEXT: %[[SECOND:.*]] = sdy.reshard %[[FIRST]] <@mesh, [{"y"}]>
  // COLLECTIVE-NEXT: sdy.all_gather
  // COLLECTIVE-NEXT: return %[[SECOND]], %arg0

  // NEITHER-NEXT: sdy.reshard
  // NEITHER-NEXT: sdy.reshard
  // NEITHER-NEXT: sdy.all_gather
  // NEITHER-NEXT: sdy.all_slice
  %first = sdy.reshard %x <@mesh, [{}]> : tensor<4xf32>
  %second = sdy.reshard %first <@mesh, [{"y"}]> : tensor<4xf32>
  %gathered = sdy.all_gather [{"x"}] %x out_sharding=<@mesh, [{}]> : tensor<4xf32>
  %sliced = sdy.all_slice [{"x"}] %gathered out_sharding=<@mesh, [{"x"}]> : tensor<4xf32>
  return %second, %sliced : tensor<4xf32>, tensor<4xf32>
}

// Equal operations are merged only if the option is set.
// CHECK-LABEL: func.func @equal_operations
// CSE-LABEL:   func.func @equal_operations
func.func @equal_operations(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[ONE:.*]] = stablehlo.negate
  // CHECK-NEXT: %[[OTHER:.*]] = stablehlo.negate
  // CHECK-NEXT: return %[[ONE]], %[[OTHER]]

  // CSE-NEXT: %[[ONE:.*]] = stablehlo.negate
  // CSE-NEXT: return %[[ONE]], %[[ONE]]
  %0 = stablehlo.negate %x : tensor<4xf32>
  %1 = stablehlo.negate %x : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// Without iterations nothing changes.
// NOTHING-LABEL: func.func @no_rounds
func.func @no_rounds() {
  // NOTHING-NEXT: stablehlo.constant
  // NOTHING-NEXT: stablehlo.constant
  %0 = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.constant dense<1> : tensor<i32>
  return
}
