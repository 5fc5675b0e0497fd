// Conversions with a scale.
// RUN: sdy-opt %s -allow-unregistered-dialect | filecheck %s
// RUN: sdy-opt %s -allow-unregistered-dialect | sdy-opt -allow-unregistered-dialect | filecheck %s
// RUN: sdy-opt %s -allow-unregistered-dialect --mlir-print-op-generic | sdy-opt -allow-unregistered-dialect | filecheck %s

func.func @ok(%a: f4E2M1FN, %b: f32, %s: f8E8M0FNU, %v: vector<32xf4E2M1FN>, %w: vector<32xf8E8M0FNU>, %x: vector<32xbf16>) {
  %0 = arith.scaling_extf %a, %s : f4E2M1FN, f8E8M0FNU to f32
  %1 = arith.scaling_truncf %b, %s : f32, f8E8M0FNU to f4E2M1FN
  %2 = arith.scaling_extf %v, %w fastmath<nnan> {k} : vector<32xf4E2M1FN>, vector<32xf8E8M0FNU> to vector<32xbf16>
  %3 = arith.scaling_truncf %x, %w to_nearest_even fastmath<fast> : vector<32xbf16>, vector<32xf8E8M0FNU> to vector<32xf4E2M1FN>
  return
}

// CHECK-LABEL: func.func @ok(%arg0: f4E2M1FN, %arg1: f32, %arg2: f8E8M0FNU, %arg3: vector<32xf4E2M1FN>, %arg4: vector<32xf8E8M0FNU>, %arg5: vector<32xbf16>) {
// CHECK-NEXT:    %0 = arith.scaling_extf %arg0, %arg2 : f4E2M1FN, f8E8M0FNU to f32
// CHECK-NEXT:    %1 = arith.scaling_truncf %arg1, %arg2 : f32, f8E8M0FNU to f4E2M1FN
// CHECK-NEXT:    %2 = arith.scaling_extf %arg3, %arg4 fastmath<nnan> {k} : vector<32xf4E2M1FN>, vector<32xf8E8M0FNU> to vector<32xbf16>
// CHECK-NEXT:    %3 = arith.scaling_truncf %arg5, %arg4 to_nearest_even fastmath<fast> : vector<32xbf16>, vector<32xf8E8M0FNU> to vector<32xf4E2M1FN>
// CHECK-NEXT:    return
// CHECK-NEXT:  }
