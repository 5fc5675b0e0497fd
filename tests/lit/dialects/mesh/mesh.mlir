// RUN: sdy-opt %s | filecheck %s
// RUN: sdy-opt %s | sdy-opt - | filecheck %s

// A grid of devices: 4 of them in a row, or 2 times 3 times 5.
// CHECK: mesh.mesh @line(shape = 4)
mesh.mesh @line(shape = 4)
// CHECK-NEXT: mesh.mesh @grid(shape = 2x3x5)
mesh.mesh @grid(shape = 2x3x5)

// A size may be unknown.
// CHECK-NEXT: mesh.mesh @some(shape = ?x4)
mesh.mesh @some(shape = ?x4)

// `0x2` is a zero and a two, not a number in hexadecimal.
// CHECK-NEXT: mesh.mesh @none(shape = 0x2)
mesh.mesh @none(shape = 0x2)

// In generic form an unknown size is the smallest number of 64 bits.
// CHECK-NEXT: mesh.mesh @generic(shape = 2x?) {note = "west"}
"mesh.mesh"() {sym_name = "generic", shape = array<i64: 2, -9223372036854775808>, note = "west"} : () -> ()

// A mesh may be defined behind its uses.
// CHECK: mesh.process_linear_index on @later : index
func.func @use_before_definition() {
  %0 = mesh.process_linear_index on @later : index
  return
}
mesh.mesh @later(shape = 3)
