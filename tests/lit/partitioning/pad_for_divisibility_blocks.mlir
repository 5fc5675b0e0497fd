// RUN: sdy-opt %s -sdy-pad-for-divisibility | filecheck %s

// A block after the entry block may have more arguments than the function. They have no shardings.
// CHECK-LABEL: func.func @branch
func.func @branch(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: cf.br ^bb1(%arg0, %arg0 : tensor<8xf32>, tensor<8xf32>)
  cf.br ^bb1(%a, %a : tensor<8xf32>, tensor<8xf32>)
^bb1(%b: tensor<8xf32>, %c: tensor<8xf32>):
  return %c : tensor<8xf32>
}
