// RUN: sdy-opt %s --allow-unregistered-dialect --mlir-print-debuginfo --mlir-pretty-debuginfo --mlir-print-local-scope | filecheck %s

// Pretty locations are printed without `loc(…)` and without quotes around file names. They cannot be parsed.

// Unknown location.
// CHECK: "t.located"() : () -> () [unknown]
"t.located"() : () -> () loc(unknown)

// A position in a file.
// CHECK: "t.located"() : () -> () model.py:10:8
"t.located"() : () -> () loc("model.py":10:8)

// A name with a child location.
// CHECK: "t.located"() : () -> () "layer"(model.py:1:1)
"t.located"() : () -> () loc("layer"("model.py":1:1))

// A call site: the caller is on a line of its own,
// CHECK: "t.located"() : () -> () "callee"
// CHECK-NEXT: {{^}} at "caller"
"t.located"() : () -> () loc(callsite("callee" at "caller"))

// unless it is a position in a file and the callee a name.
// CHECK: "t.located"() : () -> () "callee" at model.py:1:1
"t.located"() : () -> () loc(callsite("callee" at "model.py":1:1))

// Fused locations.
// CHECK: "t.located"() : () -> () <"pass">["a", "b"]
"t.located"() : () -> () loc(fused<"pass">["a", "b"])
