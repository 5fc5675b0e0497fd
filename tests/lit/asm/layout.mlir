// RUN: sdy-opt %s --allow-unregistered-dialect | filecheck %s

// White space and comments are ignored.

// A statement on several lines is printed on one.
// CHECK: "t.op"() {a = 1 : i32} : () -> ()
"t.op" // a name
  (  ) {
  a
  = 1 : i32 // a value
} : ( )
->
( )

// Tabs.
// CHECK: "t.op"() : () -> ()
"t.op"	( ) :	( ) -> ( )

// A location on the next line.
// CHECK: "t.op"() : () -> ()
"t.op"() : () -> ()
  loc("below")

// A string that contains `//`.
// CHECK: "t.op"() {a = "// text"} : () -> ()
"t.op"() {a = "// text"} : () -> ()
