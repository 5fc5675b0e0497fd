// RUN: sdy-opt %s -inline | filecheck %s
// RUN: sdy-opt %s -inline -mlir-print-debuginfo -mlir-print-local-scope | filecheck %s --check-prefix=PLACE

// A private function is erased after its last call has been inlined, and if it has no calls.
// CHECK-NOT: func.func private @double
// CHECK-NOT: func.func private @unused
func.func private @double(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @unused(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// Both calls are inlined. The locations of inlined operations contain the call site.
// CHECK-LABEL: func.func @calls
// PLACE-LABEL: func.func @calls
func.func @calls(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = stablehlo.add %arg0, %arg0
  // CHECK-NEXT: %[[B:.*]] = stablehlo.add %[[A]], %[[A]]
  // CHECK-NEXT: return %[[B]]
  // PLACE-NEXT: loc(callsite("{{.*}}":8:8 at "{{.*}}":23:8))
  %0 = call @double(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @double(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// A public function is kept.
// CHECK-LABEL: func.func @public
func.func @public(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// CHECK-LABEL: func.func @calls_public
func.func @calls_public(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: return %arg0
  %0 = call @public(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A function is not inlined into itself.
// CHECK-LABEL: func.func @recursive
func.func @recursive(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: call @recursive
  %0 = call @recursive(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// `no_inline` on the function or on the call is respected.
// CHECK-LABEL: func.func private @stays
func.func private @stays(%a: tensor<4xf32>) -> tensor<4xf32> attributes {no_inline} {
  return %a : tensor<4xf32>
}

// CHECK-LABEL: func.func @no_inline
func.func @no_inline(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: call @stays
  // CHECK-NEXT: call @public
  %0 = call @stays(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @public(%0) {no_inline} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// A body with several blocks is inserted between the two parts of the caller's block.
func.func private @choose(%p: i1, %a: f32) -> f32 {
  cf.cond_br %p, ^then, ^else
^then:
  %0 = arith.addf %a, %a : f32
  return %0 : f32
^else:
  %1 = arith.mulf %a, %a : f32
  return %1 : f32
}

// CHECK-LABEL: func.func @blocks
func.func @blocks(%p: i1, %a: f32) -> f32 {
  // CHECK-NEXT: cf.cond_br %arg0, ^bb1, ^bb2
  // CHECK: cf.br ^bb3(%{{.*}} : f32)
  // CHECK: cf.br ^bb3(%{{.*}} : f32)
  // CHECK-NEXT: ^bb3(%[[R:.*]]: f32):
  // CHECK-NEXT: arith.negf %[[R]]
  %0 = call @choose(%p, %a) : (i1, f32) -> f32
  %1 = arith.negf %0 : f32
  return %1 : f32
}

// Regions of `stablehlo.while`, `scf.if` and `sdy.named_computation` have one block each, so the call stays there.
func.func private @not_if(%p: i1, %a: tensor<i1>) -> tensor<i1> {
  cf.cond_br %p, ^then, ^else
^then:
  %0 = stablehlo.not %a : tensor<i1>
  return %0 : tensor<i1>
^else:
  return %a : tensor<i1>
}
// CHECK-LABEL: func.func @single_blocks
func.func @single_blocks(%p: i1, %a: tensor<i1>) -> (tensor<i1>, tensor<i1>, tensor<i1>) {
  // CHECK-COUNT-3: func.call @not_if
  %0 = stablehlo.while(%x = %a) : tensor<i1> cond {
    stablehlo.return %x : tensor<i1>
  } do {
    %3 = func.call @not_if(%p, %x) : (i1, tensor<i1>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  }
  %1 = scf.if %p -> tensor<i1> {
    %3 = func.call @not_if(%p, %a) : (i1, tensor<i1>) -> tensor<i1>
    scf.yield %3 : tensor<i1>
  } else {
    scf.yield %a : tensor<i1>
  }
  %2 = sdy.named_computation<"body">(%p, %a) (%q: i1, %b: tensor<i1>) {
    %3 = func.call @not_if(%q, %b) : (i1, tensor<i1>) -> tensor<i1>
    sdy.return %3 : tensor<i1>
  } : (i1, tensor<i1>) -> tensor<i1>
  return %0, %1, %2 : tensor<i1>, tensor<i1>, tensor<i1>
}

// A function that calls itself or its caller is not inlined.
// CHECK-LABEL: func.func @calls_recursive
func.func @calls_recursive(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: call @recursive
  %0 = call @recursive(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @to_and_fro
func.func @to_and_fro() {
  // CHECK-NEXT: call @fro_and_to
  call @fro_and_to() : () -> ()
  return
}

// CHECK-LABEL: func.func @fro_and_to
func.func @fro_and_to() {
  // CHECK-NEXT: call @to_and_fro
  call @to_and_fro() : () -> ()
  return
}

// Call sites are ordered from the outermost call; locations of block arguments have them too.
func.func private @innermost(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.named_computation<"body">(%a) (%b: tensor<4xf32> loc("argument")) {
    sdy.return %b : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32> loc("innermost")
  return %0 : tensor<4xf32>
}

func.func private @middle(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @innermost(%a) : (tensor<4xf32>) -> tensor<4xf32> loc("middle")
  return %0 : tensor<4xf32>
}

func.func private @jump(%p: i1, %a: f32) -> f32 {
  cf.cond_br %p, ^then(%a : f32), ^else
^then(%b: f32 loc("argument of a block")):
  %0 = arith.addf %b, %b : f32
  return %0 : f32
^else:
  %1 = arith.mulf %a, %a : f32
  return %1 : f32
}
// PLACE-LABEL: func.func @jumps
func.func @jumps(%p: i1, %a: f32) -> f32 {
  // PLACE: ^bb1(%{{.*}}: f32 loc(callsite("argument of a block" at "jumps"))):
  %0 = call @jump(%p, %a) : (i1, f32) -> f32 loc("jumps")
  return %0 : f32
}

// PLACE-LABEL: func.func @outermost
func.func @outermost(%a: tensor<4xf32>) -> tensor<4xf32> {
  // PLACE-NEXT: loc(callsite("argument" at callsite("middle" at "outermost")))
  // PLACE: loc(callsite("innermost" at callsite("middle" at "outermost")))
  %0 = call @middle(%a) : (tensor<4xf32>) -> tensor<4xf32> loc("outermost")
  return %0 : tensor<4xf32>
}

// Functions of a cycle are inlined into each other, but none into itself. A body may already contain inlined
// operations, so @around_1 contains the cycle several times.
// CHECK-LABEL: func.func @around_1
func.func @around_1(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:         stablehlo.negate %arg0
  // CHECK-NEXT:         stablehlo.abs
  // CHECK-NEXT:         stablehlo.sqrt
  // CHECK-COUNT-3:      stablehlo.sqrt
  // CHECK-NEXT:         stablehlo.negate
  // CHECK-NEXT:         call @around_2
  %0 = stablehlo.negate %a : tensor<4xf32>
  %1 = call @around_2(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func private @around_2
func.func private @around_2(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: stablehlo.abs %arg0
  // CHECK-NEXT: stablehlo.sqrt
  // CHECK-NEXT: stablehlo.negate
  // CHECK-NEXT: call @around_2
  %0 = stablehlo.abs %a : tensor<4xf32>
  %1 = call @around_3(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-NOT: @around_3
func.func private @around_3(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.sqrt %a : tensor<4xf32>
  %1 = call @around_1(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// A function with nested visibility is not public, so it is erased too.
// CHECK-NOT: @nested
func.func nested @nested(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
