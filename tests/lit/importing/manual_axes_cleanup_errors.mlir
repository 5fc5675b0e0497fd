// RUN: sdy-opt %s -sdy-manual-axes-cleanup -split-input-file -verify-diagnostics

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Without inputs and outputs, the mesh of the manual axes is unknown. Every such computation is
// reported.
func.func @no_mesh() {
  // expected-error @+1 {{op has manual_axes when there are no in/out shardings and the body is not empty. This isn't allowed at this stage, please contact the Shardy team or file a bug.}}
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"x"} () {
    %0 = stablehlo.constant dense<0.0> : tensor<8xf32>
    sdy.return
  } : () -> ()
  // expected-error @+1 {{op has manual_axes when there are no in/out shardings}}
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"y"} () {
    %0 = stablehlo.constant dense<0.0> : tensor<8xf32>
    sdy.return
  } : () -> ()
  return
}
