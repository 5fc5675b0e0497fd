// RUN: sdy-opt %s -split-input-file -verify-diagnostics

// expected-error @+2 {{axis size must be at least 1, got: 0}}
// expected-error @+1 {{failed to parse Sdy_Mesh parameter 'axes' which is to be a `::llvm::ArrayRef<MeshAxisAttr>`}}
sdy.mesh @mesh = <["x"=0]>

// -----

// expected-error @+1 {{duplicate axis name: "x"}}
sdy.mesh @mesh = <["x"=2, "y"=2, "x"=4]>

// -----

// expected-error @+1 {{total product of axis sizes must match total number of device ids, got: 4 != 3}}
sdy.mesh @mesh = <["x"=2, "y"=2], device_ids=[2, 1, 0]>

// -----

// expected-error @+1 {{sorted device ids must be iota(product(axes)), got: 0, 1, 1, 2}}
sdy.mesh @mesh = <["x"=4], device_ids=[2, 1, 0, 1]>

// -----

// expected-error @+1 {{device id must be non-negative, got: -1}}
sdy.mesh @mesh = <["x"=2], device_ids=[0, -1]>

// -----

// expected-error @+1 {{axes is empty and device_ids has more than one element}}
sdy.mesh @mesh = <[], device_ids=[0, 1]>

// -----

// expected-error @+1 {{expected 'device_ids'}}
sdy.mesh @mesh = <["x"=2], devices=[1, 0]>

// -----

// expected-error @+3 {{expected integer value}}
// expected-error @+2 {{failed to parse Sdy_MeshAxis parameter 'size' which is to be a `int64_t`}}
// expected-error @+1 {{failed to parse Sdy_Mesh parameter 'axes' which is to be a `::llvm::ArrayRef<MeshAxisAttr>`}}
sdy.mesh @mesh = <["x"="y"]>

// -----

// expected-note @+1 {{see existing symbol definition here}}
sdy.mesh @mesh = <["x"=2]>
// expected-error @+1 {{redefinition of symbol named 'mesh'}}
sdy.mesh @mesh = <["x"=4]>

// -----

// A mesh must be in a module, not in a function.
func.func @f() {
  // expected-error @+1 {{'sdy.mesh' op expects parent op 'builtin.module'}}
  sdy.mesh @mesh = <["x"=2]>
  return
}
