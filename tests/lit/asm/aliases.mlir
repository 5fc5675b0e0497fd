// RUN: sdy-opt %s --allow-unregistered-dialect | filecheck %s
// RUN: sdy-opt %s --allow-unregistered-dialect --mlir-print-local-scope | filecheck %s --check-prefix=LOCAL

// Affine maps, sets, distinct attributes and locations get aliases: nested ones first,
// then in the order of their names.
// CHECK-DAG: #distinct = distinct[0]<"one of a kind">
// CHECK-DAG: #loc = loc("inside")
// CHECK-DAG: #map = affine_map<(d0) -> (d0 + 1)>
// CHECK-DAG: #map1 = affine_map<(d0) -> (d0 * 2)>
// CHECK-DAG: #set = affine_set<(d0) : (d0 == 0)>
// CHECK-DAG: #distinct1 = distinct[1]<#map1>
// CHECK-DAG: #loc1 = loc("outside"(#loc))
// CHECK: module {

// An alias in the input names an attribute or a type. Other aliases may use it. It is not printed.
#number = 7 : i32
#list = [#number, #number]
!element = f32
!tensor = tensor<4x!element>
#splat = dense<1.0> : !tensor
// CHECK-NEXT: "t.alias"() {list = [7 : i32, 7 : i32], splat = dense<1.000000e+00> : tensor<4xf32>} : () -> tensor<4xf32>
// LOCAL: "t.alias"() {list = [7 : i32, 7 : i32], splat = dense<1.000000e+00> : tensor<4xf32>} : () -> tensor<4xf32>
%0 = "t.alias"() {list = #list, splat = #splat} : () -> !tensor

// CHECK-NEXT: "t.maps"() {a = #map, b = #map, c = #set} : () -> ()
// LOCAL-NEXT: "t.maps"() {a = affine_map<(d0) -> (d0 + 1)>, b = affine_map<(d0) -> (d0 + 1)>, c = affine_set<(d0) : (d0 == 0)>} : () -> ()
"t.maps"() {a = affine_map<(x) -> (x + 1)>, b = affine_map<(d0) -> (d0 + 1)>, c = affine_set<(d0) : (d0 == 0)>} : () -> ()

// CHECK-NEXT: "t.location"() {a = #loc1} : () -> ()
// LOCAL-NEXT: "t.location"() {a = loc("outside"("inside"))} : () -> ()
"t.location"() {a = loc("outside"("inside"))} : () -> ()

// CHECK-NEXT: "t.distinct"() {a = #distinct, b = #distinct1} : () -> ()
// LOCAL-NEXT: "t.distinct"() {a = distinct[0]<"one of a kind">, b = distinct[1]<affine_map<(d0) -> (d0 * 2)>>} : () -> ()
"t.distinct"() {a = distinct[0]<"one of a kind">, b = distinct[1]<affine_map<(d0) -> (d0 * 2)>>} : () -> ()

// An affine map in a memref type.
// CHECK-NEXT: "t.type"() : () -> memref<4xf32, #map>
// LOCAL-NEXT: "t.type"() : () -> memref<4xf32, affine_map<(d0) -> (d0 + 1)>>
%1 = "t.type"() : () -> memref<4xf32, affine_map<(d0) -> (d0 + 1)>>
