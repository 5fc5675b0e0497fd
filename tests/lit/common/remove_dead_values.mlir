// RUN: sdy-opt %s -remove-dead-values -split-input-file -allow-unregistered-dialect | filecheck %s

// Arguments and results that no call needs leave a private function; the computations of both go with them.
// CHECK-LABEL: func.func private @f(
// CHECK-SAME:    %[[A:.*]]: tensor<4xf32> {jax.name = "a"}) -> (tensor<4xf32> {jax.name = "r1"}) {
// CHECK-NEXT:    return %[[A]] : tensor<4xf32>
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>, %{{.*}}: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    %[[R:.*]] = call @f(%[[X]]) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    return %[[R]] : tensor<4xf32>
sdy.mesh @mesh = <["x"=2]>
func.func private @f(%a: tensor<4xf32> {jax.name = "a"}, %b: tensor<4xf32> {jax.name = "b"})
    -> (tensor<4xf32> {jax.name = "r0"}, tensor<4xf32> {jax.name = "r1"}) {
  %0 = stablehlo.tanh %b : tensor<4xf32>
  return %0, %a : tensor<4xf32>, tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.sine %y : tensor<4xf32>
  %1:2 = call @f(%x, %0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{}]>]>} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %1#1 : tensor<4xf32>
}

// -----

// Mutual recursion needs only what leaves it.
// CHECK-LABEL: func.func private @recursive() -> f32
// CHECK-NEXT:    %[[R:.*]] = call @recursive() : () -> f32
// CHECK-NEXT:    return %[[R]] : f32
func.func private @recursive(%x: f32, %y: f32) -> (f32, f32) {
  %0:2 = call @recursive(%y, %x) : (f32, f32) -> (f32, f32)
  return %0#0, %0#1 : f32, f32
}
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    call @recursive() : () -> f32
func.func @main(%x: f32) -> f32 {
  %0:2 = call @recursive(%x, %x) : (f32, f32) -> (f32, f32)
  return %0#0 : f32
}

// -----

// A private function that only unreachable code calls becomes empty, effects included.
// CHECK-LABEL: func.func private @unreachable() {
// CHECK-NEXT:    call @unreachable() : () -> ()
// CHECK-NEXT:    %[[S:.*]] = stablehlo.custom_call @send
// CHECK-NEXT:    call @sink(%[[S]])
// CHECK-NEXT:    return
func.func private @unreachable(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.custom_call @erased(%x) {has_side_effect = true} : (tensor<f32>) -> tensor<f32>
  %1 = func.call @unreachable(%0) : (tensor<f32>) -> tensor<f32>
  %2 = stablehlo.custom_call @send() {has_side_effect = true} : () -> tensor<f32>
  func.call @sink(%2) : (tensor<f32>) -> ()
  return %1 : tensor<f32>
}
func.func @sink(%x: tensor<f32>) {
  return
}

// -----

