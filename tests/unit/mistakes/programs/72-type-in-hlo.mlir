// A type is written as in HLO.
// RUN: sdy-opt %s

func.func @f(%x: f32[8,16]) {
  return
}
