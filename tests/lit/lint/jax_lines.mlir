// In a program of JAX, a finding is at the line that a person would change, not in a helper, and shows it if the file is
// below the current folder or that of the input.
// RUN: split-file %s %t
// RUN: sdy-opt %t/program.mlir --lint=repeated-collective --lint-config=- 2>&1 | filecheck %s

// CHECK:      model.py:4:8: warning: all_gather along "x" of f32[128,512] runs again on the same value
// CHECK-NEXT: {{^}}    b = absolute(w)
// CHECK-NEXT: {{^}}       ^
// CHECK-NEXT: model.py:9:3: note: called from
// CHECK-NEXT: model.py:3:8: note: the first result is for this use

// An argument has no line of Python. The finding of its change is where more is sent without it.
// RUN: sdy-opt %t/argument.mlir --lint=cheaper-sharding --lint-config=- 2>&1 | filecheck %s --check-prefix=ARGUMENT

// ARGUMENT:      model.py:4:8: warning: shard the input w as
// ARGUMENT-NEXT: {{^}}    b = absolute(w)
// ARGUMENT-NEXT: {{^}}       ^
// ARGUMENT-NEXT: model.py:4:8: note: why: model.py:4: 768.0 KiB (100%) sent, all_to_all along x

//--- model.py
def layer(w):
    # Two uses of a weight.
    a = absolute(w)
    b = absolute(w)
    return a + b


def step(w):
  return layer(w)

//--- program.mlir
#helper = loc("absolute"("helpers.py":1:0))
#outer = loc("step"("model.py":9:2))
#top = loc(callsite(#outer at "<module>"("model.py":12:0)))
#a = loc("jit(step)/abs"(callsite(#helper at callsite("layer"("model.py":3:7) at #top))))
#b = loc("jit(step)/abs"(callsite(#helper at callsite("layer"("model.py":4:7) at #top))))

sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<512x512xf32>, tensor<512x512xf32>) {
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<512x512xf32> loc(#a)
  %1 = stablehlo.abs %0 : tensor<512x512xf32> loc(#a)
  %2 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<512x512xf32> loc(#b)
  %3 = stablehlo.abs %2 : tensor<512x512xf32> loc(#b)
  return %1, %3 : tensor<512x512xf32>, tensor<512x512xf32>
}

//--- argument.mlir
#helper = loc("absolute"("helpers.py":1:0))
#outer = loc("step"("model.py":9:2))
#top = loc(callsite(#outer at "<module>"("model.py":12:0)))
#a = loc("jit(step)/abs"(callsite(#helper at callsite("layer"("model.py":3:7) at #top))))
#b = loc("jit(step)/abs"(callsite(#helper at callsite("layer"("model.py":4:7) at #top))))

sdy.mesh @mesh = <["x"=4]>
func.func @main(%w: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("w"))
    -> (tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = stablehlo.abs %w : tensor<1024x1024xf32> loc(#a)
  %1 = stablehlo.add %0, %w : tensor<1024x1024xf32> loc(#b)
  return %1 : tensor<1024x1024xf32>
}
