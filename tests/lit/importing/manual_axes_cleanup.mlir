// RUN: sdy-opt %s -sdy-manual-axes-cleanup | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=8, "z"=2]>
sdy.mesh @empty = <[]>

// Manual axes are sorted in mesh order, and every sharding mentions each of them.
// CHECK-LABEL: func.func @unmentioned
func.func @unmentioned(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<16xf32> {
  // CHECK-NEXT: in_shardings=[<@mesh, [{"z"}], replicated={"x"}>, <@mesh, [{"x", "z"}]>]
  // CHECK-SAME: out_shardings=[<@mesh, [{"x"}], replicated={"z"}>] manual_axes={"x", "z"}
  %0 = sdy.manual_computation(%a, %b) in_shardings=[<@mesh, [{"z"}]>, <@mesh, [{"x", "z"}]>]
      out_shardings=[<@mesh, [{"x"}]>] manual_axes={"z", "x"} (%c: tensor<4xf32>, %d: tensor<2xf32>) {
    %1 = stablehlo.iota dim = 0 : tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// New replicated axes are inserted in mesh order.
// CHECK-LABEL: func.func @sorted
func.func @sorted(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: in_shardings=[<@mesh, [{}], replicated={"x", "y", "z"}>]
  // CHECK-SAME: out_shardings=[<@mesh, [{?}], replicated={"x", "z"}, unreduced={"y"}>] manual_axes={"x", "z"}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}], replicated={"y"}>]
      out_shardings=[<@mesh, [{?}], unreduced={"y"}>] manual_axes={"x", "z"} (%b: tensor<8xf32>) {
    sdy.return %b : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// If only a sub-axis is mentioned, the remaining sub-axes are added.
// CHECK-LABEL: func.func @sub_axes
func.func @sub_axes(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>) {
  // CHECK-NEXT: in_shardings=[<@mesh, [{"y":(2)2}], replicated={"y":(1)2, "y":(4)2}>,
  // CHECK-SAME: <@mesh, [{"y":(1)2}], replicated={"y":(2)2}, unreduced={"y":(4)2}>,
  // CHECK-SAME: <@mesh, [{"y":(4)2}], replicated={"y":(1)4}>]
  sdy.manual_computation(%a, %b, %c)
      in_shardings=[<@mesh, [{"y":(2)2}]>, <@mesh, [{"y":(1)2}], unreduced={"y":(4)2}>,
                    <@mesh, [{"y":(4)2}], replicated={"y":(1)2}>]
      out_shardings=[] manual_axes={"y"} (%d: tensor<4xf32>, %e: tensor<4xf32>, %f: tensor<4xf32>) {
    sdy.return
  } : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> ()
  return
}

// A sharding over the empty mesh gets the mesh of the others.
// CHECK-LABEL: func.func @empty_mesh
func.func @empty_mesh(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: in_shardings=[<@mesh, [{}], replicated={"x"}>] out_shardings=[<@mesh, [{}], replicated={"x"}>]
  %0 = sdy.manual_computation(%a) in_shardings=[<@empty, [{}]>] out_shardings=[<@mesh, [{}]>]
      manual_axes={"x"} (%b: tensor<8xf32>) {
    sdy.return %b : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// The sharding of a token is kept.
// CHECK-LABEL: func.func @token
func.func @token(%a: tensor<8xf32>, %t: !stablehlo.token) {
  // CHECK-NEXT: in_shardings=[<@mesh, [{}], replicated={"x"}>, <@mesh, []>]
  sdy.manual_computation(%a, %t) in_shardings=[<@mesh, [{}]>, <@mesh, []>] out_shardings=[]
      manual_axes={"x"} (%b: tensor<8xf32>, %u: !stablehlo.token) {
    sdy.return
  } : (tensor<8xf32>, !stablehlo.token) -> ()
  return
}

// A nested manual computation.
// CHECK-LABEL: func.func @nested
func.func @nested(%a: tensor<8xf32>) {
  // CHECK-NEXT: in_shardings=[<@mesh, [{}], replicated={"x"}>]
  sdy.manual_computation(%a) in_shardings=[<@mesh, [{}]>] out_shardings=[] manual_axes={"x"} (%b: tensor<8xf32>) {
    // CHECK-NEXT: in_shardings=[<@mesh, [{}], replicated={"z"}>]
    sdy.manual_computation(%b) in_shardings=[<@mesh, [{}]>] out_shardings=[] manual_axes={"z"} (%c: tensor<8xf32>) {
      sdy.return
    } : (tensor<8xf32>) -> ()
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// A computation without inputs and outputs has no mesh, which is valid with an empty body.
// CHECK-LABEL: func.func @no_mesh
func.func @no_mesh() {
  // CHECK-NEXT: in_shardings=[] out_shardings=[] manual_axes={"z", "x"}
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"z", "x"} () {
    sdy.return
  } : () -> ()
  return
}
