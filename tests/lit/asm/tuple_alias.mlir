// RUN: sdy-opt %s | filecheck %s
// RUN: sdy-opt %s | sdy-opt | filecheck %s

// A tuple type with more than 16 elements has an alias, and types are defined before attributes.
// CHECK: !tuple = tuple<i1, i2, i3, i4, i5, i6, i7, i1, i2, i3, i4, i5, i6, i7, i8, i9, i9>
// CHECK-NEXT: #map = affine_map<() -> ()>
// CHECK: x.a = tuple<i1, i2, i3, i4, i5, i6, i7, i1, i2, i3, i4, i5, i6, i7, i8, i9>, x.b = !tuple, x.c = tuple<!tuple>
module attributes {
  x.a = tuple<i1, i2, i3, i4, i5, i6, i7, i1, i2, i3, i4, i5, i6, i7, i8, i9>,
  x.b = tuple<i1, i2, i3, i4, i5, i6, i7, i1, i2, i3, i4, i5, i6, i7, i8, i9, i9>,
  x.c = tuple<tuple<i1, i2, i3, i4, i5, i6, i7, i1, i2, i3, i4, i5, i6, i7, i8, i9, i9>>,
  x.m = affine_map<() -> ()>
} {
}
