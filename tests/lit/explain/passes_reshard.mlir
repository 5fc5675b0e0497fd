// Reshards that passes insert are none of the program.
// RUN: split-file %s %t
// RUN: sdy-opt %t/custom_call.mlir --explain=#0 2>/dev/null | filecheck %s --check-prefix=CALL
// RUN: sdy-opt %t/parts.mlir --explain=#0 --explain=#1 | filecheck %s --check-prefix=PARTS

// CALL: #0 all_gather along {"x"} of %a
// CALL: custom_call @k needs this sharding of a function argument: it has no sharding rule
// CALL-NOT: the program reshards it

// PARTS:      stablehlo.reshape splits dimension 1 of operand 0, which has 4 shards along
// PARTS-NEXT: they do not divide 6, the size of dimension 1 of the result
// PARTS-NOT:  device order
// PARTS:      #1 all_gather along {"m":(1)2} of %0
// PARTS:      result 0 of @main is sharded P(): results are not sharded along sub-axes

//--- custom_call.mlir
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<64x64xf32> {
  %0 = stablehlo.custom_call @k(%a) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

//--- parts.mlir
sdy.mesh @mesh = <["m"=4]>
func.func @main(%a: tensor<3x600xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}) -> tensor<3x6x100xf32> {
  %0 = stablehlo.reshape %a : (tensor<3x600xf32>) -> tensor<3x6x100xf32>
  return %0 : tensor<3x6x100xf32>
}
