// RUN: sdy-opt %s --verify-each=false -sdy-close-shardings | filecheck %s
// RUN: sdy-opt %s --verify-each=false -sdy-close-shardings --mlir-print-assume-verified \
// RUN:   | filecheck %s --check-prefix=ASSUMED

sdy.mesh @mesh = <["x"=2]>

// An invalid program is printed in the generic form, which omits nothing. Here a closed dimension without
// axes has a priority.
// CHECK: "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{}p1]>}]

// With --mlir-print-assume-verified, it is printed in the custom form, without verifying it first.
// ASSUMED: func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}p1]>})
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}p1]>}) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
