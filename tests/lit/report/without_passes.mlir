// Without a pass, a report is on what becomes of a program of JAX, and says so: the call is inlined, so that its
// result without uses takes no memory, and shardings propagate through chlo.
// RUN: sdy-opt %s --report -o %t.mlir | filecheck %s
// RUN: sdy-opt %s --report=%t.txt | filecheck %s --check-prefix=SILENT --allow-empty
// RUN: sdy-opt %s --report=%t.txt -o - | filecheck %s --check-prefix=PROGRAM
// RUN: sdy-opt %s -sdy-jax-pipeline --report | filecheck %s --check-prefixes=FIGURES,NAMED

// SILENT-NOT: func
// PROGRAM:    func
// CHECK:      8 devices, mesh <["data"=8]>
// CHECK-NEXT: assumed: sdy-jax-pipeline, which does what XLA does for a program of JAX
// FIGURES:    communication: 448.0 KiB on the wire per device, 1 collective
// FIGURES:    all_reduce {"data"}
// FIGURES:    memory per device: peak 1.25 MiB
// FIGURES:    compute per device: 33.6 MFLOP in 1 product, 100% of them useful
// CHECK:      communication: 448.0 KiB on the wire per device, 1 collective
// NAMED-NOT:  assumed

// The program that it reports on is the output.
// RUN: filecheck %s --check-prefix=PROGRAM < %t.mlir
// PROGRAM:      %0 = stablehlo.tanh %arg0
// PROGRAM-NEXT: %1 = chlo.square %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"data"}]>]>}
// PROGRAM-NEXT: %2 = stablehlo.dot %1, %arg1
// PROGRAM-NEXT: %3 = sdy.all_reduce {"data"} %2
// PROGRAM-NEXT: return %3

// A program that has its collectives is reported as it is.
// RUN: sdy-opt %t.mlir --report | filecheck %s --check-prefix=DONE
// DONE: assumed: no pass, because the program has collectives
// DONE: communication: 448.0 KiB on the wire per device, 1 collective
// RUN: sdy-opt %s -sdy-partition-pipeline -o %t.local.mlir && sdy-opt %t.local.mlir --report | filecheck %s --check-prefix=LOCAL
// LOCAL: assumed: no pass, because the program is partitioned
// LOCAL: communication: 448.0 KiB on the wire per device, 1 collective

// So are comparisons, explanations and checks. A program that is only printed stays as it is.
// RUN: sdy-opt %s --compare-with=%t.mlir | filecheck %s --check-prefix=COMPARE
// RUN: sdy-opt %s --explain="@main %%1" | filecheck %s --check-prefix=EXPLAIN
// RUN: sdy-opt %s --report=%t.json -o /dev/null && sdy-opt %s --baseline=%t.json -o /dev/null
// RUN: sdy-opt %s | filecheck %s --check-prefix=AS-IT-IS
// COMPARE:         assumed: no pass, because the program has collectives
// COMPARE:         assumed: sdy-jax-pipeline
// EXPLAIN:         assumed: sdy-jax-pipeline
// EXPLAIN:         %1 of @main: {{.*}} is sharded P(None, 'data')
// AS-IT-IS:        call @activation
sdy.mesh @mesh = <["data"=8]>

func.func @main(%a: tensor<256x2048xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}]>},
                %w: tensor<2048x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> tensor<256x256xf32> {
  %0:2 = func.call @activation(%a) : (tensor<256x2048xf32>) -> (tensor<256x2048xf32>, tensor<256x2048xf32>)
  %1 = chlo.square %0#0 : tensor<256x2048xf32> -> tensor<256x2048xf32>
  %2 = stablehlo.dot %1, %w : (tensor<256x2048xf32>, tensor<2048x256xf32>) -> tensor<256x256xf32>
  return %2 : tensor<256x256xf32>
}

func.func private @activation(%a: tensor<256x2048xf32>) -> (tensor<256x2048xf32>, tensor<256x2048xf32>) {
  %0 = stablehlo.tanh %a : tensor<256x2048xf32>
  %1 = stablehlo.exponential %a : tensor<256x2048xf32>
  return %0, %1 : tensor<256x2048xf32>, tensor<256x2048xf32>
}
