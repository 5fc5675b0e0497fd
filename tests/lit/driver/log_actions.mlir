// The log has a line where a pass, an iteration of patterns or the attempt to apply a pattern begins and ends.
// RUN: sdy-opt %s -cse -canonicalize -o /dev/null --log-actions-to=- 2>&1 | filecheck %s
// RUN: sdy-opt %s -cse -canonicalize -o /dev/null --log-actions-to=%t/folder/actions.log
// RUN: filecheck %s --input-file %t/folder/actions.log

// CHECK:      begins (no breakpoint) Action `pass-execution` running `CSEPass` on Operation `builtin.module` (module {...})
// CHECK-NEXT: completed `pass-execution`
// CHECK-NEXT: begins (no breakpoint) Action `pass-execution` running `CanonicalizerPass` on Operation `builtin.module` (module {...})
// CHECK-NEXT: begins (no breakpoint) Action GreedyPatternRewriteIteration(1) (Region #0 for op module {...})
// CHECK-NEXT: begins (no breakpoint) Action `apply-pattern pattern: {{.+}} (%0 = sdy.reshard %arg0 <@mesh
// CHECK-NEXT: completed `apply-pattern`
// CHECK:      completed `GreedyPatternRewriteIteration`
// CHECK:      completed `pass-execution`
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.reshard %x <@mesh, [{"x"}]> : tensor<4xf32>
  %1 = sdy.reshard %0 <@mesh, [{}]> : tensor<4xf32>
  return %1 : tensor<4xf32>
}