// Others may call a public function, and those to which a composite refers are known to it: they stay.
// CHECK-LABEL: func.func @public(
// CHECK-SAME:    tensor<4xf32>, %{{.*}}: tensor<4xf32>) -> tensor<4xf32>
func.func @public(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
// CHECK-LABEL: func.func private @decomposition(
// CHECK-SAME:    tensor<4xf32>, %{{.*}}: tensor<4xf32>) -> tensor<4xf32>
func.func private @decomposition(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
// CHECK-LABEL: func.func private @declared(f32) -> f32
func.func private @declared(f32) -> f32
// CHECK-LABEL: func.func @main(
// CHECK-NEXT:    %[[C:.*]] = stablehlo.composite
// CHECK-NEXT:    %[[S:.*]] = stablehlo.sine %[[C]]
// CHECK-NEXT:    call @public(%[[S]], %[[S]])
// CHECK-NEXT:    %[[D:.*]] = arith.addf
// CHECK-NEXT:    call @declared(%[[D]])
// CHECK-NEXT:    return
func.func @main(%x: tensor<4xf32>, %a: f32) {
  %0 = stablehlo.composite "a.b" %x, %x {decomposition = @decomposition} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.sine %0 : tensor<4xf32>
  %2 = call @public(%1, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = arith.addf %a, %a : f32
  %4 = call @declared(%3) : (f32) -> f32
  return
}

// -----

// Block arguments and what branches pass to them; a value that only goes round in a loop is dead, too.
// CHECK-LABEL: func.func @loop(
// CHECK-SAME:    %[[C:.*]]: i1, %[[X:.*]]: f32, %{{.*}}: f32) -> f32 {
// CHECK-NEXT:    cf.br ^bb1(%[[X]] : f32)
// CHECK-NEXT:  ^bb1(%[[P:.*]]: f32):  // 2 preds
// CHECK-NEXT:    %[[S:.*]] = arith.addf %[[P]], %[[P]] : f32
// CHECK-NEXT:    cf.cond_br %[[C]], ^bb1(%[[S]] : f32), ^bb2(%[[P]] : f32)
// CHECK-NEXT:  ^bb2(%[[Z:.*]]: f32):  // pred: ^bb1
// CHECK-NEXT:    return %[[Z]] : f32
func.func @loop(%c: i1, %x: f32, %y: f32) -> f32 {
  cf.br ^a(%x, %y, %y : f32, f32, f32)
^a(%p: f32, %q: f32, %r: f32):
  %0 = arith.addf %p, %p : f32
  %1 = arith.addf %q, %r : f32
  cf.cond_br %c, ^a(%0, %1, %q : f32, f32, f32), ^b(%p : f32)
^b(%z: f32):
  return %z : f32
}

// CHECK-LABEL: func.func @branches(
// CHECK-NEXT:    %[[R:.*]] = scf.if %{{.*}} -> (f32) {
// CHECK-NEXT:      %[[M:.*]] = arith.mulf
// CHECK-NEXT:      scf.yield %[[M]] : f32
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %{{.*}} : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    return %[[R]] : f32
func.func @branches(%c: i1, %x: f32, %y: f32) -> f32 {
  %0:2 = scf.if %c -> (f32, f32) {
    %a = arith.addf %x, %y : f32
    %b = arith.mulf %x, %y : f32
    scf.yield %a, %b : f32, f32
  } else {
    scf.yield %x, %y : f32, f32
  }
  return %0#1 : f32
}

// -----

// A loop without effects is removed as a whole, though not what it uses; one that is needed keeps all that it carries.
// CHECK-LABEL: func.func @whiles(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>, %[[N:.*]]: tensor<i32>)
// CHECK-NEXT:    stablehlo.reshape %[[N]]
// CHECK-NEXT:    %[[W:.*]]:2 = stablehlo.while
// CHECK:           stablehlo.add
// CHECK-NEXT:      stablehlo.return
// CHECK:         return %[[W]]#0 : tensor<i32>
func.func @whiles(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<i32> {
  %r = stablehlo.reshape %n : (tensor<i32>) -> tensor<i32>
  %0 = stablehlo.while(%i = %n) : tensor<i32>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return %r : tensor<i32>
  }
  %1:2 = stablehlo.while(%i = %n, %y = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %z = stablehlo.add %y, %y : tensor<4xf32>
    %dead = stablehlo.sine %y : tensor<4xf32>
    stablehlo.return %i, %z : tensor<i32>, tensor<4xf32>
  }
  return %1#0 : tensor<i32>
}

// CHECK-LABEL: func.func @effects(
// CHECK-NEXT:    stablehlo.custom_call @send
// CHECK-NEXT:    return
func.func @effects(%x: tensor<4xf32>) {
  %0 = stablehlo.custom_call @send(%x) {has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.custom_call @pure(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Of a branch that is not registered, it is unknown which operands become the arguments of its successors.
// CHECK-LABEL: func.func private @unknown_branch(%arg0: i32) {
// CHECK-NEXT:    "x.branch"(%arg0)[^bb1, ^bb2] : (i32) -> ()
// CHECK-NEXT:  ^bb1(%[[A:.*]]: i32, %{{.*}}: i32):
// CHECK-NEXT:    cf.br ^bb2(%[[A]] : i32)
// CHECK-NEXT:  ^bb2(%[[X:.*]]: i32):
// CHECK-NEXT:    "x.end"(%[[X]]) : (i32) -> ()
func.func private @unknown_branch(%c: i32, %d: i32) {
  "x.branch"(%c)[^bb1, ^bb2] : (i32) -> ()
^bb1(%a: i32, %b: i32):
  cf.br ^bb2(%a, %b : i32, i32)
^bb2(%x: i32, %y: i32):
  "x.end"(%x) : (i32) -> ()
}
func.func @main(%c: i32, %d: i32) {
  func.call @unknown_branch(%c, %d) : (i32, i32) -> ()
  return
}

// Loop-carried values stay; a loop without effects whose results are not used does not.
// CHECK-LABEL: func.func @loops
func.func @loops(%n: index, %m: index, %a: f32, %b: f32) -> f32 {
  // CHECK-NEXT: %0:2 = scf.for %arg4 = %arg0 to %arg1 step %arg0 iter_args(%arg5 = %arg2, %arg6 = %arg3) -> (f32, f32) {
  // CHECK-NEXT:   scf.yield %arg6, %arg5 : f32, f32
  // CHECK-NEXT: }
  // CHECK-NEXT: return %0#0
  %0:2 = scf.for %i = %n to %m step %n iter_args(%x = %a, %y = %b) -> (f32, f32) {
    scf.yield %y, %x : f32, f32
  }
  %1 = scf.for %i = %n to %n step %n iter_args(%x = %a) -> (f32) {
    scf.yield %x : f32
  }
  return %0#0 : f32
}

// -----

// Only the result is dead, or only the argument; what a declaration returns may be live.
// CHECK-LABEL: func.func private @result_only(
// CHECK-SAME:    %[[A:.*]]: tensor<4xf32>) {
// CHECK-NEXT:    stablehlo.custom_call @effect(%[[A]])
// CHECK-NEXT:    return
func.func private @result_only(%a: tensor<4xf32>) -> tensor<4xf32> {
  stablehlo.custom_call @effect(%a) {has_side_effect = true} : (tensor<4xf32>) -> ()
  return %a : tensor<4xf32>
}
// CHECK-LABEL: func.func private @argument_only() -> tensor<4xf32> {
func.func private @argument_only(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @declared(tensor<4xf32>) -> tensor<4xf32>
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT:    call @result_only(%[[X]]) : (tensor<4xf32>) -> ()
// CHECK-NEXT:    %[[R:.*]] = call @argument_only() : () -> tensor<4xf32>
// CHECK-NEXT:    %[[D:.*]] = call @declared(%[[R]]) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    return %[[D]] : tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @result_only(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @argument_only(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = call @declared(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
