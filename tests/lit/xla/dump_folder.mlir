// A folder of XLA's dumps is an input: alone it is listed, `:` chooses a program and a stage.
// RUN: rm -rf %t && mkdir -p %t/shardy/module_0001.jit_f %t/shardy/module_0002.jit_g %t/shardy/module_0003.jit_f %t/empty
// RUN: cp %s %t/shardy/module_0001.jit_f/00.input_module.mlir
// RUN: cp %s %t/shardy/module_0002.jit_g/00.input_module.mlir
// RUN: cp %s %t/shardy/module_0002.jit_g/02.after_propagation.mlir
// RUN: cp %s %t/shardy/module_0003.jit_f/00.input_module.mlir
// RUN: sdy-opt %t | filecheck %s
// CHECK:      program                  bytes  stages
// CHECK-NEXT: module_0001.jit_f {{.*}}  00.input_module
// CHECK-NEXT: module_0002.jit_g {{.*}}  00.input_module, 02.after_propagation
// CHECK-NEXT: module_0003.jit_f {{.*}}  00.input_module
// CHECK:      sdy-opt {{.*}}:0001 reads the input of a program, {{.*}}:0001:03 a later stage

// RUN: sdy-opt %t:jit_g --report | filecheck %s --check-prefix=REPORT
// RUN: sdy-opt %t/shardy/module_0003.jit_f --report | filecheck %s --check-prefix=REPORT
// RUN: sdy-opt %t:0001:00 --report | filecheck %s --check-prefix=REPORT
// RUN: sdy-opt %t:module_0002.jit_g:after_propagation --compare-with=%t:jit_g | filecheck %s --check-prefix=COMPARE
// REPORT: 2 devices, mesh <["x"=2]>
// REPORT: assumed: sdy-jax-pipeline, which imports shardings by xla-sdy-round-trip-import-pipeline
// COMPARE: before {{.*}}:jit_g

// What is no regular file is no stage: reading it may wait for ever, or not end.
// RUN: ln -s /dev/zero %t/shardy/module_0002.jit_g/03.after_partitioner_passes.mlir && ln -s . %t/shardy/loop
// RUN: sdy-opt %t | filecheck %s
// RUN: not sdy-opt %t:jit_g:03 2>&1 | filecheck %s --check-prefix=DEVICE
// DEVICE: has no stage '03'

// RUN: not sdy-opt %t --report 2>&1 | filecheck %s --check-prefix=MANY
// MANY: has 3 programs
// MANY: help: choose one: {{.*}}:0001
// RUN: not sdy-opt %t:jit_f 2>&1 | filecheck %s --check-prefix=TWO
// TWO: has 2 programs 'jit_f'
// TWO: help: write {{.*}}:0001 or {{.*}}:0003
// RUN: not sdy-opt %t:jit_h 2>&1 | filecheck %s --check-prefix=NONE
// NONE: has no program 'jit_h'
// RUN: not sdy-opt %t:jit_g:01 2>&1 | filecheck %s --check-prefix=STAGE
// STAGE: program 'module_0002.jit_g' has no stage '01'
// STAGE: help: choose from input_module, after_propagation
// RUN: not sdy-opt %t/empty 2>&1 | filecheck %s --check-prefix=EMPTY
// EMPTY: has no dump of Shardy
// EMPTY: help: XLA writes one with XLA_FLAGS='--xla_dump_to=FOLDER --xla_dump_hlo_pass_re=.*'
func.func @main(%a: tensor<8xf32> {mhlo.sharding = "{mesh['x'=2], [{'x'}]}"}) -> tensor<8xf32> {
  %0 = stablehlo.negate %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
