// RUN: sdy-opt %s --allow-unregistered-dialect | filecheck %s

// White space and comments say nothing.

// A statement over lines is one line.
// CHECK: "t.op"() {a = 1 : i32} : () -> ()
"t.op" // a name
  (  ) {
  a
  = 1 : i32 // a value
} : ( )
->
( )

// A tab is a blank.
// CHECK: "t.op"() : () -> ()
"t.op"	( ) :	( ) -> ( )

// A location may stand on the next line.
// CHECK: "t.op"() : () -> ()
"t.op"() : () -> ()
  loc("below")

// What looks like a comment in a string is none.
// CHECK: "t.op"() {a = "// text"} : () -> ()
"t.op"() {a = "// text"} : () -> ()
