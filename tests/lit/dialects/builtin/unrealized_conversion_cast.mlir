// RUN: sdy-opt %s --allow-unregistered-dialect | filecheck %s

// One value to one value.
// CHECK: %[[ONE:.*]] = unrealized_conversion_cast to i32
// CHECK-NEXT: unrealized_conversion_cast %[[ONE]] : i32 to f32
%one = unrealized_conversion_cast to i32
%0 = builtin.unrealized_conversion_cast %one : i32 to f32

// Several values to several values.
// CHECK-NEXT: %{{.*}}:2 = unrealized_conversion_cast %[[ONE]], %[[ONE]] : i32, i32 to f32, i1 {a.b}
%1:2 = builtin.unrealized_conversion_cast %one, %one : i32, i32 to f32, i1 {a.b}
