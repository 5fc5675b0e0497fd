// RUN: sdy-opt %s --lint=repeated-collective --lint-config=- 2>&1 >%t | filecheck %s
// RUN: filecheck %s --check-prefix=SUMMARY --input-file=%t

// Operations from one line of a Python program, such as those of repeated layers, have one finding of each rule: the most
// expensive one, with the number and the cost of all.
// CHECK:     train.py:7:3: warning: all_gather along "x" of f32[128,512] runs again on the same value: 768.0 KiB on the wire; 1 more like it on this line, 1.12 MiB in all [repeated-collective]
// CHECK-NOT: warning:

// SUMMARY:      1  repeated-collective  1.12 MiB on the wire
// SUMMARY-NEXT: 1 finding of 1 rule

#line = loc("train.py":7:3)
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<512x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %b: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<512x256xf32>, tensor<512x256xf32>, tensor<512x512xf32>, tensor<512x512xf32>) {
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<512x256xf32>
  %1 = stablehlo.negate %0 : tensor<512x256xf32>
  %2 = sdy.all_gather [{"x"}, {}] %b out_sharding=<@mesh, [{}, {}]> : tensor<512x512xf32>
  %3 = stablehlo.negate %2 : tensor<512x512xf32>
  %4 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<512x256xf32> loc(#line)
  %5 = stablehlo.abs %4 : tensor<512x256xf32> loc(#line)
  %6 = sdy.all_gather [{"x"}, {}] %b out_sharding=<@mesh, [{}, {}]> : tensor<512x512xf32> loc(#line)
  %7 = stablehlo.abs %6 : tensor<512x512xf32> loc(#line)
  return %1, %5, %3, %7 : tensor<512x256xf32>, tensor<512x256xf32>, tensor<512x512xf32>, tensor<512x512xf32>
}
