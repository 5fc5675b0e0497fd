// A snapshot has a line for each argument and result, and for values with a location: here the name stack of JAX,
// and the function and file of the user. Equal values are counted.
// RUN: sdy-opt %s -sdy-propagation-pipeline --snapshot | filecheck %s
// It needs no line numbers, so code that moves leaves it as it is.
// RUN: sed 's/12:4/99:4/' %s > %t.moved.mlir
// RUN: sdy-opt %s -sdy-propagation-pipeline --snapshot=%t.json | filecheck %s --check-prefix=PROGRAM
// RUN: sdy-opt %t.moved.mlir -sdy-propagation-pipeline --check-snapshot=%t.json -o /dev/null
// --snapshot-places limits the values; the check then needs no flag.
// RUN: sdy-opt %s -sdy-propagation-pipeline --snapshot-places=decoder,encoder.py --snapshot=%t.places.json -o /dev/null
// RUN: filecheck %s --check-prefix=PLACES < %t.places.json
// RUN: sdy-opt %s -sdy-propagation-pipeline --check-snapshot=%t.places.json -o /dev/null

// CHECK:      {
// CHECK-NEXT:  "schema": "sdy-opt-snapshot",
// CHECK-NEXT:  "version": 1,
// CHECK-NEXT:  "meshes": {
// CHECK-NEXT:   "mesh": "x=2, y=4"
// CHECK-NEXT:  },
// CHECK-NEXT:  "functions": {
// CHECK-NEXT:   "main": {
// CHECK-NEXT:    "arguments": [
// CHECK-NEXT:     {"name": "batch", "type": "tensor<8x16xf32>", "sharding": [["x"], ["y:(1)2"]]},
// CHECK-NEXT:     {"name": "bias", "type": "tensor<8x16xf32>", "sharding": [["x"], []]}
// CHECK-NEXT:    ],
// CHECK-NEXT:    "results": [
// CHECK-NEXT:     {"name": "loss", "type": "tensor<8x16xf32>", "sharding": [["x"], []]}
// CHECK-NEXT:    ]
// CHECK-NEXT:   }
// CHECK-NEXT:  },
// CHECK-NEXT:  "values": [
// CHECK-NEXT:   {"at": "decoder/add", "in": "attend in model.py", "type": "tensor<8x16xf32>", "sharding": [["x"], ["y:(1)2"]], "count": 2},
// CHECK-NEXT:   {"at": "encoder/tanh", "in": "model.py", "type": "tensor<8x16xf32>", "sharding": [["x"], ["y:(1)2"]]}
// CHECK-NEXT:  ]
// CHECK-NEXT: }
// PROGRAM:    func.func @main
// PLACES:      "places": ["decoder", "encoder.py"],
// PLACES:      "values": [
// PLACES-NEXT:   {"at": "decoder/add",
// PLACES-NEXT: {{^ *\]}}
sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y":(1)2}]>} loc("batch"),
                %b: tensor<8x16xf32> loc("bias")) -> (tensor<8x16xf32> {jax.result_info = "loss"}) {
  %0 = stablehlo.add %a, %b : tensor<8x16xf32> loc("decoder/add"(callsite("attend"("model.py":12:4) at "main.py":1:1)))
  %1 = stablehlo.add %0, %b : tensor<8x16xf32> loc("decoder/add"(callsite("attend"("model.py":13:4) at "main.py":1:1)))
  %2 = stablehlo.tanh %1 : tensor<8x16xf32> loc("encoder/tanh"("model.py":20:4))
  // An operation without a location, constants and scalars are not in a snapshot.
  %3 = stablehlo.negate %2 : tensor<8x16xf32>
  return %3 : tensor<8x16xf32>
}
