// RUN: sdy-opt %s -strip-debuginfo --mlir-print-debuginfo --mlir-print-local-scope | filecheck %s

// Locations of operations, function arguments and block arguments become unknown.
// CHECK-LABEL: func.func @nowhere(%arg0: tensor<i32> loc(unknown))
func.func @nowhere(%x: tensor<i32> loc("argument")) -> tensor<i32> {
  // CHECK-NEXT: stablehlo.while(%iterArg = %arg0) : tensor<i32> attributes {source = loc("kept")}
  // CHECK:        stablehlo.compare {{.*}} loc(unknown)
  // CHECK-NEXT:   stablehlo.return {{.*}} loc(unknown)
  // CHECK:        stablehlo.return {{.*}} loc(unknown)
  // CHECK-NEXT: } loc(unknown)
  // CHECK-NEXT: return {{.*}} loc(unknown)
  // CHECK-NEXT: } loc(unknown)
  // A location that is the value of an attribute is kept.
  %0 = stablehlo.while(%i = %x) : tensor<i32> attributes {source = loc("kept")}
  cond {
    %1 = stablehlo.compare LT, %i, %i : (tensor<i32>, tensor<i32>) -> tensor<i1> loc("condition")
    stablehlo.return %1 : tensor<i1>
  } do {
    stablehlo.return %i : tensor<i32>
  } loc(callsite("loop" at "function"))
  return %0 : tensor<i32>
}
