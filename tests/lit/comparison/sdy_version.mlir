// --compare-sdy-version shows what an upgrade of jax changes: both programs are this one, after the passes of two
// releases of Shardy.
// RUN: sdy-opt %s -sdy-propagation-pipeline=enable-insert-explicit-collectives=true --compare-sdy-version=jaxlib-0.10.2 | filecheck %s
// RUN: sdy-opt %s -sdy-propagation-pipeline --sdy-version=jaxlib-0.10.2 --compare-sdy-version=jaxlib-0.10.2 | filecheck %s --check-prefix=SAME
// RUN: not sdy-opt %s --compare-sdy-version=0.10.2 2>&1 | filecheck %s --check-prefix=UNKNOWN

// UNKNOWN: for the --compare-sdy-version option: Cannot find option named '0.10.2'!

sdy.mesh @mesh = <["x"=2]>
sdy.mesh @device = <[], device_ids=[0]>

// Since jaxlib 0.11.2, the operand of an operation on a single device is gathered and resharded, which takes memory.
// CHECK: before {{.*}}sdy_version.mlir in jaxlib-0.10.2
// CHECK-NEXT: after {{.*}}sdy_version.mlir in jaxlib-0.12.0.1
// CHECK: memory per device: 48 B → 112 B (+64 B) at the peak
// SAME: before {{.*}} in jaxlib-0.10.2
// SAME: after {{.*}} in jaxlib-0.10.2
// SAME: no difference
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@device, []>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
