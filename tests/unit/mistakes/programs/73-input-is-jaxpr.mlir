// The input is a jaxpr.
// RUN: sdy-opt %s

{ lambda ; a:f32[8]. let b = sin a in (b,) }
