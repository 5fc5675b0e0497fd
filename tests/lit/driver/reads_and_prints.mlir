// RUN: sdy-opt %s | filecheck %s
// RUN: sdy-opt %s | sdy-opt - | filecheck %s
// RUN: sdy-opt - < %s -o %t && filecheck --input-file %t %s
// RUN: not sdy-opt %s.not-there 2>&1 | filecheck %s --check-prefix=ABSENT
// ABSENT: not-there

// SSA names are assigned anew; a declaration has none.
// CHECK-LABEL: func.func @identity
// CHECK-SAME:    (%[[VALUE:.*]]: tensor<8xf32>)
// CHECK-NEXT:    return %[[VALUE]] : tensor<8xf32>
func.func @identity(%value: tensor<8xf32>) -> tensor<8xf32> {
  return %value : tensor<8xf32>
}

// CHECK: func.func private @declared(index)
func.func private @declared(index)
