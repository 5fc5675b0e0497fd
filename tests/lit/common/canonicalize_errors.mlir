// RUN: sdy-opt %s '-canonicalize=max-iterations=1 test-convergence=true' --verify-diagnostics

// One iteration is not enough to detect the fixed point.
// expected-error @+1 {{canonicalization did not converge}}
module {
  func.func @useless(%x: tensor<4xf32>) {
    %0 = stablehlo.negate %x : tensor<4xf32>
    return
  }
}
