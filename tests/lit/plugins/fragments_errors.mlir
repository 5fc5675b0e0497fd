// RUN: sdy-opt %s --load-plugin=%S/fragments.py -split-input-file -verify-diagnostics -sdy-add-data-flow-edges

sdy.mesh @mesh = <["x"=2]>

func.func @unknown_axis(%x: tensor<8xf32>) {
  %0 = fragments.fragment <"f"> (%x) attributes {in_shardings = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} {
  // expected-error @+1 {{unknown axis name: "y"}}
  ^bb0(%a: tensor<8xf32>):
    fragments.return %a : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @another_attribute(%x: tensor<8xf32>) {
  // expected-error @+1 {{attribute 'in_shardings' failed to satisfy constraint: Tensor sharding per operand/result of an op}}
  %0 = fragments.fragment <"f"> (%x) attributes {in_shardings = 1} {
  ^bb0(%a: tensor<8xf32>):
    fragments.return %a : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @another_terminator(%x: tensor<8xf32>) {
  // expected-error @+1 {{expects regions to end with 'fragments.return', found 'sdy.return'}}
  %0 = fragments.fragment <"f"> (%x) {
  ^bb0(%a: tensor<8xf32>):
    sdy.return %a : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}
