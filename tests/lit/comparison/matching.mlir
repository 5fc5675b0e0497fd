// RUN: split-file %s %t
// Names of values, private functions and meshes, the order of functions and line numbers make no difference.
// RUN: sdy-opt %t/renamed.mlir --compare-with=%t/program.mlir | filecheck %s --check-prefix=SAME

// An inserted operation is the only difference: all other values still correspond to those of the other program.
// RUN: sdy-opt %t/inserted.mlir --compare-with=%t/program.mlir | filecheck %s --check-prefix=INSERTED

// SAME:      mesh    <["x"=2]>
// SAME-EMPTY:
// SAME-NEXT: no difference: 5 values
// SAME-NOT:  {{.}}

// INSERTED:      shardings: 0 of 5 values changed
// INSERTED:      1 value only after
// INSERTED-NEXT:   count  where {{ *}} what    value
// INSERTED-NEXT:       1  inserted.mlir:7  negate  @main %0

//--- program.mlir
sdy.mesh @mesh = <["x"=2]>

func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = func.call @square(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.tanh %0 : tensor<8xf32>
  %2 = stablehlo.add %1, %a : tensor<8xf32>
  return %2 : tensor<8xf32>
}

func.func private @square(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.multiply %a, %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}

//--- renamed.mlir
sdy.mesh @devices = <["x"=2]>

func.func private @power(%x: tensor<8xf32>) -> tensor<8xf32> {
  %product = stablehlo.multiply %x, %x : tensor<8xf32>
  return %product : tensor<8xf32>
}

func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@devices, [{"x"}]>}) -> tensor<8xf32> {
  %power = func.call @power(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %y = stablehlo.tanh %power : tensor<8xf32>
  %z = stablehlo.add %y, %x : tensor<8xf32>
  return %z : tensor<8xf32>
}

//--- inserted.mlir
sdy.mesh @mesh = <["x"=2]>

// Lines move, too.

func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {

  %new = stablehlo.negate %a : tensor<8xf32>
  %0 = func.call @square(%new) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.tanh %0 : tensor<8xf32>
  %2 = stablehlo.add %1, %a : tensor<8xf32>
  return %2 : tensor<8xf32>
}

func.func private @square(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.multiply %a, %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
