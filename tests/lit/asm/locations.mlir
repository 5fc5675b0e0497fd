// RUN: sdy-opt %s --allow-unregistered-dialect --mlir-print-debuginfo --mlir-print-local-scope | filecheck %s

// Nobody knows where it is from.
// CHECK: "t.located"() : () -> () loc(unknown)
"t.located"() : () -> () loc(unknown)

// A place in a file,
// CHECK: "t.located"() : () -> () loc("model.py":10:8)
"t.located"() : () -> () loc("model.py":10:8)

// of which the column is not known.
// CHECK: "t.located"() : () -> () loc("model.py":10:0)
"t.located"() : () -> () loc("model.py":10)

// A stretch of a file,
// CHECK: "t.located"() : () -> () loc("model.py":10:8 to 12:18)
"t.located"() : () -> () loc("model.py":10:8 to 12:18)

// of a line.
// CHECK: "t.located"() : () -> () loc("model.py":10:8 to :18)
"t.located"() : () -> () loc("model.py":10:8 to :18)

// A name,
// CHECK: "t.located"() : () -> () loc("layer")
"t.located"() : () -> () loc("layer")

// and what got it.
// CHECK: "t.located"() : () -> () loc("layer"("model.py":1:1))
"t.located"() : () -> () loc("layer"("model.py":1:1))

// A place in a function, and where it was called.
// CHECK: "t.located"() : () -> () loc(callsite("layer" at "model.py":1:1))
"t.located"() : () -> () loc(callsite("layer" at "model.py":1:1))

// A call in a call.
// CHECK: "t.located"() : () -> () loc(callsite("a" at callsite("b" at "c")))
"t.located"() : () -> () loc(callsite("a" at callsite("b" at "c")))

// Several places that became one,
// CHECK: "t.located"() : () -> () loc(fused["a", "b"])
"t.located"() : () -> () loc(fused["a", "b"])

// with a word on how.
// CHECK: "t.located"() : () -> () loc(fused<"pass">["a", "b"])
"t.located"() : () -> () loc(fused<"pass">["a", "b"])

// Places that are the same are one,
// CHECK: "t.located"() : () -> () loc("a")
"t.located"() : () -> () loc(fused["a", "a"])

// unless something is said about it.
// CHECK: "t.located"() : () -> () loc(fused<"pass">["a"])
"t.located"() : () -> () loc(fused<"pass">["a"])

// None at all is as good as unknown.
// CHECK: "t.located"() : () -> () loc(unknown)
"t.located"() : () -> () loc(fused[])
