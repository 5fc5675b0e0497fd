// RUN: sdy-opt %s '-canonicalize=max-iterations=1 test-convergence=true' --verify-diagnostics

// One round is not enough to see that nothing changes any longer.
// expected-error @+1 {{canonicalization did not converge}}
module {
  func.func @useless(%x: tensor<4xf32>) {
    %0 = stablehlo.negate %x : tensor<4xf32>
    return
  }
}
