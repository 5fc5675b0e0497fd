// RUN: split-file %s %t
// A report that an earlier run wrote: its figures, and the shardings of the values that are live at the peak.
// RUN: sdy-opt %t/old.mlir --report=%t/report.json -o /dev/null
// RUN: sdy-opt %t/old.mlir --compare-with=%t/report.json | filecheck %s --check-prefix=SAME
// RUN: sdy-opt %t/new.mlir --compare-with=%t/report.json | filecheck %s
// On a machine, both programs run the passes of its compiler.
// RUN: sdy-opt %t/moved.mlir --compare-with=%t/old.mlir --topology=tpu-v5e | filecheck %s --check-prefix=MACHINE
// RUN: not sdy-opt %t/new.mlir --compare-with=%t/faulty.json 2>&1 | filecheck %s --check-prefix=FAULTY
// RUN: not sdy-opt %t/new.mlir --compare-with=%t/other.json 2>&1 | filecheck %s --check-prefix=OTHER

// MACHINE:      before {{.*}}old.mlir
// MACHINE-NEXT: after {{.*}}moved.mlir
// MACHINE-NEXT: assumed: sdy-jax-pipeline{compiler=tpu},
// SAME:       no difference: 2 values at the peak of memory
// CHECK:      shardings: 1 of 2 values at the peak of memory changed
// CHECK-NEXT:   a report has no other shardings: compare with the program or a snapshot to see all
// CHECK-NEXT:   change  count  where {{ *}} what       value
// CHECK-NEXT:   +128 B      1  new.mlir:{{[0-9]+}}  operation  %0
// CHECK-NEXT:         f32[8,8]: P('x') → P()
// CHECK:      communication: 0 B → 128 B (+128 B) on the wire per device, 0 → 1 collectives
// CHECK-NEXT:   change  after  count  where
// CHECK-NEXT:   +128 B  128 B      1  new.mlir:{{[0-9]+}}  all_gather {"x"}
// CHECK:      memory per device: 256 B → 384 B (+128 B) at the peak
// FAULTY:     faulty.json:1:2: error: invalid JSON
// FAULTY:     help: write a report with --report=FILE.json
// OTHER:      other.json:1:1: error: not a report of sdy-opt: it has no "schema": "sdy-opt-report"

//--- old.mlir
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

//--- moved.mlir
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.tanh %a : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

//--- new.mlir
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

//--- faulty.json
{faulty

//--- other.json
{"schema": "sdy-opt-snapshot", "version": 1}
