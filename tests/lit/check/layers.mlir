// RUN: split-file %s %t
// RUN: sdy-opt %t/stack.mlir --check | filecheck %s
// RUN: sdy-opt %t/none.mlir --check | filecheck %s --check-prefix=NONE

// A loop takes one layer of a stack of weights at a time. If the stack is sharded along its layers, each iteration
// gathers one from the device that has it. Without the axis nothing is sent, and no more memory is needed, as what is
// gathered in a loop is whole on all devices. In another dimension, the axis lowers the peak.
//
// CHECK:      1. shard the input %arg1 as P() (now P('data')): -12.0 MiB sent, -512.0 KiB memory
// CHECK-NEXT: why: a loop takes one layer at a time, and each is on some devices only; stack.mlir:12:
// CHECK:      2. shard the input %arg1 as P(None, 'data') (now P('data')): -10.5 MiB sent, -1.75 MiB memory

// Several layers at a time are sent in any case.
//
// NONE-NOT: one layer at a time

//--- stack.mlir
sdy.mesh @mesh = <["data"=4]>
func.func @main(%x: tensor<4096x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    %w: tensor<8x256x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>}) -> tensor<4096x256xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %count = stablehlo.constant dense<8> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %h = %x) : tensor<i32>, tensor<4096x256xf32>
  cond {
    %c = stablehlo.compare LT, %i, %count : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %slice = stablehlo.dynamic_slice %w, %i, %zero, %zero, sizes = [1, 256, 256]
        : (tensor<8x256x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x256x256xf32>
    %weight = stablehlo.reshape %slice : (tensor<1x256x256xf32>) -> tensor<256x256xf32>
    %a = stablehlo.dot_general %h, %weight, contracting_dims = [1] x [0]
        : (tensor<4096x256xf32>, tensor<256x256xf32>) -> tensor<4096x256xf32>
    %t = stablehlo.tanh %a : tensor<4096x256xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %t : tensor<i32>, tensor<4096x256xf32>
  }
  return %r#1 : tensor<4096x256xf32>
}

//--- none.mlir
sdy.mesh @mesh = <["data"=4]>
func.func @main(%w: tensor<8x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %i: tensor<i32>) -> tensor<4x256xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %slice = stablehlo.dynamic_slice %w, %i, %zero, sizes = [4, 256]
      : (tensor<8x256xf32>, tensor<i32>, tensor<i32>) -> tensor<4x256xf32>
  return %slice : tensor<4x256xf32>
}
