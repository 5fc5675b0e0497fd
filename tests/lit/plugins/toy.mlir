// RUN: sdy-opt %s --load-plugin=%S/toy.py -canonicalize | filecheck %s
// RUN: sdy-opt %s --load-plugin=%S/toy.py --emit-bytecode | sdy-opt --load-plugin=%S/toy.py -canonicalize | filecheck %s

// CHECK-LABEL: toy.func private @transpose_twice(%arg0: tensor<*xf64>) -> tensor<*xf64> {
// CHECK-NEXT:    return %arg0 : tensor<*xf64>
toy.func private @transpose_twice(%arg0: tensor<*xf64>) -> tensor<*xf64> {
  %0 = toy.transpose(%arg0 : tensor<*xf64>) to tensor<*xf64>
  %1 = toy.transpose(%0 : tensor<*xf64>) to tensor<*xf64>
  toy.return %1 : tensor<*xf64>
}

// CHECK-LABEL: toy.func @main()
// CHECK-NEXT:    %[[A:.*]] = constant dense<{{.*}}> : tensor<2x3xf64>
// CHECK-NEXT:    %[[CALL:.*]] = generic_call @transpose_twice(%[[A]]) : (tensor<2x3xf64>) -> tensor<*xf64>
// CHECK-NEXT:    print %[[CALL]] : tensor<*xf64>
// CHECK-NEXT:    return
toy.func @main() {
  %0 = toy.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf64>
  %1 = toy.generic_call @transpose_twice(%0) : (tensor<2x3xf64>) -> tensor<*xf64>
  toy.print %1 : tensor<*xf64>
  toy.return
}

// CHECK-LABEL: toy.func @structs
// CHECK:         struct_access %arg0[1] : !toy.struct<tensor<*xf64>, !toy.struct<tensor<2xf64>>> -> !toy.struct<tensor<2xf64>>
toy.func @structs(%s: !toy.struct<tensor<*xf64>, !toy.struct<tensor<2xf64>>>) -> !toy.struct<tensor<2xf64>> {
  %0 = toy.struct_access %s[1] : !toy.struct<tensor<*xf64>, !toy.struct<tensor<2xf64>>> -> !toy.struct<tensor<2xf64>>
  toy.return %0 : !toy.struct<tensor<2xf64>>
}
