// RUN: sdy-opt %s --allow-unregistered-dialect --mlir-print-debuginfo --mlir-pretty-debuginfo --mlir-print-local-scope | filecheck %s

// Locations for people: without `loc(…)`, and calls as lines of their own.

// Nobody knows where it is from.
// CHECK: "t.located"() : () -> () [unknown]
"t.located"() : () -> () loc(unknown)

// A place in a file.
// CHECK: "t.located"() : () -> () model.py:10:8
"t.located"() : () -> () loc("model.py":10:8)

// A name and what got it.
// CHECK: "t.located"() : () -> () "layer"(model.py:1:1)
"t.located"() : () -> () loc("layer"("model.py":1:1))

// Several places that became one.
// CHECK: "t.located"() : () -> () <"pass">["a", "b"]
"t.located"() : () -> () loc(fused<"pass">["a", "b"])
