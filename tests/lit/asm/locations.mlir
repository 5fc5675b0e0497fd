// RUN: sdy-opt %s --allow-unregistered-dialect --mlir-print-debuginfo --mlir-print-local-scope | filecheck %s

// Unknown location.
// CHECK: "t.located"() : () -> () loc(unknown)
"t.located"() : () -> () loc(unknown)

// A position in a file,
// CHECK: "t.located"() : () -> () loc("model.py":10:8)
"t.located"() : () -> () loc("model.py":10:8)

// without a column.
// CHECK: "t.located"() : () -> () loc("model.py":10:0)
"t.located"() : () -> () loc("model.py":10)

// A range in a file,
// CHECK: "t.located"() : () -> () loc("model.py":10:8 to 12:18)
"t.located"() : () -> () loc("model.py":10:8 to 12:18)

// in one line.
// CHECK: "t.located"() : () -> () loc("model.py":10:8 to :18)
"t.located"() : () -> () loc("model.py":10:8 to :18)

// A name,
// CHECK: "t.located"() : () -> () loc("layer")
"t.located"() : () -> () loc("layer")

// with a child location.
// CHECK: "t.located"() : () -> () loc("layer"("model.py":1:1))
"t.located"() : () -> () loc("layer"("model.py":1:1))

// A call site: callee and caller.
// CHECK: "t.located"() : () -> () loc(callsite("layer" at "model.py":1:1))
"t.located"() : () -> () loc(callsite("layer" at "model.py":1:1))

// Nested call sites.
// CHECK: "t.located"() : () -> () loc(callsite("a" at callsite("b" at "c")))
"t.located"() : () -> () loc(callsite("a" at callsite("b" at "c")))

// Fused locations,
// CHECK: "t.located"() : () -> () loc(fused["a", "b"])
"t.located"() : () -> () loc(fused["a", "b"])

// with metadata.
// CHECK: "t.located"() : () -> () loc(fused<"pass">["a", "b"])
"t.located"() : () -> () loc(fused<"pass">["a", "b"])

// Equal locations are fused into one,
// CHECK: "t.located"() : () -> () loc("a")
"t.located"() : () -> () loc(fused["a", "a"])

// unless there is metadata.
// CHECK: "t.located"() : () -> () loc(fused<"pass">["a"])
"t.located"() : () -> () loc(fused<"pass">["a"])

// An empty list of locations is an unknown location.
// CHECK: "t.located"() : () -> () loc(unknown)
"t.located"() : () -> () loc(fused[])
