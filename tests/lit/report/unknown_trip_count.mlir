// What a loop of unknown trip count sends is told for one iteration, and in total for an assumed trip count.
// RUN: split-file %s %t
// RUN: sdy-opt %t/program.mlir --report | filecheck %s
// CHECK:      communication: 6.00 KiB × n on the wire per device, 1 collective
// CHECK:      × n: in each iteration of a loop of unknown trip count ({{.*}}program.mlir:[[#LINE:]]); give it with
// CHECK-NEXT: --assume-trips=[[#LINE]]=N
// CHECK:      6.00 KiB × n {{.*}} reduce_scatter {"x"}

// RUN: sdy-opt %t/program.mlir --report --assume-trips=10 | filecheck %s --check-prefix=TEN
// RUN: sdy-opt %t/program.mlir --report --assume-trips=7 --assume-trips=5=10 | filecheck %s --check-prefix=TEN
// TEN:        communication: 60.0 KiB on the wire per device, 1 collective

// A budget that limits an unknown figure fails, unless that is allowed.
// RUN: not sdy-opt %t/program.mlir --budget=%t/budget.toml -o /dev/null 2>&1 | filecheck %s --check-prefix=BUDGET
// RUN: not sdy-opt %t/program.mlir --budget=%t/budget.toml --assume-trips=10 -o /dev/null 2>&1 | filecheck %s --check-prefix=EXCEEDED
// RUN: sdy-opt %t/program.mlir --budget=%t/budget.toml --budget-allow-unknown -o /dev/null 2>&1 | filecheck %s --check-prefix=ALLOWED
// BUDGET:     budget.toml:2:{{[0-9]+}}: error: 1 of all collectives have unknown bytes and are not counted
// BUDGET:     help: give the trip count of the loop with --assume-trips=5=N, or allow unknown figures with --budget-allow-unknown
// EXCEEDED:   error: all collectives: 60.0 KiB on the wire, over the budget of 1 B
// ALLOWED:    warning: 1 of all collectives have unknown bytes

// Neither is a baseline of another program, or one in which they are known, passed.
// RUN: sdy-opt %t/other.mlir --report=%t/other.json -o /dev/null
// RUN: not sdy-opt %t/program.mlir --baseline=%t/other.json -o /dev/null 2>&1 | filecheck %s --check-prefix=OTHER
// RUN: sdy-opt %t/program.mlir --assume-trips=10 --report=%t/known.json -o /dev/null
// RUN: not sdy-opt %t/program.mlir --baseline=%t/known.json -o /dev/null 2>&1 | filecheck %s --check-prefix=KNOWN
// RUN: not sdy-opt %t/program.mlir --report --assume-trips=many 2>&1 | filecheck %s --check-prefix=USAGE
// OTHER:      error: the baseline is of another program: it has none of the operations of this one
// KNOWN:      error: 1 collectives have unknown bytes, where the baseline has 0
// USAGE:      for the --assume-trips option: 'many' is not LINE=N or N

//--- budget.toml
[total]
wire_bytes = 1

//--- other.mlir
sdy.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<64x64xf64> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<64x64xf64> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.sine %x : tensor<64x64xf64>
  return %0 : tensor<64x64xf64>
}

//--- program.mlir
sdy.mesh @mesh = <["x"=4]>

func.func @main(%x: tensor<16x128xf32>, %w: tensor<128x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %n: tensor<i32>) -> tensor<16x128xf32> {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %c0, %h = %x) : tensor<i32>, tensor<16x128xf32>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %c1 : tensor<i32>
    %y = stablehlo.dot %h, %w : (tensor<16x128xf32>, tensor<128x128xf32>) -> tensor<16x128xf32>
    stablehlo.return %j, %y : tensor<i32>, tensor<16x128xf32>
  }
  return %r#1 : tensor<16x128xf32>
}
