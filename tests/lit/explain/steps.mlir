// A page steps through propagation: it has the program, and for each step the operation and its factors. The page
// shows the source, so comments are left out here.

// RUN: grep -v "^//" %s > %t.mlir
// RUN: sdy-opt %t.mlir -sdy-propagation-pipeline --explain-steps=%t.html | filecheck %s --check-prefix=PROGRAM
// RUN: filecheck %s --input-file=%t.html

// The program is still on stdout.
// PROGRAM: stablehlo.add %arg0, %arg1 {{.*}}<@mesh, [{"x"}]>

// The page has a slider, and the source as text.
// CHECK: <!doctype html>
// CHECK: steps of propagation</title>
// CHECK: <input id="slider" type="range" min="0" max="3"
// CHECK: stablehlo.add %a, %b : tensor\u003c8xf32>\n

// Its data has the values and shardings,
// CHECK: "axes":["x"],"shardings":["[{\"x\"}]","[{\"x\", ?}]"],"values":[["%0",[[LINE:[0-9]+]]],["result 0 of @main",
// the addition with its operands %a and %b and its result,
// CHECK-SAME: "sites":[[[[LINE]],"main","stablehlo.add",[2,3,0],
// the table of its factor i of size 8: %a has the axis in a closed dimension, and the result gets it,
// CHECK-SAME: "tables":{{\[\[\[\["i",8,"pass-through"\]\],}}
// CHECK-SAME: {{\[\["\[i\]",\[\["\\"x\\"","",true\]\]\],\["\[i\]",\[\["","",true\]\]\],\["\[i\]",\[\["","\\"x\\"",false\]\]\]\],}}
// what does not propagate in the step,
// CHECK-SAME: "\"x\" does not propagate to dimension 0 of {{.}}1{{.}}: dimension 0 of {{.}}1{{.}} is closed"
// the steps, each with its changes: the annotation of %a, the addition, the return,
// CHECK-SAME: "steps":{{\[\[-1,0,-1,\[\[2,-1,0\]\]\],\[0,1,0,\[\[0,-1,1\]\]\],\[1,1,1,\[\[1,-1,1\]\]\]\]}}
// and what has not propagated in the end.
// CHECK-SAME: "main","\"x\" does not shard dimension 0 of %b, though it shards dimension 0 of %a and %0"

sdy.mesh @mesh = <["x"=2]>

func.func @main(
    %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
    %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> tensor<8xf32> {
  %0 = stablehlo.add %a, %b : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Nothing propagates without a propagation pass, and no file is written.
// RUN: not sdy-opt %s -cse --explain-steps=%t.none.html 2>&1 | filecheck %s --check-prefix=NOTHING
// NOTHING: error: there is nothing to explain: no pass has propagated shardings
// RUN: not ls %t.none.html

// RUN: not sdy-opt %s --explain-steps=steps.txt 2>&1 | filecheck %s --check-prefix=SUFFIX
// SUFFIX: sdy-opt: for the --explain-steps option: 'steps.txt' does not end with .html
// SUFFIX-NEXT: help: such as steps.html
