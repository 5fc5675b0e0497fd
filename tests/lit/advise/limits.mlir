// RUN: sdy-opt %s --advise --advise-memory=20kB --report-rows=1 | filecheck %s --check-prefix=MEMORY
// RUN: sdy-opt %s --advise --advise-from-scratch --report-rows=0 | filecheck %s --check-prefix=SCRATCH
// RUN: sdy-opt %s --advise --advise-from-scratch --advise-memory=1kB | filecheck %s --check-prefix=EXCESS
// RUN: sdy-opt %s --advise --advise-changes=2 --report-rows=0 | filecheck %s --check-prefix=CHANGES
// RUN: not sdy-opt %s -sdy-propagation-pipeline --advise 2>&1 | filecheck %s --check-prefix=PASSES
// RUN: sdy-opt %s -sdy-propagation-pipeline=enable-insert-explicit-collectives=true -o %t.collectives.mlir
// RUN: sdy-opt %t.collectives.mlir --advise | filecheck %s --check-prefix=NONE
// RUN: not sdy-opt %s --advise=%t.pdf 2>&1 | filecheck %s --check-prefix=SUFFIX
// RUN: not sdy-opt %s --advise --advise-memory=lots 2>&1 | filecheck %s --check-prefix=SIZE
// RUN: not sdy-opt %s --advise --advise-memory=20kB --advise-verify --jax-python=no-such-python 2>&1 | filecheck %s --check-prefix=NO-JAX

// A program above the limit gets what lowers its peak memory, and costs no more of the time than that is of the excess.
//
// MEMORY: 1 change lowers the peak memory, which is above the limit
// MEMORY: peak memory 26.0 KiB → {{[0-9.]+}} KiB (−

// Without any annotation, the batch and the weights are sharded from nothing.
//
// SCRATCH: one after the other, of {{[0-9]+}} tried
// SCRATCH: useful FLOPs {{.*}} → 100%

// No annotations make it fit, which is said.
//
// EXCESS: the peak memory is {{[0-9.]+}} KiB above the limit

// The only change that helps shards the result otherwise, which is said.
//
// CHANGES: 1 change, one after the other, of {{[0-9]+}} tried
// CHANGES: result 0, which has no annotation, becomes P(('data', 'model'))

// PASSES:      sdy-opt: the --advise option runs sdy-jax-pipeline on changed programs, and takes no passes
// PASSES-NEXT: help: leave the passes out

// NONE: no advice: the program cannot be changed, because it has its collectives already

// SUFFIX:      sdy-opt: for the --advise option: '{{.*}}.pdf' has the suffix of no format of advice
// SUFFIX-NEXT: help: choose from .html, .json, .md, .txt
// SIZE:        sdy-opt: for the --advise-memory option: 'lots' is not a size of memory
// SIZE-NEXT:   help: such as 16GiB

// NO-JAX: error: cannot verify: cannot run 'no-such-python': {{.*}}
// NO-JAX: help: name a Python with jax

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(
    %x: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("x"),
    %up: tensor<32x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>} loc("weights['up']"),
    %down: tensor<128x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>} loc("weights['down']"))
    -> tensor<64x32xf32> {
  %0 = stablehlo.dot_general %x, %up, contracting_dims = [1] x [0]
    : (tensor<64x32xf32>, tensor<32x128xf32>) -> tensor<64x128xf32>
  %1 = stablehlo.tanh %0 : tensor<64x128xf32>
  %2 = stablehlo.dot_general %1, %down, contracting_dims = [1] x [0]
    : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
  return %2 : tensor<64x32xf32>
}
