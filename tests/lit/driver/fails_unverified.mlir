// Without verification, a pass or an analysis may fail on what an earlier pass left invalid. That is no bug: the
// error is that of the verifier after the earlier pass.

// RUN: not sdy-opt %s --verify-each=false -xla-sdy-stablehlo-export-shardings -sdy-user-priority-propagate 2>&1 \
// RUN:   | filecheck %s

// CHECK: fails_unverified.mlir:15:8: error: 'sdy.manual_computation' op operand - unknown mesh: @mesh
// CHECK: help: with --verify-each=false, what runs later gets this invalid program, and may fail
// CHECK-NOT: internal error

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> tensor<8x16xf32> {
  %y = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>]
      manual_axes={"x"} (%shard: tensor<2x16xf32>) {
    %z = stablehlo.negate %shard {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>}
      : tensor<2x16xf32>
    sdy.return %z : tensor<2x16xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}
