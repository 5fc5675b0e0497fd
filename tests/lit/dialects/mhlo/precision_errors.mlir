// RUN: sdy-opt %s -split-input-file -verify-diagnostics

// expected-error @+2 {{expected ::mlir::mhlo::Precision to be one of: DEFAULT, HIGH, HIGHEST}}
// expected-error @+1 {{failed to parse MHLO_PrecisionAttr parameter 'value' which is to be a `::mlir::mhlo::Precision`}}
func.func @unknown_case() attributes {precision = #mhlo<precision LOW>} {
  return
}

// -----

// expected-error @+2 {{expected valid keyword or string}}
// expected-error @+1 {{failed to parse MHLO_PrecisionAttr parameter 'value' which is to be a `::mlir::mhlo::Precision`}}
func.func @no_case() attributes {precision = #mhlo<precision>} {
  return
}
