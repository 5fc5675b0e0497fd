// RUN: sdy-opt %s --check --device-memory=1GiB | filecheck %s --match-full-lines
// RUN: sdy-opt %s --explain=model.py:20 | filecheck %s --check-prefix=LINE
// The passes run on their own if they are verified one by one.
// RUN: sdy-opt %s --check --verify-each --device-memory=1GiB | filecheck %s --match-full-lines
// RUN: sdy-opt %s --check --device-memory=1MiB | filecheck %s --check-prefix=SMALL
// RUN: sdy-opt %s -sdy-partition-pipeline --check | filecheck %s --check-prefix=PARTITIONED
// RUN: not sdy-opt %s --check --device-memory=big 2>&1 | filecheck %s --check-prefix=SIZE

// Three figures, then the places that cost most: the line that a person would change, the reason, and the
// change that was tried. All layers of a line are one place, and the weights of all layers are changed at once.

// CHECK:      communication  768.0 KiB sent by each of 4 devices: 100% all_gather along x
// CHECK-NEXT: memory {{.*}} MiB at the peak (model.py:20), {{.*}} on TPU, fits in 1.00 GiB{{.*}}
// CHECK-NEXT: compute        536.9 MFLOP per device, 100% of them useful
// Without "x" on the weights, nothing would be sent, and each device would have to store all of them.
// CHECK-NEXT: no change saves 1% of the time ({{[0-9]+}} tried); most is sent by
// CHECK-NEXT: 1. model.py:20: 768.0 KiB (100%) sent in 4 all_gather along x
// CHECK-NEXT:    why: params[*]['up'] and 1 more are resharded from P('x') to P() for dot_general
// CHECK-NOT: {{.}}

// A line for which there is nothing to write says that, too.
// LINE:      why: params[*]['up'] and 1 more are resharded
// LINE-NEXT: no help was found: {{[0-9]+}} changes were tried

// SMALL: memory {{.*}} MiB at the peak (model.py:20), {{.*}} on TPU, does not fit in 1.00 MiB{{.*}}

// PARTITIONED: no change saves 1% of the time ({{[0-9]+}} tried); most is sent by

// SIZE:      for the --device-memory option: 'big' is not a size of memory
// SIZE-NEXT: help: such as 16GiB

#up = loc("jit(step)/jvp()/dot_general"("block"("model.py":20:5)))
#down = loc("jit(step)/transpose(jvp())/dot_general"("block"("model.py":20:9)))

sdy.mesh @mesh = <["x"=4]>
func.func public @main(
    %arg0: tensor<4096x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("batch"),
    %arg1: tensor<128x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("params[0]['up']"),
    %arg2: tensor<512x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("params[0]['down']"),
    %arg3: tensor<128x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("params[1]['up']"),
    %arg4: tensor<512x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("params[1]['down']"))
    -> (tensor<4096x128xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<4096x128xf32>, tensor<128x512xf32>) -> tensor<4096x512xf32> loc(#up)
  %1 = stablehlo.dot_general %0, %arg2, contracting_dims = [1] x [0] : (tensor<4096x512xf32>, tensor<512x128xf32>) -> tensor<4096x128xf32> loc(#down)
  %2 = stablehlo.dot_general %1, %arg3, contracting_dims = [1] x [0] : (tensor<4096x128xf32>, tensor<128x512xf32>) -> tensor<4096x512xf32> loc(#up)
  %3 = stablehlo.dot_general %2, %arg4, contracting_dims = [1] x [0] : (tensor<4096x512xf32>, tensor<512x128xf32>) -> tensor<4096x128xf32> loc(#down)
  return %3 : tensor<4096x128xf32>
}
