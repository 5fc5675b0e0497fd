// RUN: sdy-opt %s | filecheck %s
// RUN: sdy-opt %s -mlir-print-op-generic | sdy-opt - | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @empty = <[]>

// Inside, a tensor has its local shape along the manual axes; free axes still shard it.
// CHECK-LABEL: func.func @local_shapes
func.func @local_shapes(%arg: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // CHECK: %[[OUT:.*]] = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x", "y"}, {}]>]
  // CHECK-SAME: out_shardings=[<@mesh, [{}, {"x"}], replicated={"y"}>] manual_axes={"x"} (%[[IN:.*]]: tensor<4x16xf32>) {
  %0 = sdy.manual_computation(%arg) in_shardings=[<@mesh, [{"x", "y"}, {}]>] out_shardings=[<@mesh, [{}, {"x"}], replicated={"y"}>] manual_axes={"x"} (%in: tensor<4x16xf32>) {
    // CHECK-NEXT: %[[LOCAL:.*]] = stablehlo.reshape %[[IN]] {{.*}} : (tensor<4x16xf32>) -> tensor<8x8xf32>
    %1 = stablehlo.reshape %in {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : (tensor<4x16xf32>) -> tensor<8x8xf32>
    // CHECK-NEXT: sdy.return %[[LOCAL]] : tensor<8x8xf32>
    sdy.return %1 : tensor<8x8xf32>
  // CHECK-NEXT: } {test.note} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  } {test.note} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  // CHECK-NEXT: return %[[OUT]]
  return %0 : tensor<8x16xf32>
}

// Blanks around `=`, and argument attributes, are ignored.
// CHECK-LABEL: func.func @layout
func.func @layout(%arg: tensor<8xf32>) {
  // CHECK: sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{}]>] out_shardings=[] manual_axes={"y"} (%arg1: tensor<8xf32>) {
  sdy.manual_computation (%arg) in_shardings = [ <@mesh, [{}]> ] out_shardings = [] manual_axes = {"y"} (%in: tensor<8xf32> {test.dropped}) {
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// Without operands and results, manual axes are optional.
// CHECK-LABEL: func.func @nothing
func.func @nothing() {
  // CHECK:      sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
  // CHECK-NEXT:   sdy.return
  // CHECK-NEXT: } : () -> ()
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
    sdy.return
  } : () -> ()
  return
}

// A nested manual computation binds other axes. An empty mesh is compatible with any mesh.
// CHECK-LABEL: func.func @nested
func.func @nested(%arg: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // CHECK: manual_axes={"x"} (%arg1: tensor<4x16xf32>) {
  %0 = sdy.manual_computation(%arg) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%outer: tensor<4x16xf32>) {
    // CHECK: in_shardings=[<@empty, [{}, {}]>] out_shardings=[<@mesh, [{}, {"y"}]>] manual_axes={"y"} (%arg2: tensor<4x16xf32>) {
    %1 = sdy.manual_computation(%outer) in_shardings=[<@empty, [{}, {}]>] out_shardings=[<@mesh, [{}, {"y"}]>] manual_axes={"y"} (%inner: tensor<4x16xf32>) {
      %2 = stablehlo.slice %inner [0:4, 0:4] : (tensor<4x16xf32>) -> tensor<4x4xf32>
      sdy.return %2 : tensor<4x4xf32>
    } : (tensor<4x16xf32>) -> tensor<4x16xf32>
    sdy.return %1 : tensor<4x16xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
