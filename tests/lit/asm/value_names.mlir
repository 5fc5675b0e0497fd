// RUN: sdy-opt %s --allow-unregistered-dialect | filecheck %s
// RUN: sdy-opt %s --allow-unregistered-dialect --mlir-print-unique-ssa-ids | filecheck %s --check-prefix=UNIQUE
// RUN: sdy-opt %s --allow-unregistered-dialect --mlir-print-value-users | filecheck %s --check-prefix=USERS
// RUN: sdy-opt %s --allow-unregistered-dialect --mlir-use-nameloc-as-prefix | filecheck %s --check-prefix=NAMED
// RUN: sdy-opt %s --allow-unregistered-dialect --mlir-print-skip-regions | filecheck %s --check-prefix=SKIPPED

// A module without its region.
// SKIPPED: module {...}

// Bytes that are not UTF-8 are hexadecimal digits in a name.
// NAMED-LABEL: func.func @bytes(%aFFC3A9: i32)
func.func @bytes(%a: i32 loc("a\FF\C3\A9")) {
  return
}

// Values are numbered in order. Sibling regions use the same numbers.
// Flags make names unique, print users, and take names from locations.
// CHECK-LABEL: func.func @names(%arg0: i32, %arg1: i32)
// UNIQUE-LABEL: func.func @names(%arg0: i32, %arg1: i32)
// USERS-LABEL: func.func @names(%arg0: i32, %arg1: i32)
// NAMED-LABEL: func.func @names(%first: i32, %arg1: i32)
func.func @names(%a: i32 loc("first"), %b: i32) {
  // USERS-NEXT: // %arg0 is used by %[[USE:.*]], %[[ADD:.*]]
  // USERS-NEXT: // %arg1 is unused

  // CHECK-NEXT: %0 = "t.add"(%arg0, %arg0) : (i32, i32) -> i32
  // UNIQUE-NEXT: %0 = "t.add"(%arg0, %arg0) : (i32, i32) -> i32
  // USERS-NEXT: %[[ADD]] = "t.add"(%arg0, %arg0) : (i32, i32) -> i32 // user: %[[REGION:.*]]
  // NAMED-NEXT: %a_sum = "t.add"(%first, %first) : (i32, i32) -> i32
  %0 = "t.add"(%a, %a) : (i32, i32) -> i32 loc("a sum"("f.py":1:1))

  // CHECK-NEXT: %1:2 = "t.pair"() : () -> (i32, i32)
  // UNIQUE-NEXT: %1:2 = "t.pair"() : () -> (i32, i32)
  // USERS-NEXT: %[[PAIR:.*]]:2 = "t.pair"() : () -> (i32, i32) // users: (unused), (%[[USE]])
  // NAMED-NEXT: %a_sum_0:2 = "t.pair"() : () -> (i32, i32)
  %1:2 = "t.pair"() : () -> (i32, i32) loc(fused["f.py":1:1, "a sum"])

  // CHECK-NEXT: "t.use"(%1#1, %arg0) : (i32, i32) -> ()
  // UNIQUE-NEXT: "t.use"(%1#1, %arg0) : (i32, i32) -> ()
  // USERS-NEXT: "t.use"(%[[PAIR]]#1, %arg0) : (i32, i32) -> () // id: %[[USE]]
  // NAMED-NEXT: "t.use"(%a_sum_0#1, %first) : (i32, i32) -> ()
  "t.use"(%1#1, %a) : (i32, i32) -> ()

  // CHECK-NEXT: %f = constant @names : (i32, i32) -> ()
  // UNIQUE-NEXT: %f = constant @names : (i32, i32) -> ()
  // USERS-NEXT: %f = constant @names : (i32, i32) -> () // unused
  // NAMED-NEXT: %f = constant @names : (i32, i32) -> ()
  %f = func.constant @names : (i32, i32) -> ()

  // USERS-NEXT: "t.region"(%[[ADD]]) ({
  "t.region"(%0) ({
    // CHECK: %2 = "t.inside"() : () -> i32
    // UNIQUE: %3 = "t.inside"() : () -> i32
    %2 = "t.inside"() : () -> i32
  }, {
    // CHECK: %2 = "t.inside"() : () -> i32
    // UNIQUE: %2 = "t.inside"() : () -> i32
    %2 = "t.inside"() : () -> i32
  // USERS: }) : (i32) -> () // id: %[[REGION]]
  }) : (i32) -> ()
  return
}
