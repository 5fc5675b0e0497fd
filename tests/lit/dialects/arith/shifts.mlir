// RUN: sdy-opt %s -canonicalize | filecheck %s

// -8 in 8 bits is 248 without a sign. A shift by all bits or more, or by less than none, is not folded.
// CHECK-LABEL: func.func @main
// CHECK-DAG:     %[[LEFT:.*]] = arith.constant -16 : i8
// CHECK-DAG:     %[[SIGNED:.*]] = arith.constant -4 : i8
// CHECK-DAG:     %[[UNSIGNED:.*]] = arith.constant 124 : i8
// CHECK-DAG:     %[[SEVEN:.*]] = arith.constant 1 : i8
// CHECK-DAG:     %[[X:.*]] = arith.constant -8 : i8
// CHECK-DAG:     %[[EIGHT:.*]] = arith.constant 8 : i8
// CHECK-DAG:     %[[A:.*]] = arith.shli %[[X]], %[[EIGHT]] : i8
// CHECK-DAG:     %[[B:.*]] = arith.shrsi %[[X]], %[[EIGHT]] : i8
// CHECK-DAG:     %[[C:.*]] = arith.shrui %[[X]], %[[X]] : i8
// CHECK:         return %[[LEFT]], %[[SIGNED]], %[[UNSIGNED]], %[[SEVEN]], %[[A]], %[[B]], %[[C]]
func.func @main() -> (i8, i8, i8, i8, i8, i8, i8) {
  %x = arith.constant -8 : i8
  %one = arith.constant 1 : i8
  %seven = arith.constant 7 : i8
  %eight = arith.constant 8 : i8
  %0 = arith.shli %x, %one : i8
  %1 = arith.shrsi %x, %one : i8
  %2 = arith.shrui %x, %one : i8
  %3 = arith.shrui %x, %seven : i8
  %4 = arith.shli %x, %eight : i8
  %5 = arith.shrsi %x, %eight : i8
  %6 = arith.shrui %x, %x : i8
  return %0, %1, %2, %3, %4, %5, %6 : i8, i8, i8, i8, i8, i8, i8
}
