// RUN: sdy-opt %s -canonicalize | filecheck %s

// A case with a constant index is replaced by its branch, including side effects and nested cases.
// CHECK-LABEL: func.func @known_branch
func.func @known_branch(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %0 = stablehlo.custom_call @foo(%arg0) {has_side_effect = true}
  // CHECK-NEXT: %1 = stablehlo.multiply %0, %0
  // CHECK-NEXT: return %1
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0 = "stablehlo.case"(%one) ({
    stablehlo.return %a : tensor<4xf32>
  }, {
    %1 = stablehlo.custom_call @foo(%a) {has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
    %2 = "stablehlo.case"(%one) ({
      stablehlo.return %1 : tensor<4xf32>
    }, {
      %3 = stablehlo.multiply %1, %1 : tensor<4xf32>
      stablehlo.return %3 : tensor<4xf32>
    }) : (tensor<i32>) -> tensor<4xf32>
    stablehlo.return %2 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// An out-of-range index is not folded.
// CHECK-LABEL: func.func @no_such_branch
func.func @no_such_branch(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: "stablehlo.case"
  %seven = stablehlo.constant dense<7> : tensor<i32>
  %0 = "stablehlo.case"(%seven) ({
    stablehlo.return %a : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Unused operations are erased unless they have side effects, as some custom calls and collectives do.
// CHECK-LABEL: func.func @unused
func.func @unused(%a: tensor<4xf32>, %zero: tensor<f32>, %p: tensor<i1>) {
  %0 = stablehlo.while(%x = %a) : tensor<4xf32> cond {
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return %x : tensor<4xf32>
  }
  %1 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %2 = stablehlo.custom_call @quiet(%a) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: stablehlo.custom_call @loud
  %3 = stablehlo.custom_call @loud(%a) {has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: stablehlo.collective_permute
  %4 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: return
  return
}
