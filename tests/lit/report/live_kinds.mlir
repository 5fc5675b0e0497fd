// What is live at the peak is reported in the words of a training step: activations that the backward pass uses, gradients,
// weights that were gathered. Values without names have the operation of JAX.
// RUN: sdy-opt %s --report | filecheck %s --check-prefix=SHORT
// RUN: sdy-opt %s --report=%t.txt -o /dev/null && filecheck %s < %t.txt
// RUN: sdy-opt %s --report=%t.json -o /dev/null && filecheck %s --check-prefix=JSON < %t.json

// SHORT: at the peak: 44% gradients (17.0 MiB), 23% arguments (9.00 MiB), 21% activations saved for the
// SHORT-NEXT: backward pass (8.00 MiB), 10% gathered arguments (4.00 MiB), 3% results (1.00 MiB)

// CHECK: at the peak: 44% gradients
// CHECK-DAG: 8.00 MiB  1 of 4  gradient (mul) {{ *}} model.py:3
// CHECK-DAG: 8.00 MiB  1 of 4  saved activation (dot_general) {{ *}} model.py:2
// CHECK-DAG: 4.00 MiB  4 of 4  gathered w
// CHECK-DAG: 1.00 MiB  1 of 4  gradient of w {{ *}} model.py:2

// JSON: "what": "saved activation"
// JSON: "kinds": {
// JSON-NEXT: "gradient": 17825792
#product = loc("jit(step)/jvp()/dot_general"("layer"("model.py":2:4)))
#tanh = loc("jit(step)/jvp()/tanh"("layer"("model.py":3:4)))
#loss = loc("jit(step)/jvp()/reduce_sum"("layer"("model.py":4:4)))
#mul = loc("jit(step)/transpose(jvp())/mul"("layer"("model.py":3:4)))
#sub = loc("jit(step)/transpose(jvp())/sub"("layer"("model.py":3:4)))
#update = loc("jit(step)/sub"("step"("model.py":9:4)))
#product_t = loc("jit(step)/transpose(jvp())/dot_general"("layer"("model.py":2:4)))

sdy.mesh @mesh = <["x"=4]>
func.func @main(
    %x: tensor<8192x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("x"),
    %w: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("w"))
    -> (tensor<f32>, tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8192x1024xf32>, tensor<1024x1024xf32>) -> tensor<8192x1024xf32> loc(#product)
  %1 = stablehlo.tanh %0 : tensor<8192x1024xf32> loc(#tanh)
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8192x1024xf32>, tensor<f32>) -> tensor<f32> loc(#loss)
  %3 = stablehlo.multiply %1, %1 : tensor<8192x1024xf32> loc(#mul)
  %4 = stablehlo.dot_general %x, %3, contracting_dims = [0] x [0] : (tensor<8192x1024xf32>, tensor<8192x1024xf32>) -> tensor<1024x1024xf32> loc(#product_t)
  %5 = stablehlo.dot_general %3, %w, contracting_dims = [1] x [1] : (tensor<8192x1024xf32>, tensor<1024x1024xf32>) -> tensor<8192x1024xf32> loc(#product_t)
  %8 = stablehlo.subtract %5, %1 : tensor<8192x1024xf32> loc(#sub)
  %6 = stablehlo.reduce(%8 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8192x1024xf32>, tensor<f32>) -> tensor<f32> loc(#product_t)
  %7 = stablehlo.add %2, %6 : tensor<f32> loc(#sub)
  %9 = stablehlo.subtract %w, %4 : tensor<1024x1024xf32> loc(#update)
  return %7, %9 : tensor<f32>, tensor<1024x1024xf32>
}
