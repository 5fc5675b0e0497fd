// RUN: sdy-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{rank of mesh is expected to be a positive integer}}
mesh.mesh @point(shape = [])

// -----

// expected-error @+1 {{dimension size of a mesh is expected to be non-negative or dynamic}}
"mesh.mesh"() {sym_name = "g", shape = array<i64: 2, -3>} : () -> ()

// -----

// expected-error @+1 {{Failed parsing dimension list. Did you mean an empty list? It must be denoted by "[]".}}
mesh.mesh @g(shape = )

// -----

// expected-error @+2 {{invalid dimension}}
// expected-error @+1 {{Failed parsing dimension list.}}
mesh.mesh @g(shape = 2x-3)

// -----

// A size is a 64-bit signed integer.
// expected-error @+2 {{invalid dimension}}
// expected-error @+1 {{Failed parsing dimension list.}}
mesh.mesh @g(shape = 2x9223372036854775808)

// -----

// expected-note @+1 {{see existing symbol definition here}}
mesh.mesh @g(shape = 2)
// expected-error @+1 {{redefinition of symbol named 'g'}}
mesh.mesh @g(shape = 3)

// -----

// expected-error @+1 {{requires attribute 'shape'}}
"mesh.mesh"() {sym_name = "g"} : () -> ()

// -----

// A mesh is looked up in the nearest symbol table only.
mesh.mesh @g(shape = 2)
module {
  func.func @f() {
    // expected-error @+1 {{Undefined required mesh symbol "g".}}
    %0 = mesh.process_linear_index on @g : index
    return
  }
}
