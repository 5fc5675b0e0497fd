// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @operands(%i: index) {
  // expected-error @+1 {{dimension or symbol index mismatch}}
  %0 = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%i, %i)[%i]
  return
}

// -----

func.func @basis(%i: index) {
  // expected-error @+1 {{should return an index for each basis element}}
  %0 = affine.delinearize_index %i into (%i, %i) : index
  return
}

// -----

func.func @no_basis(%i: index) {
  // expected-error @+1 {{basis should not be empty}}
  %0 = "affine.delinearize_index"(%i) : (index) -> index
  return
}
