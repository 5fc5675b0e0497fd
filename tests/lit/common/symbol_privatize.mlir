// RUN: sdy-opt %s -symbol-privatize | filecheck %s
// RUN: sdy-opt %s -symbol-privatize=exclude=main,mesh,inner | filecheck %s --check-prefix=EXCLUDE
// RUN: sdy-opt %s "--pass-pipeline=builtin.module(symbol-privatize{exclude={main}},symbol-dce)" | filecheck %s --check-prefix=DCE

// All kinds of symbols become private, except those in nested symbol tables.
// CHECK:   sdy.mesh @mesh = <["x"=2]> {sym_visibility = "private"}
// EXCLUDE: sdy.mesh @mesh = <["x"=2]>{{$}}
// DCE-NOT: sdy.mesh
sdy.mesh @mesh = <["x"=2]>

// CHECK:   func.func private @main
// EXCLUDE: func.func @main
// DCE:     func.func @main
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}

// CHECK:   func.func private @nested
// EXCLUDE: func.func private @nested
// DCE-NOT: @nested
func.func nested @nested() {
  return
}

// CHECK:   func.func private @private
// EXCLUDE: func.func private @private
func.func private @private() {
  return
}

// CHECK:   module {
// CHECK:     func.func @inside
// EXCLUDE: func.func @inside
module {
  func.func @inside() {
    return
  }
}
