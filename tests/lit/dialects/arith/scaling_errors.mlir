// RUN: sdy-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

func.func @wide(%a: f32, %s: f8E8M0FNU) {
  // expected-error @+1 {{'arith.scaling_extf' op operand types 'f32', 'f8E8M0FNU' and result type 'f32' are cast incompatible}}
  %0 = arith.scaling_extf %a, %s : f32, f8E8M0FNU to f32
  return
}

// -----

func.func @narrow(%a: f16, %s: f8E8M0FNU) {
  // expected-error @+1 {{'arith.scaling_truncf' op operand types 'f16', 'f8E8M0FNU' and result type 'f32' are cast incompatible}}
  %0 = arith.scaling_truncf %a, %s : f16, f8E8M0FNU to f32
  return
}

// -----

func.func @shapes(%a: vector<4xf16>, %s: f8E8M0FNU) {
  // expected-error @+1 {{'arith.scaling_extf' op operand types 'vector<4xf16>', 'f8E8M0FNU' and result type 'vector<5xf32>' are cast incompatible}}
  %0 = arith.scaling_extf %a, %s : vector<4xf16>, f8E8M0FNU to vector<5xf32>
  return
}

// -----

func.func @scale(%a: vector<4xf16>, %s: i32) {
  // expected-error @+1 {{'arith.scaling_extf' op operand #1 must be floating-point-like, but got 'i32'}}
  %0 = arith.scaling_extf %a, %s : vector<4xf16>, i32 to vector<4xf32>
  return
}
