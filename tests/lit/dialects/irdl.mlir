// RUN: sdy-opt %s  | filecheck %s

// The syntax of the dialect irdl. A definition without contents ends with a space.

irdl.dialect @d {
  irdl.type @single
  irdl.type @empty {
  }
  irdl.type @t {
    %0 = irdl.any
    irdl.parameters(foo: %0, bar: %0)
  }
  irdl.attribute @a {
    %0 = irdl.any {x = 1 : i32}
    irdl.parameters(foo: %0) {y = 1 : i32}
  }
  irdl.operation @o attributes {irdl.z = 2 : i32} {
    %0 = irdl.is i32 {x = 1 : i32}
    %1 = irdl.is "foo"
    %2 = irdl.any_of(%0, %1) {x = 1 : i32}
    %3 = irdl.all_of(%0)
    %4 = irdl.base @d::@t {x = 1 : i32}
    %5 = irdl.base "!builtin.integer"
    %6 = irdl.parametric @d::@t<%0, %1>
    %7 = irdl.c_pred "foo($_self)"
    %r = irdl.region
    %r1 = irdl.region(%0, %1) with size 3
    %r2 = irdl.region with size 2 {x = 1 : i32}
    %r3 = irdl.region()
    irdl.operands(a: %0, b: single %0, c: optional %0, dd: variadic %0)
    irdl.results(e: %0)
    irdl.attributes {"f" = %1, "g" = %0}
    irdl.regions(h: %r, i: %r1)
  }
  irdl.operation @n
}
irdl.dialect @e

// CHECK: module {
// CHECK-NEXT: irdl.dialect @d {
// CHECK-NEXT: irdl.type @single
// CHECK-NEXT: irdl.type @empty
// CHECK-NEXT: irdl.type @t {
// CHECK-NEXT: %0 = irdl.any
// CHECK-NEXT: irdl.parameters(foo: %0, bar: %0)
// CHECK-NEXT: }
// CHECK-NEXT: irdl.attribute @a {
// CHECK-NEXT: %0 = irdl.any {x = 1 : i32}
// CHECK-NEXT: irdl.parameters(foo: %0) {y = 1 : i32}
// CHECK-NEXT: }
// CHECK-NEXT: irdl.operation @o attributes {irdl.z = 2 : i32} {
// CHECK-NEXT: %0 = irdl.is i32  {x = 1 : i32}
// CHECK-NEXT: %1 = irdl.is "foo"
// CHECK-NEXT: %2 = irdl.any_of(%0, %1)  {x = 1 : i32}
// CHECK-NEXT: %3 = irdl.all_of(%0)
// CHECK-NEXT: %4 = irdl.base @d::@t  {x = 1 : i32}
// CHECK-NEXT: %5 = irdl.base "!builtin.integer"
// CHECK-NEXT: %6 = irdl.parametric @d::@t<%0, %1>
// CHECK-NEXT: %7 = irdl.c_pred "foo($_self)"
// CHECK-NEXT: %8 = irdl.region
// CHECK-NEXT: %9 = irdl.region(%0, %1) with size 3
// CHECK-NEXT: %10 = irdl.region with size 2 {x = 1 : i32}
// CHECK-NEXT: %11 = irdl.region()
// CHECK-NEXT: irdl.operands(a: %0, b: %0, c: optional %0, dd: variadic %0)
// CHECK-NEXT: irdl.results(e: %0)
// CHECK-NEXT: irdl.attributes {"f" = %1, "g" = %0}
// CHECK-NEXT: irdl.regions(h: %8, i: %9)
// CHECK-NEXT: }
// CHECK-NEXT: irdl.operation @n
// CHECK-NEXT: }
// CHECK-NEXT: irdl.dialect @e
// CHECK-NEXT: }
