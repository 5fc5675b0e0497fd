// RUN: not sdy-opt %s --load-plugin=%S/fragments.py -sdy-propagation-pipeline 2>&1 | filecheck %s

// A fragment does not verify that it returns as many values as it has results.
// CHECK: 'fragments.return' op has no operand 1 for the data-flow edge that it is a source of
sdy.mesh @mesh = <["x"=2]>

func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0:2 = fragments.fragment <"f"> (%x) {
  ^bb0(%a: tensor<8xf32>):
    fragments.return %a : tensor<8xf32>
  } : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %0#1 : tensor<8xf32>
}
