// RUN: sdy-opt %s | filecheck %s
// RUN: sdy-opt %s | sdy-opt - | filecheck %s

// A one-dimensional mesh, and a three-dimensional one.
// CHECK: mesh.mesh @line(shape = 4)
mesh.mesh @line(shape = 4)
// CHECK-NEXT: mesh.mesh @grid(shape = 2x3x5)
mesh.mesh @grid(shape = 2x3x5)

// A dynamic size.
// CHECK-NEXT: mesh.mesh @some(shape = ?x4)
mesh.mesh @some(shape = ?x4)

// `0x2` is two sizes, not a hexadecimal number.
// CHECK-NEXT: mesh.mesh @none(shape = 0x2)
mesh.mesh @none(shape = 0x2)

// In the generic form a dynamic size is the smallest 64-bit integer.
// CHECK-NEXT: mesh.mesh @generic(shape = 2x?) {note = "west"}
"mesh.mesh"() {sym_name = "generic", shape = array<i64: 2, -9223372036854775808>, note = "west"} : () -> ()

// A mesh may be defined after its uses.
// CHECK: mesh.process_linear_index on @later : index
func.func @use_before_definition() {
  %0 = mesh.process_linear_index on @later : index
  return
}
mesh.mesh @later(shape = 3)
