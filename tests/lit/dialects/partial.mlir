// Of some dialects, only a part is known. What else they have is accepted in generic form, as of dialects that are not registered.
// RUN: sdy-opt %s -allow-unregistered-dialect | filecheck %s
// RUN: sdy-opt %s -allow-unregistered-dialect | sdy-opt -allow-unregistered-dialect | filecheck %s

// CHECK-LABEL: @loops
func.func @loops(%low: index, %high: index, %step: index, %c: i1) -> i1 {
  // CHECK: scf.for %arg4 = %arg0 to %arg1 step %arg2 {
  "scf.for"(%low, %high, %step) ({
  ^bb0(%i: index):
    "scf.yield"() : () -> ()
  }) : (index, index, index) -> ()
  // CHECK: scf.while (%arg4 = %arg3) : (i1) -> i1 {
  %0 = "scf.while"(%c) ({
  ^bb0(%a: i1):
    "scf.condition"(%a, %a) : (i1, i1) -> ()
  }, {
  ^bb0(%a: i1):
    "scf.yield"(%a) : (i1) -> ()
  }) : (i1) -> i1
  // CHECK: scf.execute_region -> i1 {
  %1 = "scf.execute_region"() ({
    "scf.yield"(%0) : (i1) -> ()
  }) : () -> i1
  return %1 : i1
}

// CHECK-LABEL: @attributes
func.func @attributes(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: iterator_types = ["parallel"]
  %0 = "linalg.generic"(%a, %a) <{indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%x: f32, %y: f32):
    "linalg.yield"(%x) : (f32) -> ()
  }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: #linalg.unary_fn<exp>{{.*}} !linalg.unknown<4>
  "x.use"() {fn = #linalg.unary_fn<exp>, type = !linalg.unknown<4>} : () -> ()
  return %0 : tensor<4xf32>
}
