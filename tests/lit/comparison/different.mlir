// Values of different programs have nothing in common: that is said, and only figures are compared. Numbers of devices
// and loop counters, which JAX adds for an axis_index, are no differences.
// RUN: split-file %s %t
// RUN: sdy-opt %t/other.mlir -sdy-propagation-pipeline --compare-with=%t/old.mlir | filecheck %s
// RUN: sdy-opt %t/new.mlir -sdy-propagation-pipeline --compare-with=%t/old.mlir | filecheck %s --check-prefix=POSITIONS

// CHECK:     warning: these are different programs: {{[0-9]+}} of 24 values are in both, so only figures are compared
// CHECK:     communication
// CHECK-NOT: only before

// POSITIONS:      shardings: 0 of 24 values changed
// POSITIONS-NEXT: left out: 1 difference in loop counters and numbers of devices
// POSITIONS-NOT:  only after

//--- old.mlir
sdy.mesh @mesh = <["x"=4]>
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<8x8xf32>
  %1 = stablehlo.tanh %0 : tensor<8x8xf32>
  %2 = stablehlo.tanh %1 : tensor<8x8xf32>
  %3 = stablehlo.tanh %2 : tensor<8x8xf32>
  %4 = stablehlo.tanh %3 : tensor<8x8xf32>
  %5 = stablehlo.tanh %4 : tensor<8x8xf32>
  %6 = stablehlo.tanh %5 : tensor<8x8xf32>
  %7 = stablehlo.tanh %6 : tensor<8x8xf32>
  %8 = stablehlo.tanh %7 : tensor<8x8xf32>
  %9 = stablehlo.tanh %8 : tensor<8x8xf32>
  %10 = stablehlo.tanh %9 : tensor<8x8xf32>
  %11 = stablehlo.tanh %10 : tensor<8x8xf32>
  %12 = stablehlo.tanh %11 : tensor<8x8xf32>
  %13 = stablehlo.tanh %12 : tensor<8x8xf32>
  %14 = stablehlo.tanh %13 : tensor<8x8xf32>
  %15 = stablehlo.tanh %14 : tensor<8x8xf32>
  %16 = stablehlo.tanh %15 : tensor<8x8xf32>
  %17 = stablehlo.tanh %16 : tensor<8x8xf32>
  %18 = stablehlo.tanh %17 : tensor<8x8xf32>
  %19 = stablehlo.tanh %18 : tensor<8x8xf32>
  %20 = stablehlo.tanh %19 : tensor<8x8xf32>
  %21 = stablehlo.tanh %20 : tensor<8x8xf32>
  return %21 : tensor<8x8xf32>
}

//--- new.mlir
sdy.mesh @mesh = <["x"=4]>
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32>, tensor<4xi32>) {
  %0 = stablehlo.tanh %arg0 : tensor<8x8xf32>
  %1 = stablehlo.tanh %0 : tensor<8x8xf32>
  %2 = stablehlo.tanh %1 : tensor<8x8xf32>
  %3 = stablehlo.tanh %2 : tensor<8x8xf32>
  %4 = stablehlo.tanh %3 : tensor<8x8xf32>
  %5 = stablehlo.tanh %4 : tensor<8x8xf32>
  %6 = stablehlo.tanh %5 : tensor<8x8xf32>
  %7 = stablehlo.tanh %6 : tensor<8x8xf32>
  %8 = stablehlo.tanh %7 : tensor<8x8xf32>
  %9 = stablehlo.tanh %8 : tensor<8x8xf32>
  %10 = stablehlo.tanh %9 : tensor<8x8xf32>
  %11 = stablehlo.tanh %10 : tensor<8x8xf32>
  %12 = stablehlo.tanh %11 : tensor<8x8xf32>
  %13 = stablehlo.tanh %12 : tensor<8x8xf32>
  %14 = stablehlo.tanh %13 : tensor<8x8xf32>
  %15 = stablehlo.tanh %14 : tensor<8x8xf32>
  %16 = stablehlo.tanh %15 : tensor<8x8xf32>
  %17 = stablehlo.tanh %16 : tensor<8x8xf32>
  %18 = stablehlo.tanh %17 : tensor<8x8xf32>
  %19 = stablehlo.tanh %18 : tensor<8x8xf32>
  %20 = stablehlo.tanh %19 : tensor<8x8xf32>
  %21 = stablehlo.tanh %20 : tensor<8x8xf32>
  %ids = stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
  %twice = stablehlo.add %ids, %ids : tensor<4xi32>
  return %21, %twice : tensor<8x8xf32>, tensor<4xi32>
}

//--- other.mlir
sdy.mesh @mesh = <["x"=4]>
func.func @main(%arg0: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x4xf32> {
  %0 = stablehlo.exponential %arg0 : tensor<16x4xf32>
  %1 = stablehlo.exponential %0 : tensor<16x4xf32>
  %2 = stablehlo.exponential %1 : tensor<16x4xf32>
  %3 = stablehlo.exponential %2 : tensor<16x4xf32>
  %4 = stablehlo.exponential %3 : tensor<16x4xf32>
  %5 = stablehlo.exponential %4 : tensor<16x4xf32>
  %6 = stablehlo.exponential %5 : tensor<16x4xf32>
  %7 = stablehlo.exponential %6 : tensor<16x4xf32>
  %8 = stablehlo.exponential %7 : tensor<16x4xf32>
  %9 = stablehlo.exponential %8 : tensor<16x4xf32>
  %10 = stablehlo.exponential %9 : tensor<16x4xf32>
  %11 = stablehlo.exponential %10 : tensor<16x4xf32>
  %12 = stablehlo.exponential %11 : tensor<16x4xf32>
  %13 = stablehlo.exponential %12 : tensor<16x4xf32>
  %14 = stablehlo.exponential %13 : tensor<16x4xf32>
  %15 = stablehlo.exponential %14 : tensor<16x4xf32>
  %16 = stablehlo.exponential %15 : tensor<16x4xf32>
  %17 = stablehlo.exponential %16 : tensor<16x4xf32>
  %18 = stablehlo.exponential %17 : tensor<16x4xf32>
  %19 = stablehlo.exponential %18 : tensor<16x4xf32>
  %20 = stablehlo.exponential %19 : tensor<16x4xf32>
  %21 = stablehlo.exponential %20 : tensor<16x4xf32>
  return %21 : tensor<16x4xf32>
}
