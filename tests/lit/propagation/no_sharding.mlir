// Propagation in a program that contains no shardings has no effect; a warning says what to do.
// RUN: sdy-opt %s -split-input-file -sdy-basic-propagate 2>&1 >/dev/null | filecheck %s
// RUN: sdy-opt %s -split-input-file -sdy-propagation-pipeline 2>&1 >/dev/null | filecheck %s
// --verify-diagnostics ignores these warnings, which C++ does not have.
// RUN: sdy-opt %s -split-input-file -sdy-basic-propagate --verify-diagnostics 2>&1 | filecheck %s --check-prefix=VERIFY
// VERIFY-NOT: warning:

// CHECK: warning: the program has no mesh and no shardings, so that nothing propagates
// CHECK: help: annotate inputs with `sdy.sharding`, or lower from JAX with jax.config.update("jax_use_shardy_partitioner", True)
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.negate %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// The shardings that JAX writes for GSPMD, the partitioner before Shardy:
// CHECK: {{:[0-9]+:1}}: warning: the program has shardings of HLO only (`mhlo.sharding`), which do not propagate
// CHECK-NEXT: --> {{.*}}:36
// CHECK-NEXT: func.func @main(%x: tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2]}"})
// CHECK-NEXT: {{^ {35}\^~}}
// CHECK-NEXT: help: import them before, with -xla-sdy-stablehlo-import-pipeline
func.func @main(%x: tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) -> tensor<8xf32> {
  %0 = stablehlo.negate %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// A mesh, or a sharding with an inlined mesh, is enough.
// CHECK-NOT: warning:
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.negate %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}]>}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
