// RUN: sdy-opt %s --emit-bytecode -o %t.bc
// RUN: sdy-opt %t.bc | filecheck %s
// RUN: sdy-opt %s --emit-bytecode --sdy-version=jaxlib-0.10.2 -o %t.old.bc
// RUN: sdy-opt %t.old.bc | filecheck %s
// RUN: grep -c "affine_map<" %t.old.bc | filecheck %s --check-prefix=OLD
// RUN: not grep -c "affine_map<" %t.bc

// Affine maps, integer sets and layouts have encodings, which releases before August 2026 wrote as text.
// CHECK-DAG: affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: affine_map<(d0, d1)[s0] -> (d0 floordiv 2 + s0 * 4, d1 mod 3, -5)>
// CHECK-DAG: affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: affine_set<(d0)[s0] : (d0 - s0 >= 0, s0 - 5 == 0)>
// CHECK: memref<4x8xf32, strided<[16, 1], offset: 2>>
// OLD: {{[1-9]}}
module attributes {
  x.a = affine_map<(d0, d1) -> (d1, d0)>,
  x.b = affine_map<(d0, d1)[s0] -> (d0 floordiv 2 + s0 * 4, d1 mod 3, -5)>,
  x.c = affine_map<(d0, d1) -> (d1)>,
  x.d = affine_set<(d0)[s0] : (d0 - s0 >= 0, s0 - 5 == 0)>,
  x.e = memref<4x8xf32, strided<[16, 1], offset: 2>>
} {
}
