// A tensor of booleans without elements takes no bytes in a portable artifact.
// RUN: sdy-opt %s --target=1.9.0 | sdy-opt | filecheck %s
// RUN: sdy-opt %s --emit-bytecode | sdy-opt | filecheck %s

// CHECK: stablehlo.constant dense<> : tensor<0xi1>
func.func @f() -> tensor<0xi1> {
  %0 = stablehlo.constant dense<> : tensor<0xi1>
  return %0 : tensor<0xi1>
}
