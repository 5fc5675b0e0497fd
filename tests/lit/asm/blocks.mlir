// RUN: sdy-opt %s --allow-unregistered-dialect | filecheck %s

// Blocks are numbered and have comments with their predecessors. The entry block has no label.
// CHECK-LABEL: func.func @labels
func.func @labels(%condition: i1) {
  // CHECK-NEXT: "t.branch"(%arg0)[^bb1, ^bb2] : (i1) -> ()
  "t.branch"(%condition)[^then, ^join] : (i1) -> ()
// CHECK-NEXT: ^bb1:  // pred: ^bb0
^then:
  // CHECK-NEXT: "t.branch"()[^bb2] : () -> ()
  "t.branch"()[^join] : () -> ()
// CHECK-NEXT: ^bb2:  // 2 preds: ^bb0, ^bb1
^join:
  // CHECK-NEXT: return
  return
}

// Block arguments; a block without predecessors.
// CHECK-LABEL: func.func @arguments
func.func @arguments() {
  // CHECK-NEXT: return
  return
// CHECK-NEXT: ^bb1(%0: i32, %1: f32):  // no predecessors
^never(%a: i32, %b: f32):
  // CHECK-NEXT: "t.use"(%0, %1) : (i32, f32) -> ()
  "t.use"(%a, %b) : (i32, f32) -> ()
  return
}

// A block that is its own predecessor by two successors of one branch is listed twice.
// CHECK-LABEL: func.func @loop
func.func @loop() {
  "t.branch"()[^loop] : () -> ()
// CHECK: ^bb1:  // 3 preds: ^bb0, ^bb1, ^bb1
^loop:
  "t.branch"()[^loop, ^loop] : () -> ()
}

// In generic form the entry block has a label with its arguments.
// CHECK-LABEL: func.func @generic_region
func.func @generic_region() {
  // CHECK-NEXT: "t.region"() ({
  // CHECK-NEXT: ^bb0(%arg0: i32):
  // CHECK-NEXT:   "t.end"(%arg0) : (i32) -> ()
  // CHECK-NEXT: }, {
  // CHECK-NEXT: }, {
  // CHECK-NEXT:   "t.end"() : () -> ()
  // CHECK-NEXT: }) {a} : () -> ()
  "t.region"() ({
  ^first(%a: i32):
    "t.end"(%a) : (i32) -> ()
  }, {
  }, {
  ^first:
    "t.end"() : () -> ()
  }) {a} : () -> ()
  return
}

// Labels are local to their region.
// CHECK-LABEL: func.func @regions
func.func @regions() {
  "t.branch"()[^next] : () -> ()
// CHECK: ^bb1:
^next:
  // CHECK-NEXT: "t.region"() ({
  // CHECK-NEXT:   "t.branch"()[^bb1] : () -> ()
  // CHECK-NEXT: ^bb1:
  "t.region"() ({
    "t.branch"()[^next] : () -> ()
  ^next:
    "t.end"() : () -> ()
  }) : () -> ()
  return
}

// The label of an empty entry block is printed, so that the region differs from one without blocks.
// CHECK-LABEL: func.func @empty_block
func.func @empty_block() {
  // CHECK-NEXT: "t.region"() ({
  // CHECK-NEXT: ^bb0:
  // CHECK-NEXT: }, {
  // CHECK-NEXT: }) : () -> ()
  "t.region"() ({
  ^here:
  }, {}) : () -> ()
  return
}
