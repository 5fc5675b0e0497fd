// RUN: sdy-opt %s -sdy-reshard-to-collectives -verify-diagnostics

// If there are several invalid uses of symbols after a pass, the error is about the first one in the last function, as
// in C++.
sdy.mesh @mesh = <["x"=2]>
sdy.mesh @twin = <["x"=2]>

func.func @first(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = sdy.reshard %a <@twin, [{"x"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// expected-note @+1 {{operand mesh: #sdy.mesh<["x"=2]>}}
func.func @last(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32>, tensor<8xf32>) {
  // expected-error @+1 {{'sdy.collective_permute' op result mesh name is different but same device ids as operand}}
  %0 = sdy.reshard %a <@twin, [{"x"}]> : tensor<8xf32>
  %1 = sdy.reshard %a <@twin, [{"x"}]> : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
